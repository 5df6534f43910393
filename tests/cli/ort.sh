#!/bin/sh
# ONNX Runtime as a plug-in.
. "$(dirname "$0")/runtime.sh"
runtime_tests ort onnxruntime_c_api.h 'ONNX Runtime' 1.
done_testing
