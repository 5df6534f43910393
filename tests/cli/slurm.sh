#!/bin/sh
# A batch as a job array, with a stand-in for sbatch that runs what it is given:
# one task is lost, and the summary is that of a batch on one machine.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
mkdir bin
cat >bin/sbatch <<'EOS'
#!/bin/sh
# The array's tasks at once; task $LOSE vanishes. Jobs that depend run after it.
echo "$@" | head -n 1 >>"$JOBS"
array=
for argument; do
	case $argument in --array=0-*) array=${argument#--array=0-} ;; esac
	script=$argument
done
if [ -n "$array" ]; then
	for SLURM_ARRAY_TASK_ID in $(seq 0 "$array"); do
		export SLURM_ARRAY_TASK_ID
		[ "$SLURM_ARRAY_TASK_ID" = "$LOSE" ] || sh -c "$script" >>"$JOBS.out" 2>&1 &
	done
	wait
else
	sh -c "$script" >>"$JOBS.out" 2>&1
fi
echo 17
EOS
chmod +x bin/sbatch
"$MARQ" model make tiny -o tiny.onnx -q
"$MARQ" model make tiny-encoder -o encoder.onnx -q
for name in alone array; do
	cat >$name.yaml <<-YAML
		version: 1
		defaults: {out: $name}
		mixes:
		  - {name: marvell, targets: [mrvl, host]}
		  - {name: cpu, targets: [host]}
		models:
		  - {path: tiny.onnx}
		  - {path: encoder.onnx}
	YAML
done
export MARQ_DB=$work/prices.db JOBS=$work/jobs LOSE=1

# Which figures there are decides what a search asks for, so a later search may
# measure what no earlier one needed; what was measured is not measured again.
runs() {
	"$MARQ" db export --jsonl "$1.jsonl" --force -q
	grep -c '^{"run"' "$1.jsonl"
}
expect_none_again() { # RUNS: after these, nothing that they had measured
	runs again >/dev/null
	python3 - "$1" <<-'END' || fail 'something was measured again'
		import json, sys
		attempts = [r for r in map(json.loads, open("again.jsonl")) if "attempt" in r]
		about = lambda earlier: {(a["subject"], a["environment"]) for a in attempts
		                         if (a["run"] <= int(sys.argv[1])) == earlier}
		assert about(True) and not about(True) & about(False), about(True) & about(False)
	END
}
run batch alone.yaml
expect_status 0
before=$(runs before)

command=marq-slurm
export MARQ
PATH=$work/bin:$PATH "$MARQ_SOURCE/tools/marq-slurm" array.yaml 3 --time=5 >out 2>err
status=$?
expect_status 0
expect_in jobs '--array=0-2 --time=5'
expect_in jobs '--dependency=afterany:17'
expect_in jobs.out 'shard 0 of 3: 2 of 4 units, 0 failed'
expect_not_in jobs.out 'shard 1 of 3'
expect_in jobs.out '4 units: 1 done, 3 done before, 0 failed'
[ -z "$(ls array/shards)" ] || fail 'shards are left after they were merged'
# But for clocks, what provenance they lead to, and whether the machine was slower.
for name in alone array; do
	python3 - $name >$name.json <<-'END'
		import json, sys
		LEFT_OUT = ("manifest", "began", "ended", "took_ms", "result", "measured", "reused", "kept",
		            "ran", "measured_why", "night", "nights", "DRIFT")
		def without(x):
		    if isinstance(x, dict):
		        return {k: without(v) for k, v in x.items() if k not in LEFT_OUT}
		    if isinstance(x, list):
		        return [without(v) for v in x if not isinstance(v, dict) or v.get("kind") != "DRIFT"]
		    return x
		with open(sys.argv[1] + "/summary.json") as f:
		    print(json.dumps(without(json.load(f)), indent=1))
	END
done
[ "$(wc -l <alone.json)" -gt 60 ] || fail 'too little is compared'
diff alone.json array.json || fail 'the summary differs from that of one machine'
# The database that the shards began with had it all.
expect_none_again "$before"

# Shards that start with nothing bring home what they measured.
rm -rf array jobs.out prices.db*
LOSE=none
PATH=$work/bin:$PATH "$MARQ_SOURCE/tools/marq-slurm" array.yaml 2 >out 2>err
status=$?
expect_status 0
run db stat
expect_in out 'attempts'
run batch array.yaml --dry-run
expect_in out '0 of 4 units: nothing to measure'
rm -rf array
before=$(runs before)
run batch array.yaml
expect_status 0
expect_none_again "$before"

for wrong in 2/2 x/2 1 1/0 -1/2 1/2x; do
	run batch array.yaml --shard $wrong
	expect_status 2
done
done_testing
