#!/bin/sh
# Every ONNX node of an exported model reaches its module, every stack trace its
# line; map.json keeps its schema. Needs the models as exporters write them, and
# $MARQ_ORT_PYTHON, a Python that has onnx.
set -eu
[ -n "${MARQ_ORT_PYTHON:-}" ] || { echo 'skipped: no $MARQ_ORT_PYTHON'; exit 77; }
"$MARQ_ORT_PYTHON" -c 'import onnx' || { echo "skipped: $MARQ_ORT_PYTHON lacks onnx"; exit 77; }
models=$MARQ_SHARED/data/exports
[ -d "$models" ] || { echo "skipped: no $models"; exit 77; }
exec "$MARQ_ORT_PYTHON" "$MARQ_SOURCE/tests/conformance/scopes.py" "$MARQ" "$models" \
	"$MARQ_SOURCE/share/schema/map.json"
