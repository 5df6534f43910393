#!/bin/sh
# What must not share a price and what must, on the models of a review that found
# wrong prices reused as exact: each pair is searched on one database.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
data=$MARQ_SHARED/data/prices
[ -d "$data" ] || {
	echo "skipped: no $data"
	exit 77
}
cpu='-t host'
for kind in blas xnnpack dnnl; do
	"$MARQ" targets check $kind >/dev/null 2>&1 && cpu="-t $kind $cpu"
done

search() { # MODEL DATABASE OPTION...
	model=$1 db=$2
	shift 2
	run search "$data/$model" --db "$db" -o none --no-progress \
		--format=json "$@"
}
number() { # KEY: of the last search
	python3 -c 'import json, sys; print(json.load(open("out"))[sys.argv[1]])' "$1"
}
expect_apart() { # MODEL MODEL
	search "$1.onnx" "$1.db" -t host
	expect_status 0
	search "$2.onnx" "$1.db" -t host
	expect_status 0
	[ "$(number reused)" = 0 ] || fail "has the price of $1"
	[ "$(number measured)" -gt 0 ] || fail 'was not measured'
}

# How often a loop runs; how much of a sequence counts; where indices lead.
expect_apart loop_once loop_20000
expect_apart lstm_1 lstm_200
expect_apart gather_near gather_far
search loop_both.onnx none -t host
expect_status 0
[ "$(number measured)" = 2 ] || fail 'two loops of one model are one'

# A model that is refused says nothing of its sibling.
search dropout_true.onnx dropout.db -t host
[ "$status" != 0 ] || fail 'training mode was taken'
search dropout_false.onnx dropout.db -t host
expect_status 0

# Weights that overflow say nothing of ordinary ones, nor the other way round.
search mm_huge.onnx mm.db $cpu --eager-pricing
expect_status 0
search mm_sane.onnx mm.db $cpu --eager-pricing
expect_status 0
[ "$(number reused)" -gt 0 ] || fail 'its weights are in its key'
python3 - <<'P' || fail 'a price is barred by the weights of another model'
import sqlite3
n, = sqlite3.connect("mm.db").execute("""select count(*) from measurement
    where outcome='wrong_result' and subject_id in (select subject_id
    from measurement where outcome='ok')""").fetchone()
raise SystemExit(n != 0)
P
for model in nan_first nan_second; do
	run run "$data/$model.onnx" $cpu --db none
	expect_status 0
done

# How long a Loop takes that the model's input ends is made up, and said so.
run run "$data/loop_input_trip.onnx" -t host --db none
expect_status 0
expect_in err 'depends on data that is not in the model'

# Reductions over axes of length 1, which oneDNN refuses, run.
run run "$data/reduce_one.onnx" $cpu --db none --no-measure
expect_status 0

# Two Arm processors (as the kernel prints them) are two machines.
arm() { # IMPLEMENTER-PART-REVISION: a search with that /proc/cpuinfo
	printf 'processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: %s\nCPU revision\t: 1\n\n' "$1" >cpuinfo
	unshare -m sh -c 'mount --bind cpuinfo /proc/cpuinfo && exec "$@"' sh \
		"$MARQ" search "$data/mm_sane.onnx" -t host --db arm.db -o none \
		--no-progress --format=json >out 2>err
	status=$?
}
command='marq search on two Arm processors'
if unshare -m true 2>/dev/null; then
	for part in 0xd08 0xd0c; do
		arm $part
		expect_status 0
		[ "$(number measured)" -gt 0 ] || fail "has another machine's price"
	done
	arm 0xd0c
	[ "$(number measured)" = 0 ] || fail 'measured again'
else
	echo 'skipped two Arm processors: no namespace of mounts'
fi

# A batch starts again what it reads is other than before: weights in a file of
# their own; and figures that are 6 % higher are inside their noise.
cp "$data/chain4.onnx" m.onnx
cat >noise.yaml <<-'YAML'
	version: 1
	defaults: {db: noise.db, out: noise}
	mixes:
	  - {name: cpu, targets: [host]}
	models:
	  - {path: m.onnx}
YAML
run batch noise.yaml
expect_status 0
python3 - <<'P'
import sqlite3
c = sqlite3.connect("noise.db")
c.execute("update measurement set low_ns=low_ns*106/100,"
          " median_ns=median_ns*106/100, high_ns=high_ns*120/100")
c.commit()
P
printf '\062\001a' >>m.onnx # its doc_string: another file, the same model
run batch noise.yaml
expect_status 0
expect_in out '0 regressed'

if /usr/bin/python3 -c 'import numpy, onnx' 2>/dev/null; then
	/usr/bin/python3 - <<'P'
import numpy, onnx
from onnx import helper, numpy_helper
v = lambda n: helper.make_tensor_value_info(n, 1, [32, 64])
w = numpy_helper.from_array(numpy.ones((64, 64), "f4"), "w")
nodes = [helper.make_node("Identity", ["x"], ["i"], name="gone"),
         helper.make_node("MatMul", ["i", "w"], ["y"], name="mm")]
m = helper.make_model(helper.make_graph(nodes, "g", [v("x")], [v("y")], [w]),
                      opset_imports=[helper.make_opsetid("", 17)])
m.ir_version = 8
onnx.save(m, "m.onnx", save_as_external_data=True,
          all_tensors_to_one_file=True, location="w.bin", size_threshold=0)
P
	sed -i s/noise/apart/g noise.yaml
	run batch noise.yaml
	expect_status 0
	stamp=$(cat apart/*.status.json | cksum)
	run batch noise.yaml
	[ "$(cat apart/*.status.json | cksum)" = "$stamp" ] || fail 'was run again'
	truncate -s 100 w.bin
	run batch noise.yaml
	expect_status 5
	expect_in err "external data 'w.bin'"
	truncate -s 16384 w.bin
	# A node that normalising took away is said to be gone, and why.
	run search m.onnx -t host --db none --no-measure -o none --forbid=host:gone
	expect_status 2
	expect_in err "node 'gone' (Identity) was dropped before planning"
else
	echo 'skipped weights in a file of their own: no python3-onnx'
fi
done_testing
