#!/bin/sh
# The report in a real browser: no console errors; filter, sort, hover and click
# work; names of the model stay names.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
for tool in chromium chromedriver python3; do
	command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
run model make tiny -o tiny.onnx
run search tiny.onnx -t mrvl -t host --db prices.db -o result
nodes=$(sed -n 's/^  "onnx_nodes": \([0-9]*\),$/\1/p' result/result.json)
python3 "$MARQ_SOURCE/tests/support/browser.py" "$PWD/result/report.html" "$nodes" ||
	fail 'the report of a small model'

# The same with names that break out of what does not escape.
mkdir hostile
for file in result.json map.json provenance.json alternatives.json; do
	sed 's#Conv_#</script><img src=x onerror=alert(1)>'"'"'\&quot;_#g' result/$file >hostile/$file
done
run report hostile
expect_status 0
python3 "$MARQ_SOURCE/tests/support/browser.py" "$PWD/hostile/report.html" "$nodes" ||
	fail 'the report of hostile names'
done_testing
