#!/bin/sh
# Targets that are programs speaking the runner protocol: a stand-in that works,
# refuses, hangs, crashes and talks nonsense, as a user of marq sees it.
. "$(dirname "$0")/lib.sh"
"$MARQ_BUILD/tests/standin_model" net.onnx || exit 1
ln -s "$MARQ_BUILD/tests/standin_runner" runner
mkdir tmp
export TMPDIR="$work/tmp" CALLS="$work/calls"
unit="external:cmd='$work/runner'"
calls() { # N MESSAGE
	n=$(grep -c "\"marq\": *\"$2\"" calls)
	[ "$n" = "$1" ] || fail "$n messages $2, not $1"
}
leaves_nothing() {
	set -- "$TMPDIR"/marq-*
	[ ! -e "$1" ] || fail "left behind: $*"
}
search() {
	: >calls
	run search net.onnx --db prices.db "$@"
}

# prices are what it says: the lower quartile of 1000, 1200, 1500, 2000
search -t "$unit" -t host --forbid host:op:Conv -o first
expect_status 0
expect_in first/result.json '"prices": "external"'
expect_in first/result.json '"runner": "standin"'
expect_in first/result.json '"fact.board": "bench 7"'
expect_in first/result.json '"cost_ns": 1000'
expect_in first/provenance.json '"origin": "external tool now", "source": "external"'
expect_in first/provenance.json 'standin 3'
expect_json first/result.json
leaves_nothing
# remembered: only asked what it is
search -t "$unit" -t host --forbid host:op:Conv --no-verify -o second
expect_status 0
expect_in second/provenance.json '"origin": "database", "source": "external"'
calls 1 hello
calls 0 price
# another command is another runner; a rule of its own covers two nodes
search -t "$unit rules" -t host --forbid host:op:Conv -o rules
expect_status 0
expect_in rules/result.json '"rule": "unit.conv"'
expect_in rules/result.json '["v1", "v3"]'

# run
run run net.onnx -t "$unit" -t host --db prices.db --pin op:Conv=external --pin op:MaxPool=external --runs 3
expect_status 0
expect_in out 'matches the host reference'
run run net.onnx -t "$unit prices" -t host --db prices.db --pin op:Conv=external
expect_status 3
expect_in err 'has prices and no kernels'
for action in hang crash garbage silent wrong; do
	run run net.onnx -t "$unit $action Conv" -t host --db none --forbid host:op:Conv --no-measure
	expect_status 1
	expect_in err 'the tool was not asked'
done

# a result is a file from anywhere: it starts nothing
: >calls
run run first
expect_status 2
expect_in err 'opened only when you name it'
run explain --all first
calls 0 hello
run run first -t "$unit" -t host --db prices.db
expect_status 0

# whatever it does costs one candidate
outcome() { # ACTION WORDS [more options of the target]
	search -t "$unit $1 Conv${3-}" -t host --eager-pricing -o bad --force
	expect_status 0
	expect_in bad/provenance.json "$2"
	expect_in bad/provenance.json '"source": "external"'
	n=$(grep -c '"target": "external' bad/provenance.json)
	[ "$n" = 1 ] || fail "$n candidates failed"
	leaves_nothing
}
outcome refuse 'unsupported: no such unit'
outcome hang 'timeout: the runner did not answer in 10000 ms' ,timeout=10
outcome crash 'crash: the runner ended with status 137: out of luck'
outcome garbage 'wrong result: the runner talks nonsense: answer'
outcome error 'wrong result: the runner talks nonsense: error: KeyError'
outcome other 'wrong result: the runner talks nonsense: it answers another question'
outcome negative 'wrong result: latency 1 is no number of nanoseconds'
outcome silent 'output_0.pb'
outcome wrong 'wrong result: differs from the reference'
# which no other candidate pays for: it may end or talk on after an answer
for action in quit twice; do
	search -t "$unit $action Conv" -t host --eager-pricing -o bad --force
	expect_status 0
	expect_not_in bad/provenance.json '"outcome": "crash'
	expect_not_in bad/provenance.json nonsense
	expect_not_in bad/provenance.json 'ended with status'
	leaves_nothing
done
# nor does it leave processes behind: other sessions, double forks, and one that
# keeps the streams open, which costs no time-out
export DAEMONS="$work/daemons"
search -t "$unit detach Conv" -t host --eager-pricing -o bad --force
expect_status 0
expect_in bad/result.json '"runner": "standin"'
outcome orphan 'crash: the runner ended with status 137'
[ "$(wc -l <daemons)" -ge 4 ] || fail "daemons: $(cat daemons)"
while read -r pid; do
	wait_until is_gone "$pid" || fail "process $pid is left"
done <daemons
# the middle of much that it says is left out
outcome loud 'crash: the runner ended with status 9: the last words'
outcome escape 'unsupported: a\u001b[31mb\u009bc\u202ed'
for verb in list stat; do
	run db $verb --db prices.db
	expect_status 0
	cat out err >words
	for bytes in '\033' '\302\233' '\342\200\256'; do
		if grep -qF "$(printf "$bytes")" words; then
			fail "$bytes reaches the terminal"
		fi
	done
done
# and that is remembered as well
search -t "$unit hang Conv,timeout=10" -t host --eager-pricing -o none
expect_status 0
calls 0 price
search -t "$unit refuse Conv" -t host --pin op:Conv=external -o none
expect_status 1
expect_in err 'no such unit'

# a runner that is none
refused() { # STATUS TARGET WORDS
	run targets check "$2"
	expect_status "$1"
	expect_in err "$3"
	expect_lines 1 err
	leaves_nothing
}
refused 2 external 'it needs the option cmd=COMMAND'
refused 2 "$unit {model}" "unknown '{model}' in a command"
refused 2 "$unit,timeout=soon" "timeout is 'soon'"
refused 4 'external:cmd=no-such-runner' "'no-such-runner' is not there"
refused 4 "external:cmd=(no-such-runner)" 'the runner is not there'
refused 4 "$unit dead" 'the runner ended with status 7: no board'
refused 4 "$unit mute,timeout=1" 'the runner did not answer in 1000 ms'
refused 4 "$unit facts" 'facts: more than 65536 bytes'
refused 4 "$unit old" 'its hello is not of version 1'
refused 4 'external:cmd=echo hello' 'the runner talks nonsense'
refused 4 "external:cmd=yes | tr -d '[:cntrl:]'" "the runner's answer has no end"
run targets show "$unit"
expect_status 0
expect_in out 'runner_version=3'
run targets
expect_in out 'external'

# a protocol that others can rely on: what it does not know is an error
printf '{"marq":"dance","id":1}\n' | ./runner >out
expect_in out 'unknown message'
done_testing
