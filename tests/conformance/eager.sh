#!/bin/sh
# The eager search with mrvl:compat=legacy-v0.19 against upstream's partitions of
# whole networks.
set -eu
[ -d "$MARQ_SHARED/data/mrvl/networks" ] || { echo "skipped: no $MARQ_SHARED/data/mrvl"; exit 77; }
exec python3 "$MARQ_SOURCE/tests/conformance/eager.py" "$MARQ" "$MARQ_SHARED/data"
