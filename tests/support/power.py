"""Power cuts in what writes results, in every order a disk may choose.

power.py MARQ RECORD: runs operations with RECORD preloaded and replays what they
did to folders. A change of a folder is on the disk once that folder is synced,
and what a file holds once that is; before, each may be there or not, whatever
came after it. At every instant, for all choices where they are few (else in
order, and 200 at random), the path is what it was, whole, or what it becomes,
whole; or absent, where it was. Prints how many states were looked at."""
import glob
import itertools
import os
import random
import shutil
import subprocess
import sys

MARQ, RECORD = sys.argv[1], sys.argv[2]
EVERY_CHOICE, CHOICES = 9, 200
HERE = os.getcwd()
SEARCH = [MARQ, "search", "tiny.onnx", "--no-measure", "--no-verify", "--db", "none", "-q"]
failures = 0


class Disk:
    """Nodes: folders are dicts of names, files lists [contents may be lost]."""

    def __init__(self):
        self.root = self.load(HERE)
        self.known = {}  # id of a folder: its changes, [name, node or None, group]

    def load(self, path):
        if os.path.isdir(path) and not os.path.islink(path):
            return {name: self.load(os.path.join(path, name)) for name in os.listdir(path)}
        return [True]

    @staticmethod
    def parts(path):
        path = os.path.normpath(os.path.join(HERE, path))
        return os.path.relpath(path, HERE).split("/") if path != HERE else []

    def find(self, path):
        node = self.root
        for part in self.parts(path):
            node = node.get(part) if isinstance(node, dict) else None
        return node

    def place(self, path):
        parts = self.parts(path)
        node = self.root
        for part in parts[:-1]:
            node = node[part]
        return node, parts[-1]


def replay(lines):
    """Steps: lists of (folder, name, node or None); or ("sync", node)."""
    disk, steps = Disk(), []
    start = disk.root

    def put(changes):
        for folder, name, node in changes:
            if node is None:
                folder.pop(name, None)
            else:
                folder[name] = node
        steps.append(changes)
    before = snapshot(start)
    for line in lines:
        what, a, b = line.rstrip("\n").split("\t")
        if os.path.relpath(os.path.join(HERE, a), HERE).startswith(".."):
            continue
        if what == "sync":
            steps.append(("sync", disk.find(a)))
        elif what == "mkdir":
            put([disk.place(a) + ({},)])
        elif what == "create":
            if disk.find(a) is None:
                put([disk.place(a) + ([False],)])
        elif what == "link":
            put([disk.place(b) + (disk.find(a),)])
        elif what == "remove":
            put([disk.place(a) + (None,)])
        elif what == "rename":
            put([disk.place(b) + (disk.find(a),), disk.place(a) + (None,)])
        elif what == "exchange":
            x, y = disk.find(a), disk.find(b)
            put([disk.place(a) + (y,), disk.place(b) + (x,)])
    return start, before, steps


def snapshot(node, seen=None):
    """{id: entries} of every folder as it was at first."""
    seen = {} if seen is None else seen
    if isinstance(node, dict):
        seen[id(node)] = dict(node)
        for child in node.values():
            snapshot(child, seen)
    return seen


def tree(node, folders, whole, files):
    """What a path would be: (relative names, and whether all in it is whole)."""
    if node is None:
        return None
    if not isinstance(node, dict):
        return ("file", id(node), id(node) in files or node[0] or whole)
    return tuple(sorted((name, tree(child, folders, whole, files))
                        for name, child in folders.get(id(node), {}).items()))


def choices(n, rng):
    if n <= EVERY_CHOICE:
        yield from itertools.product((False, True), repeat=n)
        return
    for k in range(n + 1):
        yield (True,) * k + (False,) * (n - k)
    for _ in range(CHOICES):
        yield tuple(rng.random() < 0.5 for _ in range(n))


def check(name, lines, paths):
    global failures
    start, before, steps = replay(lines)
    folders, synced, pending, states = before, set(), [], 0
    final = {path: tree_at(start, path, snapshot(start), True, set()) for path in paths}
    first = {path: tree_at(start, path, before, True, set()) for path in paths}
    rng, bad, seen = random.Random(1), set(), set()
    for step in steps + [None]:
        for kept in choices(len(pending), rng):
            now = {k: dict(v) for k, v in folders.items()}
            for keep, changes in zip(kept, pending):
                for folder, entry, node in changes if keep else ():
                    entries = now.setdefault(id(folder), {})
                    entries.pop(entry, None)
                    if node is not None:
                        entries[entry] = node
            for whole in (False, True):
                states += 1
                for path in paths:
                    found = tree_at(start, path, now, whole, synced)
                    if found not in (first[path], final[path]):
                        bad.add(path)
                    seen.add((path, found))
        if step is None:
            break
        if isinstance(step, tuple):
            if isinstance(step[1], dict):  # of this folder, nothing is pending any more
                rest = []
                for changes in pending:
                    if any(folder is step[1] for folder, _, _ in changes):
                        for folder, entry, node in changes:
                            folders.setdefault(id(folder), {}).pop(entry, None)
                            if node is not None:
                                folders[id(folder)][entry] = node
                    else:
                        rest.append(changes)
                pending = rest
            elif step[1] is not None:
                synced.add(id(step[1]))
        else:
            pending.append(step)
    for path in bad:
        failures += 1
        print(f"FAILED: {name}: after a power cut {path} is neither old nor new")
    print(f"{name}: {len(steps)} steps, {states} states of the disk, {len(seen)} of the path")
    if not any(isinstance(step, tuple) for step in steps):
        failures += 1
        print(f"FAILED: {name}: nothing was synced")


def tree_at(start, path, folders, whole, synced):
    node = start
    for part in path.split("/"):
        node = folders.get(id(node), {}).get(part)
    return tree(node, folders, whole, synced)


def run(name, command, *paths):
    # the program as it is started: it starts no other in its place
    env = dict(os.environ, MARQ_CLEANED="1", LD_PRELOAD=RECORD, RECORD=os.path.join(HERE, "record"))
    shutil.copytree(HERE, HERE + ".before", symlinks=True)
    done = subprocess.run(command, env=env, capture_output=True, check=False)
    with open("record", encoding="utf-8") as f:
        lines = f.readlines()
    if done.returncode:
        print(f"FAILED: {name}: {done.stderr.decode()}")
        sys.exit(1)
    paths = [path for pattern in paths for path in (sorted(glob.glob(pattern)) if "*" in pattern else [pattern])]
    # replay from what was there before
    after = HERE + ".after"
    os.rename(HERE, after)
    os.rename(HERE + ".before", HERE)
    os.chdir(HERE)
    check(name, lines, paths)
    os.chdir("/")
    shutil.rmtree(HERE)
    os.rename(after, HERE)
    os.chdir(HERE)


MANIFEST = """version: 1
defaults: {db: none, out: batch, options: ["--no-measure", "--no-verify"]}
mixes: [{name: cpu, targets: [host]}]
models: [{path: tiny.onnx}]
"""


def main():
    subprocess.run([MARQ, "model", "make", "tiny", "-q"], check=True)
    with open("batch.yaml", "w", encoding="ascii") as f:
        f.write(MANIFEST)
    run("a new result", SEARCH + ["-t", "host", "-o", "result"], "result")
    run("a result replaced", SEARCH + ["-t", "mrvl", "-t", "host", "-o", "result", "--force"], "result")
    run("a model", [MARQ, "model", "make", "tiny-encoder", "-o", "made.onnx", "-q"], "made.onnx")
    run("a report", [MARQ, "report", "result", "-o", "page.html"], "page.html")
    state = ("batch/tiny@cpu.status.json", "batch/summary.json", "batch/summary.html", "batch/index.html",
             "batch/nights/results/*")
    run("a batch", [MARQ, "batch", "batch.yaml", "-q"], *state)
    os.unlink("batch/tiny@cpu.status.json")
    run("a batch again", [MARQ, "batch", "batch.yaml", "-q"], *state)
    print(f"{failures} failed")
    sys.exit(failures != 0)


main()
