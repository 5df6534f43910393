#!/bin/sh
# axe-core finds nothing to object to in a report. It is not part of the project:
# tools/install-axe fetches it.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
axe=$MARQ_SOURCE/build/axe/axe.min.js
[ -e "$axe" ] || { echo "SKIPPED: no axe-core: tools/install-axe fetches it"; exit 77; }
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
done_testing
