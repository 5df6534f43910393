"""decoder.py FILE LAYERS WIDTH HEADS KV_HEADS INNER WORDS TOKENS fp16|int4: a decoder
of the shape of TinyLlama, its weights in FILE.data; made up, but bounded. int4:
MatMulNBits in blocks of 32."""
import sys

import numpy
from onnx import TensorProto as T, helper as h

path, *numbers, kind = sys.argv[1:]
layers, width, heads, kv, inner, words, tokens = map(int, numbers)
size = width // heads
random = numpy.random.default_rng(1)
data = open(path + ".data", "wb")
held, nodes = [], []


def tensor(name, array, dtype):
    """Into the file beside the model, a piece at a time."""
    t = held.append(T()) or held[-1]
    t.name, t.data_type, t.data_location = name, dtype, T.EXTERNAL
    t.dims.extend(array.shape)
    data.write(b"\0" * (-data.tell() % 4096))
    for key, value in (("location", path.split("/")[-1] + ".data"), ("offset", data.tell()), ("length", array.nbytes)):
        entry = t.external_data.add()
        entry.key, entry.value = key, str(value)
    array.tofile(data)
    return name


def add(op, ins, out, domain="", **attrs):
    nodes.append(h.make_node(op, ins, [out], name=out, domain=domain, **attrs))
    return out


def halves(*shape):
    scale = numpy.float32((3.0 / shape[0]) ** 0.5)
    one = ((random.random((256, shape[-1]), numpy.float32) * 2 - 1) * scale).astype(numpy.float16)
    return numpy.resize(one, shape)


def linear(x, out, rows, columns):
    if kind == "fp16":
        return add("MatMul", [x, tensor(out + ".w", halves(rows, columns), T.FLOAT16)], out)
    packed = random.integers(0, 256, (columns, rows // 32, 16), numpy.uint8)
    scales = numpy.full(columns * rows // 32, (3.0 / rows) ** 0.5 / 8, numpy.float16)
    return add("MatMulNBits", [x, tensor(out + ".w", packed, T.UINT8), tensor(out + ".s", scales, T.FLOAT16)],
               out, "com.microsoft", K=rows, N=columns, bits=4, block_size=32)


def norm(x, out):
    return add("RMSNormalization", [x, tensor(out + ".g", numpy.ones(width, numpy.float16), T.FLOAT16)], out, axis=-1)


angles = numpy.outer(numpy.arange(tokens), 10000.0 ** (-numpy.arange(0, size, 2) / size))
cos = tensor("cos", numpy.cos(angles)[None].astype(numpy.float16), T.FLOAT16)
sin = tensor("sin", numpy.sin(angles)[None].astype(numpy.float16), T.FLOAT16)
x = add("Gather", [tensor("embed", halves(words, width), T.FLOAT16), "ids"], "x", axis=0)
for i in range(layers):
    n = norm(x, f"{i}.n1")
    q, k, v = linear(n, f"{i}.q", width, width), linear(n, f"{i}.k", width, kv * size), linear(n, f"{i}.v", width, kv * size)
    q = add("RotaryEmbedding", [q, cos, sin], f"{i}.qr", num_heads=heads)
    k = add("RotaryEmbedding", [k, cos, sin], f"{i}.kr", num_heads=kv)
    a = add("Attention", [q, k, v], f"{i}.a", q_num_heads=heads, kv_num_heads=kv, is_causal=1)
    x = add("Add", [x, linear(a, f"{i}.o", width, width)], f"{i}.x1")
    n = norm(x, f"{i}.n2")
    gate = linear(n, f"{i}.gate", width, inner)
    gate = add("Mul", [gate, add("Sigmoid", [gate], f"{i}.sig")], f"{i}.silu")
    up = add("Mul", [gate, linear(n, f"{i}.up", width, inner)], f"{i}.up2")
    x = add("Add", [x, linear(up, f"{i}.down", inner, width)], f"{i}.x2")
linear(norm(x, "n"), "logits", width, words)
graph = h.make_graph(nodes, "decoder", [h.make_tensor_value_info("ids", T.INT64, [1, tokens])],
                     [h.make_tensor_value_info("logits", T.FLOAT16, [1, tokens, words])], held)
model = h.make_model(graph, ir_version=10, opset_imports=[h.make_opsetid("", 23), h.make_opsetid("com.microsoft", 1)])
open(path, "wb").write(model.SerializeToString())
print(data.tell())
