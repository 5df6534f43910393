#!/bin/sh
# marq db: every verb on a database made by a search, and what goes wrong.
. "$MARQ_SOURCE/tests/cli/lib.sh"

run model make tiny -o tiny.onnx
expect_status 0

# The second run of a command measures nothing and says so.
run search tiny.onnx -t host --db a.db -o res --no-progress
expect_status 0
"$MARQ" db stat --db a.db --format=json >first.json
run search tiny.onnx -t host --db a.db -o res --force --no-progress --format=json
expect_status 0
"$MARQ" db stat --db a.db --format=json >second.json
python3 - <<'EOF' || fail "the second run measured again"
import json
first, second = json.load(open("first.json")), json.load(open("second.json"))
assert first["attempts"] == second["attempts"] > 0, (first, second)
assert second["runs"] == 1 and second["models"] == 1, second
EOF

# Several processes at once share the work: nothing is measured twice.
"$MARQ" search tiny.onnx -t host --db shared.db --eager-pricing -o o1 --no-progress >o1.log 2>&1 &
"$MARQ" search tiny.onnx -t host --db shared.db --eager-pricing -o o2 --no-progress >o2.log 2>&1 &
"$MARQ" search tiny.onnx -t host --db shared.db --eager-pricing -o o3 --no-progress >o3.log 2>&1 &
wait
run db list --db shared.db --format=json
expect_status 0
expect_json out
python3 - <<'EOF' || fail "a candidate was measured twice"
import json
figures = json.load(open("out"))["figures"]
assert figures and all(f["attempts"] == 1 for f in figures), figures
EOF
run db stat --db shared.db
expect_in out "0 leased just now"

# List, show, canary.
run db list --db a.db
expect_status 0
expect_in out "host.node"
expect_in out " x measured  " # ok, or noisy where the machine is busy
expect_in out " µs ..  "
! grep -E '[0-9]{4} ns|glance' out || fail 'raw figures, or words of keys'
key=$(head -n 1 out | cut -c1-12)
run db show "$key" --db a.db
expect_status 0
expect_in out "target=host"
expect_in out "in tiny.onnx"
! grep -E '[0-9]{4} ns' out || fail 'raw figures'
run db show ffffffffffff --db a.db
expect_status 1
run db canary tiny.onnx -t host --db a.db
expect_status 0
expect_in out "times the old"

# Merge, export, import: nothing is lost, nothing comes twice.
run db merge a.db shared.db --db m.db
expect_status 0
expect_in out "a.db: "
run db merge a.db shared.db --db m.db
expect_in out "a.db: 0 added"
expect_in out "shared.db: 0 added"
run db export m.jsonl --jsonl --db m.db
expect_status 0
run db import m.jsonl --db i.db
expect_status 0
expect_in out " 0 rejected"
run db import m.jsonl --db i.db
expect_in out "m.jsonl: 0 added"
sed 's/cost=measured/cost=versus/' m.jsonl >ratios.jsonl
run db import ratios.jsonl --db ratios.db
run db show "$key" --db ratios.db
grep -q 'least [0-9.]*x, [0-9.]*x .. [0-9.]*x, median [0-9.]*x' out || fail 'ratios are shown as times'
mkfifo pipe
run db import pipe --db i.db
expect_status 7
expect_in err 'pipe: not a regular file'
run db export p.db --db m.db
expect_status 0
expect_absent p.db-wal
run db export p.db --db m.db
expect_status 7
run db backup b.db --db m.db
expect_status 0
for db in m i p b; do
	run db verify --db $db.db
	expect_status 0
done

# Damaged attempts are told wherever they would be handed on.
cp m.db d.db
python3 -c '
import sqlite3
db = sqlite3.connect("d.db")
db.execute("UPDATE measurement SET sum=sum+1 WHERE measurement_id IN (1,3)")
db.commit()'
run db stat --db m.db --format json
whole=$(sed -n 's/.*"attempts": //p' out)
run db export d.jsonl --jsonl --db d.db
expect_status 0
expect_in err 'd.db: leaves out 2 damaged attempts'
[ "$(grep -c '"attempt":' d.jsonl)" = $((${whole%,} - 2)) ] || fail 'not two less'
run db export q.db --db d.db
expect_status 0
expect_in err 'd.db: copies 2 damaged attempts'
run db backup r.db --db d.db
expect_in err 'd.db: copies 2 damaged attempts'

# Retiring and collecting only count until --really.
run db invalidate --db m.db
expect_status 2
run db invalidate --subject Conv --db m.db
expect_in out "would retire"
run db invalidate --subject Conv --really --db m.db
expect_in out "retired "
run db invalidate --subject Conv --really --db m.db
expect_in out "retired 0 attempts"
run db gc --db m.db
expect_in out "would delete"
run db gc --really --db m.db
expect_in out "deleted "
run db verify --db m.db
expect_status 0
run db migrate --db m.db
expect_in out "nothing to do"

# What is no database, or not there, is said in one line.
echo "nonsense" >text.db
for args in "stat --db none.db" "gc --db none.db" "merge none.db --db m.db" \
	"import none.jsonl --db m.db"; do
	run db $args
	expect_status 7
	expect_lines 1 err
done
expect_absent none.db
run db stat --db text.db
expect_status 6
expect_in err "not a database"
run db
expect_status 2
run db nonsense
expect_status 2
run db show
expect_status 2

# A full disk (a limit on file sizes stands in for it): status 7, and what was
# stored before is whole.
(
	ulimit -f 200
	trap '' XFSZ
	"$MARQ" db import m.jsonl --db full.db >out 2>err
	echo $? >code
)
case $(cat code) in 0 | 7) ;; *) fail "a full disk gave status $(cat code)" ;; esac
run db verify --db full.db
[ "$status" = 0 ] || [ "$status" = 6 ] || [ "$status" = 7 ] || fail "status $status"
done_testing
