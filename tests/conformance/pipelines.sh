#!/bin/sh
# Pipelines of scikit-learn as skl2onnx writes them, against ONNX Runtime.
# $MARQ_ORT_PYTHON names a Python that has both.
set -eu
[ -n "${MARQ_ORT_PYTHON:-}" ] || { echo 'skipped: no $MARQ_ORT_PYTHON'; exit 77; }
"$MARQ_ORT_PYTHON" -c 'import numpy, onnx, onnxruntime, sklearn, skl2onnx' 2>/dev/null ||
	{ echo "skipped: $MARQ_ORT_PYTHON lacks what is needed"; exit 77; }
exec "$MARQ_ORT_PYTHON" -B "$MARQ_SOURCE/tests/conformance/pipelines.py" "$MARQ" "$@"
