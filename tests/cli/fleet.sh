#!/bin/sh
# A batch in phases: what shards measure is divided by content, so that they
# measure what one machine does and each of it once, whatever is killed; a
# search that lacks prices says so by its exit status.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
unset SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_COUNT SLURM_ARRAY_TASK_MIN SLURM_ARRAY_TASK_STEP \
	JOB_COMPLETION_INDEX JOB_COMPLETIONS LSB_JOBINDEX LSB_JOBINDEX_END LSB_JOBINDEX_STEP
"$MARQ" model make tiny -o tiny.onnx -q
cp tiny.onnx twin.onnx
for name in alone fleet; do
	cat >$name.yaml <<-YAML
		version: 1
		defaults: {out: $name, db: $name.db, options: [--eager-pricing]}
		mixes:
		  - {name: cpu, targets: [host]}
		  - {name: marvell, targets: [mrvl, host]}
		models: [{path: tiny.onnx}, {path: twin.onnx}]
	YAML
done
field() { # KEY: of the last document
	python3 -c 'import json, sys; print(json.load(open("out"))[sys.argv[1]])' "$1"
}

# What is wanted, before anything is known; asking again changes nothing.
run batch fleet.yaml --phase search --format=json
expect_status 1
[ "$(field wanting)" = 4 ] || fail "$(field wanting) units want something"
[ "$(field exit)" = 1 ] || fail 'another exit status in the document'
expect_in err '4 units wait for '
expect_in err 'next: marq batch fleet.yaml --phase measure'
[ "$(find fleet/wanted -name '*.json' | wc -l)" = 4 ] || fail 'not four lists'

# Three schedulers' ways of saying which shard this is.
whence() { # INDEX COUNT VARIABLE=VALUE...: by the environment
	index=$1 count=$2
	shift 2
	command="marq batch --phase measure, with $*"
	env "$@" "$MARQ" batch fleet.yaml --phase measure --only nothing --format=json >out 2>err
	status=$?
	expect_status 0
	[ "$(field shard)/$(field shards)" = "$index/$count" ] || fail "shard $(field shard)/$(field shards)"
}
whence 3 8 SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=0
whence 2 4 SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_STEP=2
whence 5 6 JOB_COMPLETION_INDEX=5 JOB_COMPLETIONS=6
whence 0 9 LSB_JOBINDEX=1 LSB_JOBINDEX_END=9
whence 2 5 LSB_JOBINDEX=5 LSB_JOBINDEX_END=9 LSB_JOBINDEX_STEP=2
whence 0 0 LSB_JOBINDEX=0
for half in JOB_COMPLETION_INDEX=1 SLURM_ARRAY_TASK_ID=0 'JOB_COMPLETION_INDEX=x JOB_COMPLETIONS=2' \
	'JOB_COMPLETION_INDEX=2 JOB_COMPLETIONS=2' 'LSB_JOBINDEX=3' \
	'SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=2'; do
	command="marq batch --phase measure, with $half"
	env $half "$MARQ" batch fleet.yaml --phase measure >out 2>err
	status=$?
	expect_status 2
	expect_lines 1 err
done
run batch fleet.yaml --phase measure --dry-run
expect_status 2

# A shard that is killed is run again: what it had measured it does not measure.
"$MARQ" batch fleet.yaml --phase measure --shard 0/3 >out 2>err &
shard=$!
wait_until test -s fleet/shards/0.db
sleep 0.5
kill -9 $shard
wait $shard 2>/dev/null
wait_until sh -c '! pgrep -f "measure $PWD/fleet" >/dev/null 2>&1' || fail 'its child goes on'
JOB_COMPLETION_INDEX=0 JOB_COMPLETIONS=3 "$MARQ" batch fleet.yaml --phase measure >out 2>err || fail 'shard 0'
expect_in out 'shard 0 of 3 on '
mkdir disk
run batch fleet.yaml --phase measure --shard 1/3 --local disk
expect_status 0
[ -z "$(ls disk)" ] || fail 'a database is left on the disk'
[ -s fleet/shards/1.db ] || fail 'nothing came from the disk'
run batch fleet.yaml --phase measure --shard 1/3 --local disk --format=json
[ "$(field measured)" = 0 ] || fail 'measured again'
for i in 1 2; do
	run batch fleet.yaml --phase measure --shard $i/3
	expect_status 0
	expect_in out "shard $i of 3 on $(hostname)"
done
run batch fleet.yaml --phase measure --shard 2/3 --format=json
[ "$(field measured)" = 0 ] || fail 'measured again'
[ "$(field ours)" -gt 0 ] || fail 'a shard has nothing to do'

# Home: nothing is wanted, and nobody measures.
cp -r fleet other
python3 - <<'P'
import sqlite3
c = sqlite3.connect("other/shards/2.db")
for i, hard in c.execute("select env_id, hard from environment").fetchall():
    if "cost=measured" in hard:
        c.execute("update environment set hard=? where env_id=?", (hard.replace("libm=", "libm=9"), i))
c.commit()
P
# What all machines measured, so that those that differ are seen: the third is half
# as fast as the others.
python3 - <<'P'
import sqlite3
for shard in range(3):
    c = sqlite3.connect(f"other/shards/{shard}.db")
    rows = c.execute("select measurement_id, subject_id from measurement join environment using(env_id)"
                     " join subject using(subject_id)"
                     " where hard like '%cost=canary%' order by hash").fetchall()
    assert len(rows) == 5, rows
    for k, (i, _) in enumerate(rows):
        ns = (1000 + 100 * k) * (2 if shard == 2 else 1)
        c.execute("update measurement set outcome='ok', n=10, low_ns=?, median_ns=?, high_ns=?, min_ns=?"
                  " where measurement_id=?", (ns, ns, ns, ns, i))
    for i, soft in c.execute("select conditions_id, soft from conditions").fetchall():
        soft = "".join(f"host=node{shard}\n" if l.startswith("host=") else l for l in soft.splitlines(True))
        c.execute("update conditions set soft=? where conditions_id=?", (soft, i))
    c.commit()
P
sed 's/out: fleet, db: fleet.db/out: other, db: other.db/' fleet.yaml >other.yaml
run batch other.yaml --phase merge
expect_status 1
expect_lines 1 err
expect_in err '/2.db is of another environment than other/shards/0.db: host: libm: '
[ "$(find other/shards -name '*.db' | wc -l)" = 3 ] || fail 'shards are gone'
run batch other.yaml --phase merge --mixed
expect_status 0
expect_in err 'node2 is 100 % slower than its 2 twins, by 5 subjects that several measured'
expect_not_in err 'node1 is'
expect_in out ', 1 machine unlike the others'
[ "$(find other/shards -name '*.db' | wc -l)" = 0 ] || fail 'shards are left'
run batch fleet.yaml --phase merge
expect_status 0
expect_in out '3 shards merged into fleet.db: '
[ -z "$(ls fleet/shards)" ] || { fail 'something is left of the shards'; ls fleet/shards; }
run batch fleet.yaml --phase merge
expect_status 0
expect_in out '0 shards merged into '
for i in 0 1; do
	run batch fleet.yaml --phase search --shard $i/2 --format=json
	expect_status 0
	[ "$(field wanting)" = 0 ] || fail 'something is wanted still'
done
run batch fleet.yaml --phase search --format=json
expect_status 0
[ "$(field kept)" = 4 ] || fail 'searched again'
[ -s fleet/summary.json ] || fail 'no summary'
expect_absent fleet/wanted
run batch alone.yaml
expect_status 0
python3 - <<'P' || fail 'not what one machine measures, each once'
import sqlite3
def prices(db):
    return sqlite3.connect(db).execute(
        "select hex(hash), hard, count(*) from measurement join subject using(subject_id)"
        " join environment using(env_id) where hard like '%cost=measured%' group by 1, 2").fetchall()
alone, fleet = prices("alone.db"), prices("fleet.db")
assert len(fleet) > 10 and all(n == 1 for *_, n in fleet), len(fleet)
assert {p[:2] for p in alone} == {p[:2] for p in fleet}, (len(alone), len(fleet))
P

# Without --eager-pricing each round measures what the searches ask for, until they
# ask for nothing: less than everything, and the plans are proven.
sed 's/out: fleet, db: fleet.db, options: .--eager-pricing./out: lazy, db: lazy.db/; s/targets: .host./targets: [native, host]/' \
	fleet.yaml >lazy.yaml
rounds=0 status=1
while [ $status = 1 ] && [ $rounds -lt 8 ]; do
	rounds=$((rounds + 1))
	for i in 0 1; do
		run batch lazy.yaml --phase measure --shard $i/2
		expect_status 0
	done
	run batch lazy.yaml --phase merge
	expect_status 0
	run batch lazy.yaml --phase search --format=json
done
echo "$rounds rounds"
expect_status 0
run search tiny.onnx -t native -t host --db none --eager-pricing --want every.json
python3 - <<'P' || fail 'everything was measured, something twice, or nothing is proven'
import glob, json, sqlite3
c = sqlite3.connect("lazy.db")
priced = c.execute("select count(*) from measurement join environment using(env_id)"
                   " where hard like '%cost=measured%' group by subject_id, env_id").fetchall()
every = len(json.load(open("every.json"))["subjects"])
results = [json.load(open(f)) for f in glob.glob("lazy/*/result.json")]
print(len(priced), "of", every)
assert all(n == 1 for n, in priced) and 0 < len(priced) < every, len(priced)
assert len(results) == 4 and all(r["proof"]["proven"] for r in results), len(results)
P

# A unit that cannot say what it wants has failed, in both phases.
echo nonsense >broken.onnx
cat >broken.yaml <<-YAML
	version: 1
	defaults: {out: broken, db: fleet.db, retries: 0}
	mixes: [{name: cpu, targets: [host]}]
	models: [{path: broken.onnx}, {path: tiny.onnx}]
YAML
for phase in measure search; do
	run batch broken.yaml --phase $phase
	expect_status 5
	expect_in err 'broken@cpu: exit 3: '
done
[ -s broken/tiny@cpu/result.json ] || fail 'the other unit has no result'
MARQ_DB=none
export MARQ_DB
sed 's/ db: fleet.db,//' broken.yaml >homeless.yaml
run batch homeless.yaml --phase search
expect_status 2
expect_in err 'needs a database that the shards are merged into'
done_testing
