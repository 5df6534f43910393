#!/bin/sh
# --prefix: one region of the accelerator, fed by the model only, without the nodes
# that are named; on a real network.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
model=$MARQ_SHARED/data/models/light_squeezenet/model.onnx
[ -e "$model" ] || { echo "skipped: no $model"; exit 77; }
targets='-t mrvl -t host --no-measure --db none'

# As the flag and as a file: the same plan.
run search "$model" $targets -o flag --emit json --prefix 'mrvl:#20,#9'
expect_status 0
cat > prefix.json <<'END'
{"schema": "marq.constraints/1",
 "forbids": [{"node": "#20", "target": "mrvl"}, {"node": "#9", "target": "mrvl"}],
 "limits": [{"target": "mrvl", "max_regions": 1, "model_inputs_only": true}]}
END
run search "$model" $targets -o file --emit json --constraints prefix.json
expect_status 0
python3 - flag/result.json file/result.json <<'END' || fail 'not the prefix that was asked for'
import json, sys
flag, file = (json.load(open(f)) for f in sys.argv[1:3])
assert flag["plan"] == file["plan"]
plan = flag["plan"]
regions = [r for r in plan["regions"] if r["target"] == 0]
assert len(regions) == 1, len(regions)
read = {p["value"] for p in regions[0]["inputs"]}
assert read <= {i["name"] for i in flag["model"]["inputs"]}, read
inside = {n for c in plan["composites"] if c["target"] == 0 for n in c["node_ids"]}
assert inside and not inside & {9, 20}, inside
users = {i["value"] for c in plan["composites"] if c["target"] == 0 for i in c["inputs"]}
cut = {o["value"] for c in plan["composites"] if {9, 20} & set(c["node_ids"]) for o in c["outputs"]}
assert not users & cut
END

run search "$model" $targets -o none --prefix 'mrv:#9'
expect_status 2
expect_in err "prefix 'mrv:#9': want TARGET"
run search "$model" $targets -o none --prefix 'mrvl:nope'
expect_status 2
expect_in err "no node of the model is called 'nope'"
sed 's/"model_inputs_only": true/"model_inputs_only": "yes"/' prefix.json > wrong.json
run search "$model" $targets -o none --constraints wrong.json
expect_status 3
expect_in err "limits[0]: key 'model_inputs_only' is not true or false"
[ -e none ] && fail 'something was written'
done_testing
