#!/bin/sh
# The package for the device, run by a graph executor of ours and ONNX Runtime.
# $MARQ_ORT_PYTHON names a Python that has onnxruntime, onnx and numpy.
set -eu
[ -n "${MARQ_ORT_PYTHON:-}" ] || { echo 'skipped: no $MARQ_ORT_PYTHON'; exit 77; }
"$MARQ_ORT_PYTHON" -c 'import numpy, onnx, onnxruntime' ||
	{ echo "skipped: $MARQ_ORT_PYTHON lacks what is needed"; exit 77; }
models=$MARQ_SHARED/data/models
[ -d "$models" ] || { echo "skipped: no $models"; exit 77; }
exec "$MARQ_ORT_PYTHON" "$MARQ_SOURCE/tests/conformance/device.py" "$MARQ" "$models"
