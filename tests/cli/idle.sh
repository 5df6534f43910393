#!/bin/sh
# Between two runs of a plan nobody is busy: helpers of libraries that wait for
# work look for it for some 100 us, then sleep. While it runs, no more threads are
# busy than were asked for. Processor time says both, whatever else runs here.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
[ "$(nproc)" -ge 2 ] || { echo 'skipped: wants two cores'; exit 77; }
run model make squeezenet -o m.onnx -q
cat >idle.py <<'END'
import os
import subprocess
import sys
import time

TURNS, RUNS, PAUSE, THREADS = 3, 5, 1.0, 2


def cpu_ns(pid):
    """Of all threads: none of them ends meanwhile."""
    total = 0
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/schedstat" % (pid, task), encoding="ascii") as f:
            total += int(f.read().split()[0])
    return total


def seen(pid, what):
    before, began = cpu_ns(pid), time.monotonic_ns()
    what()
    return (cpu_ns(pid) - before) / (time.monotonic_ns() - began)


def main(marq, kinds):
    mix = [x for k in kinds for x in ("-t", k)]
    p = subprocess.Popen([marq, "run", "m.onnx", *mix, "--threads=%d" % THREADS, "--no-measure", "--db", "none", "--no-reference",
                          "--no-verify", "--turns", "-q"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    line = p.stdout.readline()
    if not line.startswith("ready "):
        sys.exit("not ready: " + line)

    def turn():
        print(RUNS, file=p.stdin, flush=True)
        if len(p.stdout.readline().split()) != RUNS:
            sys.exit("it ended")

    faults = []
    for _ in range(TURNS):
        busy = seen(p.pid, turn)
        idle = seen(p.pid, lambda: time.sleep(PAUSE))
        print("%s: busy %.3f, idle %.5f" % (" ".join(kinds), busy, idle))
        if busy > THREADS * 1.05:
            faults.append("%.2f cores busy with %d threads" % (busy, THREADS))
        if idle > 0.01:
            faults.append("%.1f %% of a core while nothing runs" % (100 * idle))
    p.stdin.close()
    if p.wait() or faults:
        sys.exit("; ".join(faults) or "status %d" % p.returncode)


main(sys.argv[1], sys.argv[2:])
END
for mix in dnnl xnnpack blas native 'native dnnl xnnpack blas'; do
	there=
	for kind in $mix; do
		"$MARQ" targets 2>/dev/null | grep -q "^$kind  *ok" && there="$there $kind"
	done
	command="run --turns with$there host"
	# shellcheck disable=SC2086
	[ -z "$there" ] || python3 idle.py "$MARQ" $there host || fail 'see above'
done
done_testing
