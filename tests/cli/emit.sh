#!/bin/sh
# A result directory: the same bytes twice, ONNX files that an independent
# checker accepts, documents that agree, a report made again, comparisons.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"

run model make tiny -o tiny.onnx
expect_status 0

# Without measuring: prices are simulated, or bounds.
search() {
	out=$1
	shift
	run search tiny.onnx -t mrvl -t host --db prices.db --no-measure -o "$out" "$@"
	expect_status 0
}
search first
search second
for file in result.json map.json alternatives.json partitioned.onnx \
	annotated.onnx report.md trace.json; do
	[ -s "second/$file" ] || fail "no $file"
done
search third
for file in result.json map.json alternatives.json partitioned.onnx \
	annotated.onnx report.md trace.json; do
	cmp -s "second/$file" "third/$file" || fail "$file differs from run to run"
done
for file in $(cd second && find mrvl host -type f 2>/dev/null); do
	cmp -s "second/$file" "third/$file" || fail "$file differs from run to run"
done

run search tiny.onnx -t mrvl -t host --db prices.db -o some --emit json,nonsense
expect_status 2
expect_in err "no artefact 'nonsense'"
expect_absent some

# A figure says what it is.
grep -qE '^\*\*[0-9.]+ [^ ]*s\*\* (measured|simulated|estimated), between' second/report.md ||
	fail 'report.md does not say what the cost is'
expect_not_in second/report.md '0.000'

# Made again from its documents, the report is what the search wrote.
run report second -o again.html
expect_status 0
cmp -s again.html second/report.html || fail 'the report made again differs'
grep -o 'https\?://[^"<]*' again.html | grep -v 'www.w3.org' &&
	fail 'the report refers to the network'

# A page made in its result is one of its files; what a process that was killed
# has left is none.
cp -r second more
rm more/report.html
run verify more
expect_status 7
run report more
expect_status 0
echo cut >more/report.html.tmp-4194305
run verify more
expect_status 0
echo changed >>more/report.html
run verify more
expect_status 7
# Whatever is wrong, the folder is named once.
named_once() { # FOLDER
	run verify "$1"
	expect_status 7
	[ "$(grep -o "$1" err | wc -l)" = 1 ] || fail "'$1' is not named once: $(cat err)"
}
named_once more
mkfifo more/pipe
named_once more
mkdir without
named_once without
named_once absent
echo '{"schema": "marq.files/1"}' >without/files.json
run verify without
expect_status 3
expect_in err "without: key 'files' is missing"

# Compared with itself, nothing; without the accelerator, why.
run compare second third --fail-on change
expect_status 0
expect_in out '0 of 30 nodes moved'
run search tiny.onnx -t host --db prices.db --no-measure -o host
run compare second host --fail-on regress --html moved.html
expect_status 1
expect_in out 'mrvl is not in the mix'
grep -q 'mrvl is not in the mix' moved.html || fail 'the page does not say why'
run compare second host --format json
expect_status 0
expect_json out
search forbidden --forbid mrvl:op:MaxPool
run compare second forbidden
expect_in out 'constraint: forbid mrvl:op:MaxPool'

# Back from what a backend is given to the model, and forth.
python3 - second >asked <<'EOF' || fail 'the map has no names to ask for'
import json, sys
m = json.load(open(f"{sys.argv[1]}/map.json"))
layer = next(l for l in m["layers"] if l["constants"])
inside = m["onnx"][m["nodes"][layer["nodes"][0]]["onnx"][0]["id"]]["name"]
value = layer["constants"][0]["values"][0]
for name in (layer["func_name"], layer["symbol"], layer["constants"][0]["name"], m["regions"][layer["region"]]["name"]):
    print(name, inside)
print(layer["constants"][0]["name"], value)
print(value, layer["constants"][0]["name"])
EOF
while read -r name wanted; do
	run explain second --origin "$name"
	expect_status 0
	expect_in out "$wanted"
	run explain second --origin "$name" --format json
	expect_json out
done <asked
run explain second --origin "$(head -n 1 asked | sed 's/ .*//')x"
expect_status 2
expect_in err "did you mean '$(head -n 1 asked | sed 's/ .*//')'"
run explain second --origin nothing --format json
expect_status 2
expect_json out
run explain tiny.onnx -t host --origin x
expect_status 2
expect_in err '--origin takes a result directory'

# What Model Explorer is given: each node of the model in each file, costs that add up.
[ ! -e second/model-explorer ] || fail 'model-explorer is written though nobody named it'
search explored --emit=all,model-explorer
python3 - explored <<'EOF' || fail 'node data for Model Explorer'
import json, sys
result = json.load(open(f"{sys.argv[1]}/result.json"))
nodes = {n["ref"]: n for n in result["nodes"]}
file = {k: json.load(open(f"{sys.argv[1]}/model-explorer/{k}.json")) for k in ("target", "region", "cost", "reason")}
assert all(list(d) == [result["plan"]["graph"]] for d in file.values())
of = {k: d[result["plan"]["graph"]]["results"] for k, d in file.items()}
composites, regions = result["plan"]["composites"], result["plan"]["regions"]
for n in nodes.values():
    key, c = n["label"], composites[n["composite"]]
    assert of["target"][key]["value"] == result["mix"][c["target"]]["text"], key
    assert of["region"][key]["value"] == regions[c["region"]]["name"], key
    assert of["target"][key]["value"] == "mrvl" or "mrvl: " in of["reason"][key]["value"], key
assert abs(sum(v["value"] for v in of["cost"].values()) - result["total"]["composites_ns"]) < 1
EOF

# ... under the names that its reader gives nodes that have none.
names=$MARQ_SHARED/data/exports
if [ -d "$names" ]; then
	for case in hand_loop_if=node_2 gelu_none=node hand_functions=node_10; do
		run search "$names/${case%=*}/model.onnx" -t host --no-measure --db none --emit=model-explorer -o named -q --force
		expect_status 0
		expect_in named/model-explorer/target.json "\"${case#*=}\": {"
	done
else
	echo "not looked at: $names is absent"
fi

# Documents nobody vouches for.
mkdir bad
printf '{"schema": "marq.result/1"}' >bad/result.json
run report bad -o bad.html
expect_status 7
cp second/map.json second/provenance.json bad
run report bad -o bad.html
expect_status 3
expect_in err "key 'model' is missing"
sed 's/"region": 0/"region": 4000000/' second/result.json >bad/result.json
run report bad -o bad.html
expect_status 3
expect_in err '"region": 4000000'
expect_absent bad.html
run compare bad second
expect_status 3

/usr/bin/python3 -c 'import onnx' 2>/dev/null || {
	echo 'skipped the check of ONNX files: no python3-onnx'
	done_testing
}
# A function in a function and an If: each node of their bodies has a path and a fate.
/usr/bin/python3 - <<'EOF' || fail 'no model with functions'
import numpy, onnx
from onnx import helper, numpy_helper, TensorProto
node, opsets, f32 = helper.make_node, [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)], TensorProto.FLOAT
info = lambda name, kind=f32, dims=[4]: helper.make_tensor_value_info(name, kind, dims)
two = node("Constant", [], ["two"], value=numpy_helper.from_array(numpy.float32(2)))
inner = helper.make_function("own", "Inner", ["a"], ["b"], [two, node("Mul", ["a", "two"], ["m"], name="double"),
                                                             node("Identity", ["m"], ["b"])], opsets)
then = helper.make_graph([node("Relu", ["p"], ["t"], name="positive")], "then", [], [info("t")])
other = helper.make_graph([node("Inner", ["p"], ["e"], name="twice", domain="own")], "else", [], [info("e")])
outer = helper.make_function("own", "Outer", ["x", "c"], ["y"], [
    two, node("Inner", ["x"], ["i"], name="inner", domain="own"), node("Inner", ["two"], ["four"], domain="own"),
    node("Add", ["i", "four"], ["p"], name="shift"), node("Neg", ["p"], ["unread"]),
    node("If", ["c"], ["y"], name="either", then_branch=then, else_branch=other)], opsets)
graph = helper.make_graph([node("Outer", ["x", "c"], ["h"], name="first", domain="own"), node("Outer", ["h", "c"], ["y"], domain="own")],
                          "g", [info("x"), info("c", TensorProto.BOOL, [])], [info("y")])
onnx.save(helper.make_model(graph, functions=[inner, outer], opset_imports=opsets, ir_version=8), "calls.onnx")
EOF
run search calls.onnx -t host --db none --no-measure --emit=json -o calls
expect_status 0
python3 - <<'EOF' || fail 'nodes of bodies'
import json
m = json.load(open("calls/map.json"))
part, fate = {p["path"]: p for p in m["parts"]}, {}
for call in ("first", "Outer_1"):
    for rest, want in {"Constant_0": "folded", "inner": "covered", "inner/Constant_0": "folded", "inner/double": "covered",
                       "inner/Identity_2": "dropped", "Inner_2": "folded", "Inner_2/Constant_0": "folded", "Inner_2/double": "folded",
                       "Inner_2/Identity_2": "folded", "shift": "covered", "Neg_4": "dropped", "either": "covered",
                       "either/then_branch/positive": "covered", "either/else_branch/twice": "covered",
                       "either/else_branch/twice/Constant_0": "folded", "either/else_branch/twice/double": "covered",
                       "either/else_branch/twice/Identity_2": "dropped"}.items():
        fate[f"{call}/{rest}"] = want
    into = part[f"{call}/Inner_2/double"]  # by way of a sum of constants
    assert m["parts"][into["into_part"]]["path"] == f"{call}/shift" and m["onnx"][into["into"]]["op_type"] == "Outer"
    assert part[f"{call}/inner/double"]["within"] == part[f"{call}/inner"]["id"]
    assert [n["role"] for n in part[f"{call}/inner"]["nodes"]] == ["split"]
    assert [n.get("inside") for n in part[f"{call}/either/else_branch/twice/double"]["nodes"]] == [True]
assert {k: p["fate"] for k, p in part.items()} == fate and len(part) == len(m["parts"])
assert len({x["stable"] for x in m["onnx"] + m["parts"]}) == len(m["onnx"] + m["parts"])
for n in m["nodes"]:  # both ways
    for o in n["onnx"]:
        assert {"node": n["id"], "role": "kept"} in m["parts"][o["part"]]["nodes"] and m["parts"][o["part"]]["call"] == o["id"]
EOF
for result in second calls; do
	python3 "$MARQ_SOURCE/tests/support/schema.py" "$MARQ_SOURCE/share/schema/map.json" $result/map.json ||
		fail "map.json of $result breaks its schema"
done
run explain calls --origin first/Inner_2/double
expect_in out 'first/Inner_2/double is a node of a body (Mul), folded: its inputs are constant'
expect_in out 'at first/shift'
run explain calls --origin positive
expect_in out 'Outer_1/either/then_branch/positive is a node of a body (Relu), covered'
run explain calls --all
expect_in out 'written out from Outer_1/inner/double'

# What is left on the table, of a search that assumes what does not hold: weights in 8
# bits on a target of floats.
/usr/bin/python3 - <<'EOF' || fail 'no model in 8 bits'
import numpy, onnx
from onnx import helper, numpy_helper, TensorProto
w = {"w": numpy.ones((8, 3, 3, 3), numpy.int8), "s": numpy.float32(.1), "z": numpy.int8(0), "u": numpy.uint8(3)}
nodes = [helper.make_node("QuantizeLinear", ["x", "s", "u"], ["q"]), helper.make_node("DequantizeLinear", ["q", "s", "u"], ["d"]),
         helper.make_node("DequantizeLinear", ["w", "s", "z"], ["k"]), helper.make_node("Conv", ["d", "k"], ["y"])]
graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 4, 4])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8, 2, 2])],
                          [numpy_helper.from_array(numpy.array(v), k) for k, v in w.items()])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), "bytes.onnx")
EOF
run search bytes.onnx -t mrvl -t host --db none --no-measure -o bytes
expect_status 0
python3 - bytes second <<'EOF' || fail 'what is left on the table'
import json, sys
for folder in sys.argv[1:]:
    result = json.load(open(f"{folder}/result.json"))
    plan, groups = result["plan"], result["opportunities"]
    on = {i: c["target"] for c in plan["composites"] for i in c["node_ids"]}
    for g in groups:
        assert g["nodes"] and all(on[i] != g["target"] for i in g["nodes"]), g
        assert sum(o["nodes"] for o in g["operators"]) == len(g["nodes"])
        free = [w for w in g["what_if"] if w.startswith("free:")]
        assert len(free) == (2 if g["cause"] == "costlier" else 0), g
        assert (g["cause"] == "refused") == bool(g["failed"]) and (g["saving"] == "not_searched") == ("why_not" in g), g
        assert g["saving"] == "not_searched" or 0 <= g["saves_ns"] <= g["at_most_ns"] <= result["total"]["cost_ns"], g
    for t in range(1, len(plan["targets"])):  # each node is in one group of a target that does not run it
        told = [i for g in groups if g["target"] == t for i in g["nodes"]]
        assert len(told) == len(set(told))
    assert all(c["payer"] < len(plan["targets"]) for c in plan["conversions"])
assert any(g["saving"] != "not_searched" for g in json.load(open("bytes/result.json"))["opportunities"])
EOF

for result in second forbidden; do
	/usr/bin/python3 - $result/partitioned.onnx $result/annotated.onnx \
		$(find $result/host -type f 2>/dev/null) <<'EOF' || fail "onnx.checker of $result"
import sys, onnx
from onnx import shape_inference
for path in sys.argv[1:]:
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
whole = onnx.load(sys.argv[1])
assert whole.functions, "no region became a function"
calls = [n for n in whole.graph.node if n.domain == "marq.region"]
assert len(calls) == len(whole.functions)
user = onnx.load("tiny.onnx")
annotated = onnx.load(sys.argv[2])
assert [n.op_type for n in annotated.graph.node] == [n.op_type for n in user.graph.node]
assert annotated.graph.initializer == user.graph.initializer
assert all("marq: " in n.doc_string for n in annotated.graph.node)
inside = sum(len(f.node) - sum(n.op_type == "Constant" for n in f.node) for f in whole.functions)
assert inside + len(whole.graph.node) - len(calls) == len(user.graph.node)
# What stayed on the host is as the user wrote it, but for a remark of where it runs.
theirs = {n.output[0]: n for n in user.graph.node}
for n in whole.graph.node:
    assert n.doc_string.startswith("marq: "), n.name
    n.ClearField("doc_string")
    if n.domain != "marq.region":
        assert n == theirs[n.output[0]], n.name
EOF
done
# What names hold steers no terminal and turns no text round, in any file for people.
PYTHONPATH="$MARQ_SOURCE/tests/support" python3 - >odd.onnx <<'END'
import sys
from deep import Encoder, blob, number, value
e = Encoder()
y = e.node("Relu", ["tokens"], "a\x1b[31m\u009b32m\u202eb\x7f")
graph = b"".join(e.nodes) + blob(2, "odd") + value(11, "tokens") + value(12, y)
sys.stdout.buffer.write(number(1, 8) + blob(7, graph) + blob(8, number(2, 17)))
END
run search odd.onnx -t mrvl -t host --db none --no-measure -o odd
expect_status 0
printf 'version: 1\ndefaults: {db: none, out: odd-night, options: [--no-measure]}\n' >odd.yaml
printf 'mixes: [{name: m, targets: [host]}]\nmodels: [{path: odd.onnx}]\n' >>odd.yaml
run batch odd.yaml
expect_status 0
python3 - odd odd-night <<'END' || fail 'see above'
import os, sys, unicodedata
wrong = 0
for root in sys.argv[1:]:
    for at, _, files in os.walk(root):
        for name in files:
            if not name.endswith((".md", ".html", ".json", ".txt", ".xml")):
                continue
            with open(os.path.join(at, name), encoding="utf-8") as f:
                text = f.read()
            odd = {c for c in text if unicodedata.category(c) == "Cc" and c not in "\t\n\r" or c in "\u202e\u2066"}
            if odd:
                print(f"{at}/{name}: {sorted(odd)}")
                wrong = 1
sys.exit(wrong)
END
done_testing
