#!/bin/sh
# OpenVINO as a plug-in.
. "$(dirname "$0")/runtime.sh"
# Sanitizers refuse how its threads' library loads another.
export TBB_ENABLE_SANITIZERS=1
runtime_tests openvino openvino/c/openvino.h OpenVINO 20
done_testing
