#!/bin/sh
# Small models that want to be large ones: what is written and what is taken
# has limits (docs/limits.md).
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
bomb() {
	python3 "$MARQ_SOURCE/tests/support/bomb.py" "$@" || exit 1
}
search() { # MODEL OUT [OPTION...]
	model=$1 out=$2
	shift 2
	run search "$model" -t host --no-measure --no-verify --db none -o "$out" "$@"
}
kilobytes() {
	du -sk "$1" | cut -f1
}

# 2.2 GB of zeros stay a shape and an element
bomb fold.onnx fold 550000000
search fold.onnx fold.marq
expect_status 0
[ "$(kilobytes fold.marq)" -lt 1000 ] || fail "$(kilobytes fold.marq) KiB"
run verify fold.marq
expect_status 0

# a result has a budget, of its own or by the model; nothing is left of it
search fold.onnx full.marq --max-output 20KiB
expect_status 3
expect_lines 1 err
expect_in err 'full.marq: the result would be larger than 20480 bytes'
[ "$(find . -name 'full*')" = "" ] || fail "left: $(find . -name 'full*')"
search fold.onnx full.marq --max-output 0
expect_status 2

# an ONNX file ends at 2 GiB: what would not fit is left out, with a word
bomb weights.onnx weights 2200000000
search weights.onnx weights.marq
expect_status 0
expect_in err 'partitioned.onnx is left out: a model of 22000'
expect_absent weights.marq/partitioned.onnx
run verify weights.marq
expect_status 0

# weights of four bits that are in no file: made up, to a limit
run model check "$MARQ_SOURCE/tests/fuzz/corpus/fuzz_model/int4_without_numbers"
expect_status 3
expect_in out 'numbers are made up: more than 4294967295 elements'

# below it they take no memory
bomb narrow.onnx narrow 3600000000
case $MARQ_BUILD in
*/asan | */tsan) ;; # whose own memory is counted
*)
	for command in "model check narrow.onnx" \
		"search narrow.onnx -t host --no-measure --db none -o narrow.marq"; do
		(ulimit -d 400000; "$MARQ" $command >out 2>err) || fail "weights of 4 bits take memory: $(cat err)"
	done ;;
esac

# names
bomb most.onnx name 65536
run model check most.onnx
expect_status 0
bomb name.onnx name 65537
run model check name.onnx
expect_status 3
expect_in out 'a name of more than 65536 bytes'
bomb name.onnx name 50000000
for command in "model check" "search -o none"; do
	(ulimit -v 1000000 && exec "$MARQ" $command name.onnx) >out 2>err
	status=$?
	case ${MARQ_BUILD##*/} in
	asan | tsan) ;; # they reserve terabytes
	*) expect_status 3 ;;
	esac
done

# Files beyond what is read of their kind; holes, which take no room. None is
# looked into before its size.
refused() { # LIMIT FILE COMMAND...: FILE, one byte larger than LIMIT, is named
	most=$(sed -n "s/^LIMIT($1, \([0-9]*\),.*/\1/p" "$MARQ_SOURCE/ir/base/limits.def")
	file=$2
	shift 2
	truncate -s $((most + 1)) "$file"
	run "$@"
	expect_status 3
	expect_lines 1 err
	expect_in err "$file: $((most + 1)) bytes, limit is $most"
	rm -f "$file"
}
bomb small.onnx fold 16
search small.onnx small.marq
"$MARQ" model info small.onnx >/dev/null || fail 'no model'
plan="search small.onnx --no-measure --db none -o none -t host"
refused READ_PARAMETERS rules.json $plan -t rules:file=rules.json
refused READ_PARAMETERS params.json $plan -t mrvl:params=params.json
refused READ_PARAMETERS board.json $plan --price-for board.json
refused READ_MANIFEST batch.yaml batch batch.yaml
refused READ_SAMPLES samples.json calibrate samples.json
refused READ_CONSTRAINTS more.json $plan --constraints more.json
refused READ_LISTING small.marq/files.json verify small.marq
search small.onnx small.marq --force
refused READ_TIMES times.json explain small.marq --by op --run times.json
refused READ_LOG stats.txt calibrate --from=dpdk-stats stats.txt
refused READ_RESULT plan.json $plan --replay plan.json
refused READ_RESULT small.marq/result.json report small.marq -o page.html
refused READ_PROBLEM problem.json solve problem.json
refused READ_PROBLEM placement.json solve --placement placement.json
refused READ_WANT list.json measure list.json --db m.db
mkdir data
refused READ_TENSOR data/input_0.pb run small.onnx -t host --data data
head -c 4194305 /dev/zero | tr '\0' x >text.jsonl
run db import text.jsonl --db new.db
expect_status 3
expect_in err '4194305 bytes are too many'
# A worker that answers a line without end is given up.
run search small.onnx -t host --db w.db -o none \
	--worker 'cmd:head -c 16777217 /dev/zero; sleep 60'
expect_status 5
expect_in err 'no worker is left to measure'

# A worker that is asked a line without end says so, and soon.
case $MARQ_BUILD in
*/asan | */tsan) ;; # it takes a GiB
*)
	command='marq measure --serve'
	head -c 1073741825 /dev/zero | timeout 60 "$MARQ" measure --serve >out 2>err
	status=$?
	expect_status 3
	expect_lines 1 err
	expect_in err 'a request: more than 1073741824 bytes'
	expect_in out '"marq":"fault"' ;;
esac

# What a batch notes about itself.
cat >batch.yaml <<END
version: 1
defaults: {db: n.db, out: night, options: ["--no-measure"]}
mixes: [{name: cpu, targets: [host]}]
models: [{path: small.onnx}]
END
run batch batch.yaml
expect_status 0
# A record of a night that nobody can have written is none.
truncate -s 67108865 night/nights/0001.json
run batch batch.yaml
expect_status 0
expect_in out '1 unit: 0 done, 1 done before'
[ "$(stat -c %s night/nights/0001.json)" -lt 10000 ] || fail 'the record stayed'
# Nor is a state.
truncate -s 1048577 night/small@cpu.status.json
run batch batch.yaml
expect_in out '1 unit: 1 done'
[ "$(stat -c %s night/small@cpu.status.json)" -lt 10000 ] || fail 'the state stayed'
done_testing
