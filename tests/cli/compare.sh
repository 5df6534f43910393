#!/bin/sh
# marq compare: every reason a node can move for, models searched on the spot,
# versions of a model, several results at once, databases. Prices come from
# rules files and bounds: the same on every machine.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
run model make tiny -o tiny.onnx -q

npu() { # FILE COST-OF-A-CONVOLUTION LARGEST-HEIGHT
	cat >"$1" <<EOF
{"format": "marquetry-rules", "version": 1, "summary": "an NPU",
 "rules": [{"name": "npu.conv", "pattern": "Conv(x:var, w:const)",
   "where": [{"of": "x", "dim": 2, "max": $3}], "cost": {"ns": $2}}]}
EOF
}
search() { # RESULT MODEL OPTION...
	out=$1
	shift
	run search "$@" --no-measure --db none -o "$out" -q --force
	expect_status 0
}
both='-t rules:file=a.json -t rules:file=b.json -t host'
npu a.json 100 32
npu b.json 110 32
search base tiny.onnx $both

# Of what kind prices are is said when both are of one kind, too.
run compare base base
expect_in out '(prices: estimated)'

# Rules have no kernels: what is said to come next works. 999,700 ns are no "1e+03".
npu slow.json 999700 32
run search tiny.onnx -t rules:file=slow.json -t host --no-measure --db none -o paper \
	--pin op:Conv=rules
expect_status 0
expect_not_in err 'marq run'
expect_in err 'next: marq explain paper --all'
run run paper
expect_status 3
run explain paper --all
expect_status 0
expect_in out '0.9997 ms'
expect_not_in out 'e+0'

# A plan that costs nothing has no percentage; which side is not proven is said.
rewrite() { # FROM TO PYTHON: a result with `r` changed
	cp -r "$1" "$2"
	python3 - "$2/result.json" "$3" <<'P'
import json, sys
r = json.load(open(sys.argv[1]))
exec(sys.argv[2])
json.dump(r, open(sys.argv[1], "w"))
P
}
rewrite base free 'for k in r["total"]:
    if k.endswith("_ns"): r["total"][k] = 0'
rewrite base proven 'r["proof"]["proven"] = True'
rewrite base unproven 'r["proof"]["proven"] = False'
run compare free free --fail-on change
expect_status 0
expect_in out 'nothing to pay for in either: same'
run compare free base --fail-on regress
expect_status 1
expect_not_in out inf
expect_not_in out nan
run compare base free --fail-on regress
expect_status 0
expect_in out '-100.0 %'
run compare proven proven
expect_not_in out 'not proven'
run compare proven unproven
expect_in out 'not proven optimal: the second'
run compare unproven proven
expect_in out 'not proven optimal: the first'
run compare unproven unproven
expect_in out 'not proven optimal: both'

# A price moved: b is cheaper now, by more than a percent of the whole.
npu a.json 3000 32
search price tiny.onnx $both
run compare base price --fail-on regress
expect_in out '8 of 30 nodes moved'
expect_in out 'rules:file=a.json -> rules:file=b.json, price: legal there for 3.000'
# ... which is no regression when the limit is higher, but a change.
run compare base price --fail-on regress --threshold 100%
expect_status 0
run compare base price --fail-on change --threshold 100%
expect_status 1
expect_in out ', noise: legal there for 3.000'

# It costs more than the host does: slower.
npu a.json 90000 32
npu b.json 90000 32
search slower tiny.onnx $both
run compare base slower --fail-on regress
expect_status 1
expect_in out ': slower'
expect_in out 'rules:file=a.json -> host, price:'
run compare slower base --fail-on regress
expect_status 0
expect_in out ': faster'

# Less than a percent: nodes move inside the noise.
npu a.json 105 32
npu b.json 104 32
search noise tiny.onnx $both
run compare base noise --fail-on regress
expect_status 0
expect_in out ', noise:'
expect_in out 'below the threshold): same'

# A constraint, and one that is gone.
npu a.json 100 32
search pinned tiny.onnx $both --forbid rules:file=a.json:Conv_0
run compare base pinned
expect_in out 'constraint: forbid rules:file=a.json:Conv_0'
run compare pinned base
expect_in out 'constraint: no longer: forbid rules:file=a.json:Conv_0'

# A target that is gone.
search host tiny.onnx -t host
run compare base host --fail-on regress
expect_status 1
expect_in out 'target: rules:file=a.json is not in the mix'

# Several at once: a table first; the same in JSON.
run compare base price host noise --html all.html
expect_status 0
expect_in out 'result'
[ "$(grep -cE '^ *[0-9.]* (µ|n|m)s ' out)" = 4 ] || { fail 'no line for each result'; cat out; }
[ "$(grep -c '<tr>' all.html)" = 5 ] || fail 'no row for each result'
run compare base price host noise --format json
expect_json out
[ "$(python3 -c 'import json; print([r["verdict"] for r in json.load(open("out"))["results"]])')" = \
	"['slower', 'slower', 'same']" ] || { fail 'verdicts'; cat out | head -n 40; }

# Searched on the spot, as a directory would be.
run compare "tiny.onnx@rules:file=a.json+rules:file=b.json+host" base --no-measure --db none --fail-on change
expect_status 0
run compare tiny.onnx@host base --no-measure --db none
expect_in out 'is new in the mix'
for bad in tiny.onnx tiny.onnx@ tiny.onnx@nonsense tiny.onnx@host+ absent.onnx@host; do
	run compare "$bad" base --no-measure --db none
	[ "$status" != 0 ] || fail 'taken for a result'
	expect_lines 1 err
	expect_in err "${bad%@*}"
done

# Databases: what moved beyond its noise, and what only one has.
run search tiny.onnx -t host --db one.db -o none -q --max-measure 6 --jobs 1
[ -s one.db ] || fail 'no database'
run compare one.db one.db --fail-on change
expect_status 0
# (with figures of our own: those of a busy machine may have more noise than that)
python3 - <<'EOF'
import shutil, sqlite3
def change(name, *statements):
    db = sqlite3.connect(name)
    for text, rows in statements:
        db.executemany(text, [(r,) for r in rows])
    db.commit()
    db.close()
db = sqlite3.connect("one.db")
rows = [r for (r,) in db.execute("select measurement_id from measurement join environment using(env_id)"
        " where outcome in ('ok', 'noisy') and hard like '%cost=measured%' order by measurement_id")]
db.close()
assert len(rows) > 1, rows
figure = "update measurement set outcome='ok', n=15, low_ns=%d, median_ns=%d, high_ns=%d where measurement_id=?"
change("one.db", (figure % (1000, 1010, 1020), rows))
shutil.copy("one.db", "two.db")
change("two.db", (figure % (9000, 9090, 9180), rows[:1]),
       ("delete from measurement where measurement_id=?", rows[1:2]))
EOF
run compare one.db two.db --fail-on regress
expect_status 1
expect_in out '1 slower, 0 faster'
expect_in out '1 only in the first, 0 only in the second'
expect_in out '+800.0 %'
run compare two.db one.db --fail-on regress
expect_status 0
expect_in out '0 slower, 1 faster'
expect_in out '0 only in the first, 1 only in the second'
run compare one.db two.db --format json
expect_json out
run compare one.db base
expect_status 2
run compare one.db two.db one.db
expect_status 2

# Versions of the model: an input that a predicate refuses, nodes that came and
# went, names that are all other ones.
/usr/bin/python3 -c 'import onnx' 2>/dev/null || {
	echo 'skipped the versions of a model: no python3-onnx'
	done_testing
}
/usr/bin/python3 - <<'EOF'
import copy, onnx
tiny = onnx.load("tiny.onnx")
def shapeless(m):
    m = copy.deepcopy(m)
    del m.graph.value_info[:]
    return m
large = shapeless(tiny)
for d in large.graph.input[0].type.tensor_type.shape.dim[2:]:
    d.dim_value = 48
onnx.save(large, "large.onnx")
more = shapeless(tiny)
relu = [i for i, n in enumerate(more.graph.node) if n.op_type == "Relu"][0]
node = more.graph.node[relu]
extra = onnx.helper.make_node("Sigmoid", [node.output[0]], ["extra_out"], name="extra")
for n in more.graph.node:
    n.input[:] = ["extra_out" if i == node.output[0] else i for i in n.input]
more.graph.node.insert(relu + 1, extra)
onnx.save(more, "more.onnx")
other = shapeless(tiny)
rename = lambda x: "z_" + x if x and x != "image" else x
for n in other.graph.node:
    n.name = "z_" + n.output[0]
    n.input[:] = map(rename, n.input)
    n.output[:] = map(rename, n.output)
for t in other.graph.initializer:
    t.name = rename(t.name)
for v in list(other.graph.output):
    v.name = rename(v.name)
onnx.save(other, "other.onnx")
EOF
search large large.onnx $both
run compare base large
expect_in out 'Conv_0: rules:file=a.json -> host, predicate: npu.conv: x.dim2 fails (x.dim2 = 48, needs <= 32)'
search more more.onnx $both
run compare base more
expect_in out '1 new, 0 gone'
expect_in out 'new: extra (Sigmoid) on host'
run compare more base
expect_in out '0 new, 1 gone'
expect_in out 'gone: extra (Sigmoid) on host'
search other other.onnx $both
run compare base other --fail-on change
expect_status 0
expect_in out '0 of 30 nodes moved'
expect_in out 'renamed, and matched by where they lie'
done_testing
