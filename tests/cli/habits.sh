#!/bin/sh
# What people type without reading anything: help in every form, nothing at all,
# a slip of the finger, "-" for standard input; and each exit status once.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
how='-t host --no-measure --db none'
"$MARQ" model make tiny -o tiny.onnx -q
run search tiny.onnx $how -o result -q --dump-problem problem.json

# Help.
commands=$(sed -n 's/^COMMAND(\([a-z]*\),.*/\1/p' "$MARQ_SOURCE/cli/commands.def")
for name in $commands 'model info' 'model make' 'model check'; do
	run $name --help
	expect_status 0
	cp out whole
	for form in "$name -h" "help $name"; do
		run $form
		expect_status 0
		cmp -s out whole || fail 'is not the same as --help'
	done
done
run --help
cp out whole
for form in help -h; do
	run $form
	expect_status 0
	cmp -s out whole || fail 'is not the same as --help'
done
for form in --version -V version; do
	run $form
	expect_status 0
	[ "$(head -n 1 out | cut -d' ' -f1)" = marq ] || fail 'no version'
	for library in SQLite protobuf-c cJSON libcyaml xxHash Nettle; do
		grep -qE "^$library +[0-9]+\.[0-9]+" out || fail "no version of $library"
	done
done

# Nothing: what is missing, and an example that names the command.
for name in '' $commands; do
	case $name in targets | calibrate | doctor | env) continue ;; esac # need nothing
	run $name
	expect_status 2
	expect_lines 1 err
	expect_in err 'no '
	expect_in err "for example: marq ${name:-search}"
done

# Slips.
while IFS='|' read -r line meant; do
	run $line
	expect_status 2
	expect_lines 1 err
	expect_in err "did you mean '$meant'?"
done <<'END'
serach tiny.onnx|search
seach|search
model maek tiny|make
db sta|stat
search tiny.onnx --no-mesure|--no-measure
search tiny.onnx --taget host|--target
compare result result --thresold 3|--threshold
model make squeeznet|squeezenet
search tiny.onnx -t dnl|dnnl
search tiny.onnx -t mrvl:num_tile=4|num_tiles
search tiny.onnx -t host --no-measure --db none --pin Conv_1x=host|Conv_10
explain tiny.onnx -t host --no-measure --db none --node Conv_1x|Conv_10
explain tiny.onnx -t host --no-measure --db none --op Convv|Conv
explain tiny.onnx -t host --no-measure --db none --all --not-on hots|host
END

# Standard input where a file is read.
from_stdin() { # FILE ARGUMENT...
	file=$1
	shift
	command="marq $* <$file"
	"$MARQ" "$@" <"$file" >out 2>err
	status=$?
	expect_status 0
}
from_stdin tiny.onnx search - $how -o piped
[ -f piped/result.json ] || fail 'nothing written'
from_stdin tiny.onnx search - $how
[ -f stdin.marq/result.json ] || fail 'nothing written'
from_stdin tiny.onnx run - $how --runs 1
from_stdin tiny.onnx explain - $how --all --fast
from_stdin tiny.onnx explain - $how --what-if Conv_0=host
from_stdin tiny.onnx model info -
from_stdin tiny.onnx model check -
from_stdin problem.json solve -
cp out piped.txt
run solve problem.json
cmp -s out piped.txt || fail 'another answer than from the file'
cat >units.yaml <<'END'
version: 1
defaults: {db: none, out: units, options: ["--no-measure"]}
mixes: [{name: plain, targets: [host]}]
models: [{path: tiny.onnx}]
END
from_stdin units.yaml batch -
"$MARQ" model make tiny -o - >again.onnx 2>err || fail 'does not write to standard output'
cmp -s tiny.onnx again.onnx || fail 'another model on standard output'

# Without -t: every target of this machine, and why not the others.
for more in '' '-t auto'; do
	run search tiny.onnx --no-measure --db none -o none $more
	expect_status 0
	grep -q 'targets of this machine: mrvl, .*host; not: .*rules (' err || fail 'does not say which'
	"$MARQ" targets list | awk '$2 == "ok" && $3 ~ /^[1-9]/ { print $1 }' >usable
	while read -r target; do
		grep -q "^  $target " out || fail "$target is not in the mix"
	done <usable
done
run search tiny.onnx --no-measure --db none -o none -t mrvl:num_tiles=2 -t auto
expect_status 0
grep -q '^  mrvl:num_tiles=2 ' out || fail 'a named target is lost'
! grep -q '^  mrvl ' out || fail 'mrvl is there twice'
run search tiny.onnx $how -o all -q --emit=all
expect_status 0
(cd all && ls) >all.txt
run search tiny.onnx $how -o usual -q
(cd usual && ls) | cmp -s - all.txt || fail '--emit=all is not all'
run search tiny.onnx $how -o none --emit=everything
expect_status 2
expect_in err 'known are: all'

# A hint at the next command, which works; none when it is not wanted.
run search tiny.onnx $how -o hinted
expect_in err 'next: marq run hinted'
run search tiny.onnx $how -o hinted --force -q
[ ! -s err ] || fail 'speaks though -q'
run search tiny.onnx $how -o hinted --force --format json
expect_not_in err 'next:'

# Progress and colour are for terminals.
run search tiny.onnx -t host --db measured.db -o none
expect_not_in err "$(printf '\r')"
expect_not_in err "$(printf '\033')"
expect_not_in err ' of '

# A search measures in many rounds: what is counted and estimated goes on over
# them. Elsewhere than on terminals a minute passes before a line.
run search tiny.onnx -t host --db rounds.db -o none --progress-fd 3 3>events
python3 - <<'END' || fail 'progress begins anew'
import json
events = [json.loads(line) for line in open("events")]
assert len(events) > 10, len(events)
for before, after in zip(events, events[1:]):
    assert after["done"] == before["done"] + 1, (before, after)
    assert after["done"] <= after["todo"], after
    assert after["todo"] <= before["todo"] + 1, (before, after)
END

# Exit statuses (0 and 2 above; 130 and 143: signals.sh; 8 is a bug).
run compare tiny.onnx@host tiny.onnx@mrvl+host --no-measure --db none --fail-on change
expect_status 1
: >empty.onnx
run search empty.onnx
expect_status 3
run search tiny.onnx -t mrvl:tmlc=/nowhere/tmlc --no-measure --db none -o none
expect_status 4
cat >failing.yaml <<'END'
version: 1
defaults: {db: none, out: failing, retries: 0}
mixes: [{name: plain, targets: [host]}]
models: [{path: empty.onnx}]
END
run batch failing.yaml
expect_status 5
echo 'no database at all, but longer than a header of one would be ........................' >bad.db
run search tiny.onnx -t host --no-measure --db bad.db -o none
expect_status 6
run search absent.onnx
expect_status 7
done_testing
