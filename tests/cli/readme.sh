#!/bin/sh
# Every session of the README and of what continues it is run, and prints what
# they show.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
command -v python3 >/dev/null || { echo 'skipped: no python3'; exit 77; }
need_target dnnl
command=README.md
PATH=$(dirname "$MARQ"):$PATH
python3 "$MARQ_SOURCE/tests/support/transcript.py" "$MARQ_SOURCE/README.md" \
	"$MARQ_SOURCE/docs/using.md" || fail 'a page shows something else'

# The comparison sees a figure that is not true.
sed -e 's/^squeezenet.onnx: 66 nodes/squeezenet.onnx: 67 nodes/' -e '/^wrote squeezenet/q' \
	"$MARQ_SOURCE/README.md" >changed.md
echo '```' >>changed.md
mkdir changed && cd changed || exit 1
python3 "$MARQ_SOURCE/tests/support/transcript.py" ../changed.md >said &&
	fail 'a changed README passes'
grep -q '^-squeezenet.onnx: 67 nodes' said || fail 'the change is not named'
done_testing
