#!/bin/sh
# The tables of operators and their versions, against the onnx package.
# $MARQ_ORT_PYTHON names a Python that has it.
set -eu
[ -n "${MARQ_ORT_PYTHON:-}" ] || { echo 'skipped: no $MARQ_ORT_PYTHON'; exit 77; }
"$MARQ_ORT_PYTHON" -c 'import onnx.defs' ||
	{ echo "skipped: $MARQ_ORT_PYTHON lacks onnx"; exit 77; }
exec "$MARQ_ORT_PYTHON" "$MARQ_SOURCE/tests/conformance/schemas.py" "$MARQ_SOURCE"
