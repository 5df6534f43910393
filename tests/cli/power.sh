#!/bin/sh
# Power cuts in what writes: a result, a state, a report is the old one, whole,
# or the new one, whole, whatever of it had reached the disk.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
record=$MARQ_BUILD/tests/libmarq_record.so
case ${MARQ_BUILD##*/} in
asan | tsan | fuzz)
	echo "skipped: sanitizers want to be preloaded first"
	exit 77
	;;
esac
[ -e "$record" ] || { echo "skipped: $record is not built"; exit 77; }
command=power.py
mkdir disk
(cd disk && python3 "$MARQ_SOURCE/tests/support/power.py" "$MARQ" "$record") || fail 'see above'
done_testing
