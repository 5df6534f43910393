"""Writes a transformer encoder of at least N nodes as ONNX, byte by byte.

deep.py FILE NODES: narrow (16 wide, 8 tokens) and deep, with names like an
exporter's. There is no onnx module on the machines that run the tests."""
import struct
import sys

WIDTH, TOKENS = 16, 8
FLOAT, INTS, FLOATS_DATA = 1, 7, 9


def varint(x):
    out = b""
    while x > 127:
        out += bytes([x & 127 | 128])
        x >>= 7
    return out + bytes([x])


def number(field, x):
    return varint(field << 3) + varint(x)


def blob(field, content):
    if isinstance(content, str):
        content = content.encode()
    return varint(field << 3 | 2) + varint(len(content)) + content


def attribute(name, ints):
    return blob(5, blob(1, name) + b"".join(number(8, i) for i in ints) + number(20, INTS))


class Encoder:
    def __init__(self):
        self.nodes, self.weights = [], []

    def node(self, kind, inputs, name, more=b""):
        self.nodes.append(blob(1, b"".join(blob(1, i) for i in inputs) + blob(2, name + "_output_0")
                               + blob(3, name) + blob(4, kind) + more))
        return name + "_output_0"

    def weight(self, name, dims):
        count = 1
        for d in dims:
            count *= d
        seed = len(self.weights)
        values = [((i * 7 + seed * 3) % 13 - 6) / 64 for i in range(count)]
        self.weights.append(blob(5, b"".join(number(1, d) for d in dims) + number(2, FLOAT) + blob(8, name)
                                 + blob(FLOATS_DATA, struct.pack(f"<{count}f", *values))))
        return name

    def linear(self, x, name):
        x = self.node("MatMul", [x, self.weight(name + ".weight", [WIDTH, WIDTH])], name + "/MatMul")
        return self.node("Add", [x, self.weight(name + ".bias", [WIDTH])], name + "/Add")

    def layer(self, x, name):
        q, k, v = (self.linear(x, f"{name}/attention/{part}") for part in ("query", "key", "value"))
        k = self.node("Transpose", [k], name + "/attention/Transpose", attribute("perm", [0, 2, 1]))
        a = self.node("MatMul", [q, k], name + "/attention/MatMul")
        a = self.node("Softmax", [a], name + "/attention/Softmax")
        a = self.node("MatMul", [a, v], name + "/attention/MatMul_1")
        x = self.node("Add", [x, self.linear(a, name + "/attention/output")], name + "/Add")
        h = self.linear(x, name + "/intermediate")
        h = self.node("Tanh", [h], name + "/activation/Tanh")
        return self.node("Add", [x, self.linear(h, name + "/output")], name + "/Add_1")


def value(field, name):
    shape = b"".join(blob(1, number(1, d)) for d in (1, TOKENS, WIDTH))
    return blob(field, blob(1, name) + blob(2, blob(1, number(1, FLOAT) + blob(2, shape))))


def main():
    path, least = sys.argv[1], int(sys.argv[2])
    e, x, n = Encoder(), "tokens", 0
    while len(e.nodes) < least:
        x, n = e.layer(x, f"/encoder/layer.{n}"), n + 1
    graph = b"".join(e.nodes) + blob(2, "deep") + b"".join(e.weights) + value(11, "tokens") + value(12, x)
    with open(path, "wb") as f:
        f.write(number(1, 8) + blob(7, graph) + blob(8, number(2, 17)))


if __name__ == "__main__":
    main()
