#!/bin/sh
# The report in a real browser: what a reader, a keyboard, narrow screens, the
# dark and a browser without script find there; names of the model stay names;
# 50,000 nodes. How soon it was ready is printed only.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
for tool in chromium chromedriver python3; do
	command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
getent ahosts localhost >/dev/null || # where chromedriver looks for chromium
	{ echo "skipped: localhost has no address (/etc/hosts)"; exit 77; }
support=$MARQ_SOURCE/tests/support
run model make tiny -o tiny.onnx
run search tiny.onnx -t mrvl -t host --db prices.db -o result
look_at() { # RESULT [large]
	python3 "$support/page.py" "$1/report.html" "$@"
}
look_at result || fail 'the report of a small model'
run search tiny.onnx -t mrvl -t host --db absent.db --no-measure -o noted
grep -q 'absent.db: no such database' noted/result.json || fail 'no note of the database'
look_at noted || fail 'the report of a result with notes'

# A real network with assumptions, and 4,000 nodes of a transformer in 2 MB.
run model make resnet50 -o resnet50.onnx
python3 "$support/deep.py" deep.onnx 4000
for model in resnet50 deep; do
	run search $model.onnx -t mrvl -t host --db none --no-measure --search greedy --emit=json,html -o $model
	expect_status 0
	rm $model.onnx
	bytes=$(wc -c <$model/report.html)
	echo "$model: $bytes bytes"
	[ "$bytes" -lt 2000000 ] || fail "the report of $model has $bytes bytes"
done
look_at resnet50 || fail 'the report of resnet50'

# No search: documents of 50,000 nodes as they are.
python3 "$support/large.py" large 50000
run report large
expect_status 0
look_at large large || fail 'the report of 50,000 nodes'

# Names that break out of what does not escape.
mkdir hostile
for file in result.json map.json provenance.json alternatives.json; do
	sed 's#Conv_#</script><img src=x onerror=alert(1)>'"'"'\&quot;_#g' result/$file >hostile/$file
done
run report hostile
expect_status 0
look_at hostile || fail 'the report of hostile names'
done_testing
