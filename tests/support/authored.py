#!/usr/bin/env python3
"""A Scaler of ONNX-ML (authored.py OFFSET SCALE FILE TEXTS), which is written out in other
operators, and a model of texts: joined and compared."""
import struct
import sys


def field(n, *parts):
    """Bytes or text with their length; a number as it is."""
    if isinstance(parts[0], int):
        return bytes([n << 3, parts[0]])
    body = b"".join(p.encode() if isinstance(p, str) else p for p in parts)
    size = [len(body)] if len(body) < 128 else [len(body) & 127 | 128, len(body) >> 7]
    return bytes([n << 3 | 2, *size]) + body


def real(name, x):
    return field(5, field(1, name), (bytes([7 << 3 | 5]) + struct.pack("<f", x)) * 3, b"\xa0\1\6")


def value(n, name, kind=1):
    shape = field(2, field(1, field(1, 2)), field(1, field(1, 3)))
    return field(n, field(1, name), field(2, field(1, field(1, kind), shape)))


def node(op, inputs, output, *more):
    return field(1, *(field(1, x) for x in inputs), field(2, output), field(3, "make " + output), field(4, op), *more)


def write(path, *parts):
    head = field(1, 8) + field(8, field(1, ""), field(2, 20)) + field(8, field(1, "ai.onnx.ml"), field(2, 3))
    with open(path, "wb") as f:
        f.write(head + field(7, field(2, "g"), *parts))


TEXT, BOOL = 8, 9
offset, scale, scaler, texts = sys.argv[1:]
write(scaler, node("Scaler", ["x"], "y", real("offset", float(offset)), real("scale", float(scale)), field(7, "ai.onnx.ml")),
      value(11, "x"), value(12, "y"))
write(texts, node("StringConcat", ["x", "y"], "joined"), node("Equal", ["joined", "y"], "same"), value(11, "x", TEXT),
      value(11, "y", TEXT), value(12, "joined", TEXT), value(12, "same", BOOL))
