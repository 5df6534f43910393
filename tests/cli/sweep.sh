#!/bin/sh
# A fault of memory or of the file system at call after call of what writes:
# the old result whole, or the new one, and one honest line. $MARQ_SWEEP says
# how many faults of each kind and operation (0: every single one).
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
shim=$MARQ_BUILD/tests/libmarq_faults.so
case ${MARQ_BUILD##*/} in
asan | tsan | fuzz)
	echo "skipped: sanitizers have allocators of their own"
	exit 77
	;;
esac
[ -e "$shim" ] || { echo "skipped: $shim is not built"; exit 77; }
command=sweep.py
python3 "$MARQ_SOURCE/tests/support/sweep.py" "$MARQ" "$shim" "${MARQ_SWEEP:-15}"
case $? in
0) ;;
77) exit 77 ;;
*) fail "see above" ;;
esac
done_testing
