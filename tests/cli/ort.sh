#!/bin/sh
# ONNX Runtime as a plug-in: refusals in words, right outputs, nothing measured
# twice. Skipped where the plug-in was not built or the library is not there.
. "$(dirname "$0")/lib.sh"
so=$MARQ_BUILD/marq_ort.so
[ -e "$so" ] || { echo 'skipped: the plug-in ort was not built (no onnxruntime_c_api.h)'; exit 77; }
# Where it is in nobody's path it says so, and how to get it.
run targets check "plugin:path=$so,library=none.so"
expect_status 4
expect_in err 'ONNX Runtime is not here: none.so; install libonnxruntime'
expect_lines 1 err
[ -z "${MARQ_ORT_PYTHON-}" ] || PATH=$(dirname "$MARQ_ORT_PYTHON"):$PATH
run targets check "plugin:path=$so"
[ "$status" = 0 ] || { echo "skipped: $(cat err)"; [ "$failures" = 0 ] && exit 77; exit 1; }
run targets show "plugin:path=$so"
expect_in out 'fact.ort_version=1.'

# The whole of a model runs there and is right.
"$MARQ_BUILD/tests/standin_model" net.onnx pcsf || exit 1
everything='--pin op:MaxPool=ort --pin op:Conv=ort --pin op:Sigmoid=ort --pin op:Flatten=ort'
run search net.onnx -t "plugin:path=$so" -t host --db prices.db $everything -o whole
expect_status 0
expect_in out 'proven among '
expect_in out verified
expect_in whole/result.json '"rule": "ort.region"'
run search net.onnx -t "plugin:path=$so" -t host --db prices.db $everything -o again
expect_in out ', 0 measured'
cmp -s whole/result.json again/result.json || fail 'another result'
run run whole -t "plugin:path=$so" -t host --db prices.db --runs 3
expect_status 0
expect_in out 'matches the host reference'
done_testing
