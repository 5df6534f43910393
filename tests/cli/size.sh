#!/bin/sh
# A decoder of 50 million parameters in half precision, its weights beside it: to
# import, search and run it takes no more than 1.3 times its weights in memory,
# pages of the mapped file included, beside what a small model takes.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
python=${MARQ_ORT_PYTHON:-python3}
"$python" -c 'import onnx, numpy' 2>/dev/null || { echo 'skipped: no python with onnx'; exit 77; }
"$python" "$MARQ_SOURCE/tests/support/decoder.py" small.onnx 1 64 4 2 128 100 4 fp16 >/dev/null
bytes=$("$python" "$MARQ_SOURCE/tests/support/decoder.py" model.onnx 4 1024 16 4 2816 4000 8 fp16)
# KiB of the largest process
peak() {
	"$python" - "$MARQ" "$@" <<'END'
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
if done.returncode:
    sys.exit(done.stderr)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
}
how='-t dnnl -t host --no-measure --db none'
for step in 'search MODEL -o none --no-verify' 'search MODEL -o none' 'run MODEL --runs 1 --no-verify'; do
	command="marq $step"
	of=${step%%MODEL*} more=${step#*MODEL}
	base=$(peak ${of}small.onnx $more $how) || fail 'it fails on a small model'
	most=$(peak ${of}model.onnx $more $how) || fail 'it fails'
	echo "$step: $most KiB, $base of a small model, $((bytes / 1024)) of weights"
	[ $(((most - base) * 10)) -le $((bytes * 13 / 1024)) ] || fail 'more than 1.3 times the weights'
done
done_testing
