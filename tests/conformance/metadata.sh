#!/bin/sh
# What exporters remark of models, graphs and nodes survives in the ONNX files of a
# result, values have their types, nodes say where they run. Needs the models as
# exporters write them, and $MARQ_ORT_PYTHON, a Python that has onnx.
set -eu
[ -n "${MARQ_ORT_PYTHON:-}" ] || { echo 'skipped: no $MARQ_ORT_PYTHON'; exit 77; }
"$MARQ_ORT_PYTHON" -c 'import onnx' || { echo "skipped: $MARQ_ORT_PYTHON lacks onnx"; exit 77; }
models=$MARQ_SHARED/data/exports
[ -d "$models" ] || { echo "skipped: no $models"; exit 77; }
exec "$MARQ_ORT_PYTHON" "$MARQ_SOURCE/tests/conformance/metadata.py" "$MARQ" "$models"
