"""Malformed models, by operator and by structure; none may do harm.

malformed.py MARQ SCHEMA EVERY: makes models (every EVERY-th of them) and gives
each to `model check` and to `search`. Each is done with status 0 or refused
with status 3 (1, 4: no target takes it), and then with exactly one line, which names
the node or value that is at fault, or else the file; no signal, no other status,
nothing left, a minute at most. SCHEMA is ir/schema.def: operators
and their attributes. Prints counts; status 1 after anything else."""
import collections
import os
import re
import resource
import struct
import subprocess
import sys

from deep import blob, number

MARQ, SCHEMA, EVERY = sys.argv[1], sys.argv[2], int(sys.argv[3])
FLOAT, INT64, STRING, BOOL = 1, 7, 8, 9
LEAST, MOST = -(1 << 63), (1 << 63) - 1
OPSET = 21
FOLDED = "nothing is left to run"  # valid, and always tried
SECONDS = 60  # a busy machine; by itself each takes a tenth of one


# ---- writing ----

def signed(field, x):
    return number(field, x & ((1 << 64) - 1))


def attribute(name, kind, value):
    """Of any kind; `value` as that kind wants it, and lists for INTS and so on."""
    body = blob(1, name)
    if kind == "INT":
        body += signed(3, value) + number(20, 2)
    elif kind == "FLOAT":
        body += b"\x15" + struct.pack("<f", value) + number(20, 1)
    elif kind == "STRING":
        body += blob(4, value) + number(20, 3)
    elif kind == "INTS":
        body += b"".join(signed(8, i) for i in value) + number(20, 7)
    elif kind == "FLOATS":
        body += b"".join(b"\x3d" + struct.pack("<f", x) for x in value) + number(20, 6)
    elif kind == "TENSOR":
        body += blob(5, value) + number(20, 4)
    elif kind == "GRAPH":
        body += blob(6, value) + number(20, 5)
    elif kind == "STRINGS":
        body += b"".join(blob(9, s) for s in value) + number(20, 8)
    else:  # a kind that there is none of
        body += number(20, 99)
    return blob(5, body)


def node(kind, inputs, outputs, attributes=b"", name="victim", domain=""):
    return blob(1, b"".join(blob(1, i) for i in inputs) + b"".join(blob(2, o) for o in outputs)
                + blob(3, name) + blob(4, kind) + attributes + (blob(7, domain) if domain else b""))


def tensor(name, dims, dtype=FLOAT, raw=None, more=b""):
    count = 1
    for d in dims:
        count *= d
    if raw is None:
        raw = b"\0" * (count * {FLOAT: 4, INT64: 8, BOOL: 1}.get(dtype, 4))
    return b"".join(signed(1, d) for d in dims) + number(2, dtype) + blob(8, name) + blob(9, raw) + more


def info(field, name, dims, dtype=FLOAT):
    shape = b"" if dims is None else blob(2, b"".join(
        blob(1, blob(2, d) if isinstance(d, str) else signed(1, d)) for d in dims))
    return blob(field, blob(1, name) + blob(2, blob(1, number(1, dtype) + shape)))


def graph(body, name="g"):
    return body + blob(2, name)


def model(body, opset=OPSET, ir=10, more=b""):
    return number(1, ir) + blob(7, graph(body)) + blob(8, blob(1, "") + signed(2, opset)) + more


def around(kind, dims, dtype=FLOAT, inputs=1, outputs=1, attributes=b"", out=None):
    """One node over inputs of one shape."""
    names = [f"in{i}" for i in range(inputs)]
    results = [f"out{i}" for i in range(outputs)]
    return model(node(kind, names, results, attributes)
                 + b"".join(info(11, n, dims, dtype) for n in names)
                 + b"".join(info(12, r, out, dtype) for r in results[:1]))


def over_constants(kind, dims, dtype, raw, inputs, attributes=b""):
    """One node over constants: it would be folded."""
    names = [f"in{i}" for i in range(inputs)]
    return model(node(kind, names, ["out0"], attributes)
                 + b"".join(blob(5, tensor(n, dims, dtype, raw)) for n in names) + info(12, "out0", None, dtype))


# ---- by operator ----

def read_schema():
    """(operator, least and most inputs, outputs, [(attribute, kind)])."""
    with open(SCHEMA, encoding="utf-8") as f:
        text = f.read()
    attributes = collections.defaultdict(list)
    for op, name, kind, _, until in re.findall(r'ATTR\("([^"]+)", "([^"]+)", (\w+), (\w+), (\w+)', text):
        if not until.isdigit() or int(until) >= OPSET:
            attributes[op].append((name, kind))
    for op, low, high, outputs in re.findall(r'^OP\(\w+, "([^"]+)", (\w+), (\w+), (\w+)', text, re.M):
        yield op, int(low), int(high) if high.isdigit() else 6, max(1, int(outputs)), attributes[op]


def absurd(name, kind, turn):
    """A value of an attribute that no operator can want, or nearly none."""
    values = {"INT": (LEAST, MOST, -7, 1 << 40), "FLOAT": (float("nan"), float("inf"), -1e38),
              "STRING": ("", "no such word", b"\xff\xfe", "x" * 5000),
              "INTS": ([LEAST] * 4, [MOST] * 4, [], [0] * 4, [-1] * 64, [1 << 33, 1 << 33]),
              "FLOATS": ([], [float("nan")] * 3), "STRINGS": ([], ["no", "such"]),
              "TENSOR": (tensor("t", [1 << 31, 1 << 31], raw=b""), tensor("t", [-4], raw=b""), b""),
              "GRAPH": (b"", graph(info(12, "nowhere", [1])))}
    wrong = {"INT": ("INTS", [1]), "STRING": ("INT", 3), "INTS": ("STRING", "x"), "FLOAT": ("INT", 1)}
    if turn % 5 == 4:
        return attribute(name, *wrong.get(kind, ("none", None)))
    of_kind = values.get(kind, (None,))
    return attribute(name, kind, of_kind[turn % len(of_kind)])


def of_operator(turn, op, low, high, outputs, attributes):
    shape = ([1, 4, 6, 6], [2, 3], [4, 4, 4], [5])[turn % 4]
    yield f"{op}: no inputs", around(op, shape, inputs=0, outputs=outputs)
    yield f"{op}: too many inputs", around(op, shape, inputs=high + 3, outputs=outputs)
    yield f"{op}: rank", around(op, ([], [2] * 9, [1] * 3)[turn % 3], inputs=low, outputs=outputs)
    yield f"{op}: type", around(op, shape, (STRING, BOOL, 99, 0)[turn % 4], inputs=low, outputs=outputs)
    yield f"{op}: sizes", around(op, ([0, 3], [-3, 2], [1 << 40] * 4, [1 << 31, 1 << 31])[turn % 4],
                                 inputs=low, outputs=outputs)
    raw = struct.pack("<4q", LEAST, 0, -1, MOST)
    yield f"{op}: integers at their ends", over_constants(op, [4], INT64, raw, low)
    raw = struct.pack("<4f", float("nan"), float("inf"), -3e38, 0)
    yield f"{op}: not numbers", over_constants(op, [2, 2], FLOAT, raw, low)
    if attributes:
        name, kind = attributes[turn % len(attributes)]
        yield f"{op}: {name}", around(op, shape, inputs=low, outputs=outputs, attributes=absurd(name, kind, turn))
        yield f"{op}: {name}, folded", over_constants(op, [4], INT64, struct.pack("<4q", 1, 2, 3, 4), low,
                                                      absurd(name, kind, turn + 1))
    else:
        yield f"{op}: unknown attribute", around(op, shape, inputs=low, outputs=outputs,
                                                 attributes=attribute("no_such", "INT", 1))


# ---- by structure ----

def wires():
    io = info(11, "x", [2, 2]) + info(12, "y", [2, 2])
    relu = node("Relu", ["x"], ["y"])
    yield "a node that feeds itself", model(node("Relu", ["y"], ["y"]) + io)
    yield "a circle of two", model(node("Relu", ["b"], ["y"]) + node("Relu", ["y"], ["b"], name="other") + io)
    yield "a circle of many", model(b"".join(node("Relu", [f"v{i}"], [f"v{(i + 1) % 50}"], name=f"n{i}")
                                             for i in range(50)) + io)
    yield "one name for two values", model(relu + node("Relu", ["x"], ["y"], name="other") + io)
    yield "an input that a node makes", model(node("Relu", ["x"], ["x"]) + io)
    yield "nothing makes it", model(node("Relu", ["nowhere"], ["y"]) + io)
    yield "no name of an input", model(node("Relu", [""], ["y"]) + io)
    yield "no name of an output", model(node("Relu", ["x"], [""]) + io)
    yield "no operator", model(node("", ["x"], ["y"]) + io)
    yield "no such operator", model(node("NoSuchOperator", ["x"], ["y"]) + io)
    yield "an operator of a domain not imported", model(node("Relu", ["x"], ["y"], domain="no.such") + io)
    yield "an output twice", model(relu + io + info(12, "y", [2, 2]))
    yield "an input twice", model(relu + io + info(11, "x", [2, 2]))
    yield "an output that nothing makes", model(relu + io + info(12, "z", [2, 2]))
    yield "another shape than declared", model(relu + info(11, "x", [2, 2]) + info(12, "y", [3, 3]))
    yield "another type than declared", model(relu + info(11, "x", [2, 2]) + info(12, "y", [2, 2], INT64))
    yield "an empty name of an input", model(relu + info(11, "", [2, 2]) + io)
    yield "no nodes, no outputs", model(b"")
    yield FOLDED, over_constants("Abs", [4], FLOAT, b"\0" * 16, 1)
    yield "names that steer terminals", model(node("Relu\x1b[31m", ["x"], ["y"], name="\x1b]0;t\x07") + io)
    yield "names that are no text", model(node("Relu", [b"\xff\xfe"], ["y"], name=b"\xc0\x80") + io)
    yield "a very long name", model(node("Relu", ["x"], ["y"], name="n" * 70000) + io)


def versions():
    io = node("Relu", ["x"], ["y"]) + info(11, "x", [2]) + info(12, "y", [2])
    for opset in (0, -1, 1, 1000, LEAST, MOST):
        yield f"opset {opset}", model(io, opset)
    for ir in (0, 99, 1 << 62):
        yield f"IR version {ir}", model(io, ir=ir)
    for dtype in (27, 99):
        yield f"element type {dtype}", model(node("Relu", ["x"], ["y"]) + info(11, "x", [2], dtype) + info(12, "y", [2]))
    yield "an opset twice", model(io, more=blob(8, blob(1, "") + number(2, 7)))
    yield "no opset", number(1, 10) + blob(7, graph(io))
    yield "no graph", number(1, 10) + blob(8, number(2, 21))
    yield "nothing", b""


def constants():
    def one(t):
        return model(node("Add", ["x", "c"], ["y"]) + blob(5, t) + info(11, "x", [4]) + info(12, "y", None))
    yield "too few bytes", one(tensor("c", [4], raw=b"\0" * 7))
    yield "too many bytes", one(tensor("c", [4], raw=b"\0" * 99))
    yield "no bytes", one(tensor("c", [4], raw=b""))
    yield "a negative size", one(tensor("c", [-4], raw=b"\0" * 16))
    yield "sizes whose product is too large", one(tensor("c", [1 << 32, 1 << 32], raw=b""))
    yield "sizes whose product wraps around to 4", one(tensor("c", [1 << 62, 16], raw=b"\0" * 16))
    yield "no such type", one(tensor("c", [4], 99, b"\0" * 16))
    yield "no type", one(number(1, 4) + blob(8, "c") + blob(9, b"\0" * 16))
    yield "bytes and numbers", one(tensor("c", [4], more=blob(4, b"\0" * 16)))
    yield "strings in bytes", one(tensor("c", [4], STRING, b"\0" * 16))
    yield "no name", one(tensor("", [4]))
    yield "twice", one(tensor("c", [4])) + blob(7, blob(5, tensor("c", [4])))
    yield "a segment", one(tensor("c", [4], more=blob(3, number(1, 0) + number(2, 9))))
    for location in ("../../../../etc/passwd", "/etc/passwd", "absent.bin", "", ".", "a/../../b", "x" * 9000):
        yield f"outside data at '{location[:30]}'", one(
            number(1, 4) + number(2, FLOAT) + blob(8, "c") + number(14, 1)
            + blob(13, blob(1, "location") + blob(2, location)))
    for key, value in (("offset", "-1"), ("offset", "99999999999999999999"), ("length", "-1"), ("length", "x"),
                       ("offset", "9223372036854775807"), ("length", "1e3"), ("nonsense", "1")):
        yield f"outside data, {key} {value}", one(
            number(1, 4) + number(2, FLOAT) + blob(8, "c") + number(14, 1)
            + blob(13, blob(1, "location") + blob(2, "data.bin")) + blob(13, blob(1, key) + blob(2, value)))


def sparse():
    for what, indices, dims in (("beyond", [9], [4]), ("negative", [-1], [4]), ("unsorted", [3, 1], [4]),
                                ("twice", [1, 1], [4]), ("of too many", [0, 1, 2, 3, 0], [4]),
                                ("in a space that is too large", [0], [1 << 40, 1 << 40])):
        values = tensor("s", [len(indices)])
        places = tensor("i", [len(indices)], INT64, struct.pack(f"<{len(indices)}q", *indices))
        body = blob(15, blob(1, values) + blob(2, places) + b"".join(signed(3, d) for d in dims))
        yield f"sparse indices {what}", model(node("Add", ["x", "s"], ["y"]) + body + info(11, "x", [4])
                                              + info(12, "y", None))


def bodies():
    condition = info(11, "c", [], BOOL)
    good = graph(node("Relu", ["x"], ["r"], name="inner") + info(12, "r", [2]))
    other = graph(node("Relu", ["x"], ["a"], name="inner") + node("Abs", ["x"], ["b"], name="inner2")
                  + info(12, "a", [2]) + info(12, "b", [2]))
    io = info(11, "x", [2]) + info(12, "y", None) + condition

    def branch(then, otherwise):
        return model(node("If", ["c"], ["y"], attribute("then_branch", "GRAPH", then)
                          + attribute("else_branch", "GRAPH", otherwise)) + io)
    yield "an If without branches", model(node("If", ["c"], ["y"]) + io)
    yield "branches of one and two outputs", branch(good, other)
    yield "a branch without outputs", branch(good, graph(b""))
    yield "a branch that reads nothing's value", branch(good, graph(node("Relu", ["no"], ["q"]) + info(12, "q", [2])))
    yield "a branch that makes an outer name", branch(good, graph(node("Relu", ["c"], ["x"]) + info(12, "x", [2])))
    yield "a branch with inputs", branch(good, graph(info(11, "i", [2]) + info(12, "i", [2])))
    deep = good
    for i in range(300):
        deep = graph(node("If", ["c"], [f"d{i}"], attribute("then_branch", "GRAPH", deep)
                          + attribute("else_branch", "GRAPH", good), name=f"d{i}") + info(12, f"d{i}", [2]))
    yield "branches in branches, 300 deep", branch(good, deep)
    for trip in (-1, MOST, 1 << 40):
        loop = graph(node("Identity", ["k"], ["k2"], name="i1") + info(11, "i", [], INT64) + info(11, "k", [], BOOL)
                     + info(12, "k2", [], BOOL))
        yield f"a loop of {trip} trips", model(
            node("Loop", ["t", "c"], [], attribute("body", "GRAPH", loop)) + node("Relu", ["x"], ["y"], name="r")
            + blob(5, tensor("t", [], INT64, struct.pack("<q", trip))) + io)
    yield "a loop that gives too few", model(node("Loop", ["", "c", "x"], ["y", "z"], attribute(
        "body", "GRAPH", graph(info(11, "i", [], INT64) + info(12, "i", [], INT64)))) + io)
    yield "a Scan without scans", model(node("Scan", ["x"], ["y"], attribute("body", "GRAPH", good)
                                             + attribute("num_scan_inputs", "INT", MOST)) + io)


def functions():
    io = info(11, "x", [2]) + info(12, "y", None)

    def function(name, body, more=b"", outputs=("b",)):
        return blob(25, blob(1, name) + blob(4, "a") + b"".join(blob(5, o) for o in outputs)
                    + body.replace(b"\x0a", b"\x3a", 1) + blob(9, blob(1, "") + number(2, 21)) + blob(10, "f") + more)
    imports = blob(8, blob(1, "f") + number(2, 1))
    call = node("F", ["x"], ["y"], domain="f")
    yield "a function that calls itself", model(call + io, more=imports + function(
        "F", node("F", ["a"], ["b"], domain="f")))
    yield "two that call each other", model(call + io, more=imports + function(
        "F", node("G", ["a"], ["b"], domain="f")) + function("G", node("F", ["a"], ["b"], domain="f")))
    yield "a function that makes no output", model(call + io, more=imports + function("F", b""))
    yield "a function twice", model(call + io, more=imports + 2 * function("F", node("Relu", ["a"], ["b"])))
    doubling = b"".join(function(f"F{i}", node(f"F{i + 1}", ["a"], ["m"], domain="f", name="p")
                                 .replace(b"\x0a", b"\x3a", 1) + node(f"F{i + 1}", ["m"], ["b"], domain="f", name="q"))
                        for i in range(40))
    yield "functions that double 40 times", model(
        node("F0", ["x"], ["y"], domain="f") + io, more=imports + doubling + function("F40", node(
            "Relu", ["a"], ["b"])))


def bytes_of_all_kinds():
    whole = around("Conv", [1, 3, 8, 8], inputs=2, attributes=attribute("strides", "INTS", [1, 1]))
    for cut in range(1, len(whole), max(1, len(whole) // 40)):
        yield f"cut after {cut} bytes", whole[:cut]
    for at in range(0, len(whole), max(1, len(whole) // 30)):
        yield f"byte {at} is 255", whole[:at] + b"\xff" + whole[at + 1:]
    yield "a number that never ends", whole + b"\x08" + b"\xff" * 40
    yield "a length beyond the end", whole + b"\x3a\xff\xff\xff\xff\x07"
    yield "groups", whole + b"\x0b" * 1000
    yield "not this format", b"PK\x03\x04" + whole


def all_models():
    turn = 0
    for row in read_schema():
        for found in of_operator(turn, *row):
            yield (True,) + found
            turn += 1
    for make in (wires, versions, constants, sparse, bodies, functions, bytes_of_all_kinds):
        for found in make():
            yield (False,) + found


# ---- judging ----

def bound():
    if "asan" not in MARQ and "tsan" not in MARQ and "fuzz" not in MARQ:
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))


def wrong_with(command, of_node):
    """What is wrong with what marq does, or None; and its status."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False, preexec_fn=bound)
    except subprocess.TimeoutExpired:
        return f"takes more than {SECONDS} s", None
    lines = [line for line in done.stderr.decode(errors="replace").splitlines() if "warning:" not in line]
    said = lines + done.stdout.decode(errors="replace").splitlines()
    if done.returncode not in (0, 1, 3, 4):
        return f"status {done.returncode}: {lines[-1:]}", done.returncode
    if done.returncode == 0:
        return None, 0
    if command[1] == "search" and not (len(lines) == 1 and lines[0].startswith("marq: error: ")):
        return f"not one line: {lines[:4]}", done.returncode
    if any(c != "\t" and not c.isprintable() for line in said for c in line):
        return "characters that steer a terminal", done.returncode
    if not of_node and not any("m.onnx" in line for line in said):
        return f"the file is not named: {said[-1:]}", done.returncode
    if of_node and not any(re.search("victim|'in[0-9]|'out[0-9]", line) for line in said):
        return f"no node or value is named: {said[-1:]}", done.returncode
    return None, done.returncode


def main():
    tried, wrong, status = 0, 0, collections.Counter()
    for i, (of_node, what, content) in enumerate(all_models()):
        if i % EVERY and what != FOLDED:
            continue
        tried += 1
        with open("m.onnx", "wb") as f:
            f.write(content)
        for command in ([MARQ, "model", "check", "m.onnx"],
                        [MARQ, "search", "m.onnx", "-t", "mrvl", "-t", "host", "--no-measure", "--no-verify", "--db",
                         "none", "-o", "out"]):
            fault, code = wrong_with(command, of_node)
            status[code] += 1
            if fault:
                wrong += 1
                print(f"FAILED: {what}: marq {command[1]}: {fault}", flush=True)
        if os.path.isdir("out"):
            subprocess.run(["rm", "-r", "out"], check=True)
        left = [name for name in os.listdir(".") if name not in ("m.onnx", "out", "err", "data")]
        if left:
            wrong += 1
            print(f"FAILED: {what}: left {left}")
            break
    print(f"{tried} models, statuses " + ", ".join(f"{k}: {v}" for k, v in sorted(status.items(), key=str))
          + f"; {wrong} wrong")
    sys.exit(wrong != 0)


main()
