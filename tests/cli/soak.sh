#!/bin/sh
# Batches under kills, full disks, clock jumps and readers. $MARQ_SOAK says for
# how many seconds (default 40), $MARQ_SOAK_DUTY in how much of them, per cent.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
need_preload clock
mkdir disk
own_disk=
if unshare -rm true 2>/dev/null; then
	own_disk='mount -t tmpfs -o size=48m soak disk && : >disk/own-disk &&'
	within='unshare -rm'
else
	echo 'no file system of our own here: the disk is never full'
	within=
fi
command=soak.py
$within sh -c "$own_disk cd disk && exec python3 \"\$@\"" soak \
	"$MARQ_SOURCE/tests/support/soak.py" "$MARQ" "$preloaded" \
	"${MARQ_SOAK:-40}" "${MARQ_SOAK_SEED:-1}" "${MARQ_SOAK_DUTY:-100}" ||
	fail 'see above'
done_testing
