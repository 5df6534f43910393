#!/bin/sh
# A batch is killed at random instants and started again: it ends in the same
# summary as one that was left alone, and what ended is not repeated.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
"$MARQ" model make tiny -o tiny.onnx -q
"$MARQ" model make tiny-encoder -o encoder.onnx -q

manifest() { # NAME: its own results and database
	cat >"$1.yaml" <<-YAML
		version: 1
		defaults: {db: $1.db, out: $1, retries: 1, options: ["--no-measure"]}
		mixes:
		  - {name: marvell, targets: [mrvl, host]}
		  - {name: four, targets: ["mrvl:num_tiles=4", host]}
		  - {name: cpu, targets: [host]}
		models:
		  - {path: tiny.onnx}
		  - {path: encoder.onnx}
	YAML
}

manifest alone
run batch alone.yaml
expect_status 0
expect_in out '6 units: 6 done, 0 failed'
expect_in alone/summary.md '**wins**'

manifest killed
for delay in 0.02 0.05 0.09; do
	"$MARQ" batch killed.yaml >/dev/null 2>&1 &
	sleep $delay
	kill -9 $! 2>/dev/null
	wait $! 2>/dev/null
done
run batch killed.yaml
expect_status 0
# (a fast machine may have ended one of those; then it also says what was before)
grep -v '"before_ns"' alone/summary.json >alone.json
grep -v '"before_ns"' killed/summary.json >killed.json
diff alone.json killed.json ||
	fail 'the summary differs from that of an uninterrupted run'

# A unit dies with its batch: nothing goes on beside the next run.
# (measuring this one on the host takes seconds)
"$MARQ" model make squeezenet -o long.onnx -q
sed 's/, options: .*}/}/; s/alone/orphan/g; /encoder/d; /mrvl/d; s/tiny/long/' alone.yaml >orphan.yaml
"$MARQ" batch orphan.yaml >/dev/null 2>&1 &
batch=$!
for i in 1 2 3 4 5 6 7 8 9 10; do
	unit=$(ps -o pid= --ppid $batch 2>/dev/null | head -n 1)
	[ -z "$unit" ] || break
	sleep 0.01
done
kill -9 $batch 2>/dev/null
wait $batch 2>/dev/null
command='kill -9 of a batch'
if [ -n "$unit" ]; then
	sleep 0.5
	case $(ps -o stat= -p $unit) in
	'' | Z*) ;; # gone, or waiting for whoever adopted it
	*) fail 'its unit goes on' ;;
	esac
else
	echo 'the batch was not caught with a unit'
fi

# What runs that were killed left is deleted by the next one: of processes that
# are gone, under names of ours only.
mkdir -p killed/tiny@cpu.tmp-999999999/host killed/tiny@cpu.tmp-$$ killed/tiny@cpu.tmp-07
: >killed/tiny@cpu.status.json.tmp-999999999
rm killed/tiny@cpu.status.json
run batch killed.yaml
expect_status 0
expect_absent killed/tiny@cpu.tmp-999999999
expect_absent killed/tiny@cpu.status.json.tmp-999999999
[ -d killed/tiny@cpu.tmp-$$ ] && [ -d killed/tiny@cpu.tmp-07 ] || fail 'too much was deleted'
rmdir killed/tiny@cpu.tmp-*

# Nothing that ended is run again; a changed model is.
stamp=$(cat killed/*.status.json | cksum)
run batch killed.yaml
expect_status 0
[ "$(cat killed/*.status.json | cksum)" = "$stamp" ] || fail 'units were repeated'
"$MARQ" model make tiny-encoder -o tiny.onnx -q
run batch killed.yaml
expect_status 0
[ "$(cat killed/*.status.json | cksum)" != "$stamp" ] || fail 'a changed model was not searched again'

# A unit that cannot work fails alone, and is named.
rm encoder.onnx
run batch alone.yaml
expect_status 5
expect_in err '3 of 6 units failed'
expect_in alone/summary.md 'failed'

# A dry run counts what several units want once, and says what it rests on.
sed 's/, options: .*}/}/; s/alone/dry/g; /encoder/d' alone.yaml >dry.yaml
run batch dry.yaml --dry-run
expect_status 0
expect_in out '3 of 3 units: at most'
expect_in out 'no measurement is on record'
grep -q 'tiny@cpu: 0 to measure and [1-9]' out || fail 'what units share is not seen'
expect_absent dry/summary.json
run batch dry.yaml --only tiny@cpu
expect_status 0
expect_in out '3 units: 1 done, 0 failed, 2 not run yet'
expect_in dry/summary.md '| tiny@marvell | not run yet'
run batch dry.yaml --dry-run
expect_status 0
expect_in out 'tiny@cpu: ended already'
expect_in out '2 of 3 units: '
run batch dry.yaml --dry-run --format json
expect_json out
expect_in out '"to_run": 2'

# What is wrong with a manifest is said with its place.
sed 's/models:/modles:/' alone.yaml >bad.yaml
run batch bad.yaml
expect_status 2
expect_lines 1 err
expect_in err 'modles'
done_testing
