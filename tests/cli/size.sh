#!/bin/sh
# A decoder of 50 million parameters, in half precision and in blocks of 4 bits:
# to import, search, write and run it takes no more than 1.3 times its weights in memory,
# pages of the mapped file included, beside what a small model takes. Halves that kernels of
# floats compute with are packed as floats: twice as much.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
case $MARQ_BUILD in
*/asan | */tsan) echo "skipped: a sanitizer's own memory is counted with ours"; exit 77 ;;
esac
# KiB of the largest process
peak() {
	python3 - "$MARQ" "$@" <<'END'
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
if done.returncode:
    sys.exit(done.stderr)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
}
"$MARQ" model make tiny-encoder -o base.onnx -q
for tenths in '13 small-decoder --exact-halves' '26 small-decoder' '13 small-decoder-int4'; do
	# shellcheck disable=SC2086
	set -- $tenths
	tenths=$1 model=$2 how="${3-} -t dnnl -t host --no-measure --db none"
	most=$(peak model make $model -o $model.onnx -q) || fail "$model is not made"
	bytes=$(stat -c %s $model.onnx)
	[ "$most" -le $((bytes * 13 / 10240)) ] || fail "$most KiB to make $model"
	for step in 'search MODEL -o none --no-verify' 'search MODEL -o none' \
		'search MODEL -o out.marq --force --no-verify' 'run MODEL --runs 1 --no-verify'; do
		command="marq $step"
		of=${step%%MODEL*} more=${step#*MODEL}
		base=$(peak ${of}base.onnx $more $how) || fail 'it fails on a small model'
		most=$(peak $of$model.onnx $more $how) || fail 'it fails'
		echo "$step: $most KiB, $base of a small model, $((bytes / 1024)) of weights"
		[ $(((most - base) * 10)) -le $((bytes * tenths / 1024)) ] ||
			fail "more than $tenths tenths of the weights"
	done
	rm $model.onnx
done

# Many small nodes: in a row, what all of the search takes of them grows as they do;
# side by side, it keeps to its budget, the plan checked.
how='-t mrvl -t host --no-measure --db none'
command="marq search chain.onnx"
python3 "$MARQ_SOURCE/tests/support/bomb.py" chain.onnx chain 30000
python3 "$MARQ_SOURCE/tests/support/bomb.py" wide.onnx wide 20000
base=$(peak search base.onnx $how -o none --no-verify) || fail 'it fails on a small model'
most=$(peak search chain.onnx $how -o none --no-verify) || fail 'it fails on a chain'
echo "a chain of 30000: $most KiB, $base of a small model"
[ $((most - base)) -le 34000 ] || fail "more than 1.13 KiB a node"
"$MARQ" search chain.onnx $how -o none --no-verify -q --dump-problem chain.json 2>err || fail "no problem: $(cat err)"
command="marq solve chain.json"
most=$(peak solve chain.json) || fail 'it fails on the problem of a chain'
echo "its problem, $(($(stat -c %s chain.json) / 1024)) KiB of JSON: $most KiB"
[ "$most" -le 45000 ] || fail 'a tree of the whole document is in memory'
command="marq search wide.onnx"
most=$(peak search wide.onnx $how -o none --memory-budget 200MiB) || fail 'it fails on a wide graph'
echo "20000 side by side: $most KiB"
[ "$most" -le $((220 * 1024)) ] || fail 'more than a tenth above the budget'
most=$(peak search wide.onnx $how -o wide.marq --memory-budget 200MiB) || fail 'it fails with files'
echo "with all files: $most KiB"
[ "$most" -le $((220 * 1024)) ] || fail 'more than a tenth above the budget, with all files'
done_testing
