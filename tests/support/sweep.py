"""Faults one after the other through what writes files.

sweep.py MARQ SHIM CASES: each operation runs once to count its allocations and
its calls on files, and then again with call 1 + k * stride failing, about CASES
times a kind (0: every single call). Afterwards there is the old result, whole,
or the new one, or none where there was none; no temporary file; and one line
that names no wrong cause. Prints how many faults were tried."""
import hashlib
import os
import shutil
import subprocess
import sys

marq, shim, cases = sys.argv[1], sys.argv[2], int(sys.argv[3])
SEARCH = [marq, "search", "tiny.onnx", "--no-measure", "--no-verify", "--db", "none"]
HONEST = (0, 7, 8)  # done; file system; out of memory
UNDRAWN = "a page that says it has no drawing"
failures = 0


def run(command, kind=None, at=0):
    env = dict(os.environ, OMP_WAIT_POLICY="passive", LANG="C")
    if kind:
        env.update(LD_PRELOAD=shim, FAULTS_KIND=kind, FAULTS_AT=str(at), FAULTS_COUNT="count")
    return subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def fail(what, operation, kind, at, done):
    global failures
    failures += 1
    print(f"FAILED: {operation}, {kind} fault {at}: {what}; status {done.returncode}: "
          f"{done.stderr.decode(errors='replace').strip()[-300:]}")


def tree(path):
    """What is there, in short; None: nothing."""
    if os.path.isfile(path):
        with open(path, "rb") as f:
            content = f.read()
        if b"No drawing: " in content and content.endswith(b"</html>\n"):
            return UNDRAWN
        return hashlib.sha256(content).hexdigest()
    if not os.path.isdir(path):
        return None
    with open(os.path.join(path, "result.json"), "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def reset(path, old):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.unlink(path)
    if old and os.path.isdir(old):
        shutil.copytree(old, path)
    elif old:
        shutil.copy(old, path)


def check(name, out, may, kind, at, done):
    errors = [line for line in done.stderr.decode(errors="replace").splitlines()
              if "error: " in line or "out of memory" in line]
    left = [f for f in os.listdir(".") if ".tmp-" in f]
    if b"std::bad_alloc" in done.stderr and tree(out) in may:
        pass  # a library in C++ has its own way to say so
    elif done.returncode not in HONEST:
        fail("a wrong status", name, kind, at, done)
    elif done.returncode and not (len(errors) == 1 and errors[0].startswith("marq: ")):
        fail(f"{len(errors)} lines", name, kind, at, done)
    elif left and done.returncode != 8:  # memory ends the process where it is
        fail(f"left {left}", name, kind, at, done)
    elif tree(out) not in may + (UNDRAWN,):
        fail("neither old nor new", name, kind, at, done)
    elif done.returncode == 0 and tree(out) not in (may[-1], UNDRAWN):
        fail("said to be done", name, kind, at, done)
    elif os.path.isdir(out) and run([marq, "verify", out]).returncode:
        fail("not whole", name, kind, at, done)
    for f in left:
        shutil.rmtree(f) if os.path.isdir(f) else os.unlink(f)


def sweep(name, command, out, old=None):
    reset(out, old)
    before = tree(out)
    done = run(command)
    after = tree(out)
    if done.returncode or after is None:
        fail("without a fault", name, "no", 0, done)
        return
    for kind in ("io", "memory"):
        reset(out, old)
        run(command, kind)
        with open("count", encoding="ascii") as f:
            calls = int(f.read())
        stride = max(1, calls // cases) if cases else 1
        tried = 0
        for at in range(1, calls + 1, stride):
            reset(out, old)
            check(name, out, (before, after), kind, at, run(command, kind, at))
            tried += 1
        print(f"{name}: {calls} calls on {kind}, {tried} faults tried", flush=True)


MANIFEST = """version: 1
defaults: {db: none, out: batch, options: ["--no-measure", "--no-verify"]}
mixes: [{name: cpu, targets: [host]}, {name: both, targets: [mrvl, host]}]
models: [{path: tiny.onnx}]
"""


def sweep_batch():
    """Whatever one run of a batch meets, the next one completes it."""
    command = [marq, "batch", "batch.yaml"]
    with open("batch.yaml", "w", encoding="ascii") as f:
        f.write(MANIFEST)
    for kind in ("io", "memory"):
        if os.path.isdir("batch"):
            shutil.rmtree("batch")
        run(command, kind)
        with open("count", encoding="ascii") as f:
            calls = int(f.read())
        stride = max(1, calls // cases) if cases else 1
        tried = 0
        for at in range(1, calls + 1, stride):
            if os.path.isdir("batch"):
                shutil.rmtree("batch")
            done = run(command, kind, at)
            honest = done.returncode in HONEST + (5,) or b"std::bad_alloc" in done.stderr
            if not honest:
                fail("a wrong status", "a batch", kind, at, done)
            done = run(command)
            whole = [run([marq, "verify", f"batch/tiny@{mix}"]).returncode for mix in ("cpu", "both")]
            if done.returncode or any(whole):
                fail(f"not completed, {whole}", "a batch", kind, at, done)
            tried += 1
        print(f"a batch: {calls} calls on {kind}, {tried} faults tried")


def main():
    run([marq, "model", "make", "tiny"])
    run(SEARCH + ["-t", "host", "-o", "old"])
    run([marq, "model", "make", "tiny", "-o", "old.onnx"])
    sweep("a new result", SEARCH + ["-t", "host", "-o", "result"], "result")
    sweep("a result replaced", SEARCH + ["-t", "mrvl", "-t", "host", "-o", "result", "--force"], "result", "old")
    sweep("a model", [marq, "model", "make", "tiny-encoder", "-o", "made.onnx"], "made.onnx")
    sweep("a report", [marq, "report", "old", "-o", "page.html"], "page.html")
    sweep_batch()
    print(f"{failures} failed")
    sys.exit(failures != 0)


main()
