"""Writes a small model that wants to be a large one.

bomb.py FILE fold N: N zeros out of ConstantOfShape, reduced to one.
bomb.py FILE name N: a node with a name of N bytes.
bomb.py FILE weights N: a product with N bytes of weights in FILE.bin.
bomb.py FILE chain N: N nodes in a row.
bomb.py FILE wide N: N nodes side by side, then their sum.
bomb.py FILE narrow N: a product with N weights of 4 bits that are nowhere."""
import sys

from deep import blob, number

FLOAT, INT64, UINT4 = 1, 7, 21


def typed(name, dims):
    shape = b"".join(blob(1, number(1, d)) for d in dims)
    return blob(1, name) + blob(2, blob(1, number(1, FLOAT) + blob(2, shape)))


def node(kind, inputs, output, name=""):
    return blob(1, b"".join(blob(1, i) for i in inputs) + blob(2, output) + blob(3, name) + blob(4, kind))


def model(nodes, inputs, outputs, initialisers=b"", opset=13):
    graph = nodes + blob(2, "bomb") + initialisers + blob(11, inputs) + blob(12, outputs)
    return number(1, 8) + blob(7, graph) + blob(8, blob(1, "") + number(2, opset))


def fold(n):
    shape = blob(5, number(1, 1) + number(2, INT64) + number(7, n) + blob(8, "n"))
    nodes = node("ConstantOfShape", ["n"], "zeros") + node("Add", ["x", "zeros"], "y")
    return model(nodes, typed("x", [1]), typed("y", [n]), shape)


def name(n):
    return model(node("Relu", ["x"], "y", "n" * n), typed("x", [4]), typed("y", [4]))


def weights(n, path):
    columns = n // 4000
    where = [("location", path.split("/")[-1] + ".bin"), ("length", str(columns * 4000))]
    tensor = (number(1, 1000) + number(1, columns) + number(2, FLOAT) + blob(8, "w")
              + b"".join(blob(13, blob(1, k) + blob(2, v)) for k, v in where) + number(14, 1))
    with open(path + ".bin", "wb") as f:
        f.truncate(columns * 4000)
    return model(node("MatMul", ["x", "w"], "y"), typed("x", [1, 1000]), typed("y", [1, columns]), blob(5, tensor))


def chain(n):
    nodes = b"".join(node(("Relu", "Sigmoid", "Tanh")[i % 3], [f"v{i}"], f"v{i + 1}", f"n{i}") for i in range(n))
    return model(nodes, typed("v0", [1, 16]), typed(f"v{n}", [1, 16]))


def wide(n):
    nodes = b"".join(node("Relu", ["x"], f"v{i}", f"n{i}") for i in range(n))
    nodes += node("Sum", [f"v{i}" for i in range(n)], "y", "sum")
    return model(nodes, typed("x", [1, 16]), typed("y", [1, 16]))


def narrow(n):
    tensor = number(1, 1000) + number(1, n // 1000) + number(2, UINT4) + blob(8, "w")
    scale = number(2, FLOAT) + blob(8, "s") + blob(9, b"\0\0\0\x3f")
    nodes = node("DequantizeLinear", ["w", "s"], "d") + node("MatMul", ["x", "d"], "y")
    return model(nodes, typed("x", [1, 1000]), typed("y", [1, n // 1000]), blob(5, tensor) + blob(5, scale), 21)


path, kind, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
content = {"fold": lambda: fold(n), "name": lambda: name(n), "weights": lambda: weights(n, path), "narrow": lambda: narrow(n),
           "chain": lambda: chain(n), "wide": lambda: wide(n)}[kind]()
with open(path, "wb") as f:
    f.write(content)
