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
}
