#!/bin/sh
# A fault of memory or of the file system at call after call of what writes:
# the old result whole, or the new one, and one honest line. $MARQ_SWEEP says
# how many faults of each kind and operation (0: every single one).
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
need_preload faults
command=sweep.py
python3 "$MARQ_SOURCE/tests/support/sweep.py" "$MARQ" "$preloaded" "${MARQ_SWEEP:-15}"
case $? in
0) ;;
77) exit 77 ;;
*) fail "see above" ;;
esac
done_testing
