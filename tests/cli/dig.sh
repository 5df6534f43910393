#!/bin/sh
# Every finding of a night has a command that digs deeper. Each is handed to a
# shell as it is written, in a folder whose name a shell would take apart, and
# has to be about what it was given for.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
mkdir bin "sam's lab" && ln -s "$MARQ" bin/marq
export PATH="$work/bin:$PATH" SOURCE_DATE_EPOCH=1767225600
cd "sam's lab" || exit 1
manifest() { # NANOSECONDS OF A CONVOLUTION, SEARCH of mix "both"
	cat >npu.json <<-JSON
		{"format": "marquetry-rules", "version": 1, "summary": "a device",
		 "launch_ns": 200, "rules": [{"name": "n.conv", "taps": false, "where": [],
		 "pattern": "Conv(x:var, w:const, (const | absent))", "cost": {"ns": $1}}]}
	JSON
	cat >'all models.yaml' <<-YAML
		version: 1
		defaults: {db: "what it costs.db", out: "the nights", retries: 0, options: ["--no-verify"]}
		mixes:
		  - {name: cpu, targets: [host]}
		  - {name: npu, targets: ["rules:file=npu.json", host], options: ["--no-measure", "--db=none"]}
		  - {name: both, targets: ["rules:file=npu.json", host], options: ["--no-measure", "--search=$2"]}
		models:
		  - {path: tiny.onnx}
		  - {path: encoder.onnx}
		  - {path: gone.onnx}
	YAML
}
for m in tiny gone; do marq model make tiny -o $m.onnx -q; done
marq model make tiny-encoder -o encoder.onnx -q
manifest 2000 exact
run batch 'all models.yaml'
expect_status 0
SOURCE_DATE_EPOCH=$((SOURCE_DATE_EPOCH + 86400))
manifest 90000 greedy
rm gone.onnx
run batch 'all models.yaml'
expect_status 5

# The machine is slower than it was, and something was not built: as a night
# that saw it has it in its record.
python3 - <<'END'
import json
path = "the nights/nights/0002.json"
with open(path) as f:
    night = json.load(f)
unit = [u for u in night["units"] if u["unit"] == "tiny@cpu"][0]
unit.update(ran=True, drift_permille=1900, unbuilt=2, first_unbuilt="host.conv: it would not")
with open(path, "w") as f:
    json.dump(night, f)
END
run batch 'all models.yaml' --only none
cp 'the nights/summary.json' ../summary.json

cat >../dig.py <<'END'
import json
import subprocess
import sys
# The batch has a model that is gone, so it never ends with status 0.
want = {"FAILED": (5, "gone.onnx"), "REGRESSED": (0, "slower"), "IMPROVED": (0, "faster"),
        "REPLANNED": (0, ""), "CONTRADICTS": (0, ""), "LOST_PROOF": (5, "done"), "UNPROVEN": (5, "done"),
        "DRIFT": (0, "measured again"), "UNBUILT": (0, "Conv_")}
with open("../summary.json") as f:
    found = json.load(f)["findings"]
# what runs searches again comes last: it writes over what others ask of
found.sort(key=lambda f: f["command"].startswith("marq batch"))
bad = 0
for f in found:
    r = subprocess.run(["sh", "-c", f["command"]], capture_output=True, text=True)
    status, word = want[f["kind"]]
    print(r.returncode, f["kind"], f["command"])
    if r.returncode != status or word not in r.stdout + r.stderr:
        bad += 1
        print("FAILED:", f["kind"], f["what"], r.stdout[-2000:], r.stderr[-2000:], sep="\n")
kinds = {f["kind"] for f in found}
missing = {"FAILED", "REGRESSED", "LOST_PROOF", "DRIFT", "UNBUILT"} - kinds
if missing:
    bad += 1
    print("FAILED: no", missing, "among", kinds)
sys.exit(bad != 0)
END
python3 ../dig.py >../dug || { cat ../dug; fail 'see above'; }
done_testing
