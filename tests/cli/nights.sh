#!/bin/sh
# What a batch leaves of its nights: which night it is after a kill and after
# half a day, results by content, what is pruned, what is told to whom, and what
# two nights have between them.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
mkdir models
"$MARQ" model make tiny -o models/tiny.onnx -q
"$MARQ" model make tiny-encoder -o models/encoder.onnx -q
manifest() { # NANOSECONDS OF A CONVOLUTION
	cat >npu.json <<-JSON
		{"format": "marquetry-rules", "version": 1, "summary": "a device",
		 "launch_ns": 200, "rules": [{"name": "n.conv", "taps": false, "where": [],
		 "pattern": "Conv(x:var, w:const, (const | absent))", "cost": {"ns": $1}}]}
	JSON
	cat >lab.yaml <<-'YAML'
		version: 1
		defaults: {db: none, out: lab, retries: 0, options: ["--no-measure", "--no-verify"]}
		mixes:
		  - {name: four, targets: ["rules:file=npu.json", host]}
		  - {name: cpu, targets: [host]}
		models:
		  - {path: models/tiny.onnx}
		  - {path: models/encoder.onnx}
	YAML
}
later() { # SECONDS
	SOURCE_DATE_EPOCH=$((SOURCE_DATE_EPOCH + $1))
}
get() { # EXPRESSION over d, the summary
	python3 -c 'import json, sys; d = json.load(open("lab/summary.json")); print(('"$1"'))'
}
is() { # EXPRESSION VALUE
	found=$(get "$1")
	[ "$found" = "$2" ] || fail "$1 is $found, not $2"
}
export SOURCE_DATE_EPOCH=1767225600
manifest 100
run batch lab.yaml
expect_status 0
is 'd["night"], d["state"], d["began"]' "(1, 'complete', '2026-01-01T00:00:00Z')"
is 'd["totals"]["done"], d["totals"]["kept"]' '(4, 0)'
expect_in lab/summary.html 'this is the first night'

# The same evening nothing is to be done, so it is the same night; the next it is
# another, of the same results.
later 3600
run batch lab.yaml
is 'd["night"]' 1
later 86400
results=$(ls lab/nights/results)
run batch lab.yaml
is 'd["night"], d["totals"]["kept"]' '(2, 4)'
[ "$(ls lab/nights/results)" = "$results" ] || fail 'what did not change is kept twice'
expect_in lab/summary.html 'Nothing had to be run again'

# A result is kept by its content, whole, and its files are there once.
for unit in tiny@four tiny@cpu encoder@four encoder@cpu; do
	name=$(get "[u['result'] for u in d['units'] if u['unit'] == '$unit'][0]")
	[ "$(cat lab/$unit/files.json)" = "$(cat lab/nights/results/$name/files.json)" ] ||
		fail "$unit is not what was kept"
	run verify lab/nights/results/$name
	expect_status 0
done
[ "$(stat -c %h lab/tiny@cpu/result.json)" -ge 3 ] || fail 'its files are copies'

# It goes on after a kill within half a day ...
manifest 50
run batch lab.yaml --only tiny
is 'd["night"], d["state"], d["totals"]["not_run"]' "(3, 'running', 1)"
expect_in lab/summary.html 'not ended: 3 of 4 searches'
later 3600
run batch lab.yaml
is 'd["night"], d["state"], d["totals"]["not_run"]' "(3, 'complete', 0)"
expect_in lab/summary.html 'started 2 times'

# What changed is said with its cause and a command that works.
get '"\n".join(f["command"] for f in d["findings"] if f["command"].startswith("marq compare"))' >commands
grep -q . commands || fail 'nothing changed'
while read -r _ line; do
	run $line
	expect_status 0
	expect_in out 'of night'
done <commands

# ... and was killed after that.
manifest 500
run batch lab.yaml --only tiny
later 86400
run batch lab.yaml
is 'd["night"], [n["state"] for n in d["nights"]]' "(5, ['complete', 'complete', 'complete', 'killed', 'complete'])"
expect_in lab/summary.html 'killed: 3 of 4 searches had ended'
expect_in lab/index.html 'nights/0004.html'

# A kept result that goes while the batch reads it, at whichever time it is opened, is
# as one that is not kept.
cat >remove.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
typedef int opener(const char *, int, ...);
int
open(const char *path, int flags, ...)
{
	static int left = -1;
	const char *n = strstr(path, "/nights/results/"), *at = getenv("REMOVE_AT");
	if (left < 0)
		left = at ? atoi(at) : 0;
	if (n && strstr(n, "/result.json") && left > 0 && --left == 0)
		close(((opener *)dlsym(RTLD_NEXT, "open"))("removed", O_WRONLY | O_CREAT, 0666)), unlink(path);
	return ((opener *)dlsym(RTLD_NEXT, "open"))(path, flags, 0666);
}
END
if cc -shared -fPIC -o remove.so remove.c 2>/dev/null; then
	cp -a lab kept
	at=1
	while :; do
		rm -rf removed lab
		cp -a kept lab
		command="marq batch, a kept result removed when it is opened the ${at}th time"
		ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" REMOVE_AT=$at \
			LD_PRELOAD="$work/remove.so" "$MARQ" batch lab.yaml >out 2>err
		status=$?
		[ -e removed ] || break
		expect_status 0
		at=$((at + 1))
	done
	[ $at -ge 5 ] || fail "opened $at times only"
	rm -rf lab
	mv kept lab
else
	echo "not tried: a kept result that goes (no compiler)"
fi

# Two nights: of one search, of all; what there is none of is said.
run compare --night 2 --night 3 lab --format json
expect_status 0
expect_json out
expect_in out '"schema": "marq.compare.nights/1"'
run compare --night -4 --night 0 lab/tiny@four
expect_status 0
run compare --night 1 --night 2 lab
expect_in out '4 the same'
for wrong in '--night 1 --night 99 lab' '--night 1 --night 2 lab/none@four' '--night 1 --night 2 models'; do
	run compare $wrong
	expect_status 3
	expect_lines 1 err
done
for wrong in '--night 1 lab' '--night 1 --night 2 --night 3 lab' '--night 1 --night 2 lab lab' '--night x --night 2 lab'; do
	run compare $wrong
	expect_status 2
	expect_lines 1 err
done

# Every way it is written says the same, and is what it claims to be.
python3 "$MARQ_SOURCE/tests/support/schema.py" "$MARQ_SOURCE/share/schema/batch.json" lab/summary.json ||
	fail 'summary.json does not keep its schema'
python3 - <<'END' || fail 'see above'
import csv
import json
import re
import xml.etree.ElementTree as xml
with open("lab/summary.json") as f:
    d = json.load(f)
with open("lab/summary.csv", newline="") as f:
    rows = list(csv.DictReader(f))
assert [(r["unit"], int(r["cost_ns"])) for r in rows] == [(u["unit"], u["cost_ns"]) for u in d["units"]], rows
suite = xml.parse("lab/summary.junit.xml").getroot()
bad = {f["unit"] for f in d["findings"] if f["kind"] in ("FAILED", "REGRESSED")}
assert {c.get("name") for c in suite if c.find("failure") is not None} == bad, bad
assert int(suite.get("tests")) == len(suite) == 4 and int(suite.get("failures")) == len(bad)
line = re.compile(r'[a-z_]+(\{[a-z_]+="[^"\\\n]*"(,[a-z_]+="[^"\\\n]*")*\})? [0-9.e+-]+$')
costs = {}
for text in open("lab/summary.prom"):
    assert text.startswith(("# HELP ", "# TYPE ")) or line.match(text), text
    found = re.match(r'marq_cost_seconds\{model="(.*)",mix="(.*)",shape=""\} (.*)', text)
    if found:
        costs[f"{found[1]}@{found[2]}"] = round(float(found[3]) * 1e9)
assert costs == {u["unit"]: u["cost_ns"] for u in d["units"]}, costs
END
for unit in tiny@four encoder@cpu; do expect_in lab/summary.md "| $unit |"; done

# For CI: exit status 1 when what was asked for is there; a failure goes first.
run batch lab.yaml --fail-on unproven --fail-on drift
expect_status 0
sed -i 's/"--no-measure"/"--search=greedy", "--no-measure"/' lab.yaml
run batch lab.yaml --fail-on regress
[ $status = 0 ] || [ $status = 1 ] || fail "exit status $status"
is '{f["kind"] for f in d["findings"]} >= {"LOST_PROOF"}' True
run batch lab.yaml --fail-on unproven
expect_status 1
[ ! -s err ] || fail 'a verdict is no message'
mv models/tiny.onnx kept.onnx
run batch lab.yaml --fail-on unproven --on-end 'cat >told.json; echo told; exit 3'
expect_status 5
cmp -s told.json lab/summary.json || fail '--on-end has another summary'
expect_in out told
expect_in err '--on-end: exit status 3'
is '[f["kind"] for f in d["findings"]][:2]' "['FAILED', 'FAILED']"
mv kept.onnx models/tiny.onnx
for wrong in '--fail-on x' '--fail-on=' '--keep 0' '--keep=-1' '--keep x'; do
	run batch lab.yaml $wrong
	expect_status 2
	expect_lines 1 err
done

# Of nights before the last two nothing is left, and all of the others is.
run batch lab.yaml --keep 2
expect_status 0
[ "$(ls lab/nights/*.json | wc -l)" = 2 ] || fail 'not two nights'
for result in $(grep -ho '"result": "[0-9a-f]*"' lab/nights/*.json | cut -d'"' -f4); do
	run verify lab/nights/results/$result
	expect_status 0
done
for result in lab/nights/results/*; do
	grep -q "${result##*/}" lab/nights/*.json || fail "$result is nobody's"
done
[ "$(find lab/nights/files -links 1 | wc -l)" = 0 ] || fail 'files are left that nobody has'

# A record that is damaged is no history, and nothing else is lost by it.
: >"$(ls lab/nights/*.json | head -n 1)"
run batch lab.yaml
expect_status 0
expect_json lab/summary.json

# Neither is a kept result that somebody damaged in place: nothing is said of it.
later 86400
manifest 700
name=$(get "[u['result'] for u in d['units'] if u['unit'] == 'tiny@four'][0]")
sed 's/./x/' "lab/nights/results/$name/result.json" >damaged
cat damaged >"lab/nights/results/$name/result.json"
run batch lab.yaml
expect_status 0
expect_json lab/summary.json

# A result that is damaged while the batch works on another unit fails its unit,
# and the next call makes it again.
cat >clumsy <<-END
	#!/bin/sh
	test -e $work/lab3/tiny@cpu && : >$work/lab3/tiny@cpu/result.json
	exit 1
END
chmod +x clumsy
cat >clumsy.yaml <<-YAML
	version: 1
	defaults: {db: none, out: lab3, retries: 0, options: ["--no-verify"]}
	mixes: [{name: cpu, targets: [host], options: ["--no-measure"]}, {name: other, targets: ["external:cmd='$work/clumsy'"]}]
	models: [{path: models/tiny.onnx}]
YAML
run batch clumsy.yaml --only cpu
expect_status 0
later 86400
run batch clumsy.yaml
expect_status 5
expect_in err '2 of 2 units failed'
expect_in lab3/summary.json 'tiny@cpu: result.json: not what was written'
run batch clumsy.yaml --only cpu
expect_in out '1 done'
run verify lab3/tiny@cpu
expect_status 0

# What was measured is divided by why, without a rest.
cat >cpu.yaml <<-'YAML'
	version: 1
	defaults: {db: cpu.db, out: lab2}
	mixes: [{name: cpu, targets: [host]}]
	models: [{path: models/tiny.onnx}]
YAML
run batch cpu.yaml
expect_status 0
python3 - <<'END' || fail 'reasons do not add up'
import json
with open("lab2/summary.json") as f:
    unit = json.load(f)["units"][0]
assert unit["measured"] > 0 and sum(unit["measured_why"].values()) == unit["measured"], unit
END
expect_in lab2/summary.html 'new operator'

# What a batch left that was killed while it wrote a page goes with the next.
left=lab2/nights/0230.html.tmp-$(sh -c 'echo $$')
: >"$left"
run batch cpu.yaml
expect_status 0
expect_absent "$left"
done_testing
