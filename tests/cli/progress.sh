#!/bin/sh
# The progress line of a batch, read from a terminal: how many units, what runs,
# what is left to measure and for how long; and nothing elsewhere.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
"$MARQ" model make tiny -o tiny.onnx -q
"$MARQ" model make tiny-encoder -o encoder.onnx -q

manifest() { # NAME: its own results and database
	cat >"$1.yaml" <<-YAML
		version: 1
		defaults: {db: $1.db, out: $1, retries: 1}
		mixes:
		  - {name: plain, targets: [host]}
		  - {name: wide, targets: [host], options: ["--eager-pricing"]}
		models:
		  - {path: encoder.onnx}
		  - {path: absent.onnx}
		  - {path: tiny.onnx}
	YAML
}

cat >terminal.py <<'END'
import os, pty, sys
# What a program writes to a terminal of 200 columns, to stdout.
pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.system("stty cols 200")
    os.execvp(sys.argv[1], sys.argv[1:])
while True:
    try:
        data = os.read(terminal, 65536)
    except OSError:
        break
    if not data:
        break
    sys.stdout.buffer.write(data)
END
on_terminal() {
	command="marq $* (on a terminal)"
	python3 terminal.py "$MARQ" "$@" >shown
}

manifest night
on_terminal batch night.yaml
expect_in shown '6 units: 4 done, 2 failed'
python3 - <<'END' || fail 'the line is wrong'
import re
shown = open("shown", newline="").read()
line = re.compile(
    r"\[(#*)-*\] (\d+) of (\d+) units(?:, about (\d+) to measure)?"
    r"(?:, about ([\d:]+) left)?: ([^:\r\n]+)(?:: (.*))?$")
states = []
for part in re.split(r"\r\033\[K", shown)[1:]:
    if not part.startswith("["):
        continue  # cleared, for a message
    m = line.match(part)
    assert m and "\n" not in part, part  # no message on the line
    states.append(m.groups())
assert len(states) > 10, len(states)
done = [int(s[1]) for s in states]
assert done == sorted(done) and done[0] == 0, done
assert {s[2] for s in states} == {"6"}
assert set(done) == set(range(7)), done
# What runs is one of the units, in their order, and all but the absent measure.
names = list(dict.fromkeys(s[5] for s in states))
assert names == [m + "@" + x for m in ("encoder", "absent", "tiny")
                 for x in ("plain", "wide")], names
measured = [s for s in states if s[6]]
assert any(s[5] == "encoder@plain" for s in measured), measured
# Once there is an estimate there always is one, over rounds and units.
first = next(i for i, s in enumerate(states) if s[4])
assert first > 0 and done[first] == 0, states[first]
assert all(s[3] and s[4] for s in states[first:])
# Within a unit what is left to measure never begins anew.
for a, b in zip(states[first:], states[first + 1:]):
    if a[1] == b[1] and a[6] and b[6] and a[1] != "0":
        assert int(b[3]) <= int(a[3]) + 1, (a, b)
last = states[-1]
assert last[0] == "#" * 10 and last[1] == "6", last
assert last[3] == "0" and last[4] == "0:00", last
assert shown.rindex("\r\033[K") > shown.rindex("6 of 6 units"), "not cleared"
END
# A search of its own counts at most what it may measure. Its worker starts
# late: a search that ends within a tenth of a second never shows a line.
late="cmd:sleep 0.3; exec '${MARQ%/*}/marq-measure' --serve"
on_terminal search encoder.onnx -t host --db search.db -o result --worker "$late"
grep -q 'of at most [0-9]*, at most [0-9:]* left: ' shown || fail 'no line'

# Not a byte where nobody wants it, or where there is no terminal.
manifest quiet
on_terminal batch quiet.yaml -q
expect_not_in shown 'left: '
expect_not_in shown "$(printf '\r\033')"
manifest without
on_terminal batch without.yaml --no-progress
expect_not_in shown 'left: '
expect_not_in shown "$(printf '\r\033')"
manifest file
run batch file.yaml
expect_status 5
expect_not_in err 'left: '
expect_not_in err "$(printf '\r')"
done_testing
