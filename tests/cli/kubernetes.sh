#!/bin/sh
# share/kubernetes: the manifest is of the published schema, and its command lines
# do what it says they do, each index as Kubernetes would run it.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
python3 -c 'import yaml' 2>/dev/null || { echo 'skipped: no python3-yaml'; exit 77; }
manifest=$MARQ_SOURCE/share/kubernetes/marq-fleet.yaml
command=$manifest
check() { # MANIFEST
	rm -rf commands
	mkdir commands
	python3 "$MARQ_SOURCE/tests/support/kubernetes.py" "$1" commands >checked 2>&1
}
check "$manifest" || { fail 'not of the schema'; cat checked; }
expect_in checked '2 jobs'
# The check refuses what Kubernetes does.
for change in 's/completions: 8/completion: 8/' 's/Indexed/indexed/' 's/completions: 8/completions: "8"/' \
	's/claimName: marq-fleet/claim: marq-fleet/' 's/completions: 8/completions: 9/' '/schedule:/d' \
	's/restartPolicy: Never/restartPolicy: Always/' 's/name: local, mountPath/name: absent, mountPath/'; do
	sed "$change" "$manifest" >wrong.yaml
	! cmp -s wrong.yaml "$manifest" || fail "'$change' changes nothing"
	! check wrong.yaml || fail "'$change' is accepted"
done
check "$manifest"

mkdir fleet local bin
"$MARQ" model make tiny -o fleet/tiny.onnx -q
cat >fleet/fleet.yaml <<-YAML
	version: 1
	defaults: {out: results, db: home.db, options: [--eager-pricing]}
	mixes: [{name: cpu, targets: [host]}]
	models: [{path: tiny.onnx}]
YAML
ln -s "$MARQ" bin/marq
PATH=$work/bin:$PATH
unset SLURM_ARRAY_TASK_ID LSB_JOBINDEX
pod() { # JOB: runs its command as a container would, with /fleet and /local ours
	sed "s|/fleet/|$work/fleet/|g; s|^/local\$|$work/local|" "commands/$1" >arguments
	tr '\n' '\0' <arguments | xargs -0 env >out 2>err
	status=$?
}
for JOB_COMPLETION_INDEX in 0 1 2 3 4 5 6 7; do
	JOB_COMPLETIONS=8
	export JOB_COMPLETION_INDEX JOB_COMPLETIONS
	command="index $JOB_COMPLETION_INDEX"
	pod marq-measure
	expect_status 0
	expect_in out "shard $JOB_COMPLETION_INDEX of 8 on "
done
[ -z "$(ls local)" ] || fail 'something is left on the disk of a node'
unset JOB_COMPLETION_INDEX JOB_COMPLETIONS
command='the merge'
pod marq-merge
expect_status 0
expect_in out 'shards merged into '
expect_in out '1 done'
[ -s fleet/results/tiny@cpu/result.json ] || fail 'no result'
done_testing
