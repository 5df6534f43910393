#!/bin/sh
# Small models that want to be large ones: what is written and what is taken
# has limits (docs/limits.md).
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
bomb() {
	python3 "$MARQ_SOURCE/tests/support/bomb.py" "$@" || exit 1
}
search() { # MODEL OUT [OPTION...]
	model=$1 out=$2
	shift 2
	run search "$model" -t host --no-measure --no-verify --db none -o "$out" "$@"
}
kilobytes() {
	du -sk "$1" | cut -f1
}

# 2.2 GB of zeros stay a shape and an element
bomb fold.onnx fold 550000000
search fold.onnx fold.marq
expect_status 0
[ "$(kilobytes fold.marq)" -lt 1000 ] || fail "$(kilobytes fold.marq) KiB"
run verify fold.marq
expect_status 0

# a result has a budget, of its own or by the model; nothing is left of it
search fold.onnx full.marq --max-output 20KiB
expect_status 3
expect_lines 1 err
expect_in err 'full.marq: the result would be larger than 20480 bytes'
[ "$(find . -name 'full*')" = "" ] || fail "left: $(find . -name 'full*')"
search fold.onnx full.marq --max-output 0
expect_status 2

# an ONNX file ends at 2 GiB: what would not fit is left out, with a word
bomb weights.onnx weights 2200000000
search weights.onnx weights.marq
expect_status 0
expect_in err 'partitioned.onnx is left out: a model of 22000'
expect_absent weights.marq/partitioned.onnx
run verify weights.marq
expect_status 0

# weights of four bits that are in no file: made up, to a limit
run model check "$MARQ_SOURCE/tests/fuzz/corpus/fuzz_model/int4_without_numbers"
expect_status 3
expect_in out 'numbers are made up: more than 4294967295 elements'

# names
bomb most.onnx name 65536
run model check most.onnx
expect_status 0
bomb name.onnx name 65537
run model check name.onnx
expect_status 3
expect_in out 'a name of more than 65536 bytes'
bomb name.onnx name 50000000
for command in "model check" "search -o none"; do
	(ulimit -v 1000000 && exec "$MARQ" $command name.onnx) >out 2>err
	status=$?
	case ${MARQ_BUILD##*/} in
	asan | tsan) ;; # they reserve terabytes
	*) expect_status 3 ;;
	esac
done
done_testing
