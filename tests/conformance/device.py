"""The package for the device, run by a graph executor of ours.

device.py MARQ MODELS [NAME]: for every model under MODELS, searches it with mrvl and host,
and where it has a package
 - reads mod.json and mod.params as TVM's graph executor does, with every storage one
   array that is overwritten when its next tenant is written;
 - compiles cpu.c with the C compiler at hand and calls its functions by TVM's convention;
 - computes the regions with ONNX Runtime from the functions of partitioned.onnx;
 - compares the outputs with those ONNX Runtime gets from the user's model;
 - assembles mod.so with binaries made up here and reads the modules back that it imports.
Prints a row per model, then the sum. A model without a package says why."""
import base64
import ctypes
import json
import os
import struct
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime

import ort

# float32 all along, summed in another order.
MOST_ERROR = 2e-4
# Where a sum decides how a value is rounded to a few bits: two steps of them.
MOST_ERROR_QUANTISED = 3e-2
CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "bool": 1}


class Stream:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values[0] if len(values) == 1 else values

    def bytes(self):
        n = self.take("Q")
        self.at += n
        assert self.at <= len(self.data)
        return self.data[self.at - n:self.at]

    def texts(self):
        return [self.bytes().decode() for _ in range(self.take("Q"))]

    def numbers(self):
        return [self.take("Q") for _ in range(self.take("Q"))]


def dtype_of(name):
    return numpy.dtype({"bfloat16": "uint16"}.get(name, name))


def read_params(path):
    with open(path, "rb") as f:
        s = Stream(f.read())
    assert s.take("QQ") == (0xF7E58D4F05049CB7, 0)
    names, params = s.texts(), {}
    assert s.take("Q") == len(names)
    for name in names:
        assert s.take("QQII") == (0xDD5E40F096B4A13F, 0, 1, 0)
        rank, code, bits, lanes = s.take("IBBH")
        kind = {0: "int", 1: "uint", 2: "float", 4: "uint"}[code]
        dtype = numpy.dtype("bool" if bits == 1 else f"{kind}{bits}")
        assert lanes == 1
        shape = [s.take("q") for _ in range(rank)]
        n = s.take("q")
        assert n == dtype.itemsize * int(numpy.prod(shape, dtype=int))
        params[name] = numpy.frombuffer(s.data, dtype, n // dtype.itemsize, s.at).reshape(shape)
        s.at += n
    assert s.at == len(s.data)
    return params


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p),
                ("byte_offset", ctypes.c_uint64)]


class Package:
    """mod.json, mod.params, cpu.so and the regions of partitioned.onnx."""

    def __init__(self, out):
        self.out, self.folder = out, os.path.join(out, "artifacts", "mrvl")
        with open(os.path.join(self.folder, "mod.json")) as f:
            self.graph = json.load(f)
        with open(os.path.join(self.folder, "map.json")) as f:
            self.map = {f["name"]: f for f in json.load(f)["functions"]}
        self.params = read_params(os.path.join(self.folder, "mod.params"))
        self.rows = self.graph["node_row_ptr"]
        self.attrs = {k: v[1] for k, v in self.graph["attrs"].items()}
        subprocess.run(["make", "-s", "CC=cc", "CFLAGS=-O2 -Wall -Wextra -Werror", "build/cpu.so"],
                       cwd=self.folder, check=True)
        self.loaded = ctypes.CDLL(os.path.join(self.folder, "build", "cpu.so"))
        self.partitioned = onnx.load(os.path.join(out, "partitioned.onnx"))
        with open(os.path.join(out, "map.json")) as f:
            self.regions = {r["id"]: r["name"] for r in json.load(f)["regions"]}
        self.reads_nchw = {tuple(i[:2]) for n in self.graph["nodes"] if "layout_transform" in n["name"]
                           for i in n["inputs"]}

    def entry(self, ref):
        return self.rows[ref[0]] + ref[1]

    def view(self, entry):
        shape, dtype = self.attrs["shape"][entry], dtype_of(self.attrs["dltype"][entry])
        n = int(numpy.prod(shape, dtype=int))
        return self.pool[self.attrs["storage_id"][entry]][:n * dtype.itemsize].view(dtype).reshape(shape)

    def allocate(self):
        need = {}
        for i, sid in enumerate(self.attrs["storage_id"]):
            size = dtype_of(self.attrs["dltype"][i]).itemsize * int(numpy.prod(self.attrs["shape"][i], dtype=int))
            need[sid] = max(need.get(sid, 0), size)
        # what nobody wrote is no number that a sum would hide
        self.pool = {sid: numpy.full(size, 0xff, numpy.uint8) for sid, size in need.items()}

    def call(self, node, views):
        keep = []
        args = (ctypes.c_uint64 * len(views))()
        for i, v in enumerate(views):
            shape = (ctypes.c_int64 * v.ndim)(*v.shape)
            name = v.dtype.name.rstrip("0123456789")
            t = Tensor(v.ctypes.data, (1, 0), v.ndim, CODES[name], v.dtype.itemsize * 8, 1, shape, None, 0)
            keep += [shape, t]
            args[i] = ctypes.addressof(t)
        codes = (ctypes.c_int * len(views))(*[7] * len(views))
        f = getattr(self.loaded, node["attrs"]["func_name"])
        assert f(args, codes, len(views), None, None, None) == 0
        assert f(args, codes, len(views) + 1, None, None, None) == -1

    def region(self, index, node, inputs):
        """The function of partitioned.onnx that the node stands for."""
        name = self.regions[self.map[node["name"]]["region"]]
        g = self.partitioned.graph
        call, = [n for n in g.node if n.op_type == name]
        function, = [f for f in self.partitioned.functions if f.name == name]
        constants = {t.name: t for t in g.initializer}
        own = call.input[:len(inputs)]
        made = [n for n in g.node if set(n.output) & set(call.input[len(inputs):]) and not n.domain]
        needed = [n for x in made for n in x.input] + list(call.input[len(inputs):])
        model = onnx.helper.make_model(onnx.helper.make_graph(
            made + [call], name,
            [onnx.helper.make_tensor_value_info(n, 1, x.shape) for n, x in zip(own, inputs)],
            [onnx.helper.make_tensor_value_info(n, 1, None) for n in call.output],
            [constants[n] for n in dict.fromkeys(needed) if n in constants]))
        model.functions.append(function)
        del model.opset_import[:]
        model.opset_import.extend(self.partitioned.opset_import)
        model.ir_version = self.partitioned.ir_version
        results = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(
            None, {n: numpy.ascontiguousarray(x) for n, x in zip(own, inputs)})
        return [r.transpose(0, 2, 3, 1) if (index, k) in self.reads_nchw else r for k, r in enumerate(results)]

    def run(self, feeds):
        self.allocate()
        for i in self.graph["arg_nodes"]:
            name = self.graph["nodes"][i]["name"]
            value = self.params[name] if name in self.params else feeds[name]
            view = self.view(self.rows[i])
            assert view.shape == value.shape and view.dtype == value.dtype, name
            view[...] = value
        for i, node in enumerate(self.graph["nodes"]):
            if node["op"] == "null":
                continue
            inputs = [self.view(self.entry(r)) for r in node["inputs"]]
            outputs = [self.view(e) for e in range(self.rows[i], self.rows[i + 1])]
            if "Compiler" in node["attrs"]:
                for view, result in zip(outputs, self.region(i, node, inputs)):
                    assert view.shape == result.shape, (node["name"], view.shape, result.shape)
                    view[...] = result
            else:
                self.call(node, inputs + outputs)
        return [self.view(self.entry(h)).copy() for h in self.graph["heads"]]

    def symbols(self):
        return [n["name"] for n in self.graph["nodes"] if "Compiler" in n.get("attrs", {})]

    def check_module(self):
        """mod.so as TVM's library_module.cc reads it."""
        if len(self.graph["nodes"]) - len(self.graph["arg_nodes"]) == 1 and self.symbols():
            return
        for k, symbol in enumerate(self.symbols()):
            with open(os.path.join(self.folder, "build", symbol + ".base64"), "wb") as f:
                f.write(base64.b64encode(b"MRVL%d" % k))
        subprocess.run(["make", "-s", "CC=cc", "build/mod.so"], cwd=self.folder, check=True)
        library = ctypes.CDLL(os.path.join(self.folder, "build", "mod.so"))
        at = ctypes.addressof(ctypes.c_ubyte.in_dll(library, "__tvm_dev_mblob"))
        n = struct.unpack("<Q", ctypes.string_at(at, 8))[0]
        s = Stream(ctypes.string_at(at + 8, n))
        keys = []
        for _ in range(s.take("Q")):
            keys.append(s.bytes().decode())
            if keys[-1] == "const_loader":
                assert s.texts() == [] and s.take("Q") == 0
                assert s.texts() == self.symbols()
                assert [s.numbers() for _ in range(s.take("Q"))] == [[] for _ in self.symbols()]
            elif keys[-1] == "mrvl_hw":
                symbol = self.symbols()[len(keys) - 2]
                assert s.bytes().decode() == symbol
                nodes = json.loads(s.bytes())
                assert nodes["symbol"] == symbol
                assert base64.b64decode(s.bytes()) == b"MRVL%d" % (len(keys) - 2)
                node, = [x for x in self.graph["nodes"] if x["name"] == symbol]
                assert s.take("iii") == (len(node["inputs"]), int(node["attrs"]["num_outputs"]),
                                         int(nodes["batch_size"]))
                shapes = nodes["attrs"]["shape"][1]
                assert [shapes[h[0]] for h in nodes["heads"]] == [
                    self.attrs["shape"][self.rows[self.graph["nodes"].index(node)] + k]
                    for k in range(len(nodes["heads"]))], symbol
                assert [shapes[i] for i in nodes["arg_nodes"]] == [
                    self.attrs["shape"][self.entry(r)] for r in node["inputs"]], symbol
            elif keys[-1] == "_import_tree":
                m = len(keys) - 1
                assert s.numbers() == [0] + m * [m - 1] and s.numbers() == list(range(1, m))
        assert keys == ["const_loader"] + len(self.symbols()) * ["mrvl_hw"] + ["_lib", "_import_tree"]
        assert s.at == len(s.data)


def shapes_of(feeds):
    return [a for n, x in feeds.items() if x.ndim for a in ("--shape", n + "=" + "x".join(map(str, x.shape)))]


def error_of(a, b):
    """As ort.py has it; a sigmoid of ONNX Runtime's is near 0 to 1e-6, no nearer."""
    if a.dtype.kind == "f" and a.shape == b.shape and numpy.abs(a - b).max(initial=0) < 1e-6:
        return 0.0
    return ort.error_of(a, b)


def check(marq, path, out):
    model = onnx.load(path)
    feeds = ort.feeds_of(os.path.dirname(path), model)
    done = subprocess.run([marq, "search", path, "-t", "mrvl", "-t", "host", "-o", out, "--db", "none",
                           "--no-measure", "--search", "eager", "--max-output=8GiB", "--emit", "code,onnx,json"]
                          + shapes_of(feeds), capture_output=True, text=True)
    if done.returncode not in (0, 5):
        return "not searched", (done.stderr.strip() or "?").splitlines()[-1]
    folder = os.path.join(out, "artifacts", "mrvl")
    if not os.path.isdir(folder):
        return "no region", ""
    refused = os.path.join(folder, "unsupported.txt")
    if os.path.exists(refused):
        with open(refused) as f:
            return "refused", f.read().strip()
    package = Package(out)
    package.check_module()
    got = package.run(feeds)
    want = ort.run(path, feeds)
    error = max(error_of(a, b) for a, b in zip(got, want.values()))
    functions = len(package.graph["nodes"]) - len(package.graph["arg_nodes"])
    what = f"{len(package.symbols())} of {functions} functions are regions, error {error:.1e}"
    quantised = any(n.op_type == "QuantizeLinear" for n in model.graph.node)
    return ("ok" if error <= (MOST_ERROR_QUANTISED if quantised else MOST_ERROR) else "WRONG"), what


def main():
    marq, models, name = sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else ""
    counts = {}
    for model in sorted(os.listdir(models)):
        path = os.path.join(models, model, "model.onnx")
        if name not in model or not os.path.exists(path):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                verdict, what = check(marq, path, os.path.join(folder, "out"))
            except ort.NotRunnable as e:
                verdict, what = "not run", str(e)
            except onnxruntime.capi.onnxruntime_pybind11_state.Fail as e:
                verdict, what = "not run", str(e)[:100]
        print(f"{model:32} {verdict:12} {what}", flush=True)
        counts[verdict] = counts.get(verdict, 0) + 1
    print(", ".join(f"{n} {v}" for v, n in sorted(counts.items())))
    sys.exit(1 if "WRONG" in counts or not counts.get("ok") else 0)


if __name__ == "__main__":
    main()
