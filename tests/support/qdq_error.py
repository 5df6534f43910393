#!/usr/bin/env python3
"""What ONNX Runtime loses with the quantised model of a result: its outputs against
those of the model itself, over the same inputs, beside what the result says.

usage: qdq_error.py MODEL RESULT DATA...   (folders with input_0.pb, ...)
Exit status 1 where SQNR differs by more than 0.2 dB, or the largest error by more
than a tenth of it and a thousandth of the range. On a processor without VNNI its
integer kernels add pairs of products in 16 bits, which saturates: there it computes
what the model says with floats (session.disable_quant_qdq)."""
import json
import sys

import numpy
import onnx
import onnx.numpy_helper
import onnxruntime

DB = 0.2


def inputs(session, folder):
    def read(i):
        with open(f"{folder}/input_{i}.pb", "rb") as f:
            return onnx.numpy_helper.to_array(onnx.TensorProto.FromString(f.read()))
    return {x.name: read(i) for i, x in enumerate(session.get_inputs())}


def session(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    with open("/proc/cpuinfo") as f:
        if "vnni" not in f.read():
            options.add_session_config_entry("session.disable_quant_qdq", "1")
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def main():
    model, result, folders = sys.argv[1], sys.argv[2], sys.argv[3:]
    onnx.checker.check_model(f"{result}/partitioned.onnx")
    said = json.load(open(f"{result}/result.json"))["int8"]["outputs"]
    whole, parts = session(model), session(f"{result}/partitioned.onnx")
    signal, noise, worst = {}, {}, {}
    for folder in folders:
        feed = inputs(whole, folder)
        for out, want, got in zip(whole.get_outputs(), whole.run(None, feed), parts.run(None, feed)):
            want, got = want.astype(numpy.float64), got.astype(numpy.float64)
            signal[out.name] = signal.get(out.name, 0) + (want ** 2).sum()
            noise[out.name] = noise.get(out.name, 0) + ((got - want) ** 2).sum()
            worst[out.name] = max(worst.get(out.name, 0), abs(got - want).max() / max(abs(want).max(), 1e-30))
    failed = False
    for x in said:
        name = x["name"]
        sqnr = 10 * numpy.log10(signal[name] / noise[name]) if noise[name] > 0 else float("inf")
        ours = float("inf") if x["sqnr_db"] is None else x["sqnr_db"]
        close = (sqnr == ours or abs(sqnr - ours) <= DB) and \
            abs(worst[name] - x["max_error"]) <= 0.1 * x["max_error"] + 0.001
        print(f"{name}: ONNX Runtime SQNR {sqnr:.2f} dB, max error {worst[name]:.4f}; "
              f"the result says {ours:.2f} dB, {x['max_error']:.4f}{'' if close else ': too far apart'}")
        failed |= not close
    return failed


sys.exit(main())
