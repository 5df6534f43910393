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

# What is wrong with a manifest is said with its place.
sed 's/models:/modles:/' alone.yaml >bad.yaml
run batch bad.yaml
expect_status 2
expect_lines 1 err
expect_in err 'modles'
done_testing
