# For ort.sh and openvino.sh: a runtime as a plug-in. Refusals in words, right
# outputs, nothing measured twice. Skipped where the plug-in was not built or the
# library is not there.
. "$(dirname "$0")/lib.sh"
runtime_tests() { # NAME HEADER WORDS VERSION
	so=$(plain_name "$MARQ_BUILD/marq_$1.so")
	[ -e "$so" ] || { echo "skipped: the plug-in $1 was not built (no $2)"; exit 77; }
	# Where it is in nobody's path it says so, and how to get it.
	run targets check "plugin:path=$so,library=none.so"
	expect_status 4
	expect_in err "$3 is not here: none.so; "
	expect_lines 1 err
	run targets check "plugin:path=$so,library=libc.so.6"
	expect_status 4
	expect_lines 1 err
	# As tools/install-deps puts it, else as whoever runs the tests says.
	for python in "$MARQ_SOURCE/build/runtimes/bin/python3" "${MARQ_ORT_PYTHON-}"; do
		[ ! -e "$python" ] || PATH=$(dirname "$python"):$PATH
	done
	run targets check "plugin:path=$so"
	[ "$status" = 0 ] || { echo "skipped: $(cat err)"; [ "$failures" = 0 ] && exit 77; exit 1; }
	run targets show "plugin:path=$so"
	expect_in out "fact.$1_version=$4"
	expect_in out "fact.$1_file=/"

	# The whole of a model runs there and is right.
	"$MARQ_BUILD/tests/standin_model" net.onnx pcsf || exit 1
	everything="--pin op:MaxPool=$1 --pin op:Conv=$1 --pin op:Sigmoid=$1 --pin op:Flatten=$1"
	run search net.onnx -t "plugin:path=$so" -t host --db prices.db $everything -o whole
	expect_status 0
	expect_in out 'proven among '
	expect_in out verified
	expect_in whole/result.json "\"rule\": \"$1.region\""
	run search net.onnx -t "plugin:path=$so" -t host --db prices.db $everything -o again
	expect_in out ', 0 measured'
	cmp -s whole/result.json again/result.json || fail 'another result'
	# What it made of the model is asked once: the database keeps it.
	python3 - prices.db <<'EOS' || fail 'no layers are kept'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE meta SET v = 'kept ' || v WHERE k LIKE 'text.%'")
db.commit()
sys.exit(db.total_changes == 0)
EOS
	cmp -s whole/map.json again/map.json || fail 'other layers'
	run search net.onnx -t "plugin:path=$so" -t host --db prices.db $everything -o kept
	expect_in kept/map.json '"kept '
	# What it made of the model, and what it was given.
	for model in "whole/$1"/*; do
		case $model in
		*.onnx) run model check "$model"; expect_status 0 ;;
		*) fail "$model is no model" ;;
		esac
	done
	python3 - whole/map.json <<'EOS' || fail 'layers'
import json, sys
m = json.load(open(sys.argv[1]))
layers = m["layers"]
told = {n for l in layers for n in l["nodes"]}
assert layers and {m["nodes"][n]["op_type"] for n in told} >= {"MaxPool"}, layers
of = {i for c in m["composites"] for i in c["layers"]}
assert of == {l["id"] for l in layers if l["nodes"]}, m
EOS
	run run whole -t "plugin:path=$so" -t host --db prices.db --runs 3
	expect_status 0
	expect_in out 'matches the host reference'
	many_ports "$1"
}
# A table's columns come one by one: 100 inputs and 100 outputs are no more than one.
many_ports() { # NAME
	python3 - >ports.onnx <<'EOS'
import sys
def field(n, *parts):  # bytes or text with their length; an int as it is
    if isinstance(parts[0], int):
        return bytes([n << 3, parts[0]])
    body = b"".join(p.encode() if isinstance(p, str) else p for p in parts)
    assert len(body) < 1 << 14
    size = [len(body)] if len(body) < 128 else [len(body) & 127 | 128, len(body) >> 7]
    return bytes([n << 3 | 2, *size]) + body
def value(n, name):
    shape = field(2, field(1, field(1, 1)), field(1, field(1, 4)))
    return field(n, field(1, name), field(2, field(1, field(1, 1), shape)))
graph = [field(2, "ports")]
for i in range(100):
    graph += [value(11, f"x{i}"), value(12, f"y{i}")]
    graph += [field(1, field(1, f"x{i}"), field(1, f"x{(i + 1) % 100}"), field(2, f"y{i}"), field(4, "Add"))]
sys.stdout.buffer.write(field(1, 8) + field(8, field(1, ""), field(2, 17)))
body = b"".join(graph)
n = len(body)
sys.stdout.buffer.write(bytes([7 << 3 | 2, n & 127 | 128, n >> 7 & 127 | 128, n >> 14]) + body if n >= 1 << 14
                        else field(7, body))
EOS
	run search ports.onnx -t "plugin:path=$so" -t host --db prices.db --pin "op:Add=$1" -o ports
	expect_status 0
	expect_in ports/result.json "\"rule\": \"$1.region\""
	run run ports -t "plugin:path=$so" -t host --db prices.db --runs 3
	expect_status 0
	expect_in out "'y99' matches the host reference"
}
