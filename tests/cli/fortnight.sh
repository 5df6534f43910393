#!/bin/sh
# Fourteen nights of a batch, simulated: a library changes on night 5, the machine
# is slow on night 8, the run is killed on night 10, and night 14 has something of
# everything. Its page shows each in its place, as does the page of all nights.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
models='a b c d e f g h i j k l'
case ${MARQ_BUILD##*/} in
asan | tsan | fuzz) models='a b c d' ;;
esac
count=$(echo $models | wc -w) units=$(($(echo $models | wc -w) * 3))
mkdir models # nothing lies beside them: what does and is named in a model counts as its
for m in $models; do
	"$MARQ" model make tiny -o models/$m.onnx -q
done
"$MARQ" model make tiny-encoder -o models/b.onnx -q --force

# A vendor's device: its prices are a file, its library says its version when it
# is greeted. `block` stops it there, for the kill.
cat >sdk.sh <<'END'
read -r line
if [ -e "$LAB/block" ]; then
	echo greeted >>"$LAB/block"
	[ "$(wc -l <"$LAB/block")" -lt 5 ] || { : >"$LAB/blocked" && exec sleep 1000; }
fi
printf '{"marq":"hello","version":1,"name":"sdk","runner_version":"%s"}\n' "$1"
cat >/dev/null
END
export LAB="$work" SOURCE_DATE_EPOCH=1767225600
device() { # SDK SPEED: nanoseconds of an element
	cat >npu.json <<-JSON
		{"format": "marquetry-rules", "version": 1, "summary": "a device",
		 "launch_ns": 2000, "rules": [{"name": "npu.conv",
		 "pattern": "Relu?(BatchNormalization?(Conv(x:var, w:const, (const | absent)), const, const, const, const))",
		 "taps": false, "where": [], "cost": {"ns": 100, "ns_per_element": $2}}]}
	JSON
	cat >lab.yaml <<-YAML
		version: 1
		defaults: {db: none, out: nightly, retries: 0, options: ["--no-measure", "--no-verify", "--emit=json"]}
		mixes:
		  - {name: npu, targets: ["rules:file=npu.json", "external:cmd=sh $work/sdk.sh $1", host], options: ["--baselines"]}
		  - {name: marvell, targets: [mrvl, host]}
		  - {name: both, targets: [mrvl, "rules:file=npu.json", "external:cmd=sh $work/sdk.sh $1", host]}
		models:
	YAML
	for m in $models; do echo "  - {path: models/$m.onnx}" >>lab.yaml; done
}
night=0
tonight() { # [OPTION...]
	night=$((night + 1))
	run batch lab.yaml "$@"
	SOURCE_DATE_EPOCH=$((SOURCE_DATE_EPOCH + 86400))
}
device 4.1 0.25
for i in 1 2 3 4; do tonight; done
expect_status 0
device 4.2 0.22
tonight # 5: the library
expect_status 0
tonight; tonight
device 4.2 0.35
tonight --fail-on regress # 8: the machine is slow
expect_status 1
device 4.2 0.22
tonight
expect_status 0

# 10: killed after a few searches.
device 4.2 0.2205
: >block
"$MARQ" batch lab.yaml >/dev/null 2>&1 &
batch=$!
night=10 command='night 10'
wait_until test -e blocked || fail 'it never came to the device'
kill -9 $batch
wait $batch 2>/dev/null
rm -f block blocked
SOURCE_DATE_EPOCH=$((SOURCE_DATE_EPOCH + 86400))
tonight; tonight; tonight # 11 to 13
expect_status 0
[ $night = 13 ] || fail "night $night"

# 14: a model is larger, one is smaller, one is gone; a mix proves nothing.
"$MARQ" model make tiny-encoder -o models/a.onnx -q --force
"$MARQ" model make tiny -o models/b.onnx -q --force
rm models/c.onnx
sed -i '/name: both/s/host\]/host], options: ["--search=greedy"]/' lab.yaml
tonight --fail-on unproven --on-end 'cat >told.json'
expect_status 5
expect_in err '3 of'
cmp -s told.json nightly/summary.json || fail '--on-end was not told'

# Each in its place.
cat >look.py <<'END'
import html.parser
import json
import sys
count, units = int(sys.argv[1]), int(sys.argv[2])
failed = 0


def check(ok, what):
    global failed
    if not ok:
        failed += 1
        print("FAILED:", what)


class Page(html.parser.HTMLParser):
    """The text of every element with an id, and of the findings."""
    def __init__(self, text):
        super().__init__()
        self.open, self.text, self.findings, self.links = [], {}, [], []
        self.feed(text)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "meta":
            return
        if tag == "a":
            self.links.append(attrs["href"])
        is_finding = tag == "li" and attrs.get("class", "").startswith("f ")
        if is_finding:
            self.findings.append([attrs["class"], ""])
        self.open.append((tag, attrs.get("id"), is_finding))

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        for _, name, is_finding in self.open:
            if name:
                self.text[name] = self.text.get(name, "") + data + " "
            if is_finding:
                self.findings[-1][1] += data + " "


with open("nightly/summary.html", encoding="utf-8") as f:
    page = Page(f.read())
with open("nightly/index.html", encoding="utf-8") as f:
    index = Page(f.read())
with open("nightly/summary.json", encoding="utf-8") as f:
    doc = json.load(f)
check(doc["night"] == 14 and len(doc["nights"]) == 14, "fourteen nights")
check(len(doc["units"]) == units, f"{units} units")
happened = {
    "external runner_version 4.1 → 4.2": [5],
    "slower as a whole: the same plans cost +": [8],
    "faster as a whole: the same plans cost −": [5, 9],
    f"of {units} searches had ended": [10],
}
for where in page, index:
    for n in range(1, 15):
        row = where.text.get(f"night-{n}", "")
        check(f"2026-01-{n:02d}" in row, f"night {n} has its date: {row!r}")
        for text, when in happened.items():
            check((text in row) == (n in when), f"night {n}: {text!r} in {row!r}")
check("killed: " in page.text["night-10"], "night 10 was killed")
check(doc["nights"][9]["state"] == "killed", "... and its record says so")
check(count < doc["nights"][9]["done"] < units, f"... after a few searches: {doc['nights'][9]}")
words = [words.split()[0] for _, words in page.findings]
order = ["Failed", "Costlier", "Contradicts", "Lost", "Drift", "Not", "Other", "Cheaper"]
check(words == sorted(words, key=order.index), f"the most urgent first: {words}")


def finding(word, unit):
    return [text for _, text in page.findings if text.startswith(word) and f" {unit} " in text]


for mix in "npu", "marvell", "both":
    check(finding("Failed", f"c@{mix}"), f"c@{mix} failed")
    check("last good" in page.text[f"u-c@{mix}"], f"... and what it was: c@{mix}")
check(finding("Costlier", "a@npu"), "a@npu is costlier")
check(finding("Cheaper", "b@npu"), "b@npu is cheaper")
lost = [f for f in doc["findings"] if f["kind"] == "LOST_PROOF"]
check(len(lost) == count - 1 and all("@both" in f["unit"] for f in lost), "the mix that proves nothing")
for f in doc["findings"]:
    check(f["command"].startswith("marq ") and f["what"] and f["why"], f"cause and command: {f}")
    check(finding(f["what"].split()[0] and "", f["unit"]), f"on the page: {f}")
check("more" in page.text["look"] or count < 12, "many of a kind are folded")
for name in ("u-d@npu", "u-d@marvell", "u-d@both"):
    check(name in page.text, name)
totals = doc["totals"]
check(totals["failed"] == 3 and totals["done"] == units - 3, f"totals: {totals}")
sys.exit(failed != 0)
END
python3 look.py $count $units || fail 'see above'

# What is asked of two nights is answered of their results.
run compare --night -1 --night 0 nightly/b@npu
expect_status 0
expect_in out 'faster'
run compare --night 7 --night 8 nightly --fail-on regress
expect_status 1
grep -q 'd@npu .*slower' out || fail 'the slow night is not slow'
grep -q 'd@marvell .*same' out || fail 'what the device has nothing to do with moved'

# The last four are kept, the rest is gone with its results, and no file is there twice.
before=$(ls nightly/nights/results | wc -l)
tonight --keep 4
[ "$(ls nightly/nights/*.json | wc -l)" = 4 ] || fail 'not four nights'
[ "$(ls nightly/nights/results | wc -l)" -lt "$before" ] || fail 'no result is gone'
expect_absent nightly/nights/0011.html
expect_in nightly/index.html 'id="night-15"'
for kept in nightly/nights/results/*; do
	run verify "$kept"
	expect_status 0
done
done_testing
