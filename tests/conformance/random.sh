#!/bin/sh
# Random models on the host, against ONNX Runtime.
# $MARQ_ORT_PYTHON names a Python that has onnxruntime, onnx and numpy.
set -eu
[ -n "${MARQ_ORT_PYTHON:-}" ] || { echo 'skipped: no $MARQ_ORT_PYTHON'; exit 77; }
"$MARQ_ORT_PYTHON" -c 'import numpy, onnx, onnxruntime' ||
	{ echo "skipped: $MARQ_ORT_PYTHON lacks what is needed"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$MARQ_BUILD/tests/fuzz_candidates" -s 20000 -n 1500 -o "$folder" -a
"$MARQ_ORT_PYTHON" "$MARQ_SOURCE/tests/fuzz/candidates/runtime.py" "$folder"
