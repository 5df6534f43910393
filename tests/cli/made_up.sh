#!/bin/sh
# Inputs that marq makes up: texts are made up like numbers; where they do not suit an operator
# (a shape, a count, an index that the model is fed) the host's price is an estimate,
# and data of one's own are run and compared.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
python=${MARQ_ORT_PYTHON:-/usr/bin/python3}
"$python" -c 'import onnx' 2>/dev/null || { echo 'skipped: no python with onnx'; exit 77; }
"$python" - <<'END'
import os
import numpy
from onnx import TensorProto as T, helper as h, numpy_helper
def save(name, node, ins, outs, opset=17):
    infos = [[h.make_tensor_value_info(k, kind, x.shape) for k, kind, x in side] for side in (ins, outs)]
    m = h.make_model(h.make_graph([node], "g", *infos), opset_imports=[h.make_opsetid("", opset)])
    m.ir_version = 10
    os.makedirs(name)
    open(name + "/model.onnx", "wb").write(m.SerializeToString())
    for i, (_, _, x) in enumerate(ins):
        open("%s/input_%d.pb" % (name, i), "wb").write(numpy_helper.from_array(x).SerializeToString())
    for i, (_, _, x) in enumerate(outs):
        open("%s/output_%d.pb" % (name, i), "wb").write(numpy_helper.from_array(x).SerializeToString())
x = numpy.arange(24, dtype=numpy.float32).reshape(2, 3, 4)
ints = lambda *n: numpy.array(n, numpy.int64)
save("reshape", h.make_node("Reshape", ["x", "s"], ["y"]), [("x", T.FLOAT, x), ("s", T.INT64, ints(6, 4))],
     [("y", T.FLOAT, x.reshape(6, 4))])
save("expand", h.make_node("Expand", ["x", "s"], ["y"]), [("x", T.FLOAT, x), ("s", T.INT64, ints(5, 2, 3, 4))],
     [("y", T.FLOAT, numpy.broadcast_to(x, (5, 2, 3, 4)).copy())])
save("topk", h.make_node("TopK", ["x", "k"], ["y", "i"], axis=2), [("x", T.FLOAT, x), ("k", T.INT64, ints(2))],
     [("y", T.FLOAT, x[:, :, :1:-1].copy()), ("i", T.INT64, numpy.broadcast_to(ints(3, 2), (2, 3, 2)).copy())])
save("slice", h.make_node("Slice", ["x", "from", "to"], ["y"]),
     [("x", T.FLOAT, x), ("from", T.INT64, ints(0, 1)), ("to", T.INT64, ints(2, 3))], [("y", T.FLOAT, x[:, 1:].copy())])
save("squeeze", h.make_node("Squeeze", ["x", "axes"], ["y"]),
     [("x", T.FLOAT, x.reshape(1, 24)), ("axes", T.INT64, ints(0))], [("y", T.FLOAT, x.reshape(24))])
boxes = numpy.array([[0, 0, 2, 2]], numpy.float32)
whole = numpy.array([[0.5, 0.5, 2.5, 2.5]], numpy.float32)
save("roi", h.make_node("RoiAlign", ["x", "boxes", "image"], ["y"], output_height=1, output_width=1, sampling_ratio=1,
                        coordinate_transformation_mode="half_pixel", spatial_scale=1.0),
     [("x", T.FLOAT, x.reshape(1, 2, 3, 4)), ("boxes", T.FLOAT, whole), ("image", T.INT64, ints(0))],
     [("y", T.FLOAT, numpy.array([5, 17], numpy.float32).reshape(1, 2, 1, 1))])
END
"$python" "$MARQ_SOURCE/tests/support/authored.py" 0 1 scaler.onnx texts.onnx || exit 1
estimated='made-up inputs do not suit it'
for model in reshape expand topk slice squeeze; do
	run search $model/model.onnx -t host --db prices.db -o $model.marq
	expect_status 0
	expect_in out 'not verified: '
	run search $model/model.onnx -t host --db prices.db -o $model.marq --force
	expect_status 0
	expect_in out ', 0 measured'
	run explain $model.marq --all
	expect_in out "$estimated"
	run run $model/model.onnx -t host --db prices.db --runs 1
	expect_status 3
	expect_in err 'made-up inputs (--data names others): '
	expect_lines 1 err
done
for model in roi/model texts; do
	run search $model.onnx -t host --db prices.db -o $model.marq
	expect_status 0
	expect_in out 'verified: max error 0 '
	run explain $model.marq --all
	expect_not_in out "$estimated"
	run run $model.onnx -t host --db prices.db --runs 1
	expect_status 0
	expect_in out 'matches the host reference'
done
for model in reshape expand topk slice squeeze roi; do
	run run $model/model.onnx -t host --db prices.db --runs 1 --data $model
	expect_status 0
	expect_in out 'matches the expected output'
done
done_testing
