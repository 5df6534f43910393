"""Faults one after the other through what writes files.

sweep.py MARQ SHIM CASES [NAME...]: each operation (or those) runs once to count its allocations and
its system calls on files, and then, at call after call (about CASES of a kind;
0: every single one, from $MARQ_SWEEP_FROM on, but of a batch's allocations the first and the
last made by the same functions), a copy of the process goes on in a copy of the folder
where that call fails. Afterwards there is the old result, whole, or the new
one, or none where there was none; no temporary file; and one line that names
no wrong cause. Prints how many faults were tried."""
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
from types import SimpleNamespace
from typing import NamedTuple

marq, shim = sys.argv[1], sys.argv[2]
cases = int(sys.argv[3])
first = int(os.environ.get("MARQ_SWEEP_FROM", "1"))
only = os.environ.get("MARQ_SWEEP_KIND", "io memory").split()
names = sys.argv[4:]
SEARCH = [marq, "search", "tiny.onnx", "--no-measure", "--no-verify", "--db", "none"]
HONEST = (0, 7, 8)  # done; file system; out of memory
OF_LIBRARIES = (b"std::bad_alloc", b"Operating system error: Cannot allocate memory")  # C++; Fortran, of OpenBLAS
UNDRAWN = "a page that says it has no drawing"
# No threads, which would not be in a copy, and the program as it is started.
PLAIN = {"MARQ_CLEANED": "1", "OPENBLAS_NUM_THREADS": "1", "LANG": "C", "TMPDIR": "."}
failures = 0
verified = {}


def run(command, kind=None, folder=".", **more):
    env = dict(os.environ, **PLAIN)
    if kind:
        env.update(LD_PRELOAD=shim, FAULTS_KIND=kind, FAULTS_COUNT="../count", **more)
    return subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, cwd=folder)


def counted(command, kind, **more):
    done = run(command, kind, **more)
    if done.returncode == 77:
        print("skipped: this kernel does not let a program watch its own system calls")
        sys.exit(77)
    with open("../count", encoding="ascii") as f:
        return int(f.read())


def fail(what, operation, kind, at, done):
    global failures
    failures += 1
    print(f"FAILED: {operation}, {kind} fault {at}: {what}; status {done.returncode}: "
          f"{done.stderr.decode(errors='replace').strip()[-300:]}", flush=True)


def digest(path):
    with open(path, "rb") as f:
        content = f.read()
    if b"No drawing: " in content and content.endswith(b"</html>\n"):
        return UNDRAWN
    return hashlib.sha256(content).hexdigest()


def rows_of(path):
    """Of a database: how many rows of each table, if it is whole."""
    try:
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        rows = [(name, *db.execute(f"SELECT count(*) FROM \"{name}\"").fetchone()) for name in tables]
        whole = db.execute("PRAGMA integrity_check").fetchone()[0]
        db.close()
    except sqlite3.Error as e:
        return str(e)
    return json.dumps([whole, rows])


def tree(path):
    """What is there, in short; None: nothing."""
    if path.endswith(".db") and os.path.exists(path):
        return rows_of(path)
    if os.path.isfile(path):
        return digest(path)
    if not os.path.isdir(path):
        return None
    if os.path.exists(path + "/result.json"):
        return digest(path + "/result.json")
    names = sorted(os.path.join(d, f) for d, _, files in os.walk(path) for f in files)
    return hashlib.sha256(json.dumps([[n[len(path):], digest(n)] for n in names]).encode()).hexdigest()


def is_whole(path):
    """Is it what its list says? What has the same files is asked once."""
    if not os.path.exists(path + "/files.json"):
        return True
    state = json.dumps(sorted([os.path.join(d, f)[len(path):], digest(os.path.join(d, f))]
                              for d, _, files in os.walk(path) for f in files))
    if state not in verified:
        verified[state] = run([marq, "verify", path]).returncode == 0
    return verified[state]


def is_whole_again(operation, folder):
    return run(operation.command, folder=folder).returncode == 0 and is_whole(os.path.join(folder, operation.out))


def check(operation, folder, may, kind, at, done):
    errors = [line for line in done.stderr.decode(errors="replace").splitlines()
              if not line.startswith("marq: warning: ") and ("error: " in line or "out of memory" in line)]
    left = [f for f in os.listdir(folder) if ".tmp-" in f]
    out = os.path.join(folder, operation.out)
    for folder_of, _, files in os.walk(out):
        for f in files:
            if done.returncode == 8 and ".tmp-" in f:
                os.unlink(os.path.join(folder_of, f))  # its maker is not the process that ended
    is_there = tree(out)
    # To SQLite what cannot be read is damaged, or there; what is repaired lacks it.
    if operation.database and kind == "io" and is_there == may[0] and (
            b"verify says more" in done.stderr or b"already exists" in done.stderr):
        pass
    elif b": passed over" in done.stderr and done.returncode == 0 and is_there.startswith('["ok"'):
        pass
    elif any(words in done.stderr for words in OF_LIBRARIES) and is_there in may:
        pass  # libraries have their own ways to say so
    elif done.returncode not in HONEST:
        fail("a wrong status", operation.name, kind, at, done)
    elif done.returncode and not (len(errors) == 1 and errors[0].startswith("marq: ")):
        fail(f"{len(errors)} lines", operation.name, kind, at, done)
    elif left and done.returncode != 8:  # memory ends the process where it is
        fail(f"left {left}", operation.name, kind, at, done)
    elif is_there not in may + (UNDRAWN,):
        fail("neither old nor new", operation.name, kind, at, done)
    elif done.returncode == 0 and is_there not in (may[-1], UNDRAWN):
        fail("said to be done", operation.name, kind, at, done)
    elif not is_whole(out) and not (operation.again and done.returncode and is_whole_again(operation, folder)):
        fail("not whole", operation.name, kind, at, done)


def look(operation, may, kind, at, status, walk):
    """What a copy has left; it is deleted."""
    folder = os.path.join(walk, str(at))
    code = os.waitstatus_to_exitcode(status)
    if not os.path.exists(folder + ".err"):
        sys.exit(f"{operation.name}, {kind} fault {at}: no copy could be made (status {code})")
    with open(folder + ".err", "rb") as f:
        check(operation, folder, may, kind, at, SimpleNamespace(returncode=code, stderr=f.read()))
    shutil.rmtree(folder)
    os.unlink(folder + ".out")
    os.unlink(folder + ".err")


def put(source, target):
    if os.path.isdir(source):
        shutil.copytree(source, target)
    else:
        shutil.copy(source, target)


def fresh(operation, template, here):
    os.chdir("/")
    shutil.rmtree(here, ignore_errors=True)
    os.mkdir(here)
    for name in operation.needs:
        put(os.path.join(template, name), os.path.join(here, name))
    if operation.old:
        put(os.path.join(template, operation.old), os.path.join(here, operation.out))
    os.chdir(here)


def walk_calls(operation, may, kind, stride, walk):
    """A copy for each call, but where the process has threads or children, which
    a copy would lack: how many copies, and those calls."""
    said, says = os.pipe()
    hears, heard = os.pipe()
    env = dict(os.environ, **PLAIN, LD_PRELOAD=shim, FAULTS_KIND=kind, FAULTS_WALK=walk,
               FAULTS_FROM=str(first), FAULTS_STRIDE=str(stride), FAULTS_SAY=str(says), FAULTS_HEAR=str(hears))
    if operation.database:
        env["FAULTS_MOUNT"] = "yes"
    with open(walk + "/out", "wb") as out, open(walk + "/err", "wb") as err:
        process = subprocess.Popen(operation.command, env=env, stdout=out, stderr=err, pass_fds=(says, hears))
    os.close(says)
    os.close(hears)
    tried, threaded = 0, []
    with os.fdopen(said, encoding="ascii") as lines:
        for line in lines:
            at, status = map(int, line.split())
            if status == -1:
                threaded.append(at)
            else:
                look(operation, may, kind, at, status, walk)
                tried += 1
            os.write(heard, b"x")
    os.close(heard)
    if process.wait() or tree(operation.out) not in (may[-1], UNDRAWN):
        with open(walk + "/err", "rb") as f:
            fail("the process that was walked through", operation.name, kind, 0,
                 SimpleNamespace(returncode=process.returncode, stderr=f.read()))
    return tried, threaded


def may_mount(folder):
    """May a folder take another's place, for a process alone?"""
    command = ["unshare", "-m", "mount", "--bind", folder, folder]
    try:
        return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0
    except OSError:
        return False


def sweep(operation, template, here):
    fresh(operation, template, here)
    before = tree(operation.out)
    done = run(operation.command)
    may = (before, tree(operation.out))
    if done.returncode or may[1] is None:
        fail("without a fault", operation.name, "no", 0, done)
        return
    for kind in only:
        fresh(operation, template, here)
        calls = counted(operation.command, kind)
        stride = max(1, calls // cases) if cases else 1
        fresh(operation, template, here)
        tried, rest = 0, [at for at in range(stride, calls + 1, stride) if at >= first]
        if not operation.database or may_mount(template):
            with tempfile.TemporaryDirectory(dir=os.path.dirname(here)) as walk:
                tried, rest = walk_calls(operation, may, kind, stride, walk)
        for at in rest:
            fresh(operation, template, here)
            done = run(operation.command, kind, FAULTS_AT=str(at))
            check(operation, ".", may, kind, at, done)
        print(f"{operation.name}: {calls} calls on {kind}, {tried + len(rest)} faults tried, "
              f"{len(rest)} of them from the start", flush=True)


MANIFEST = """version: 1
defaults: {db: none, out: batch, options: ["--no-measure", "--no-verify"]}
mixes: [{name: cpu, targets: [host]}, {name: both, targets: [mrvl, host]}]
models: [{path: tiny.onnx}]
"""


def chosen(command, kind):
    """How many calls there are, and which of them are to fail."""
    calls = counted(command, kind, FAULTS_SITES="../sites")
    if cases or kind == "io":  # a signal's handler does not see who called
        return calls, range(first, calls + 1, max(1, calls // cases) if cases else 1)
    ends = {}
    with open("../sites", "rb") as f:
        for at, site in enumerate(struct.iter_unpack("Q", f.read()), 1):
            ends.setdefault(site, [at, at])[1] = at
    return calls, sorted({at for pair in ends.values() for at in pair if at >= first})


def sweep_batch():
    """Whatever one run of a batch meets, the next one completes it."""
    command = [marq, "batch", "batch.yaml"]
    with open("batch.yaml", "w", encoding="ascii") as f:
        f.write(MANIFEST)
    for kind in only:
        shutil.rmtree("batch", ignore_errors=True)
        calls, which = chosen(command, kind)
        tried = 0
        for at in which:
            shutil.rmtree("batch", ignore_errors=True)
            done = run(command, kind, FAULTS_AT=str(at))
            honest = done.returncode in HONEST + (5,) or any(words in done.stderr for words in OF_LIBRARIES)
            if not honest:
                fail("a wrong status", "a batch", kind, at, done)
            met, done = done, run(command)
            whole = [os.path.exists(f"batch/tiny@{mix}/files.json") and is_whole(f"batch/tiny@{mix}")
                     for mix in ("cpu", "both")]
            if done.returncode or not all(whole):
                fail(f"not completed, {whole}, after {met.stderr!r}", "a batch", kind, at, done)
            tried += 1
        print(f"a batch: {calls} calls on {kind}, {tried} faults tried", flush=True)


def make(template):
    os.mkdir(template)
    run([marq, "model", "make", "tiny"], folder=template)
    run(SEARCH + ["-t", "host", "-o", "old"], folder=template)
    run(SEARCH + BOTH + ["-o", "other"], folder=template)
    run([marq, "search", "tiny.onnx", "--no-verify", "--db", "./prices.db", "-t", "host", "-o", "none"], folder=template)


class Operation(NamedTuple):
    name: str
    command: list
    out: str  # what it writes
    old: str = None  # what is there before
    needs: tuple = ("tiny.onnx",)  # what it reads
    database: bool = False  # SQLite asks for its folder's path
    again: bool = False  # in two files: done again, it is whole


DB = [marq, "db", "--db", "prices.db"]
BOTH = ["-t", "mrvl", "-t", "host"]
OPERATIONS = [
    Operation("a new result", SEARCH + ["-t", "host", "-o", "result"], "result"),
    Operation("a result replaced", SEARCH + BOTH + ["-o", "result", "--force"], "result", "old"),
    Operation("a model", [marq, "model", "make", "tiny-encoder", "-o", "made.onnx"], "made.onnx", needs=()),
    Operation("a report", [marq, "report", "old", "-o", "page.html"], "page.html", needs=("old",)),
    Operation("a report in its result", [marq, "report", "result"], "result", "old", needs=(), again=True),
    Operation("a comparison", [marq, "compare", "old", "other", "--html", "page.html"], "page.html", needs=("old", "other")),
    Operation("a problem", SEARCH + ["-t", "host", "-o", "none", "--dump-problem", "p.json"], "p.json"),
    Operation("probes", [marq, "calibrate", "--probes", "probes"], "probes", needs=()),
    Operation("a database as text", DB + ["export", "--jsonl", "p.jsonl"], "p.jsonl", needs=("prices.db",), database=True),
    Operation("a database handed on", DB + ["export", "p.db"], "p.db", needs=("prices.db",), database=True),
    Operation("a database backed up", DB + ["backup", "p.db"], "p.db", needs=("prices.db",), database=True),
    Operation("a database repaired", DB + ["repair", "p.db"], "p.db", needs=("prices.db",), database=True),
]


def main():
    root = tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    try:
        make(root + "/made")
        for operation in OPERATIONS:
            if not names or operation.name in names:
                sweep(operation, root + "/made", root + "/here")
        os.chdir("/")
        shutil.copytree(root + "/made", root + "/batch")
        os.chdir(root + "/batch")
        if not names or "a batch" in names:
            sweep_batch()
    finally:
        os.chdir("/")
        shutil.rmtree(root, ignore_errors=True)
    print(f"{failures} failed")
    sys.exit(failures != 0)


signal.signal(signal.SIGPIPE, signal.SIG_DFL)
main()
