#!/bin/sh
# Power cuts in what writes: a result, a state, a report is the old one, whole,
# or the new one, whole, whatever of it had reached the disk.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
need_preload record
command=power.py
mkdir disk
(cd disk && python3 "$MARQ_SOURCE/tests/support/power.py" "$MARQ" "$preloaded") || fail 'see above'
done_testing
