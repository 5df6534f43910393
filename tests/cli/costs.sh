#!/bin/sh
# A cost that a user gives is what every document says, to its last digit, and is
# refused where it is no integer up to 2^62.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
run model make tiny

rules() { # LAUNCH COST
	cat >rules.json <<END
{"format": "marquetry-rules", "version": 1, "summary": "an NPU", "launch_ns": $1,
 "rules": [{"name": "n.pool", "pattern": "MaxPool(*)", "taps": false, "where": [], "cost": {"ns": $2}}]}
END
}

price() { # the only pool there, on a device of these rules
	run search tiny.onnx -t rules:file=rules.json -t host --no-measure --no-verify --db none --pin MaxPool_3=rules -o result --force
}

for cost in 9007199254740991 9007199254740993 1152921504606846977 4611686018427000001; do
	rules 7 $cost
	price
	expect_status 0
	python3 - $cost <<'END' || fail "$cost is another one in result.json"
import json, sys
r = json.load(open("result/result.json"))
pool = [c for c in r["plan"]["composites"] if c.get("rule") == "n.pool"]
assert [c["cost_ns"] for c in pool] == [int(sys.argv[1])], pool
rest = sum(c["cost_ns"] for c in r["plan"]["composites"]) + r["total"]["conversions_ns"]
assert r["total"]["cost_ns"] == rest + 7, r["total"]
END
	total=$(python3 -c 'import json; print(json.load(open("result/result.json"))["total"]["cost_ns"])')
	run explain result --node MaxPool_3 --format=json
	expect_in out "\"cost_ns\": $cost"
	expect_in out "\"plan_cost_ns\": $total"
	run compare result result --format=json
	expect_status 0
	expect_in out "\"cost_ns\": $total"
	for command in 'report result' 'verify result'; do
		run $command
		expect_status 0
	done
done

for cost in 4611686018427387905 9223372036854775808 1e19 1.5 -1 null '"1"'; do
	for both in "$cost 1" "1 $cost"; do
		rules $both
		price
		expect_status 3
		expect_lines 1 err
		expect_in err "rules.json"
		expect_in err "ns' is not a"
	done
done
done_testing
