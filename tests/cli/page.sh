#!/bin/sh
# The report in a real browser: no console errors; filter, sort, hover and click
# work; names of the model stay names. How soon it was ready is printed only.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
for tool in chromium chromedriver python3; do
	command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
getent ahosts localhost >/dev/null || # where chromedriver looks for chromium
	{ echo "skipped: localhost has no address (/etc/hosts)"; exit 77; }
run model make tiny -o tiny.onnx
run search tiny.onnx -t mrvl -t host --db prices.db -o result
onnx_nodes() {
	sed -n 's/^  "onnx_nodes": \([0-9]*\),$/\1/p' "$1/result.json"
}
look_at() { # RESULT
	python3 "$MARQ_SOURCE/tests/support/browser.py" "$PWD/$1/report.html" "$(onnx_nodes "$1")"
}
nodes=$(onnx_nodes result)
look_at result || fail 'the report of a small model'

# A real network and 4,000 nodes of a transformer: it still works, in 5 MB.
run model make resnet50 -o resnet50.onnx
python3 "$MARQ_SOURCE/tests/support/deep.py" deep.onnx 4000
for model in resnet50 deep; do
	run search $model.onnx -t mrvl -t host --db none --no-measure --search greedy -o $model
	expect_status 0
	rm $model.onnx
	bytes=$(wc -c <$model/report.html)
	echo "$model: $(onnx_nodes $model) nodes, $bytes bytes"
	[ "$bytes" -lt 5000000 ] || fail "the report of $model has $bytes bytes"
	look_at $model || fail "the report of $model"
done

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
