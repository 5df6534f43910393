#!/bin/sh
# OpenVINO as a plug-in.
. "$(dirname "$0")/runtime.sh"
# Sanitizers refuse how its threads' library loads another.
export TBB_ENABLE_SANITIZERS=1
runtime_tests openvino openvino/c/openvino.h OpenVINO 20
# The blob where it is asked for; no price depends on that.
run search net.onnx -t "plugin:path=$so,blob=1" -t host --db prices.db $everything -o blob
expect_status 0
expect_in out ', 0 measured'
ls blob/openvino | grep -q -- '-blob$' || fail 'no blob'
# What its code for elementwise chains has too few registers for is compiled without.
chains=$MARQ_SHARED/data/models/micro_kws_m_static_qoperator/model.onnx
if [ -e "$chains" ]; then
	run search "$chains" -t "plugin:path=$so" -t host --db chains.db --no-measure --no-verify \
		--forbid host:op:QLinearConv -o chains
	expect_status 0
	expect_not_in err 'cannot be built'
	expect_in chains/result.json '"implementation": "onnx/alone"'
else
	echo "skipped: no $chains"
fi
# Two runtimes in one process, each with what it made: it ends as it should, whichever
# was loaded first.
ort=$(plain_name "$MARQ_BUILD/marq_ort.so")
run targets check "plugin:path=$ort"
if [ "$status" = 0 ]; then
	for both in "plugin:path=$ort plugin:path=$so" "plugin:path=$so plugin:path=$ort"; do
		# shellcheck disable=SC2086
		set -- $both
		run run net.onnx -t "$1" -t "$2" -t host --db prices.db --runs 3 --no-confirm --pin op:MaxPool=ort \
			--pin op:Conv=ort --pin op:Sigmoid=openvino --pin op:Flatten=openvino
		expect_status 0
		expect_in out 'matches the host reference'
	done
else
	echo "not checked: $(cat err)"
fi
done_testing
