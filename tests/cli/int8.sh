#!/bin/sh
# 8 bits from the command line: calibration, limits, what is written, and that
# ONNX Runtime loses with partitioned.onnx what the result says.
. "$(dirname "$0")/lib.sh"
data=$MARQ_SHARED/data/models/mnist
model=$data/model.onnx
[ -f "$model" ] || {
	echo "skipped: no $model (MARQ_SHARED)"
	exit 77
}
search() {
	run search "$model" -t mrvl -t host --no-measure --db none "$@"
}

# every target that can, in 8 bits too; the search takes what is cheaper
search --int8 --calibrate "$data" -o out8
expect_status 0
expect_in out 'mrvl:quantize=int8    1 region'
expect_in out "int8: ranges minmax over $data"
expect_in out "output 'Plus214_Output_0': SQNR"
for f in result map calibration mrvl/tvmgen_mrvl_main_0-map; do
	expect_json out8/$f.json
done
expect_in out8/calibration.json '"schema": "marq.calibration/1"'
expect_in out8/calibration.json '"histogram"'
expect_in out8/map.json '"role": "synthesized", "region": 0'
expect_in out8/mrvl/tvmgen_mrvl_main_0-map.json '"precision": "int8"'
expect_in out8/mrvl/tvmgen_mrvl_main_0-map.json '"zero_point"'
expect_in out8/mrvl/tvmgen_mrvl_main_0-map.json '"weight_scales"'
expect_in out8/mrvl/compile.sh '-quantize=int8'
expect_in out8/report.md '## 8 bits'

# the same again, byte for byte
search --int8 --calibrate "$data" -o again8
for f in result map calibration; do
	sed 's/again8/out8/' again8/$f.json | cmp -s - out8/$f.json ||
		fail "$f.json differs the second time"
done

# the plan runs, and loses no more than was said
run run out8 --db none --no-measure
expect_status 0
expect_in out 'int8: outputs may be'

# ranges as asked for
for rule in mse percentile:99.9; do
	search --int8 --calibrate random:4 --ranges $rule -o none
	expect_status 0
	expect_in out "int8: ranges $rule over random:4"
done

# a composite that loses too much is refused with its figure
search --int8 --calibrate "$data" --min-sqnr 60 -o refused
expect_status 0
expect_in err 'int8 of'
expect_in err 'dB < 60'
expect_in out 'mrvl:quantize=int8    0 regions'
expect_in refused/alternatives.json 'dB in 8 bits'
expect_in refused/alternatives.json '(--min-sqnr)'

# a plan that does is searched again without what loses most
search --int8 --calibrate "$data" --max-error 0.001 -o none
expect_status 0
expect_in err 'barred from int8, and searched again'
expect_not_in out 'max error 0.01 '

# what a command line gets wrong
refused() { # WORDS OPTION...
	words=$1
	shift
	search -o none "$@"
	expect_status 2
	expect_in err "$words"
}
refused '--int8 adds' --calibrate random:2
refused 'needs scales: give --calibrate' --int8
for n in 0 x -1 1e9 99999999999999999999; do
	refused 'want random:N' --int8 --calibrate "random:$n"
done
refused 'want minmax, percentile:P' --int8 --calibrate random:2 --ranges max
refused 'want a number above 0' --int8 --calibrate random:2 --min-sqnr 0
refused 'want a number above 0' --int8 --calibrate random:2 --max-error nan
search --int8 --calibrate /no/such/folder -o none
[ "$status" != 0 ] || fail 'a folder that is not there was taken'
expect_in err '/no/such/folder'

# ONNX Runtime runs it and loses as much
if [ -z "$MARQ_ORT_PYTHON" ]; then
	echo 'skipped: ONNX Runtime (MARQ_ORT_PYTHON)'
	[ "$failures" = 0 ] && exit 77
else
	"$MARQ_ORT_PYTHON" "$MARQ_SOURCE/tests/support/qdq_error.py" "$model" \
		out8 "$data"/test_data_set_* || fail 'ONNX Runtime loses otherwise'
fi
done_testing
