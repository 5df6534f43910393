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
done_testing
