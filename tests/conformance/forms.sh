#!/bin/sh
# Forms of operators of com.microsoft and ai.onnx.ml on the host, against ONNX
# Runtime. $MARQ_ORT_PYTHON names a Python that has onnxruntime, onnx and numpy.
set -eu
[ -n "${MARQ_ORT_PYTHON:-}" ] || { echo 'skipped: no $MARQ_ORT_PYTHON'; exit 77; }
"$MARQ_ORT_PYTHON" -c 'import numpy, onnx, onnxruntime' ||
	{ echo "skipped: $MARQ_ORT_PYTHON lacks what is needed"; exit 77; }
"$MARQ_ORT_PYTHON" -B "$MARQ_SOURCE/tests/conformance/contrib_forms.py" "$MARQ" "$@"
exec "$MARQ_ORT_PYTHON" -B "$MARQ_SOURCE/tests/conformance/contrib_sweep.py" "$MARQ" "$@"
