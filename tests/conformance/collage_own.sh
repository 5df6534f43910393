#!/bin/sh
# Cases of our own for the runner of Collage's: structural keys, depth limits,
# costs that do not matter.
set -eu
exec "$MARQ_BUILD/tests/conformance_collage" \
	"$MARQ_SOURCE/tests/conformance/collage/own.json"
