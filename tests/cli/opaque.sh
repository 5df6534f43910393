#!/bin/sh
# Operators nobody here knows: refused by name; with --opaque steps on the host that
# no target reaches across, priced as the user says, whose types the model or
# the user states; as they were in partitioned.onnx; and never run.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
python=${MARQ_ORT_PYTHON:-/usr/bin/python3}
"$python" -c 'import onnx' 2>/dev/null || { echo 'skipped: no python with onnx'; exit 77; }
"$python" - <<'END'
import numpy
from onnx import TensorProto as T, helper as h, numpy_helper
def vi(name, shape, kind=T.FLOAT):
    return h.make_tensor_value_info(name, kind, shape)
def relu(x, y):
    return h.make_node("Relu", [x], [y])
def foo(ins, outs, **more):
    return h.make_node("Foo", ins, outs, domain="some.where", **more)
def save(name, ins, nodes, outs, infos=(), domains=("some.where",)):
    g = h.make_graph(nodes, "g", ins, outs, value_info=infos)
    m = h.make_model(g, opset_imports=[h.make_opsetid("", 17)] + [h.make_opsetid(d, 3) for d in domains])
    m.ir_version = 10
    open(name + ".onnx", "wb").write(m.SerializeToString())
x = [vi("x", [1, 3])]
body = h.make_graph([h.make_node("Identity", ["in"], ["mid"]), h.make_node("Neg", ["mid"], ["out"])],
                    "body", [vi("in", [1])], [vi("out", [1])])
dressed = foo(["a"], ["b"], name="foo", alpha=1.5, number=3, text="str", ints=[1, 2], floats=[.5],
              texts=["a", "b"], t=numpy_helper.from_array(numpy.arange(6).reshape(2, 3)), body=body)
if hasattr(dressed, "metadata_props"):  # from onnx 1.16 on
    remark = dressed.metadata_props.add()
    remark.key, remark.value = "author", "remarks"
save("middle", x, [relu("x", "a"), dressed, relu("b", "y")], [vi("y", [1, 4])], [vi("b", [1, 4])])
save("input", x, [foo(["x"], ["a"]), relu("a", "y")], [vi("y", [1, 3])], [vi("a", [1, 3])])
save("output", x, [relu("x", "a"), foo(["a"], ["y"])], [vi("y", [1, 3])])
save("several", x, [foo(["x", "", "x"], ["a", "", "b"]), relu("a", "y"), relu("b", "z")],
     [vi("y", [1, 3]), vi("z", [2])], [vi("a", [1, 3]), vi("b", [2])])
save("missing", x, [foo(["x"], ["a", "b"], name="foo"), relu("a", "y"), relu("b", "z")],
     [vi("y", None), vi("z", None)], [vi("b", None)])
save("dynamic", [vi("x", ["batch", "len"])], [foo(["x"], ["a"]), relu("a", "y")],
     [vi("y", ["batch", "len"])], [vi("a", ["batch", "len"])])
save("own", [vi("x", ["batch", 3])], [foo(["x"], ["a"]), relu("a", "y")], [vi("y", ["found", 3])],
     [vi("a", ["found", 3])])
save("noimport", x, [foo(["x"], ["a"]), relu("a", "y")], [vi("y", [1, 3])], [vi("a", [1, 3])], ())
then = h.make_graph([foo(["x"], ["t"], name="inner")], "then", [], [vi("t", [1, 3])])
other = h.make_graph([h.make_node("Neg", ["x"], ["e"])], "other", [], [vi("e", [1, 3])])
save("branch", x + [vi("c", [], T.BOOL)],
     [h.make_node("If", ["c"], ["y"], name="which", then_branch=then, else_branch=other)], [vi("y", [1, 3])])
save("hostile", x, [foo(["x"], ["a\n<script>"], name="<b>\n\"%s'\x1b[31m"), relu("a\n<script>", "y")],
     [vi("y", [1, 3])], [vi("a\n<script>", [1, 3])])
END
how='-t dnnl -t host --no-measure --db none'
all='middle input output several noimport branch hostile'
for model in $all missing; do
	run search $model.onnx $how -o none
	expect_status 3
	expect_in err 'some.where.Foo'
	expect_in err '--opaque'
done
for model in $all; do
	run search $model.onnx $how --opaque -o $model
	expect_status 0
	expect_in err 'an opaque step on the host'
	expect_in err '--opaque-price'
	expect_in out 'opaque: 1 node'
	expect_in out 'by themselves the other composites are right'
	expect_in $model/report.md 'opaque'
	run run $model --no-measure --db none
	expect_status 3
	expect_in err 'cannot be run here'
	run verify $model
	expect_status 0
done
run run branch --no-measure --db none
expect_in err "'which' (If, with 'inner', some.where.Foo, in it)"
run explain middle --node foo --no-measure --db none
expect_status 0
expect_in out 'as host.node, opaque'
run model info middle.onnx
expect_status 0
expect_in out 'Foo 1'

# what the user has to say, word by word
run search missing.onnx $how --opaque -o none
expect_status 2
expect_lines 1 err
expect_in err "--shape 'a=AxBxC:TYPE' --shape 'b=AxBxC'"
run search missing.onnx $how --opaque -o told --shape a=1x3:float32 --shape b=2 --opaque-price foo=3ms
expect_status 0
expect_in out '3 ms told by --opaque-price'
grep -q '"name": "b", "type": "float32\[2\]"' told/result.json || fail 'not the shape that was told'
run explain told --all --no-measure --db none
expect_status 0
expect_in out '3 ms external (told by the user)'
for wrong in 'b=1x2x' 'b=2:float' 'b=2:' 'nobody=2' 'x=1x4' 'x=1x3:float16' 'y=1x3'; do
	run search missing.onnx $how --opaque -o none --shape a=1x3:float32 --shape "$wrong"
	expect_status 2
	expect_in err "${wrong%%=*}"
done
run search missing.onnx $how --opaque -o told --force --shape a=1x3:float32 --shape b=2 --opaque-price 9007199254740993ns
expect_status 0
expect_in told/result.json '"cost_ns": 9007199254740993'
run explain told --node foo --no-measure --db none --format=json --opaque # searches again
expect_status 0
expect_in out '9007199254740993'
for wrong in Bar=3ms foo=3 = 4611686018427387905ns 18446744073709551615ns; do
	run search middle.onnx $how --opaque -o none --opaque-price $wrong
	expect_status 2
	expect_in err "--opaque-price $wrong"
done
run search middle.onnx $how --opaque -o none --opaque-price 1ms --opaque-price some.where.Foo=2ms
expect_in out '2 ms told by --opaque-price'
run search middle.onnx $how --opaque -o none --shape b=1x5
expect_status 2
expect_in err "value 'b' is 4 in the model, 5 is given"

# open dimensions are bound; what only the operator knows is asked for
run search dynamic.onnx $how --opaque -o none --dim batch=2 --dim len=5
expect_status 0
run search own.onnx $how --opaque -o none
expect_status 2
expect_in err "--shape 'a=Ax3'"
run search own.onnx $how --opaque -o none --shape a=7x3
expect_status 0

cat >batch.yaml <<'END'
version: 1
defaults: {out: results, options: ["--opaque", "--no-measure", "--opaque-price=1ms"]}
mixes: [{name: host, targets: [host]}]
models: [{path: middle.onnx}]
END
run batch batch.yaml
expect_status 0
grep -q '"told": true' results/*/result.json || fail 'the batch does not know what was told'

# the node is as its author wrote it, and stands between regions
"$python" - <<'END' || fail 'partitioned.onnx is not what it should be'
import onnx
from onnx import numpy_helper
def node(path):
    m = onnx.load(path)
    return m, [n for n in m.graph.node if n.op_type == "Foo"][0]
def attributes(n):
    return {a.name: onnx.helper.get_attribute_value(a) for a in n.attribute}
def text(v):
    if isinstance(v, onnx.TensorProto):
        return numpy_helper.to_array(v).tolist()
    if isinstance(v, onnx.GraphProto):
        return [[n.op_type, list(n.input), list(n.output)] for n in v.node]
    return v
model, old = node("middle.onnx")
made, new = node("middle/partitioned.onnx")
if made.ir_version <= onnx.IR_VERSION:
    onnx.checker.check_model(made)
assert (old.input, old.output, old.name, old.domain) == (new.input, new.output, new.name, new.domain)
if hasattr(old, "metadata_props"):
    kept = [p for p in new.metadata_props if not p.key.startswith("marq.")]
    assert list(old.metadata_props) == kept, kept
a, b = attributes(old), attributes(new)
assert a.keys() == b.keys() and all(text(a[k]) == text(b[k]) for k in a), (a, b)
assert {(o.domain, o.version) for o in model.opset_import} <= {(o.domain, o.version) for o in made.opset_import}
made, new = node("noimport/partitioned.onnx")
assert ("some.where", 1) in {(o.domain, o.version) for o in made.opset_import}
made, new = node("several/partitioned.onnx")
assert list(new.input) == ["x", "", "x"] and list(new.output) == ["a", "", "b"], new
made = onnx.load("branch/partitioned.onnx")
assert any(n.op_type == "Foo" for a in made.graph.node[0].attribute for n in a.g.node), made
END
done_testing
