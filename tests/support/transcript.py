"""Runs the shell sessions of a document and compares what they print.

transcript.py DOCUMENT... [update]: one after the other in the current folder, with `marq` on PATH. A
fenced block is a session when it has lines that begin with "$ ": each is a
command, and what follows is what it prints (stdout; no exit status but 0). A
block whose info string names a file ("yaml nightly.yaml") is written to it
first. Any other block holds commands without their output: they must be in
NOT_RUN. `update` writes what was printed into the document instead.

What is compared: a command with --no-measure prints the same everywhere and is
compared to the letter. What another one prints rests on times measured where it
runs, and on which libraries are best there; so these are not compared: numbers
with a decimal point, an exponent, a unit of time or a "%" after or an "x" before
them (with the "at least" of a bound); how many candidates there are or
measurements to do; every number on an indented line (a row of a plan); on a line
that begins with "prices:" every number but 0, and what is only said when it is
not 0; lines that are there on some machines only (OPTIONAL); how many blanks
there are."""
import difflib
import re
import subprocess
import sys

NOT_RUN = {
    "./marq-demo": "installs packages and builds",
    "./marq-test": "builds and runs this",
}

TIME = r"\d+(\.\d+)?(e[+-]?\d+)? (ns|us|µs|ms|s)\b"
MASKED = (
    (r"(at least\s+)?[+-]?" + TIME, "TIME"),
    (r"\bx\d+(\.\d+)?", "FIGURE"),
    (r"[+-]?\d+(\.\d+)? ?%", "FIGURE"),
    (r"[+-]?\d+(\.\d+)?e[+-]?\d+", "FIGURE"),
    (r"[+-]?\d+\.\d+", "FIGURE"),
    (r"\b\d+ (?=candidates\b|to measure\b|that earlier units measure\b)", "COUNT "),
    (r"\s+", " "),
)
# Choices that were close; a plan that is cheaper than eager; what it assumes; prices of regions
# that are not the sum of their parts; what a mix comes to when it is run.
OPTIONAL = re.compile(r"near ties: |vs eager: |assumes |\d+ (more )?assumptions? "
                      r"| +\d+ regions? priced as units| +\d+ of its prices (is|are) estimated"
                      r"|(not )?confirmed: |predicted: ")


def masked(line):
    row = line.startswith("  ")
    for pattern, name in MASKED:
        line = re.sub(pattern, name, line)
    if row:
        line = re.sub(r"\d+", "COUNT", line)
        line = re.sub(r"\b(region|composite|node)s?\b", r"\1", line)
    if line.startswith("prices:"):
        line = re.sub(r", \d+ (probed|failed)", "", line)
        line = re.sub(r"\b[1-9]\d*\b", "COUNT", line)
    return line.strip()


def compared(command, lines):
    if "--no-measure" in command.split():
        return lines
    return [masked(line) for line in lines if not OPTIONAL.match(line)]


def printed_by(command):
    done = subprocess.run(command, shell=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        sys.stderr.write(done.stderr)
        print(f"FAILED: `{command}` ends with status {done.returncode}")
    return done.returncode == 0, done.stdout.splitlines()


class Document:
    def __init__(self):
        self.failed = self.ran = 0
        self.not_run = set()
        self.text = []  # with what was really printed

    def try_command(self, command, shown):
        ok, printed = printed_by(command)
        diff = list(difflib.unified_diff(compared(command, shown), compared(command, printed),
                                         "document", "printed", lineterm="", n=1))
        if diff:
            print(f"FAILED: `{command}` prints something else:")
            print("\n".join(diff))
        self.ran += 1
        self.failed += bool(diff) or not ok
        self.text += ["$ " + command] + printed

    def try_session(self, lines):
        starts = [i for i, line in enumerate(lines) if line.startswith("$ ")]
        for start, end in zip(starts, starts[1:] + [len(lines)]):
            self.try_command(lines[start][2:], lines[start + 1:end])

    def try_block(self, info, lines):
        words = info.split()
        if any(line.startswith("$ ") for line in lines):
            self.try_session(lines)
            return
        self.text += lines
        if len(words) == 2:
            with open(words[1], "w") as f:
                f.write("\n".join(lines) + "\n")
            return
        for line in filter(None, lines):
            self.not_run.add(line)
            if line not in NOT_RUN:
                self.failed += 1
                print(f"FAILED: `{line}` is neither run nor in the list of what is not")

    def read(self, lines):
        block = info = None
        for line in lines:
            if block is None:
                self.text.append(line)
                if line.startswith("```"):
                    block, info = [], line[3:]
            elif line == "```":
                self.try_block(info, block)
                self.text.append(line)
                block = None
            else:
                block.append(line)


def main():
    paths = [path for path in sys.argv[1:] if path != "update"]
    failed = ran = 0
    not_run = set()
    for path in paths:
        document = Document()
        with open(path) as f:
            document.read(f.read().splitlines())
        if "update" in sys.argv[1:]:
            with open(path, "w") as f:
                f.write("\n".join(document.text) + "\n")
        failed += document.failed + (document.ran == 0)
        ran += document.ran
        not_run |= document.not_run
    for command in NOT_RUN.keys() - not_run:
        failed += 1
        print(f"FAILED: `{command}` is in the list of what is not run, but in no document")
    for command, why in NOT_RUN.items():
        print(f"not run: {command} ({why})")
    print(f"{ran} commands run, {failed} faults")
    sys.exit(1 if failed else 0)


main()
