#!/bin/sh
# Models in float16: held as floats between operators, or not (--exact-halves), which
# a result remembers.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"

cat >make.py <<'END'
import struct
def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])
def field(number, payload):
    if isinstance(payload, int):
        return varint(number << 3) + varint(payload)
    payload = payload.encode() if isinstance(payload, str) else payload
    return varint(number << 3 | 2) + varint(len(payload)) + payload
HALF = 10
def value(name, *dims):
    shape = b"".join(field(1, field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, HALF) + field(2, shape)))
def number(name, x):
    return field(2, HALF) + field(8, name) + field(9, struct.pack("<e", x))
def node(op, *names):
    inputs = b"".join(field(1, i) for i in names[:-1])
    return inputs + field(2, names[-1]) + field(3, names[-1]) + field(4, op)
def write(file, nodes, numbers=()):
    graph = b"".join(field(1, node(*n)) for n in nodes) + field(2, "halves")
    graph += b"".join(field(5, number(*n)) for n in numbers)
    graph += field(11, value("x", 1, 512)) + field(12, value("y", 1, 512))
    open(file, "wb").write(field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17)))
write("fine.onnx", [("Tanh", "x", "a"), ("Tanh", "a", "y")])
write("over.onnx", [("Tanh", "x", "a"), ("Mul", "a", "large", "b"), ("Mul", "b", "large", "c"),
    ("Tanh", "c", "y")], [("large", 30000.0)])
END
python3 make.py || fail 'cannot make models'
candidates() { sed -n 's/.* \([0-9]*\) candidates$/\1/p' out; }

targets='-t native -t host --no-measure --db none'
run search fine.onnx $targets -o held
expect_status 0
held=$(candidates)
run search fine.onnx $targets --exact-halves -o exact
expect_status 0
[ "$(candidates)" -lt "$held" ] || fail "--exact-halves: $(candidates) candidates of $held"
expect_in exact/result.json '"exact_halves": true'
expect_not_in held/result.json exact_halves
expect_not_in exact/result.json '/f32"'
for result in held exact; do
	run run $result --runs 1
	expect_status 0
	expect_in out matches
done
# Among which candidates a result's plan is looked for again, it says itself.
run explain exact --what-if '#0=native'
expect_in out 'no legal plan'
run explain held --what-if '#0=native'
expect_not_in out 'no legal plan'

# Each product that is beyond 65504 is infinite, as in the model.
run search over.onnx $targets --exact-halves -o over
expect_status 0
run run over --runs 1
expect_status 0
expect_in out matches
done_testing
