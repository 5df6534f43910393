#!/bin/sh
# marq explain: which nodes, why not elsewhere, what if. Prices are those of a
# rules file and bounds, so figures are the same on every machine.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
run model make tiny -o tiny.onnx -q
cat >npu.json <<'EOF'
{"format": "marquetry-rules", "version": 1, "summary": "an NPU", "launch_ns": 50,
 "rules": [{"name": "npu.conv", "pattern": "Conv(x:var, w:const)",
   "where": [{"of": "x", "dim": 1, "max": 16}, {"of": "x", "rank": 4}],
   "cost": {"ns": 1}}]}
EOF
npu='-t rules:file=npu.json -t host --no-measure --db none'

# By name, id, number in the file and operator; unknown ones are refused.
for which in '--node Conv_0' '--node #0' '--index 0'; do
	run explain tiny.onnx $npu $which
	expect_status 0
	expect_in out 'Conv_0 (Conv, #0,'
	[ "$(grep -c 'runs on' out)" = 1 ] || fail 'tells of other nodes'
done
run explain tiny.onnx $npu --op Conv
[ "$(grep -c 'runs on' out)" = 8 ] || fail 'not the 8 convolutions'
for which in '--node Conv_9x' '--op Convolution' '--index 99' '--index x' '--not-on npu'; do
	run explain tiny.onnx $npu $which
	expect_status 2
	expect_lines 1 err
done
run explain tiny.onnx $npu
expect_status 2

# All failing conditions with values, and what a pin would cost and why.
run explain tiny.onnx $npu --node Conv_16
expect_in out 'npu.conv matches; 1 of 2 conditions not met'
expect_in out 'x.dim1 = 32, need <= 16'
run explain tiny.onnx $npu --node Conv_0
expect_in out 'legal, but costlier by'
expect_in out 'launches -50 ns'
expect_in out 'launches of rules:file=npu.json: 6 -> 5'
expect_in out 'Conv_0 (Conv) moves from rules:file=npu.json to host'
run explain tiny.onnx $npu --node Relu_2
expect_in out 'none of its patterns contains Relu'

# Of a result: from its documents alone, whatever else is gone.
run search tiny.onnx $npu -o told -q
run search tiny.onnx -t mrvl -t host --no-measure --db none -o both -q
run run both --no-measure --db none --format json
expect_status 0
cp out ran.json
mkdir away && mv tiny.onnx npu.json away
run explain told --all
expect_status 0
[ "$(grep -c 'runs on' out)" = 30 ] || fail 'not every node'
run explain told --node Conv_16
expect_in out 'runs on host'
expect_in out 'x.dim1 '
expect_in out '32, need <= 16'
run explain told --node Relu_2
expect_in out 'rules:file=npu.json: none of its rules matches here'
run explain told --node Conv_0
# figures stand side by side only with what they are of and what they rest on
grep -qE 'host: host.node takes the same( [0-9]+)? nodes? for [0-9.]+ [^ ]*s [a-z]+; here [0-9.]+ [^ ]*s [a-z]+$' out ||
	grep -qE 'takes the same .* for at least [0-9.]+ .*s; here ' out || { fail 'no basis'; cat out; }
for which in '--node #0' '--node Conv_0' '--index 0'; do
	run explain told $which
	expect_status 0
	[ "$(grep -c 'runs on' out)" = 1 ] || fail 'tells of other nodes'
done
run explain told --op Conv
[ "$(grep -c 'runs on' out)" = 8 ] || fail 'not the 8 convolutions'
# what a result costs, by what
for by in module line op target; do
	run explain told --by "$by"
	expect_status 0
	expect_in out "the plan, at the result's own prices"
done
run explain told --by op --format json
expect_status 0
python3 - <<'END' || fail 'the rows of --by op do not add up'
import json, sys
j = json.load(open("out"))
rest = j["conversions_ns"] + j["launches_ns"]
sys.exit(sum(r["exclusive_ns"] for r in j["rows"]) + rest != j["plan_cost_ns"])
END
run explain told --by folded
expect_in out 'model;Conv '
run explain told --by speedscope
expect_json out
# with what a run took instead
for by in module line op target; do
	run explain both --by "$by" --run ran.json
	expect_status 0
	expect_in out 'the plan, as it was run'
done
run explain both --by target --run ran.json --format json
cp out rows.json
run explain both --by speedscope --run ran.json
cp out scope.json
run explain both --by folded --run ran.json
python3 - <<'END' || fail 'what a run took is told otherwise'
import json
ran, told, rows, scope = (json.load(open(f)) for f in ("ran.json", "both/result.json", "rows.json", "scope.json"))
price = {c["id"]: c["cost_ns"] for c in told["plan"]["composites"]}
took, planned = {}, {}
for c in ran["composites"]:
    took[c["target"]] = took.get(c["target"], 0) + (price[c["id"]] if c["simulated"] else c["measured_ns"])
    planned[c["target"]] = planned.get(c["target"], 0) + price[c["id"]]
assert {r["name"]: r["exclusive_ns"] for r in rows["rows"]} == took, (rows, took)
assert {r["name"]: r["predicted_ns"] for r in rows["rows"]} == planned, (rows, planned)
assert sum(took.values()) + rows["conversions_ns"] + rows["launches_ns"] == rows["plan_cost_ns"], rows
assert [(p["name"], sum(p["weights"])) for p in scope["profiles"]] == [
    ("predicted", told["total"]["cost_ns"]), ("measured", rows["plan_cost_ns"])], scope["profiles"]
assert sum(int(x.rsplit(" ", 1)[1]) for x in open("out")) == rows["plan_cost_ns"]
c = dict(ran["composites"][0], target="elsewhere")
for name, doc in (("other", dict(ran, composites=[c] + ran["composites"][1:])),
                  ("fewer", dict(ran, composites=ran["composites"][1:])),
                  ("schema", dict(ran, schema="marq.run/9"))):
    json.dump(doc, open(name + ".json", "w"))
END
for wrong in other fewer schema nosuch; do
	run explain both --by op --run $wrong.json
	[ $status != 0 ] || fail 'a run of another result is taken'
	expect_lines 1 err
	expect_in err $wrong.json
done
run explain both --all --run ran.json
expect_status 2
run explain told --by nothing
expect_status 2
expect_in err 'folded or speedscope'
run explain told --at nosuch
expect_status 2
expect_in err "no module of the result is called 'nosuch'"
run explain told --line a.py:1
expect_status 2
expect_in err 'wrote no stack traces'

# A module and a line, as an exporter would have written them: in short, then node
# by node; what was folded says who reads it now.
cp -r told scoped
python3 - <<'END'
import json
m = json.load(open("scoped/map.json"))
m["scopes"] += [{"id": i + 1, "parent": i and 1, "name": p.split(".")[-1], "path": p, "class": c}
                for i, (p, c) in enumerate([("net", "Net"), ("net.block.0", "Block"), ("net.block.1", "Block")])]
m["lines"] = [{"id": 0, "file": "/home/me/net.py", "line": 7, "function": "forward", "text": "return f(x)"}]
for x in m["onnx"]:
    x["scope"] = 2 if x["index"] < 4 else 3
    x["lines"], x["line"] = [0], 0
first, second = m["onnx"][:2]
for n in m["nodes"]:
    n["onnx"] = [link for link in n["onnx"] if link["id"] != first["id"]]
first.update(fate="folded", why="its inputs are constant", into=second["id"], nodes=[])
json.dump(m, open("scoped/map.json", "w"))
END
run explain scoped --at block.0
expect_status 0
expect_in out 'net.block.0, a Block:'
expect_in out '  3 nodes in 3 composites, which take '
expect_in out "$(printf '  host: runs ')"
expect_in out 'Conv_0 (Conv, ONNX node 0) runs nowhere: folded into a constant that '
run explain scoped --at net.block.1
expect_in out 'net.block.1, a Block:'
run explain scoped --at block.1 --format json
expect_json out
run explain scoped --at blok.1
expect_status 2
expect_in err "did you mean 'block.1'?"
run explain scoped --line net.py:7
expect_status 0
expect_in out '/home/me/net.py:7, "return f(x)":'
grep -qE '^  rules:file=npu.json: runs 6, refuses 1 \(x.dim1 = 32, need <= 16\), has no rule for [0-9]+$' out ||
	{ fail 'not in short'; head -n 6 out; }
run explain scoped --line net.py:8
expect_status 2
run explain tiny.onnx $npu --by op
expect_status 2
expect_in err '--by takes a result directory'

run explain told --op Conv --not-on rules
[ "$(grep -c 'runs on' out)" = 1 ] || fail 'not the one on the host'
run explain told --all --format json
expect_json out
for which in '--node Conv_9x' '--op Convolution' '--index 99' '--index x' '--not-on npu'; do
	run explain told $which
	expect_status 2
	expect_lines 1 err
done
rm told/alternatives.json
run explain told --node Conv_0
expect_status 0
expect_in out 'holds no alternatives'
rm told/map.json
run explain told --node Conv_0
expect_status 7
[ -z "$(find "$work" -name '*.db')" ] || fail 'opened a database'
mv away/* . && rm -r away told

# What if a condition held, a node ran elsewhere, a move were free?
what_if() { # cost before, cost after, how often it fails
	[ "$(python3 -c 'import json; d = json.load(open("out")); w = d["what_if"]
print(w["plan_cost_ns"] - d["plan_cost_ns"] == w["delta_ns"], w["delta_ns"] '"$1"', [m["node"] for m in w["moved"]] == '"$2"')')" = 'True True True' ] ||
		{ fail "not $1, or other nodes than $2 move"; cat out; }
}
run explain tiny.onnx $npu --what-if x --format json
expect_status 2
run explain tiny.onnx $npu --what-if list
expect_in out 'rules:x.dim1 (8, 1)'
condition=$(sed -n 's/^  rules:\(.*\) (8, 1)$/\1/p' out | head -n 1)
[ -n "$condition" ] || { fail 'no condition fails once'; cat out; }
run explain tiny.onnx $npu --what-if "$condition"
expect_in out 'the condition fails at 1 match, at 1 of them it alone'
run explain tiny.onnx $npu --what-if "$condition" --format json
expect_json out
what_if '< 0' '["Conv_16"]'
run explain tiny.onnx $npu --what-if "rules:$condition" --what-if Conv_0=host --format json
what_if '> 0' '["Conv_0", "Conv_16"]'
run explain tiny.onnx $npu --what-if Conv_0=host --format json
what_if '> 0' '["Conv_0"]'
run explain tiny.onnx $npu --what-if free:launch:rules --format json
what_if '== -300' '[]'
run explain tiny.onnx -t mrvl -t host --no-measure --db none --what-if free:host..mrvl
expect_status 0
expect_in out 'saving'
run explain tiny.onnx -t mrvl -t host --no-measure --db none \
	--what-if free:host/plain..mrvl/nhwc/float16 --format json
expect_status 0
what_if '< 0' '[m["node"] for m in w["moved"]]'
run explain tiny.onnx $npu --what-if Conv_16=rules
expect_status 0
expect_in out 'no legal plan'

# What is unknown is named, with what is known.
refused() {
	run explain tiny.onnx $npu --what-if "$1"
	expect_status 2
	expect_lines 1 err
	expect_in err "what if '$1'"
	expect_in err "$2"
}
refused nosuch "$condition"
refused rules:nosuch "$condition"
refused host_has_a_kernel 'no kernel to measure'
refused nosuch=host "no node of the model is called 'nosuch'"
refused Conv_0=npu 'rules:file=npu.json, host'
refused free:npu..host 'rules:file=npu.json, host'
refused free:host..host 'nothing is converted'
refused free:launch:host 'pays no launches'
refused free:host 'want free:A..B'
done_testing
