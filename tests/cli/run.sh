#!/bin/sh
# marq run: executes what it planned, compares, and says so by its exit status.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
"$MARQ" model make tiny -o tiny.onnx -q
light=tiny.onnx
fail() { echo "FAIL: $1"; exit 1; }
why=$("$MARQ" targets check dnnl 2>&1) || { echo "skipped: $why"; exit 77; }

"$MARQ" run "$light" -t dnnl -t host --db prices.db --runs 3 --max-measure 100000 >out 2>err ||
	fail "a plan differs from the reference: $(cat out err)"
grep -q '^latency: .* measured .* predicted' out || fail "no latency line"
grep -q 'matches the host reference' out || fail "not compared"
"$MARQ" run "$light" -t dnnl -t host --db prices.db --runs 3 --format json >json 2>err || fail "second run"
grep -q '"schema": "marq.run/1"' json || fail "no schema"
OPENBLAS_CORETYPE=Haswell "$MARQ" run "$light" -t dnnl -t host --db prices.db --runs 1 -q >out 2>err ||
	fail "with a variable that steers a library"

# run when told to: as many times as asked for, and nothing else on stdout
printf '3\n1\n' | "$MARQ" run "$light" -t dnnl -t host --db prices.db --turns >out 2>err || fail "turns: $(cat err)"
[ "$(sed -n 1p out | sed 's/ [0-9][0-9]*/ NS/g')" = "ready marq NS NS" ] || fail "turns: $(sed -n 1p out)"
[ "$(sed -n 2p out | wc -w)" = 3 ] && [ "$(sed -n 3p out | wc -w)" = 1 ] && [ "$(wc -l <out)" = 3 ] ||
	fail "turns: $(cat out)"
status=0
echo many | "$MARQ" run "$light" -t dnnl -t host --db prices.db --turns >out 2>err || status=$?
[ $status -eq 2 ] && grep -q 'a number of runs' err || fail "turns of no number: status $status: $(cat err)"
status=0
"$MARQ" run "$light" -t mrvl -t host --db prices.db --turns </dev/null >out 2>err || status=$?
[ $status -eq 2 ] && grep -q 'mrvl is simulated' err || fail "turns of a simulator: status $status: $(cat err)"

# an expectation it cannot meet: the data's output is another model's
mkdir set
printf '\010\001\010\003\020\001\102\001x' >set/input_0.pb
status=0
"$MARQ" run "$light" -t host --db prices.db --data set >out 2>err || status=$?
[ $status -eq 3 ] || fail "malformed data: status $status"
status=0
"$MARQ" run "$light" -t host --db prices.db --data nowhere >out 2>err || status=$?
[ $status -eq 7 ] || fail "absent data: status $status"
# a model that leaves shapes open takes them from the data, and says which are
# open without
open="$MARQ_SHARED/data/models/bert_toy_optimized"
if [ -e "$open/model.onnx" ]; then
	"$MARQ" run "$open/model.onnx" -t host --db none --no-measure --runs 1 --data "$open" >out 2>err ||
		fail "shapes from data: $(cat err)"
	status=0
	"$MARQ" run "$open/model.onnx" -t host --db none --no-measure --runs 1 >out 2>err || status=$?
	[ $status -eq 2 ] && grep -q "'batch' (of 'input_ids' axis 0" err ||
		fail "open shapes: status $status: $(cat err)"
else
	echo "without $open: open shapes are not tested"
fi
echo "marq run: ok"
