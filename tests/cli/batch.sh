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
# Again: nothing is run, and what is said is not that it was. One that changed is.
run batch alone.yaml
expect_in out '6 units: 0 done, 6 done before, 0 failed'
run batch alone.yaml --format json
expect_in out '"units": 6, "kept": 6, "failed": 0'
run batch alone.yaml --shard 1/2
expect_in out 'shard 1 of 2: 3 of 6 units, 0 failed; all had ended before'
rm alone/tiny@cpu.status.json
run batch alone.yaml
expect_in out '6 units: 1 done, 5 done before, 0 failed'
# nothing wins by estimates
expect_in alone/summary.md '| estimated '
expect_not_in alone/summary.md '**wins**'
expect_in alone/summary.json '"estimated": true'
expect_not_in alone/summary.json '"wins": true'

manifest killed
for delay in 0.02 0.05 0.09; do
	"$MARQ" batch killed.yaml >/dev/null 2>&1 &
	sleep $delay
	kill -9 $! 2>/dev/null
	wait $! 2>/dev/null
done
run batch killed.yaml
expect_status 0
# (but for clocks, and for what was in earlier nights)
for name in alone killed; do
	grep -E '"(unit|exit|.*_ns|proven|estimated|regions|best_.*|wins)":' $name/summary.json |
		grep -v 'before_ns' >$name.json
done
[ -s alone.json ] || fail 'no figures'
diff alone.json killed.json ||
	fail 'the summary differs from that of an uninterrupted run'

# A unit dies with its batch: nothing goes on beside the next run. This one waits
# for a runner that never says hello.
cat >orphan.yaml <<-'YAML'
	version: 1
	defaults: {db: orphan.db, out: orphan}
	mixes:
	  - {name: waits, targets: ["external:cmd=echo $PPID >\"$UNIT\"; exec sleep 1000,timeout=1000", host]}
	models:
	  - {path: tiny.onnx}
YAML
UNIT=$work/unit "$MARQ" batch orphan.yaml >/dev/null 2>&1 &
batch=$!
command='kill -9 of a batch'
wait_until test -s unit || fail 'the batch has no unit'
unit=$(cat unit)
kill -9 $batch
wait $batch 2>/dev/null
wait_until is_gone "${unit:-self}" || fail 'its unit goes on'

# What runs that were killed left is deleted by the next one, also where nothing
# is to be run again: of processes that are gone, under names of ours only.
mkdir -p killed/tiny@cpu.tmp-999999999/host killed/tiny@four.tmp-999999999
mkdir killed/tiny@cpu.tmp-$$ killed/tiny@cpu.tmp-07 killed/mine.tmp-999999999
: >killed/tiny@cpu.status.json.tmp-999999999
rm killed/tiny@cpu.status.json
run batch killed.yaml
expect_status 0
expect_absent killed/tiny@cpu.tmp-999999999
expect_absent killed/tiny@four.tmp-999999999
expect_absent killed/tiny@cpu.status.json.tmp-999999999
[ -d killed/mine.tmp-999999999 ] || fail 'what is not ours was deleted'
[ -d killed/tiny@cpu.tmp-$$ ] && [ -d killed/tiny@cpu.tmp-07 ] || fail 'too much was deleted'
rmdir killed/tiny@cpu.tmp-*

# Nothing that ended is run again; a changed model is.
stamp=$(cat killed/*.status.json | cksum)
run batch killed.yaml
expect_status 0
[ "$(cat killed/*.status.json | cksum)" = "$stamp" ] || fail 'units were repeated'
"$MARQ" model make tiny-encoder -o tiny.onnx -q --force
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
expect_in out 'no time estimate'
grep -q 'tiny@cpu: 0 to measure and [1-9]' out || fail 'what units share is not seen'
expect_absent dry/summary.json
run batch dry.yaml --only tiny@cpu
expect_status 0
expect_in out '3 units: 1 done, 0 failed, 2 not run yet'
expect_in dry/summary.md '| tiny@marvell | not run yet'
expect_in dry/summary.md '**wins**'
run batch dry.yaml --dry-run
expect_status 0
expect_in out 'tiny@cpu: ended already'
expect_in out '2 of 3 units: '
run batch dry.yaml --dry-run --format json
expect_json out
expect_in out '"to_run": 2'

# What a unit reads decides whether it is run again: a file of rules here; and so
# does what it wrote.
rules() { # NANOSECONDS
	cat >npu.json <<-JSON
		{"format": "marquetry-rules", "version": 1, "summary": "n",
		 "launch_ns": 2000, "rules": [{"name": "n.conv",
		 "pattern": "Conv(x:var, w:const)", "taps": false, "where": [],
		 "cost": {"ns": $1, "ns_per_element": 0.25}}]}
	JSON
}
"$MARQ" model make tiny -o conv.onnx -q
rules 500
cat >reads.yaml <<-'YAML'
	version: 1
	defaults: {db: reads.db, out: reads}
	mixes:
	  - {name: npu, targets: ["rules:file=npu.json", host]}
	models:
	  - {path: conv.onnx}
YAML
run batch reads.yaml
expect_status 0
stamp=$(cksum <reads/conv@npu/result.json)
run batch reads.yaml
expect_status 0
[ "$(cksum <reads/conv@npu/result.json)" = "$stamp" ] || fail 'repeated for nothing'
expect_in out '0 regressed'
rules 900000000
run batch reads.yaml
expect_status 0
expect_in out '1 regressed'
expect_in reads/summary.md '**regressed**'

# A plan that is worse because nothing proved it is no regression of a proven one.
rules 500
run batch reads.yaml
expect_status 0
expect_in reads/summary.md '| proven |'
cp reads.yaml unproven.yaml
sed -i 's/out: reads}/out: reads, options: ["--search=greedy"]}/' unproven.yaml
rules 900000000
run batch unproven.yaml
expect_status 0
expect_in out '0 regressed'
expect_in reads/summary.md '| not proven |'
expect_in reads/summary.md ': not proven, and it was'
expect_in reads/summary.json '"regressed": false'
rules 900000000
run batch reads.yaml
expect_status 0
run verify reads/conv@npu
expect_status 0
expect_in out 'files as they were written'
for damage in 'rm -r reads/conv@npu' ': >reads/conv@npu/result.json' \
	'rm reads/conv@npu/map.json' 'echo x >reads/conv@npu/more'; do
	eval "$damage"
	run verify reads/conv@npu
	expect_status 7
	run batch reads.yaml
	expect_status 0
	run verify reads/conv@npu
	expect_status 0
done
run compare reads/conv@npu alone/tiny@cpu
expect_in out '(different models: tiny and '
run verify absent
expect_status 7

# What is wrong with a manifest is said with its place.
sed 's/models:/modles:/' alone.yaml >bad.yaml
run batch bad.yaml
expect_status 2
expect_lines 1 err
expect_in err "bad.yaml:7:1: unexpected key 'modles'; did you mean 'models'?"
printf 'version: 1\nmixes:\n  - {name: a, targts: [host]}\n' >bad.yaml
run batch bad.yaml
expect_status 2
expect_in err "bad.yaml:3:15: unexpected key 'targts'; did you mean 'targets'?"
printf 'version: 1\nout: there\n' >bad.yaml
run batch bad.yaml
expect_status 2
expect_in err "unexpected key 'out'; it belongs to 'defaults'"
for text in '' '# nothing but this' 'version: x' 'version: [' 'just words' '- 1' \
	'{version: 1, mixes: &x [*x]}'; do
	echo "$text" >bad.yaml
	run batch bad.yaml
	expect_status 2
	expect_lines 1 err
	expect_in err 'bad.yaml'
	expect_not_in err 'Backtrace'
done
while IFS='|' read -r text says; do
	printf '%b\n' "$text" >bad.yaml
	run batch bad.yaml
	expect_status 2
	expect_in err "bad.yaml$says"
done <<'END'
version: [|:1:10: key 'version': wants a single value, not a list
version: 1\nmodels: 3|:2:9: key 'models': wants a list, not a single value
version: 1\nmixes: [{name: [a]}]|:2:16: key 'name': wants a single value, not a list
version: 1\nmixes: []|:2:8: key 'mixes': an empty list
- 1|: the manifest wants keys and values, not a list
END
while IFS='|' read -r key value says; do
	case $key in
	version) set -- "$value" retries 1 ;;
	*) set -- 1 "$key" "$value" ;;
	esac
	printf 'version: %s\ndefaults: {db: none, %s: %s}\n%s\n%s\n' "$@" \
		'mixes: [{name: cpu, targets: [host]}]' 'models: [{path: net.onnx}]' >bad.yaml
	run batch bad.yaml
	expect_status 2
	expect_in err "key '$key': $says"
	grep -q '^marq: error: bad.yaml:[0-9]*:[0-9]*: key' err || fail 'says no place'
done <<'END'
version|x|'x' is not known here (1 is)
version|2|'2' is not known here
version|1.0|'1.0' is not known here
version|01|'01' is not known here
retries|-1|'-1' is not a number from 0 to 4294967295
retries|3x|'3x' is not a number
retries|010|'010' is not a number
retries|2.5|'2.5' is not a number
retries|1e3|'1e3' is not a number
retries|4294967296|'4294967296' is not a number
unit_timeout|soon|'soon' is
END
for end in '---' '---\nversion: 2' '...\nmore: of it'; do
	{ cat alone.yaml; printf '%b\n' "$end"; } >bad.yaml
	run batch bad.yaml
	expect_status 2
	expect_in err 'a second document; a manifest is one'
done
printf 'version: 1\nmodels: \033[31m\n' >bad.yaml
run batch bad.yaml
expect_in err 'bad.yaml:2:9: libyaml: control characters are not allowed'
run batch absent.yaml
expect_lines 1 err
expect_in err 'absent.yaml'

# A unit whose options make something else than a search is not done, also where an
# earlier result is there.
for option in --help --dry-run --want=w.json --; do
	{ grep -v options alone.yaml | sed "s/^mixes:/mixes:/"; } >odd.yaml
	sed -i "s/\(- *{name: [a-z]*,\)/\1 options: [\"$option\"],/" odd.yaml
	grep -q -- "$option" odd.yaml || fail "no option $option in the manifest"
	for time in first second; do
		run batch odd.yaml --retry-failed
		expect_status 5
		expect_not_in out '1 done'
	done
done
mkfifo fifo.yaml
run batch fifo.yaml
expect_lines 1 err
expect_in err 'not a regular file'
done_testing
