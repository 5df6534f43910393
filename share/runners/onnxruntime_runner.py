#!/usr/bin/env python3
"""A runner for marq (targets/external/README.md) on ONNX Runtime's CPU provider.

    marq search MODEL.onnx -t 'external:cmd=python3 onnxruntime_runner.py' -t host

Needs the Python packages onnxruntime and numpy. Answers each request with a line
of JSON; ends at the end of its input. Options: --min-time SECONDS of timing per
candidate (default 0.1), --level none|basic|extended|all of graph optimisation.
"""

import argparse
import json
import sys
import time

try:
    import numpy as np
    import onnxruntime as ort
except ImportError as missing:
    sys.exit(f"the ONNX Runtime runner needs {missing.name}: pip install {missing.name}")

# TensorProto.DataType -> numpy
DTYPES = {1: "f4", 2: "u1", 3: "i1", 4: "u2", 5: "i2", 6: "i4", 7: "i8", 9: "?",
          10: "f2", 11: "f8", 12: "u4", 13: "u8"}
CODES = {np.dtype(name): code for code, name in DTYPES.items()}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def read_tensor(path):
    """A TensorProto as marq writes it: (name, array); contents are raw_data."""
    with open(path, "rb") as f:
        data = f.read()
    at, dims, code, name, raw = 0, [], 0, "", b""
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
            if tag >> 3 == 1:
                dims.append(value)
            elif tag >> 3 == 2:
                code = value
            continue
        size, at = varint(data, at)
        part, at = data[at:at + size], at + size
        if tag >> 3 == 1:  # packed
            k = 0
            while k < len(part):
                value, k = varint(part, k)
                dims.append(value)
        elif tag >> 3 == 8:
            name = part.decode()
        elif tag >> 3 == 9:
            raw = part
    if code not in DTYPES:
        raise Refusal(f"element type {code} has no numpy type")
    return name, np.frombuffer(raw, DTYPES[code]).reshape(dims)


def put_varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def write_tensor(path, array):
    array = np.ascontiguousarray(array)
    raw = array.tobytes()
    if array.dtype not in CODES:
        raise Refusal(f"output of type {array.dtype}")
    with open(path, "wb") as f:
        for dim in np.shape(array):
            f.write(b"\x08" + put_varint(dim))
        f.write(b"\x10" + put_varint(CODES[array.dtype]))
        f.write(b"\x4a" + put_varint(len(raw)) + raw)


# What it fuses, so that marq can offer it in one piece.
CONV = "Conv(var, const, (const | absent))"
NORM = "BatchNormalization(%s, const, const, const, const)" % CONV
RULES = [("node", "op"), ("conv_relu", "Relu(%s)" % CONV), ("conv_norm", NORM),
         ("conv_norm_relu", "Relu(%s)" % NORM), ("conv_clip", "Clip(%s, ...)" % CONV),
         ("sum_relu", "Relu(Add(*, *))"), ("conv_sum_relu", "Relu(Add(%s, *))" % CONV)]


class Refusal(Exception):
    """This runner cannot do that."""


class Runner:
    def __init__(self, options):
        self.options = options
        self.sessions = {}  # of models that are run again and again

    def open(self, request):
        so = ort.SessionOptions()
        so.intra_op_num_threads = request["threads"]
        so.inter_op_num_threads = 1
        so.log_severity_level = 4
        so.graph_optimization_level = {
            "none": ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
            "basic": ort.GraphOptimizationLevel.ORT_ENABLE_BASIC,
            "extended": ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
            "all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
        }[self.options.level]
        try:
            return ort.InferenceSession(request["model"], so, providers=["CPUExecutionProvider"])
        except Exception as why:  # ONNX Runtime has no common base for its own
            raise Refusal(" ".join(str(why).split())[:300]) from None

    def compute(self, session, request):
        feed = dict(read_tensor(path) for path in request["inputs"])
        try:
            out = session.run(None, feed)
        except Exception as why:
            raise Refusal(" ".join(str(why).split())[:300]) from None
        for path, array in zip(request["outputs"], out):
            write_tensor(path, array)
        return feed

    def hello(self, _):
        return {"marq": "hello", "version": 1, "name": "onnxruntime", "runner_version": ort.__version__,
                "runs": True, "this_cpu": True, "facts": {"level": self.options.level},
                "rules": [{"name": "ort." + name, "pattern": pattern} for name, pattern in RULES]}

    def price(self, request):
        session = self.open(request)
        feed = self.compute(session, request)
        # inputs and outputs bound once: the figure is the kernels', not Python's
        binding = session.io_binding()
        for name, array in feed.items():
            binding.bind_cpu_input(name, array)
        for output in session.get_outputs():
            binding.bind_output(output.name)
        samples, end = [], time.perf_counter() + self.options.min_time
        for _ in range(2):
            session.run_with_iobinding(binding)
        while len(samples) < 5 or (time.perf_counter() < end and len(samples) < 1000):
            start = time.perf_counter_ns()
            session.run_with_iobinding(binding)
            samples.append(max(1, time.perf_counter_ns() - start))
        return {"id": request["id"], "latencies_ns": samples}

    def run(self, request):
        model = request["model"]
        if model not in self.sessions:
            self.sessions[model] = self.open(request)
        self.compute(self.sessions[model], request)
        return {"id": request["id"], "done": True}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--min-time", type=float, default=0.1)
    parser.add_argument("--level", choices=["none", "basic", "extended", "all"], default="all")
    runner = Runner(parser.parse_args())
    known = {"hello": runner.hello, "price": runner.price, "run": runner.run}
    for line in sys.stdin:
        request = {}
        try:
            request = json.loads(line)
            answer = known[request["marq"]](request)
        except Refusal as why:
            answer = {"id": request["id"], "refused": str(why)}
        except (KeyError, ValueError, TypeError, OSError) as why:
            answer = {"id": request.get("id"), "error": f"{type(why).__name__}: {why}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
