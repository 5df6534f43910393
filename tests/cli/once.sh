#!/bin/sh
# A result holds the weights of a large model once: partitioned.onnx refers to
# those in annotated.onnx, wherever their fields lie; it has its own where that is
# not written, and where the model is small.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
search() { # MODEL OUT [OPTION...]
	model=$1 out=$2
	shift 2
	run search "$model" -t dnnl -t host --no-measure --no-verify --db none -o "$out" -q "$@"
	expect_status 0
}
size() { stat -c %s "$1"; }
of_all() { find "$1" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }'; }

run model make resnet50 -o large.onnx -q
run model make tiny -o small.onnx -q
search large.onnx large
[ "$(size large/partitioned.onnx)" -lt 4000000 ] || fail 'partitioned.onnx has weights of its own'
[ "$(of_all large)" -lt $(($(size large.onnx) * 11 / 10)) ] || fail 'the result has weights twice'
run verify large
expect_status 0
search large.onnx alone --emit=partitioned
[ "$(size alone/partitioned.onnx)" -gt $(($(size large.onnx) * 9 / 10)) ] || fail 'where are its weights?'
search small.onnx small
! grep -q 'annotated.onnx' small/partitioned.onnx || fail 'a small model refers to another file'

# Weights lie as far into a block as in the model, so that none need be copied; and
# what the database remembers of the sum is what reading gives.
/usr/bin/python3 - large.onnx large/annotated.onnx <<'END' || fail 'weights are out of step'
import sys
model, annotated = (open(x, "rb").read() for x in sys.argv[1:])
middle = len(model) // 2
there = annotated.find(model[middle:middle + 256])
assert there > 0 and (there - middle) % 4096 == 0, (middle, there)
END
if /usr/bin/python3 -c 'import onnx, numpy' 2>/dev/null; then
	/usr/bin/python3 - <<'END' || fail 'no model'
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
row = [helper.make_tensor_value_info(x, TensorProto.FLOAT, [1, 2048]) for x in "xy"]
weights = numpy_helper.from_array(np.random.default_rng(1).random((2048, 2048), np.float32), "w")
graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "one", row[:1], row[1:], [weights])
onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)]), "one.onnx")
END
	for i in 1 2 3; do
		run search one.onnx -t host --db sums.db -o sum$i -q
		expect_status 0
		run verify sum$i
		expect_status 0
	done
	cmp -s sum1/annotated.onnx sum3/annotated.onnx || fail 'another annotated.onnx'
	/usr/bin/python3 - <<'END' || fail 'the sum is not remembered'
import sqlite3
kept = [x for (x,) in sqlite3.connect("sums.db").execute("SELECT v FROM meta") if len(str(x)) == 64]
assert len(kept) == 1 and kept[0] in open("sum3/files.json").read(), kept
END
fi

# It reads as a model of its own, beside its lender and not without it; its own
# annotated.onnx cannot be the file that its weights are in.
run search large/partitioned.onnx -t dnnl -t host --no-measure --no-verify --db none -o again
expect_status 0
expect_in err "annotated.onnx is left out"
expect_in err "the model's weights lie in a file of that name"
mkdir lone && cp large/partitioned.onnx lone
run model info lone/partitioned.onnx
[ "$status" -ne 0 ] || fail 'weights from nowhere'
expect_in err annotated.onnx

# Every constant is what the user's model says, in both.
/usr/bin/python3 -c 'import onnx' 2>/dev/null && /usr/bin/python3 - <<'END' || fail 'constants differ'
import onnx
from onnx import numpy_helper
want = {t.name: t for t in onnx.load("large.onnx").graph.initializer}
for name in ("large", "alone"):
    path = name + "/partitioned.onnx"
    apart = {t.name for t in onnx.load(path, load_external_data=False).graph.initializer if t.external_data}
    assert len(apart) > 50 if name == "large" else not apart, (name, len(apart))
    same = 0
    for t in onnx.load(path).graph.initializer:
        if t.name in want:
            same += 1
            assert numpy_helper.to_array(t).tobytes() == numpy_helper.to_array(want[t.name]).tobytes(), t.name
    assert same > 50, (name, same)
END
done_testing
