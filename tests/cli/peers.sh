#!/bin/sh
# bench/peers: its table and its JSON have what they promise, and what cannot
# take part is said. No figure is looked at.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"

peers() {
	command="peers $*"
	"$MARQ_SOURCE/bench/peers" --marq "$MARQ" --targets host --seconds 0 --rounds 3 "$@" >out 2>err
	status=$?
}

peers --models tiny-encoder --threads 1,4096 --peers ort,torch --python "$MARQ_SOURCE/none" --json all.json
[ "$status" != 0 ] || fail "an interpreter that is not there"
expect_in err "no interpreter"

# what has no runtime: a Python that refuses every module
cat >python <<'END'
#!/bin/sh
echo "no: No module named 'numpy'"
exit 1
END
chmod +x python
peers --models tiny-encoder --threads 1,4096 --peers ort,torch --python "$PWD/python" --db prices.db --json all.json
expect_status 0
expect_in out "SKIPPED: 4096 threads"
expect_in out "SKIPPED: ort: No module named 'numpy' (tiny-encoder with 1)"
expect_in out "SKIPPED: torch: No module named 'numpy'"
expect_not_in out WRONG
python3 - all.json <<'END' || fail "the JSON lacks something"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["schema"] == "marq.peers/1" and d["machine"]["name"] and d["threads_skipped"] == [4096]
(r,) = d["results"]
assert r["model"] == "tiny-encoder" and r["threads"] == 1 and r["tuning"]["right"]
assert r["tuning"]["artefacts_cpu_s"] > 0 and r["predicted_per_executed"] > 0
for name in ("marq", "again"):
    c = r["contenders"][name]
    assert c["rounds"] == 3 and c["ms"] > 0 and c["ratio_low"] <= c["ratio"] <= c["ratio_high"], c
    assert c["peak_bytes"] > 1 << 20 and c["cpu_per_wall"] > 0
assert "skipped" in r["contenders"]["ort"]
END

# a model of a folder whose shapes are open is skipped with marq's own words
open="$MARQ_SHARED/data/models/bert_toy_optimized"
if [ -e "$open/model.onnx" ]; then
	mkdir -p models/open
	ln -s "$open/model.onnx" models/open/model.onnx
	peers --models open --folder models --threads 1 --peers none --db prices.db
	expect_status 0
	expect_in out "SKIPPED: "
	expect_in out "batch"
fi
peers --models nonsense --threads 1 --peers none --db prices.db
[ "$status" != 0 ] || fail "a model that is not there"
expect_in err "no model 'nonsense'"

if "${MARQ_ORT_PYTHON:-python3}" -c 'import numpy, onnxruntime' 2>/dev/null; then
	peers --models tiny-encoder --threads 1 --peers ort --python "${MARQ_ORT_PYTHON:-python3}" --db prices.db --json ort.json
	expect_status 0
	expect_in ort.json '"version": "ONNX Runtime'
	# with test data they are bound, for the search that writes artefacts, too
	if [ -e "$open/test_data_set_0/input_0.pb" ] && "${MARQ_ORT_PYTHON:-python3}" -c 'import onnx' 2>/dev/null; then
		ln -s "$open/test_data_set_0" models/open/test_data_set_0
		peers --models open --folder models --threads 1 --peers none --python "${MARQ_ORT_PYTHON:-python3}" --db prices.db --json open.json
		expect_status 0
		expect_in open.json artefacts_cpu_s
	fi
else
	echo "not looked at: ONNX Runtime (no interpreter has it; \$MARQ_ORT_PYTHON names one)"
fi
done_testing
