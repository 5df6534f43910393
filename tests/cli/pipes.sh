#!/bin/sh
# What is read is a regular file: a pipe nobody writes to is refused by every command
# that names a file, and none waits for it.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
mkfifo pipe
"$MARQ" model make tiny -o tiny.onnx -q
mkdir folder
mkfifo folder/result.json
refused() { # COMMAND...
	command="marq $*"
	timeout -s KILL 60 "$MARQ" "$@" >out 2>err
	status=$?
	[ "$status" -ge 2 ] && [ "$status" -le 7 ] || fail "exit status $status"
	expect_lines 1 err
}
plan='search tiny.onnx -t host --no-measure --db none -o none'
for how in 'model check' 'model info' 'search -o none' run solve 'solve --placement' measure verify report \
	calibrate 'calibrate --from=dpdk-stats' 'batch' "$plan --constraints" "$plan --price-for" \
	"$plan --replay" 'db stat --db' 'db import --db new.db' 'compare tiny.onnx' 'compare pipe' 'explain'; do
	case $how in
	'model check') timeout -s KILL 60 "$MARQ" model check pipe >out 2>&1; status=$?
		[ "$status" -ge 2 ] && [ "$status" -le 7 ] || fail "$how: exit status $status" ;;
	*) refused $how pipe ;;
	esac
done
refused search tiny.onnx -t rules:file=pipe --no-measure --db none -o none
refused search tiny.onnx -t mrvl:params=pipe --no-measure --db none -o none
refused search tiny.onnx -t host --no-measure --db none -o folder --force
done_testing
