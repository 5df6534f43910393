#!/bin/sh
# The plan is run in turn with those of single targets that are near. Prices are made up
# so that a mix is cheapest by them, or a single target, and what came of running it is
# made up where the outcome matters: no clock decides.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
need_target dnnl
need_target xnnpack
"$MARQ_BUILD/tests/standin_model" net.onnx cs || exit 1
mix='-t dnnl -t xnnpack -t host'

# By prices oneDNN's convolution and XNNPACK's Sigmoid are the best by far.
# edit FROM TO [RATIO LOW HIGH]: of runs in turn, in millionths
cheap=mix # or dnnl, whose two nodes are one, and 4 % more of XNNPACK (far: a fifth);
# or level: a mix that is some 0.3 % cheaper than that
edit() {
	cp "$1" "$2"
	python3 - "$2" "${3-0}" "${4-0}" "${5-0}" <<END || fail 'no prices to make up'
import sqlite3, sys
ratio, low, high = map(int, sys.argv[2:])
db = sqlite3.connect(sys.argv[1])
seen = 0
ways = {} # seen of each: no two have one price, so none are run in turn for it
for attempt, text, hard in db.execute(
        "SELECT measurement_id, summary, hard FROM measurement JOIN subject USING(subject_id)"
        " JOIN environment USING(env_id) WHERE outcome IN ('ok','noisy')").fetchall():
    facts = dict(fact.split("=", 1) for fact in hard.splitlines())
    kind = facts["target"]
    if "millionths of another" in text:
        figures = ratio, ratio
    elif "millionths of itself" in text:
        figures = low, high
    elif facts["cost"] != "measured":
        continue
    elif "$cheap" != "mix" and kind in ("dnnl", "xnnpack"):
        what = kind, text.split()[2]
        half = {"dnnl": 520000, "far": 600000, "level": 498500}["$cheap"]
        ns = {("dnnl", "Conv+Sigmoid"): 1000000, ("xnnpack", "Sigmoid"): half,
              ("dnnl" if "$cheap" == "level" else "xnnpack", "Conv"): half}.get(what, 10000000)
        ways[what] = ways.get(what, 0) + 1
        figures = ns * (1 + ways[what]) // 2, ns * (1 + ways[what]) // 2 + 1
    elif kind == "convert" or (kind == "dnnl" and "Conv " in text) or (kind == "xnnpack" and "Sigmoid" in text):
        figures = 1000, 1001
    else:
        figures = 10000000, 10000001
    if figures[0]:
        db.execute("UPDATE measurement SET outcome='ok', n=9, low_ns=?, median_ns=?, high_ns=?, min_ns=? WHERE measurement_id=?",
                   (figures[0], *figures, figures[0], attempt))
        seen += 1
db.commit()
sys.exit(seen == 0)
END
}
search() { # DATABASE RESULT OPTION...
	db=$1 result=$2
	shift 2
	run search net.onnx $mix --eager-pricing --db "$db" -o "$result" --emit=json,report "$@"
	expect_status 0
}
targets() { # RESULT: what its composites run on
	python3 - "$1" <<'END'
import json, sys
plan = json.load(open(sys.argv[1] + "/result.json"))["plan"]
print(*sorted({plan["targets"][c["target"]] for c in plan["composites"]}))
END
}

# (A second search may look after what the first one measured.)
search true.db none -q
search true.db none -q
edit true.db curse.db

# It is run, whatever comes of it, and not again.
search curse.db ran
grep -qE '^(likely|(not )?confirmed): [0-9.]+ of [a-z]+ \+ host \(A/A [0-9.]+-[0-9.]+, [0-9]+ pairs\)' out ||
	{ fail 'the mix was not run'; cat out; }
search curse.db again
expect_in out ' 0 measured'
cp out again.out
grep -qE '^(likely|(not )?confirmed): .* pairs, on record\)' out || fail 'the mix was run again'
cmp -s ran/result.json again/result.json || fail 'another result'

# One that wins is the plan; one that does not is not, and the other is verified.
edit curse.db wins.db 500000 990000 1010000
search wins.db wins
grep -qE '^confirmed: 0.50 of [a-z]+ \+ host \(A/A 0.99-1.01, ' out || fail 'it won'
[ "$(targets wins)" = 'dnnl xnnpack' ] || fail "$(targets wins) is not the mix"
expect_in wins/report.md 'Confirmed: run in turn, what prices say is best takes 0.500 of'
expect_in wins/result.json '"word": "confirmed"'
# What runs leave open prices decide.
edit curse.db likely.db 985000 980000 1020000
search likely.db likely
grep -qE '^likely: 0.98 of [a-z]+ \+ host \(A/A ' out || fail 'prices say it is cheaper'
[ "$(targets likely)" = 'dnnl xnnpack' ] || fail "$(targets likely) is not the mix"
expect_in likely/report.md 'Likely: run in turn, what prices say is best takes 0.985 of'
expect_in likely/report.html '<b>Likely</b>'
for ratio in 1000000 2000000; do
	edit curse.db loses.db $ratio 980000 1020000
	rm -rf loses
	search loses.db loses
	grep -qE '^not confirmed: .* is taken(; a run takes [0-9.]+ [a-zµ]*s)?$' out || fail "it is $ratio of the single target"
	expect_in out 'verified: max error'
	case $(targets loses) in
	'dnnl xnnpack') fail 'the mix is still the plan' ;;
	esac
	expect_in loses/result.json '"proven": false'
	expect_in loses/result.json '"word": "not confirmed"'
	expect_in loses/report.html 'it is not the plan'
done

# What a run took then is what is predicted of it, unless neighbours were busy all the while.
run run net.onnx $mix --eager-pricing --db curse.db --runs 1
! grep -q '; a run takes ' again.out || expect_in out ' by its prices)'

# What is not run is predicted, and why is said.
search curse.db skipped --no-confirm
grep -qE '^predicted: 0.00[0-9]* of [a-z]+ \+ host \(--no-confirm\)$' out || fail 'says nothing'
[ "$(targets skipped)" = 'dnnl xnnpack' ] || fail 'the mix is not the plan'
expect_in skipped/report.md 'Predicted only'
mix='-t dnnl -t host'
search curse.db single
! grep -qE 'onfirmed|predicted:' out || fail 'a single target is no mix'
expect_in single/result.json '"confirmation": null'

# Another single target whose prices are near is run in turn with a single target's plan,
# and taken where it is faster.
cheap=dnnl
mix='-t dnnl -t xnnpack -t host'
rm -rf near
edit true.db near.db
search near.db near
for ratio in 700000 999000 1005000 1200000; do
	edit near.db nearer.db $ratio 980000 1020000
	rm -rf near
	search nearer.db near
	case $ratio in
	700000) says='^confirmed: 0.70 of xnnpack' on=dnnl ;;
	1200000) says='^not confirmed: 1.20 of xnnpack .*: xnnpack \+ host is taken' on=xnnpack ;;
	*) says='^level: 1.0[0-9]* of xnnpack' on=dnnl ;;
	esac
	grep -qE "$says" out || { fail "it is $ratio of XNNPACK's"; cat out; }
	[ "$(targets near)" = $on ] || fail "$(targets near) is not $on"
done
expect_in near/report.md 'Not confirmed: run in turn, what prices say is best takes 1.200 of xnnpack'

# What is far by prices is not run, and a mix that is hardly cheaper neither: no run would
# show it.
rm -rf near
cheap=far
edit true.db far.db
search far.db near
expect_in near/result.json '"confirmation": null'
rm -rf near
cheap=level
edit true.db level.db
search level.db near
grep -qE '^not confirmed: 0.99[0-9]* of dnnl \+ host \(prices promise less than runs would show\): dnnl \+ host is taken$' out ||
	{ fail 'it is level by prices'; cat out; }
expect_in out 'verified: max error'
[ "$(targets near)" = dnnl ] || fail "$(targets near) is not dnnl"
expect_in near/report.md 'was not run in turn with dnnl'
expect_in near/report.html 'was not run in turn with dnnl'

# A batch says it, too.
cat >units.yaml <<'END'
version: 1
defaults: {db: wins.db, out: units, options: ["--eager-pricing", "--emit=json"]}
mixes: [{name: both, targets: [dnnl, xnnpack, host]}]
models: [{path: net.onnx}]
END
run batch units.yaml
expect_status 0
grep -q '; confirmed: 0.50 |' units/summary.md || fail 'summary.md does not say it'
python3 - <<'END' || fail 'summary.json does not say it'
import json
unit, = json.load(open("units/summary.json"))["units"]
raise SystemExit(unit["confirmation"] != "confirmed" or unit["confirmed_ratio"] != 0.5)
END
done_testing
