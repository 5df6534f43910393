#!/bin/sh
# share/slurm on a real Slurm: eight shards over four nodes, one of which loses
# its power in the middle, and a controller that is restarted. What comes home is
# what one machine measures, each once.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
. "$MARQ_SOURCE/tests/support/slurm.sh"
if why=$(slurm_missing); then
	echo "skipped: $why"
	exit 77
fi
slurm=$work/slurm
trap 'slurm_down; rm -rf "$work"' EXIT
trap 'exit 143' HUP INT TERM
if ! slurm_up "$slurm" 4; then
	echo 'skipped: Slurm does not start here:'
	tail -n 5 "$slurm"/*.log "$slurm"/*.out
	exit 77
fi
mkdir models
for model in tiny tiny-encoder; do
	"$MARQ" model make $model -o models/$model.onnx -q
done
for name in alone fleet; do
	cat >$name.yaml <<-YAML
		version: 1
		defaults: {out: $name, db: $name.db, options: [--eager-pricing]}
		mixes:
		  - {name: cpu, targets: [host]}
		  - {name: marvell, targets: [mrvl, host]}
		models: [{path: models/tiny.onnx}, {path: models/tiny-encoder.onnx}]
	YAML
done
# Each node has a disk of its own; a task of the second does not end before the
# power goes.
cat >marq <<END
#!/bin/sh
local=
case "\$*" in *'--phase measure'*)
	local="--local $work/disk.\$SLURMD_NODENAME"
	mkdir -p "$work/disk.\$SLURMD_NODENAME"
	echo "\$SLURM_ARRAY_TASK_ID of \$SLURM_ARRAY_TASK_COUNT" >>"$work/ran.\$SLURMD_NODENAME" ;;
esac
"$MARQ" "\$@" \$local
status=\$?
[ "\$SLURMD_NODENAME\${local:+!}" != n2! ] || [ -e "$work/power" ] || sleep 3600
exit \$status
END
chmod +x marq
last=$(MARQ=$work/marq "$MARQ_SOURCE/share/slurm/marq-fleet" fleet.yaml 8 2>err) || { fail 'nothing was submitted'; cat err; }
echo "submitted: the last job is $last"

begun() { # has a task of the second node measured something?
	[ -n "$(find disk.n2 -name '*.db' 2>/dev/null)" ]
}
wait_until begun || fail 'the second node has nothing to do'
touch power
slurm_kill_node n2
scontrol update NodeName=n2 State=DOWN Reason=power
restarted() { # requeued jobs are held for two minutes, but not here
	for job in $(squeue -h -r -t PENDING -o '%A %R' | sed -n 's/ (.*BeginTime)$//p'); do
		scontrol update JobId="$job" StartTime=now && touch restarted
	done
	[ -e restarted ]
}
wait_until restarted || { fail 'no task was requeued'; squeue; }
kill "$(cat "$slurm/pid.slurmctld")"
wait_until is_gone "$(cat "$slurm/pid.slurmctld")" || fail 'the controller does not end'
slurm_controller || fail 'the controller does not come back'
slurm_node n2
wait_until sh -c 'scontrol update NodeName=n2 State=RESUME 2>/dev/null'

ended() { # held ones are let go on; false: something is in the queue still
	restarted
	[ -z "$(squeue -h 2>&1)" ]
}
for i in 1 2 3 4 5; do # minutes: the machine may be busy
	! wait_until ended || break
done
command='the fleet'
[ -z "$(squeue -h)" ] || { fail 'the queue is not empty'; squeue; }
[ -s fleet/summary.json ] || { fail 'no summary'; tail -n 5 slurm-*.out; }
[ -z "$(ls fleet/shards)" ] || { fail 'shards are left'; ls fleet/shards; tail -n 5 slurm-*.out; }
[ "$(cat ran.* | sort -u | wc -l)" = 8 ] || { fail 'not eight tasks'; cat ran.*; }
[ "$(cat ran.* | wc -l)" -gt 8 ] || fail 'none ran again'
[ "$(ls ran.* | wc -l)" -gt 2 ] || fail 'one node did it all'
run batch "$work/fleet.yaml" --phase search
expect_status 0
expect_in out '4 done before'

run batch alone.yaml
expect_status 0
python3 - <<'P' || fail 'not what one machine measures, each once'
import sqlite3
def prices(db):
    return sqlite3.connect(db).execute(
        "select hex(hash), hard, count(*) from measurement join subject using(subject_id)"
        " join environment using(env_id) where hard like '%cost=measured%' group by 1, 2").fetchall()
alone, fleet = prices("alone.db"), prices("fleet.db")
print(len(fleet), "prices")
assert len(fleet) > 10 and all(n == 1 for *_, n in fleet), [n for *_, n in fleet]
assert {p[:2] for p in alone} == {p[:2] for p in fleet}, (len(alone), len(fleet))
P
done_testing
