#!/bin/sh
# The page of a night in a real browser: at three widths, in the dark, without
# JavaScript, by the keyboard; and axe-core, where it is installed.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
for tool in chromium chromedriver python3; do
	command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
getent ahosts localhost >/dev/null || # where chromedriver looks for chromium
	{ echo "skipped: localhost has no address (/etc/hosts)"; exit 77; }
mkdir models
for m in a b c d e f g h i 'a-model-of-a-rather-long-name'; do
	"$MARQ" model make tiny -o models/$m.onnx -q
done
cat >lab.yaml <<-'YAML'
	version: 1
	defaults: {db: none, out: lab, retries: 0, options: ["--no-measure", "--no-verify", "--emit=json"]}
	mixes:
	  - {name: device, targets: [mrvl, host], options: ["--baselines"]}
	  - {name: both, targets: ["mrvl:num_tiles=4", mrvl, host], options: ["--search=greedy"]}
	models:
YAML
for m in models/*; do echo "  - {path: $m}" >>lab.yaml; done
export SOURCE_DATE_EPOCH=1767225600
run batch lab.yaml
SOURCE_DATE_EPOCH=1767312000
"$MARQ" model make tiny-encoder -o models/b.onnx -q --force
rm models/d.onnx
run batch lab.yaml
expect_status 5
page=lab/summary.html
[ "$(wc -c <$page)" -lt 200000 ] || fail 'the page is large'
! grep -qE '(src|href)="?https?:' $page || fail 'the page wants a network'
python3 "$MARQ_SOURCE/tests/support/morning.py" $page d@device || fail 'the page of a night'
axe=$MARQ_SOURCE/build/axe/axe.min.js
if [ -e "$axe" ]; then
	python3 "$MARQ_SOURCE/tests/support/axe.py" "$axe" $page lab/index.html || fail 'axe-core objects'
else
	echo 'axe-core was not asked: tools/install-axe fetches it'
fi
done_testing
