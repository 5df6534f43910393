#!/bin/sh
# Every option that takes a number, a duration or a size refuses what is none,
# with one line, status 2 and nothing done. The options come from the help, so a
# new one must be named here.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
run model make tiny -o tiny.onnx -q
run search tiny.onnx -t host --no-measure --db none -o result -q --dump-problem problem.json

# command, option, how little and how much is too much; "-" where anything goes
cat >options <<'END'
search tiny.onnx|max-measure|0|9999999999
search tiny.onnx|threads|0|257
search tiny.onnx|jobs|0|257
search tiny.onnx|top-k|0|1001
search tiny.onnx|progress-fd|-1|1048577
search tiny.onnx|time-budget|0s|99999999999h
search tiny.onnx|measure-timeout|0ms|99999999999h
search tiny.onnx|memory-budget|0B|99999999TiB
search tiny.onnx|max-output|0B|99999999TiB
search tiny.onnx|dim|batch=-1|batch=99999999999999999999
search tiny.onnx|shape|image=1x-3|image=99999999999999999999
run tiny.onnx|runs|0|201
run tiny.onnx|atol|-1|1e40
run tiny.onnx|rtol|-1|inf
explain tiny.onnx -t host --no-measure --db none|index|-1|99999999999
compare result result|threshold|-1%|9999%
compare result|night|-100000|100000
batch absent.yaml|shard|2/2|0/99999999
batch absent.yaml|keep|0|100001
env|threads|0|257
measure want.json --db a.db|jobs|0|257
measure want.json --db a.db|max-measure|0|9999999999
measure want.json --db a.db|canaries|0|33
measure want.json --db a.db|shard|2/2|0/99999999
measure want.json --db a.db|time-budget|0s|99999999999h
measure want.json --db a.db|measure-timeout|0ms|99999999999h
solve problem.json|time-budget|0s|99999999999h
solve problem.json|memory-budget|0B|99999999TiB
solve problem.json|beam|0|9999999999
db gc --db a.db|keep|0|99999999999
db list --db a.db|before|-5|99999999999
END
while IFS='|' read -r line name least most; do
	for value in "$least" "$most" '' ' ' x 1x -1 +-1 0x10 1e3s NaN 18446744073709551617 \
		-18446744073709551615 4294967297 '1 2'; do
		case $name$value in
		atol*0x10 | rtol*0x10 | *tol1844* | *tol4294* | threshold0x10 | night-1) continue ;; # numbers, too
		before18* | before42*) ;;
		esac
		command="marq $line --$name='$value'"
		"$MARQ" $line "--$name=$value" >out 2>err </dev/null
		status=$?
		case "$name$value" in
		max-measure429*) continue ;;
		esac
		expect_status 2
		expect_lines 1 err
		grep -q '^marq: error: ' err || fail 'another form'
		[ ! -s out ] || fail 'something is printed'
	done
done <options

# None is forgotten.
for name in $(sed -n 's/^COMMAND(\([a-z]*\),.*/\1/p' "$MARQ_SOURCE/cli/commands.def"); do
	"$MARQ" "$name" --help | tr '\n' ' ' |
		grep -oE -- '--[a-z-]+=(N|K|D|X|SIZE|P%|I/N|NAME=N|INPUT=1x3x224x224|DATE[A-Z|]*)( |$)' |
		sed "s/^--\([a-z-]*\)=.*/\1/"
done | sort -u >known
[ "$(wc -l <known)" -ge 14 ] || fail 'the help names too few'
while read -r name; do
	grep -q "|$name|" options || fail "--$name takes a number and is not tested"
done <known

# As many alternatives as were asked for, or a line that says why not.
run search tiny.onnx -t mrvl -t host --no-measure --db none -o none --top-k=3
expect_status 0
[ "$(sed -n '/^next best/,/^time/p' out | grep -c '^  .* more (')" = 3 ] ||
	{ fail 'not three alternatives'; cat out; }
done_testing
