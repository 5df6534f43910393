#!/bin/sh
# The main job as a new user runs it: make a model, search it over three
# targets, search again, explain, run.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
targets='-t mrvl -t dnnl -t host'
"$MARQ" targets check dnnl >/dev/null 2>&1 || targets='-t mrvl -t host'

run model make tiny -o tiny.onnx -q
expect_status 0

# (on the host a fast processor may be cheaper throughout)
pin='--pin op:MaxPool=mrvl'
run search tiny.onnx $targets $pin --db t.db -o one.marq
expect_status 0
expect_in out 'proven optimal at these prices'
for artefact in result.json map.json report.md report.html trace.json partitioned.onnx annotated.onnx; do
	[ -s "one.marq/$artefact" ] || fail "no $artefact"
done
ls one.marq/mrvl/*-nodes.json one.marq/mrvl/*-consts.json >/dev/null 2>&1 ||
	fail 'no Marvell compiler input'
for artefact in result map; do
	expect_json "one.marq/$artefact.json"
done

# A second run measures nothing, says so, and writes the same bytes.
run search tiny.onnx $targets $pin --db t.db -o two.marq
expect_status 0
expect_in out ' 0 measured'
for artefact in map.json trace.json partitioned.onnx; do
	cmp -s "one.marq/$artefact" "two.marq/$artefact" || fail "$artefact differs"
done
grep -v '"command"' one.marq/result.json >one.json
grep -v '"command"' two.marq/result.json >two.json
cmp -s one.json two.json || {
	fail 'result.json differs between two runs on one database'
	diff one.json two.json | head -n 20
}

# Made again from its documents, the report is what the search wrote.
run report one.marq -o again.html
expect_status 0
cmp -s again.html one.marq/report.html || fail 'the report made again differs'

# An existing result is not replaced unasked.
run search tiny.onnx $targets --db t.db -o one.marq
expect_status 7
expect_in err '--force'

run search tiny.onnx $targets --db t.db -o none --format json
expect_status 0
expect_json out
expect_in out '"proven": true'

# A node that stayed on the CPU: each failed condition with the value.
run model make tiny-encoder -o encoder.onnx -q
run explain encoder.onnx --node Reshape_2 -t mrvl -t host --no-measure --db none
expect_status 0
expect_in out 'mrvl.reshape matches;'
expect_in out 'conditions not met'
expect_in out 'rank'
run explain tiny.onnx --not-on mrvl $targets --db t.db --format json
expect_status 0
expect_json out
run explain tiny.onnx --node nosuchnode $targets --db t.db
expect_status 2

# Constraints hold; impossible ones are named.
run search tiny.onnx $targets --db t.db -o none --pin op:Conv=host --format json
expect_status 0
run explain tiny.onnx --op Conv $targets --db t.db --pin op:Conv=host --fast
expect_in out 'runs on host'
expect_not_in out 'runs on mrvl'
run search tiny.onnx $targets --db t.db -o none --pin Conv_0=mrvl --forbid mrvl:Conv_0
expect_status 1
expect_in err 'Conv_0'

# A plan is replayed, refused when it is not legal any more, and dumped.
run search tiny.onnx $targets --db t.db -o none --replay one.marq/result.json
expect_status 0
expect_in out 'by replay'
run search tiny.onnx -t host --db t.db -o none --replay one.marq/result.json --no-measure
expect_status 1
expect_in err 'is not in the mix'
sed 's/"Conv_0_out"/"Conv_4_out"/' one.marq/result.json >edited.json
run search tiny.onnx $targets --db t.db -o none --replay edited.json
expect_status 1
expect_in err 'composite 0'
run search tiny.onnx $targets --db t.db -o none --dump-problem problem.json
expect_status 0
run solve problem.json
expect_status 0
expect_in out 'proven optimal'

# The next best plans.
run search tiny.onnx $targets --db t.db -o none --top-k 3
expect_status 0
expect_in out 'next best plans:'
expect_in out 'the noise of'

# The plan computes what the reference computes.
run run tiny.onnx $targets --db t.db --runs 3
expect_status 0
expect_in out 'matches the host reference'
run run one.marq --db t.db --runs 3
expect_status 0
expect_in out 'matches the host reference'
run explain one.marq --op Softmax --db t.db
expect_status 0
expect_in out 'Softmax'
mkdir nothing
run run nothing --db none
expect_status 7
expect_in err 'nothing/result.json'
done_testing
