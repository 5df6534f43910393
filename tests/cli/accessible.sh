#!/bin/sh
# axe-core finds nothing to object to in a report, nor in the pages of a batch
# that has something to tell. It is not part of the project:
# tools/install-axe fetches it.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
axe=$MARQ_SOURCE/build/axe/axe.min.js
[ -e "$axe" ] || { echo "skipped: no axe-core: tools/install-axe fetches it"; exit 77; }
for tool in chromium chromedriver python3; do
	command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
getent ahosts localhost >/dev/null ||
	{ echo "skipped: localhost has no address (/etc/hosts)"; exit 77; }
run model make resnet50 -o resnet50.onnx
run search resnet50.onnx -t mrvl -t host --db none --no-measure --search greedy --sensitivity --emit=json,html -o result
expect_status 0
python3 "$MARQ_SOURCE/tests/support/axe.py" "$axe" result/report.html ||
	fail 'axe-core objects to a report'

# Three nights: a mix gets slower, one loses its proof, a model is lost.
export SOURCE_DATE_EPOCH=1767225600
night() { # LAUNCH SEARCH
	cat >npu.json <<-JSON
		{"format": "marquetry-rules", "version": 1, "summary": "a device", "launch_ns": $1,
		 "rules": [{"name": "n.conv", "taps": false, "where": [],
		 "pattern": "Conv(x:var, w:const, (const | absent))", "cost": {"ns": 20}}]}
	JSON
	cat >lab.yaml <<-YAML
		version: 1
		defaults: {db: none, out: lab, retries: 0, options: ["--no-measure", "--no-verify", "--search=$2"]}
		mixes: [{name: four, targets: [mrvl, "rules:file=npu.json", host]}, {name: cpu, targets: [host]}]
		models: [{path: one.onnx}, {path: two.onnx}]
	YAML
	run batch lab.yaml
	SOURCE_DATE_EPOCH=$((SOURCE_DATE_EPOCH + 86400))
}
for m in one two; do "$MARQ" model make tiny -o $m.onnx -q; done
night 100 exact
night 90000 greedy
rm two.onnx
night 90000 exact
expect_status 5
python3 "$MARQ_SOURCE/tests/support/axe.py" "$axe" lab/summary.html lab/index.html lab/nights/0001.html ||
	fail 'axe-core objects to a page of the batch'
done_testing
