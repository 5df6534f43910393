#!/bin/sh
# A price belongs to exactly what it says: databases of older programs, of other
# machines, merged in any order, with verdicts that must not be forgotten.
. "$MARQ_SOURCE/tests/cli/lib.sh"

"$MARQ" model make tiny -o tiny.onnx
search() { # DB OPTION...: what a search with it costs and does, as JSON
	db=$1
	shift
	run search tiny.onnx -t host --db "$db" -o none --no-progress --format=json "$@"
}
number() { # KEY: of the last search
	python3 -c 'import json, sys; print(json.load(open("out"))[sys.argv[1]])' "$1"
}
edit() { # DB: Python on standard input changes database c
	{ echo "import sqlite3; c = sqlite3.connect('$1')"; cat; echo "c.commit()"; } | python3 -
}

search a.db --eager-pricing
expect_status 0
cost=$(number cost_ns)

# A database of a program whose keys said less: kept, not used, said once.
cp a.db old.db
edit old.db <<'P'
c.execute("update subject set bytes=cast(x'01'||substr(bytes,2) as blob) where kind='candidate'")
c.execute("drop table retired")
c.execute("pragma user_version=2")
P
search old.db --no-measure
expect_status 6
expect_in err "older schema"
search old.db
expect_status 0
expect_in err "keys of an earlier version of marq"
expect_lines 1 err
[ "$(number measured)" -gt 0 ] || fail "prices of old keys were believed"
search old.db
expect_status 0
expect_lines 0 err
[ "$(number measured)" = 0 ] || fail "measured again"
edit old.db <<'P'
assert c.execute("select count(*) from subject where substr(bytes,1,1)=x'01'").fetchone()[0] > 0
P

# Compatible figures of two others: the order of merging decides nothing.
derive() { # NAME BUILD FACTOR DAY
	cp a.db "$1"
	edit "$1" <<P
for i, h in list(c.execute("select env_id,hard from environment")):
    h = "".join("libm_build=$2\n" if l.startswith("libm_build=") else l for l in h.splitlines(True))
    c.execute("update environment set hard=? where env_id=?", (h, i))
c.execute("update measurement set uuid=randomblob(16),low_ns=low_ns*$3,median_ns=median_ns*$3,high_ns=high_ns*$3,at_utc='$4'")
c.execute("update run set uuid=randomblob(16)")
P
}
derive early.db aa 2 2026-01-01T00:00:00Z
derive late.db bb 10 2026-11-01T00:00:00Z
for order in "early late" "late early"; do
	rm -f both.db
	for name in $order; do
		run db merge $name.db --db both.db
		expect_status 0
	done
	search both.db --accept compatible --no-measure
	expect_status 0
	echo "$(number cost_ns)" >>costs
done
[ "$(sort -u costs | wc -l)" = 1 ] || fail "merging decides: $(cat costs)"
[ "$(head -n 1 costs)" -gt $((cost * 5)) ] || fail "not the newest: $(head -n 1 costs)"

# What was measured says why: for each kind of difference, its own reason.
derive library.db aa 1 2026-01-01T00:00:00Z
derive program.db aa 1 2026-01-01T00:00:00Z
edit program.db <<'P'
c.execute("update environment set hard=replace(hard,'kernels_build=','kernels_build=0')")
P
derive machine.db aa 1 2026-01-01T00:00:00Z
edit machine.db <<'P'
c.execute("update environment set hard=replace(replace(hard,'kernels_build=','kernels_build=0'),'cpu.','cpu.other ')")
P
cp a.db expired.db
run db invalidate --fact target=host --really --db expired.db
for pair in library:other_library program:other_program machine:other_cpu \
	expired:expired fresh:new_operator; do
	run search tiny.onnx -t host --db "${pair%:*}.db" -o "why-${pair%:*}" --no-progress
	expect_status 0
	python3 - "${pair%:*}" "${pair#*:}" <<-'P' || fail "measured for another reason than ${pair#*:}"
		import json, sys
		counts = json.load(open(f"why-{sys.argv[1]}/provenance.json"))["counts"]
		assert counts["measured"] > 0, counts
		assert counts["measured_why"] == {**dict.fromkeys(counts["measured_why"], 0), sys.argv[2]: counts["measured"]}, counts
	P
done

# Collecting keeps what is newest, not what came last.
cp a.db now.db
cp a.db past.db
edit past.db <<'P'
c.execute("update measurement set uuid=randomblob(16),low_ns=low_ns*5,median_ns=median_ns*5,high_ns=high_ns*5,at_utc='2020-01-01T00:00:00Z'")
P
run db merge past.db --db now.db
expect_status 0
run db gc --keep=1 --really --db now.db
expect_status 0
search now.db --no-measure
[ "$(number cost_ns)" = "$cost" ] || fail "gc kept figures of 2020"

# A wrong result outweighs figures, in a comparison too, and is not collected.
cp a.db wrong.db
edit wrong.db <<'P'
rows = c.execute("select subject_id,env_id from measurement join environment using(env_id) where hard like '%cost=measured%' group by 1,2").fetchall()
for s, e in rows:
    c.execute("insert into measurement(uuid,subject_id,env_id,outcome,n,low_ns,median_ns,high_ns,min_ns,max_error,span_ns,limit_ns,detail,at_utc) values(randomblob(16),?,?,'wrong_result',0,0,0,0,0,1.0,1,1,'x','2020-01-01T00:00:00Z')", (s, e))
P
run compare a.db wrong.db --fail-on=change
expect_status 1
expect_in out "0 as before"
run db gc --keep=1 --really --db wrong.db
expect_status 0
run compare a.db wrong.db --fail-on=change
expect_status 1

# What was retired and collected does not come back with an older copy.
cp a.db retired.db
run db invalidate --fact target=host --really --db retired.db
expect_status 0
run db gc --really --db retired.db
expect_status 0
run db merge a.db --db retired.db
expect_status 0
expect_in out "0 added"
run db export retired.jsonl --jsonl --db retired.db
expect_status 0
run db import retired.jsonl --db again.db
run db merge a.db --db again.db
expect_in out "0 added"

# Who keeps us waiting is named; when it is gone we go on by ourselves.
cp a.db held.db
sleep 600 &
holder=$!
edit held.db <<P
import os
place = open("/proc/sys/kernel/random/boot_id").read().strip() + " " + os.readlink("/proc/self/ns/pid")
start = open("/proc/$holder/stat").read().rsplit(")", 1)[1].split()[19]
c.execute("insert or replace into lease(subject_id,env_id,owner,until_ns)"
          " select distinct subject_id,env_id,?,? from measurement",
          (f"{place} $holder {start}", 1 << 62))
c.execute("delete from measurement")
P
command="marq search, with all of it leased"
"$MARQ" search tiny.onnx -t host --db held.db -o none --eager-pricing \
	>held.out 2>held.err &
waiter=$!
wait_until grep -q waiting held.err || fail "no word of who holds the leases"
kill $holder
wait $waiter || fail "it does not go on"
expect_in held.err "waiting for process $holder, which took"

# How many processes measured at once is a condition, too.
cp a.db jobs.db
edit jobs.db <<'P'
for i, s in list(c.execute("select conditions_id,soft from conditions")):
    assert "\njobs=" in s, s
    s = "".join("jobs=77\n" if l.startswith("jobs=") else l for l in s.splitlines(True))
    c.execute("update conditions set soft=? where conditions_id=?", (s, i))
P
search jobs.db
expect_status 0
expect_lines 1 err
expect_in err "measured under other conditions (jobs: 77 -> "

# Other conditions are named once; a machine never measured on is looked at now
# and then.
if grep -q . /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null; then
	cp a.db under.db
	edit under.db <<'P'
for i, s in list(c.execute("select conditions_id,soft from conditions")):
    s = "".join("huge_pages=as it was\n" if l.startswith("huge_pages=") else l for l in s.splitlines(True))
    c.execute("update conditions set soft=? where conditions_id=?", (s, i))
P
	search under.db
	expect_status 0
	expect_lines 1 err
	expect_in err "measured under other conditions (huge_pages: as it was ->"
fi
cp a.db canary.db
search canary.db
expect_status 0
edit canary.db <<'P'
assert c.execute("select v from meta where k='canary_utc'").fetchone()
c.execute("update meta set v='2020-01-01T00:00:00Z' where k='canary_utc'")
P
search canary.db
expect_status 0
edit canary.db <<'P'
assert c.execute("select v from meta where k='canary_utc'").fetchone()[0] > "2026"
P

done_testing
