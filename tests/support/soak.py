"""Hours of batches over generated models, disturbed.

soak.py MARQ CLOCK SECONDS SEED DUTY: in the current folder, which should be a
small file system of its own. Batches are started over a changing set of
models; meanwhile processes are killed and stopped, the disk is filled and
freed, the time of day jumps (CLOCK is preloaded), results and their states are
damaged, and readers look at everything. DUTY: the share of the time (in per
cent) in which a batch runs. Prints what was done and what was wrong; status 1
after anything wrong. At the end, undisturbed, one more run completes all: it
must say what a run of its own in an empty folder says."""
import collections
import difflib
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

from deep import TOKENS, Encoder, blob, number, value

MARQ, CLOCK = sys.argv[1], sys.argv[2]
SECONDS, SEED, DUTY = float(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5])
NMODELS = 10
LONGEST_JUMP = 20 * 365 * 86400
MARK = f"soak-{os.getpid()}"
# done, answer no, units failed, database, file system, memory, interrupted
HONEST = (0, 1, 5, 6, 7, 8, 130, 143)
count = collections.Counter()
samples = []  # (seconds, role, resident KiB, descriptors)
wrong = []
begun = time.monotonic()
rng = random.Random(SEED)


def say(text):
    print(f"{time.monotonic() - begun:7.0f} s: {text}", flush=True)


def blame(text):
    wrong.append(text)
    say("WRONG: " + text)


# ---- what is searched ----

def make_model(path, seed):
    r, e, x = random.Random(seed), Encoder(), "tokens"
    for i in range(r.randrange(1, 4)):
        kind = r.choice(("Relu", "Sigmoid", "Tanh", "layer", "linear", "Softmax"))
        if kind == "layer":
            x = e.layer(x, f"/layer.{i}")
        elif kind == "linear":
            x = e.linear(x, f"/linear.{i}")
        else:
            x = e.node(kind, [x], f"/{kind}.{i}")
    graph = b"".join(e.nodes) + blob(2, "made") + b"".join(e.weights) + value(11, "tokens") + value(12, x)
    with open(path + ".new", "wb") as f:
        f.write(number(1, 8) + blob(7, graph) + blob(8, number(2, 17)))
    os.rename(path + ".new", path)


def write_manifest(name):
    """By estimates, which two runs have in common; and measured."""
    with open(name + "-estimated.yaml", "w", encoding="ascii") as f:
        f.write(f"version: 1\ndefaults: {{db: none, out: {name}-estimated, options: [--no-measure, --no-verify]}}\n"
                "mixes: [{name: cpu, targets: [host]}, {name: both, targets: [mrvl, host]}]\nmodels:\n"
                + "".join(f"  - {{path: m{i}.onnx}}\n" for i in range(NMODELS)))
    with open(name + "-measured.yaml", "w", encoding="ascii") as f:
        f.write(f"version: 1\ndefaults: {{db: {name}.db, out: {name}-measured, options: [--max-measure=6]}}\n"
                "mixes: [{name: cpu, targets: [host]}]\nmodels:\n"
                + "".join(f"  - {{path: m{i}.onnx}}\n" for i in range(NMODELS)))


def results(name):
    for kind in ("estimated", "measured"):
        folder = f"{name}-{kind}"
        for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            if os.path.isdir(f"{folder}/{entry}") and ".tmp-" not in entry and entry not in ("shards", "nights"):
                yield f"{folder}/{entry}"


# ---- processes ----

def environment(disturbed):
    env = dict(os.environ, SOAK=MARK, MARQ_CLEANED="1", LANG="C")
    if disturbed:
        env.update(LD_PRELOAD=CLOCK, CLOCK_JUMP=os.path.abspath("jump"))
    return env


def run(*command, disturbed=True):
    return subprocess.run((MARQ,) + command, env=environment(disturbed), capture_output=True, check=False)


def ours():
    """All processes that have our mark in their environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                marked = f"SOAK={MARK}".encode() in f.read().split(b"\0")
            if marked and int(pid) != os.getpid():
                found.append(int(pid))
        except OSError:
            pass
    return found


def sample(pid, batch):
    """Its memory and descriptors; roles are batch, unit (a search) and worker."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
            status = dict(line.split(":", 1) for line in f if ":" in line)
        fds = len(os.listdir(f"/proc/{pid}/fd"))
        resident = int(status["VmRSS"].split()[0])
        parent = int(status["PPid"])
    except (OSError, KeyError, ValueError):
        return
    if not status["Name"].strip().startswith("marq"):
        return
    role = "batch" if pid == batch else "unit" if parent == batch else "worker"
    samples.append((time.monotonic() - begun, role, resident, fds))


# ---- disturbances ----

def set_clock(seconds):
    with open("jump", "r+b") as f:
        f.write(struct.pack("=q", seconds))


def jump_clock():
    set_clock(rng.choice((0, rng.randrange(-LONGEST_JUMP, LONGEST_JUMP), rng.randrange(-7200, 7200))))
    count["clock jumps"] += 1


def fill_disk():
    """To the last byte, or nearly."""
    space = os.statvfs(".")
    left = space.f_bavail * space.f_frsize - rng.choice((0, 0, 4096, 65536, 400000))
    if not os.path.exists("own-disk") or left <= 0 or os.path.exists("hog"):
        return
    with open("hog", "wb") as f:
        try:
            os.posix_fallocate(f.fileno(), 0, left)
        except OSError:
            pass
    count["full disks"] += 1


def free_disk():
    if os.path.exists("hog"):
        os.unlink("hog")


def kill_one(batch):
    victims = ours()
    if victims:
        victim = batch if rng.random() < 0.3 else rng.choice(victims)
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            return
        count["kills"] += 1


def stop_one():
    victims = ours()
    if victims:
        victim = rng.choice(victims)
        try:
            os.kill(victim, signal.SIGSTOP)
            time.sleep(rng.random())
            os.kill(victim, signal.SIGCONT)
        except ProcessLookupError:
            return
        count["stops"] += 1


def change_model():
    free_disk()
    make_model(f"m{rng.randrange(NMODELS)}.onnx", rng.randrange(1 << 30))
    count["models changed"] += 1


def damage(name):
    """What a clumsy person does to results."""
    where = list(results(name))
    if not where:
        return
    path = rng.choice(where)
    kind = rng.randrange(4)
    if kind == 0:
        shutil.rmtree(path)
    elif kind == 1:
        with open(path + "/result.json", "r+b") as f:
            f.truncate(rng.randrange(100))
    elif os.path.exists(path + ".status.json"):
        with open(path + ".status.json", "r+b") as f:
            f.truncate(rng.randrange(60) if kind == 2 else 0)
    damaged.add(path)
    count["results damaged"] += 1


# ---- readers ----

damaged = set()  # by us, since a batch ran to its end
attempts = 0


def check_database(name, disturbed):
    """Figures taken while the clock was ahead are told; nothing else is."""
    done = run("db", "verify", "--db", name + ".db", disturbed=disturbed)
    lines = done.stderr.decode(errors="replace").splitlines()
    other = [line for line in lines if "taken in the future" not in line and not line.endswith((" finding", " findings"))]
    if (done.returncode not in (0, 1) or other) and not os.path.exists("hog"):
        blame(f"db verify: status {done.returncode}: " + "\n".join(other))


def read_database(name):
    global attempts
    if not os.path.exists(name + ".db"):
        return
    done = run("db", "stat", "--db", name + ".db", "--format=json")
    count["readers"] += 1
    if done.returncode == 0:
        n = json.loads(done.stdout)["attempts"]
        if n < attempts:
            blame(f"{attempts} attempts were acknowledged, {n} are there")
        attempts = n
    elif not os.path.exists("hog"):
        blame(f"db stat: status {done.returncode}: {done.stderr.decode(errors='replace')}")
    check_database(name, True)


def read_result(name):
    """It may be replaced under the reader's eyes: then the next look is good."""
    where = [r for r in results(name) if r not in damaged]
    if not where:
        return
    path = rng.choice(where)
    count["readers"] += 1
    for _ in range(5):
        done = run("verify", path)
        if done.returncode == 0 or not os.path.exists(path):
            return
        time.sleep(0.2)
    if path not in damaged:
        blame(f"verify {path}: status {done.returncode}: {done.stderr.decode(errors='replace')}")


# ---- one batch ----

def events(batch, name):
    return ((2, jump_clock), (2, fill_disk), (4, free_disk), (4, lambda: kill_one(batch)), (1, stop_one),
            (1, change_model), (1, lambda: damage(name)), (4, lambda: read_database(name)),
            (4, lambda: read_result(name)))


def wait_for(process, seconds):
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def finish(process):
    """It ends when it is told to, and leaves nobody behind."""
    how = rng.choice((signal.SIGTERM, signal.SIGINT, signal.SIGKILL))
    if process.poll() is None:
        process.send_signal(how)
        count["interruptions"] += 1
        if not wait_for(process, 120):
            blame(f"{how.name} did not end the batch in 120 s")
            process.kill()
            process.wait()
    late = time.monotonic() + 60
    while ours() and time.monotonic() < late:
        time.sleep(0.2)
    for pid in ours():
        blame(f"process {pid} is left")
        os.kill(pid, signal.SIGKILL)


def one_batch(name, seconds):
    kind = rng.choice(("estimated", "estimated", "measured"))
    more = ["--retry-failed"] if rng.random() < 0.5 else []
    with open("../batch.err", "wb") as err:
        process = subprocess.Popen([MARQ, "batch", f"{name}-{kind}.yaml", "-q", "--keep=2"] + more, env=environment(True),
                                   stdout=subprocess.DEVNULL, stderr=err, start_new_session=True)
    count["batches"] += 1
    weights, actions = zip(*events(process.pid, name))
    end = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end:
        for pid in ours():
            sample(pid, process.pid)
        if rng.random() < 0.5:
            rng.choices(actions, weights)[0]()
        wait_for(process, rng.uniform(0.05, 0.5))
    finish(process)
    if process.returncode >= 0 and process.returncode not in HONEST:
        with open("../batch.err", encoding="utf-8", errors="replace") as f:
            blame(f"a batch ended with status {process.returncode}: {f.read()[-500:]}")
    elif process.returncode < 0 and process.returncode not in (-signal.SIGKILL, -signal.SIGINT, -signal.SIGTERM):
        blame(f"a batch ended by signal {-process.returncode}")
    if process.returncode == 0:
        count["batches that completed"] += 1


# ---- the end ----

# What the summary says of a unit that no earlier run changes.
LASTING = ("unit", "ended", "exit", "cost_ns", "lower_bound_ns", "proven", "estimated", "regions", "plan")


def complete(name):
    """Undisturbed; of summaries a line a unit, without what tells of earlier runs."""
    told = {}
    for kind in ("estimated", "measured"):
        for attempt in range(2):  # the first may meet a result that was damaged
            done = run("batch", f"{name}-{kind}.yaml", "--retry-failed", "--keep=2", disturbed=False)
        if done.returncode:
            blame(f"{name}-{kind} is not completed: status {done.returncode}: {done.stderr.decode(errors='replace')}")
        with open(f"{name}-{kind}/summary.json", encoding="utf-8") as f:
            told[kind] = [str([unit.get(k) for k in LASTING]) + "\n" for unit in json.load(f)["units"]]
    for path in results(name):
        done = run("verify", path, disturbed=False)
        count["results verified"] += 1
        if done.returncode:
            blame(f"{path} is not whole: {done.stderr.decode(errors='replace')}")
    check_database(name, False)
    return told


def contents(name):
    """Plans of the estimated results: they depend on nothing but the input."""
    told = {}
    for path in results(name):
        if "-estimated/" in path:
            with open(path + "/map.json", "rb") as f:
                told[path.split("/")[1]] = f.read()
    return told


def is_left(name):
    """A temporary name that the next writer has to remove: not while some process
    has the number in it, and be it another one than the one that was killed."""
    made_by = re.search(r"\.tmp-(\d+)", name)
    return made_by is not None and not os.path.exists("/proc/" + made_by.group(1))


def compare_with_clean():
    free_disk()
    set_clock(0)
    mine = complete("soak")
    write_manifest("clean")
    clean = complete("clean")
    differ = [line for line in difflib.unified_diff(
        [x.replace("soak-", "") for x in mine["estimated"]],
        [x.replace("clean-", "") for x in clean["estimated"]], "soak", "clean", n=0)]
    if differ:
        blame("the summary differs from a clean run's:\n" + "".join(differ[:20]))
    if contents("soak") != contents("clean"):
        blame("a plan differs from a clean run's")
    left = [os.path.join(at, f) for at, dirs, files in os.walk(".") for f in dirs + files if is_left(f)]
    if left:
        blame(f"left: {left}")


def check_flat():
    """Nobody's memory or descriptors in the last third are far above those in
    the first."""
    last = samples[-1][0] if samples else 0
    for role in ("batch", "unit", "worker"):
        first = [s for s in samples if s[1] == role and s[0] < last / 3]
        end = [s for s in samples if s[1] == role and s[0] > last * 2 / 3]
        if not first or not end:
            continue
        was, now = [tuple(max(s[i] for s in part) for i in (2, 3)) for part in (first, end)]
        say(f"{role}: at most {was[0]} KiB and {was[1]} descriptors in the first third, "
            f"{now[0]} KiB and {now[1]} in the last ({len(first)} and {len(end)} samples)")
        if now[0] > was[0] * 1.25 + 8192 or now[1] > was[1] + 8:
            blame(f"{role}: it grows")


def main():
    # a shell that starts us in the background ignores it, and children inherit that
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with open("jump", "wb") as f:
        f.write(struct.pack("=q", 0))
    for i in range(NMODELS):
        make_model(f"m{i}.onnx", SEED * 100 + i)
    write_manifest("soak")
    told = 0
    while time.monotonic() - begun < SECONDS:
        at = time.monotonic()
        one_batch("soak", min(rng.choice((3, 10, 30, 120)), SECONDS / 4))
        change_model()
        spent = time.monotonic() - at
        if time.monotonic() - told > 300:
            told = time.monotonic()
            say(", ".join(f"{n} {what}" for what, n in sorted(count.items())) + f"; wrong: {len(wrong)}")
        time.sleep(min(spent * (100 / DUTY - 1), max(0, SECONDS - (time.monotonic() - begun))))
    compare_with_clean()
    check_flat()
    say(", ".join(f"{n} {what}" for what, n in sorted(count.items())))
    print(f"{len(wrong)} wrong")
    sys.exit(bool(wrong))


main()
