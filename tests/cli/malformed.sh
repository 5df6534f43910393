#!/bin/sh
# Malformed models, made by operator and by structure (support/malformed.py):
# never a signal, always one clear line. $MARQ_MALFORMED: every so manieth of
# them (default 23; 1: all).
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
command=malformed.py
mkdir made
(cd made && python3 "$MARQ_SOURCE/tests/support/malformed.py" "$MARQ" \
	"$MARQ_SOURCE/ir/schema.def" "${MARQ_MALFORMED:-23}") || fail 'see above'
done_testing
