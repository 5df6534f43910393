#!/bin/sh
# Plans and problems as files: dump and solve, replay, edit and replay.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
cost() { sed -n 's/^plan: \([^,]*\),.*/\1/p' "$1"; }

run model make tiny -o tiny.onnx -q
expect_status 0
targets='-t mrvl -t host --no-measure --db none'
run search tiny.onnx $targets -o one --dump-problem problem.json
expect_status 0
cp out searched
found=$(cost searched)

# The abstract problem has the same optimum.
run solve --format json problem.json
expect_status 0
python3 - out one/result.json <<'END' || fail 'marq solve finds another cost'
import json, sys
solved, result = (json.load(open(f)) for f in sys.argv[1:3])
total = result["total"]
total = total["cost_ns"] if isinstance(total, dict) else total
assert solved["proven"] and solved["cost"] == total, (solved["cost"], total)
END

# A plan is read back, checked and priced.
run search tiny.onnx $targets -o two --replay one/result.json
expect_status 0
[ "$(cost out)" = "$found" ] || fail "replayed: $(cost out), searched: $found"
expect_in out 'by replay (no lower bound'

# An edited one that is not legal is refused, with the place.
python3 - one/result.json edited.json missing.json <<'END'
import json, sys
result = json.load(open(sys.argv[1]))
plan = result["plan"]
last = plan["composites"].pop()
json.dump(result, open(sys.argv[3], "w"))
plan["composites"].append(dict(last, rule="no such rule"))
json.dump(plan, open(sys.argv[2], "w"))
END
run search tiny.onnx $targets -o three --replay edited.json
expect_status 1
expect_in err 'no such rule'
run search tiny.onnx $targets -o three --replay missing.json
expect_status 1
expect_in err "no legal plan exists: no candidate takes node '"
expect_absent three

# Constraints that cannot all hold are named; those that can are not.
node=$(python3 -c 'import json; print(json.load(open("one/result.json"))["plan"]["composites"][0]["node_ids"][0])')
run search tiny.onnx $targets -o three --pin "#$node=host" --forbid "host:#$node" --stop-fusion '#0'
expect_status 1
expect_in err "\"pin #$node=host\", \"forbid host:#$node\""
expect_not_in err 'stop-fusion'
run search tiny.onnx $targets -o four --pin "#$node=host"
expect_status 0

# A result remembers which candidates were asked for: a plan that may lose NaN runs
# without being told so again, and exact convolutions stay exact.
loose='-t native -t host --no-measure --db none'
# 64 filters of 3x3: of those in `native` only Winograd takes so many
run model make squeezenet -o fire.onnx -q
run search fire.onnx $loose --nan=ignore -o loose
expect_status 0
expect_in out 'may make a number of it (--nan=ignore)'
run run loose --runs 1
expect_status 0
expect_in out matches
run search fire.onnx $loose --nan=ignore --exact-convolutions -o exact
expect_status 0
expect_not_in exact/result.json '"implementation": "winograd'
expect_in exact/result.json '"exact_convolutions": true'
run explain exact --what-if Conv_7=native
expect_in out 'no legal plan'
run explain loose --what-if Conv_7=native
expect_not_in out 'no legal plan'
# A plan for two threads is run with two, and nothing is measured for one.
if [ "$(nproc)" -gt 1 ]; then
	measured() {
		python3 -c 'import sqlite3; print(sqlite3.connect("two.db").execute("SELECT count(*) FROM measurement").fetchone()[0])'
	}
	run search tiny.onnx -t host --db two.db --threads=2 -o threads
	expect_status 0
	expect_in threads/result.json '"threads": 2,'
	before=$(measured)
	run run threads --runs=2 --db two.db
	expect_status 0
	[ "$before" -gt 0 ] && [ "$(measured)" = "$before" ] || fail 'prices of another number of threads'
	run run threads --runs=2 --threads=1 --db two.db
	expect_status 0
	[ "$(measured)" -gt "$before" ] || fail 'a number of threads is not heard'
fi
done_testing
