#!/bin/sh
# trace.json by the rules of the format, judged by a program that shares nothing
# with the writer; and that judge sees what is wrong.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
command -v python3 >/dev/null || { echo 'skipped: no python3'; exit 77; }
judge() {
	python3 "$MARQ_SOURCE/tests/support/trace.py" "$@"
}

for model in tiny tiny-encoder squeezenet; do
	run model make $model -o $model.onnx
	for mix in mrvl 'mrvl:num_tiles=4'; do
		run search $model.onnx -t "$mix" -t host --db prices.db --no-measure \
			--search greedy -o "$model-$mix"
		expect_status 0
	done
done
command=trace.py
judge ./*-mrvl* || fail 'a trace is unsound'
judge squeezenet-mrvl | grep -q ' [1-9][0-9]* flows' || fail 'no arrow was looked at'

# NAME SCRIPT: a trace that is wrong in one way is refused.
refused() {
	mkdir -p wrong
	cp squeezenet-mrvl/result.json wrong
	sed -E "$2" squeezenet-mrvl/trace.json >wrong/trace.json
	cmp -s squeezenet-mrvl/trace.json wrong/trace.json && fail "$1: nothing was changed"
	judge wrong >said && fail "$1 is not seen"
	grep -q FAILED said || fail "$1 is not named"
}
refused 'a time that is text' '0,/"ts": ([0-9.]+)/s//"ts": "\1"/'
refused 'a track without a name' '/thread_name.*"mrvl"/d'
refused 'an arrow that never ends' 's/"ph": "f"/"ph": "t"/'
refused 'an arrow beside its slice' 's/("ph": "s".*"ts": )[0-9.]+/\199999999/'
refused 'a slice that overlaps the next' '0,/"dur": [1-9][0-9.]*/s//"dur": 99999999/'
refused 'a slice too few' '0,/"cat": "composite"/{/"cat": "composite"/d}'
done_testing
