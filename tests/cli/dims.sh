#!/bin/sh
# Dimensions that nobody bound: a batch is one, and said on the first line; the
# others are asked for, each named with its places and a command that binds them.
# A graph of nothing, and of operators nobody knows, end in one line.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
python=${MARQ_ORT_PYTHON:-/usr/bin/python3}
"$python" -c 'import onnx' 2>/dev/null || { echo 'skipped: no python with onnx'; exit 77; }
"$python" - <<'END'
from onnx import TensorProto, helper as h
def save(name, ins, nodes, opsets=()):
    outs = [h.make_tensor_value_info(n.output[0], TensorProto.FLOAT, None) for n in nodes if n.op_type != "NonZero"]
    ins = [h.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in ins]
    g = h.make_graph(nodes, "g", ins, outs)
    m = h.make_model(g, opset_imports=[h.make_opsetid("", 17)] + [h.make_opsetid(d, 1) for d in opsets])
    m.ir_version = 8
    open(name + ".onnx", "wb").write(m.SerializeToString())
relu = lambda x, y: h.make_node("Relu", [x], [y])
save("batch", [("x", ["batch_size", 3, 8]), ("z", ["N", 8])], [relu("x", "y"), relu("z", "w")])
save("first", [("x", [None, 3])], [relu("x", "y")])
save("text", [("ids", ["batch", "seq len"]), ("mask", ["batch", "seq len"])], [relu("ids", "y"), relu("mask", "w")])
save("inner", [("x", [None, 3, None])], [relu("x", "y")])
save("ranks", [("x", None)], [relu("x", "y")])
save("found", [("x", [4, 6])], [h.make_node("NonZero", ["x"], ["i"]), h.make_node("Cast", ["i"], ["y"], to=1), relu("x", "z")])
save("nothing", [("x", [1, 3])], [])
save("unknown", [("x", [1, 3])], [h.make_node("Foo", ["x"], ["y"], domain="some.where")], ["some.where"])
save("newer", [("x", [1, 3])], [h.make_node("Foo", ["x"], ["y"])])
END
how='-t host --no-measure --db none'
run search batch.onnx $how
expect_status 0
head -n 1 err | grep -q 'taking batch_size = 1, N = 1' || fail 'the first line does not say'
head -n 1 out | grep -q 'batch_size = 1, N = 1' || fail 'the first line does not say'
run run batch.marq --no-measure --db none
expect_status 0
run search first.onnx $how -o none
expect_status 0
expect_in out "first dimension of 'x' = 1"
for verb in explain run search; do
	case $verb in explain) more=--all ;; search) more='-o none' ;; *) more= ;; esac
	run $verb text.onnx $how $more
	expect_status 2
	expect_lines 1 err
	for word in "marq $verb text.onnx --dim batch=1 --dim 'seq len=128'" \
		"'seq len' (of 'ids' axis 1, 'mask' axis 1)" "'batch' (of 'ids' axis 0, 'mask' axis 0)"; do
		expect_in err "$word"
	done
done
# what it says to type works, and the result needs no more
eval "set -- $(sed 's/.*like: marq //; s/; not bound.*//' err)"
run "$@" $how -o bound
expect_status 0
run run bound --no-measure --db none
expect_status 0
run compare text.onnx@host text.onnx@mrvl+host --no-measure --db none --dim "seq len=7"
expect_status 0
run model info text.onnx
expect_in out 'bind dimensions with --dim'
expect_in err 'next: the same with --dim NAME=N'
run search text.onnx $how --dim batch=2 --dim "seq len=7" -o two
expect_status 0
grep -q 'float32\[2,7\]' two/result.json || fail 'not the sizes that were given'
run search inner.onnx $how -o none
expect_status 2
expect_in err '--shape x=1x3x64'
run search ranks.onnx $how -o none
expect_status 2
expect_in err "all of 'x'"
run compare text.onnx@host text.onnx@host --no-measure --db none
expect_status 2

for verb in 'search -o none' 'explain --all'; do
	run $verb nothing.onnx $how
	expect_status 3
	expect_lines 1 err
	expect_in err 'no nodes'
	for model in unknown newer; do
		run $verb $model.onnx $how
		expect_status 3
		expect_lines 1 err
		expect_in err "Foo"
	done
done
run search newer.onnx $how -o none --opaque --shape y=1x3
expect_status 0
run model info unknown.onnx
expect_status 0

# a size that only a run tells is in no estimate, which says so
run search found.onnx $how -o none
expect_status 0
expect_in out 'plan: at least '
expect_in out 'of its prices leave out sizes, branches or steps that only a run tells'
run search found.onnx $how -o found
expect_status 0
expect_in found/result.json '"unsized": 2'
expect_in found/report.md 'At least **'
expect_in found/report.md 'leave out sizes, branches or steps that only a run tells'
expect_in found/report.html 'leave out sizes, branches or steps that only a run tells'
run search batch.onnx $how -o none
expect_status 0
! grep -q '^plan: at least' out || fail 'at least, and all is known'
done_testing
