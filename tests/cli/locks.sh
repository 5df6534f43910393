#!/bin/sh
# One measurement at a time on a core: who shares a folder of locks waits for
# others, says so, is not the worse for it, and goes on when they are dead.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
"$MARQ" model make tiny -o tiny.onnx -q
run search tiny.onnx -t host --db none --eager-pricing --want list.json --max-measure 3
expect_status 0
mkdir locks
run measure list.json --db a.db --locks locks
expect_status 0
[ -n "$(find locks -name 'marq-measures-on-core-*.lock' -perm 666)" ] ||
	{ fail 'no locks that others may use'; ls -l locks; }

# Somebody of another container has all cores, for longer than a measurement may take.
cat >holder.py <<'P'
import fcntl, os, sys, time
files = []
for core in range(256):
    path = f"locks/marq-measures-on-core-{core}.lock"
    files.append(os.open(path, os.O_RDWR | os.O_CREAT, 0o666))
    fcntl.flock(files[-1], fcntl.LOCK_EX)
open("held", "w").close()
time.sleep(3600)
P
python3 holder.py &
holder=$!
trap 'kill -9 $holder 2>/dev/null; rm -rf "$work"' EXIT
wait_until test -e held
MARQ_LOCKS=$work/locks "$MARQ" measure list.json --db b.db --measure-timeout 5s --no-progress --format=json >out 2>err &
waiting=$!
command='marq measure, with all cores taken'
wait_until grep -q 'waiting for core [0-9]*, on which another marq measures' err || { fail 'says nothing'; cat err; }
sleep 5
is_gone $waiting && fail 'does not wait'
[ ! -s out ] || fail 'has an answer'
kill -9 $holder
wait $waiting
status=$?
expect_status 0
expect_lines 1 err
python3 - <<'P' || { fail 'not all of it was measured'; cat out; }
import json
d = json.load(open("out"))
assert d["measured"] == 3 and d["failed"] == 0, d
P

# A folder that is none is refused before the work.
for what in 'measure list.json --db c.db' 'search tiny.onnx -t host --db c.db -o none' 'batch absent.yaml'; do
	run $what --locks absent
	expect_status 2
	expect_lines 1 err
	expect_in err 'no locks can be made there'
	expect_absent c.db
done
done_testing
