#!/bin/sh
# Marks and partitions in the model itself: an annotated model edited and
# searched again, a partitioned one searched with its regions locked, and every
# way to say it wrong.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
/usr/bin/python3 -c 'import onnx' 2>/dev/null || {
	echo 'skipped: no python3-onnx to write marks with'
	exit 77
}

# mark IN OUT [NODE KEY VALUE]...: NODE is a name, or - for the model.
cat >mark.py <<'END'
import sys, onnx
def varint(n):
    out = b""
    while n >= 128:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])
def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload
source, target, *rest = sys.argv[1:]
model = onnx.load(source)
for name, key, value in zip(rest[::3], rest[1::3], rest[2::3]):
    if name == "-":
        model.metadata_props.add(key=key, value=value)
    elif name == "ir":
        model.ir_version = int(value)
    else:  # NodeProto.metadata_props, unknown to older onnx packages
        node, = (n for n in model.graph.node if n.name == name)
        node.MergeFromString(field(9, field(1, key.encode()) + field(2, value.encode())))
onnx.save(model, target)
END
mark() { /usr/bin/python3 mark.py "$@" || fail "mark.py $*"; }
# The plan as (target, composites, operators) by region, names aside.
cat >shape.py <<'END'
import json, sys
r = json.load(open(sys.argv[1] + "/result.json"))
p, op = r["plan"], {n["ref"]: n["op_type"] for n in r["nodes"]}
print(r["total"]["cost_ns"])
for g in p["regions"]:
    inside = p["composites"][g["first"]:g["first"] + g["composites"]]
    print(p["targets"][g["target"]], [[c["rule"], sorted(op[n] for n in c["nodes"])] for c in inside])
END
shape() { python3 shape.py "$1"; }
target_of() { # DIR NAME
	python3 - "$1" "$2" <<'END'
import json, sys
m = json.load(open(sys.argv[1] + "/map.json"))
node = next(n for n in m["onnx"] if n["name"] == sys.argv[2])["nodes"][0]["node"]
c = next(c for c in m["composites"] if node in c["nodes"])
print(c["target"])
END
}

run model make tiny -o tiny.onnx -q
expect_status 0
targets='-t mrvl -t host --no-measure --db none'

# A partitioned model keeps its regions: what was forbidden then is not now, and
# yet the regions are as they were.
run search tiny.onnx $targets -o free -q
expect_status 0
run search tiny.onnx $targets -o forced -q --pin Relu_15=host --pin Conv_0=mrvl --pin Gemm_28=mrvl
expect_status 0
[ "$(shape free)" != "$(shape forced)" ] || fail 'the constraints change nothing'
run search forced/partitioned.onnx $targets -o locked
expect_status 0
expect_in out 'proven optimal'
shape forced >forced.txt
shape locked >locked.txt
cmp -s forced.txt locked.txt || { fail 'locked regions moved'; diff forced.txt locked.txt; }
python3 - locked/result.json <<'END' || fail 'the partitions are not among the constraints'
import json, sys
kinds = [c["kind"] for c in json.load(open(sys.argv[1]))["constraints"]]
assert kinds and set(kinds) == {"partition"}, kinds
END
run search forced/partitioned.onnx $targets -o anew -q --ignore-marks
expect_status 0
[ "$(shape anew)" = "$(shape free)" ] || fail '--ignore-marks does not search anew'
run search forced/partitioned.onnx -t host --no-measure --db none -o none
expect_status 3
expect_in err "marq.region.mrvl_0 'target=mrvl"

# An annotated model searched again is the same plan, and can be edited.
mark tiny.onnx ten.onnx ir . 10
run search ten.onnx $targets -o first -q
expect_status 0
run search first/annotated.onnx $targets -o again -q
expect_status 0
[ "$(shape again)" = "$(shape first)" ] || fail 'an annotated model gives another plan'
run search again/annotated.onnx $targets -o third -q
expect_status 0
cmp -s again/annotated.onnx third/annotated.onnx || fail 'annotating twice is not annotating once'
[ "$(target_of first MaxPool_3)" = mrvl ] || fail 'MaxPool_3 is not on mrvl'
python3 - first/annotated.onnx edited.onnx <<'END'
# One node goes to the host: only a value of its metadata is edited.
import sys
data = open(sys.argv[1], "rb").read()
at = data.index(b"marq.target\x12\x04mrvl", data.index(b"MaxPool_3"))
open(sys.argv[2], "wb").write(data[:at] + b"marq.target\x12\x04host" + data[at + 17:])
END
run search edited.onnx $targets -o edited -q
expect_status 0
[ "$(target_of edited MaxPool_3)" = host ] || fail 'the edited mark is not kept'
[ "$(target_of edited Conv_4)" = mrvl ] || fail 'another node moved'

# Marks of one's own, on nodes and on the model.
mark tiny.onnx own.onnx Conv_0 marq.forbid mrvl Relu_15 marq.target 'mrvl host' \
	MaxPool_3 marq.stop_fusion true Softmax_29 marq.target host \
	Conv_16 marq.partition p Conv_16 marq.target mrvl \
	BatchNormalization_17 marq.partition p BatchNormalization_17 marq.target mrvl \
	- marq.constraints '{"schema": "marq.constraints/1", "pins": [{"node": "Relu_2", "target": "host"}]}'
run search own.onnx $targets -o own -q
expect_status 0
[ "$(target_of own Conv_0)" = host ] || fail 'marq.forbid is not kept'
[ "$(target_of own Relu_2)" = host ] || fail 'marq.constraints is not kept'
shape own >own.txt
expect_in own.txt "mrvl [['mrvl.conv2d_nhwc2nhwc', ['BatchNormalization', 'Conv']]]"
cat >part.json <<'END'
{"schema": "marq.constraints/1", "partitions": [{"name": "p", "target": "mrvl", "nodes": ["Conv_16", "BatchNormalization_17"]}]}
END
run search tiny.onnx $targets -o part -q --constraints part.json
expect_status 0
shape part >part.txt
expect_in part.txt "mrvl [['mrvl.conv2d_nhwc2nhwc', ['BatchNormalization', 'Conv']]]"

# Wrong marks: node, key and value are named, and nothing is written.
wrong() { # STATUS MESSAGE MARK...
	expected=$1 message=$2
	shift 2
	mark tiny.onnx wrong.onnx "$@"
	run search wrong.onnx $targets -o wrong
	expect_status "$expected"
	expect_lines 1 err
	expect_in err "$message"
	expect_absent wrong
}
wrong 3 "node 'Conv_0' (#0, Conv): marq.target 'dnnl': no target" Conv_0 marq.target dnnl
wrong 3 "node 'Conv_0' (#0, Conv): marq.targt 'mrvl': unknown mark" Conv_0 marq.targt mrvl
wrong 3 "marq.stop_fusion 'yes': want true or false" Conv_0 marq.stop_fusion yes
wrong 3 "marq.target 'host': given twice" Conv_0 marq.target mrvl Conv_0 marq.target host
wrong 3 "marq.forbid 'mrvl': contradicts marq.target 'mrvl'" Conv_0 marq.forbid mrvl Conv_0 marq.target mrvl
wrong 3 "marq.partition 'p': a partition needs a target" Conv_0 marq.partition p
wrong 3 "marq.partition 'p': its partition is on another target: marq.target 'mrvl'" \
	Conv_0 marq.target mrvl Conv_0 marq.partition p Relu_2 marq.target host Relu_2 marq.partition p
wrong 3 "partition 'p' on mrvl: a path leaves its 2 nodes" \
	Conv_0 marq.target mrvl Conv_0 marq.partition p Conv_4 marq.target mrvl Conv_4 marq.partition p
wrong 3 "metadata marq.frobnicate 'x': unknown mark of a model" - marq.frobnicate x
wrong 3 "metadata marq.schema 'marq.annotated/9': want" - marq.schema marq.annotated/9
wrong 3 'metadata marq.constraints' - marq.constraints '{"schema": 1}'
wrong 1 "\"marq.target mrvl of node 'Softmax_29' (#29, Softmax)\"" \
	Softmax_29 marq.target mrvl Conv_0 marq.target mrvl Relu_2 marq.stop_fusion true
expect_not_in err Conv_0
expect_not_in err Relu_2
done_testing
