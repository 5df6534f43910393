#!/usr/bin/env python3
"""runtime.py FOLDER: compare what the host made of random models (fuzz_candidates
-o FOLDER -a) with ONNX Runtime. Prints each difference; ends with counts. Models
that it refuses are counted, each reason once; the last line is for ctest."""
import glob
import os
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

# A part of an output's range, and of the element, as check.c has it; twice that of
# an element, since both runtimes round.
RELATIVE = 2e-4
ELEMENT = 2e-3


def tensors(folder, kind):
    def number(path):
        return int(path.rsplit("_", 1)[1].split(".")[0])

    for path in sorted(glob.glob(f"{folder}/{kind}_*.pb"), key=number):
        with open(path, "rb") as f:
            yield numpy_helper.to_array(onnx.load_tensor_from_string(f.read()))


def difference(got, want):
    """In words, or None. What is no number on either side is left open."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{got.shape} instead of {want.dtype}{want.shape}"
    if got.dtype == bool or got.dtype == object:
        return None if (got == want).all() else "other values"
    x, y = got.astype(np.float64), want.astype(np.float64)
    both = np.isfinite(x) & np.isfinite(y)
    if not both.any():
        return None
    off = np.abs(x[both] - y[both])
    size = np.abs(y[both])
    allowed = np.ones_like(off)
    if got.dtype.kind == "f":
        allowed = 1e-5 + RELATIVE * size.max() + ELEMENT * size
    bad = off > allowed
    if not bad.any():
        return None
    worst = (off / allowed).argmax()
    return f"{bad.sum()} of {off.size}, by {off[worst]:g} (allowed {allowed[worst]:g})"


def attribute(node, name, otherwise):
    for a in node.attribute:
        if a.name == name:
            return onnx.helper.get_attribute_value(a)
    return otherwise


def decided(model):
    """Why the two differ by decision, or None: where ONNX's text and tests say what
    ONNX Runtime does not do, we follow the text."""
    constant = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    for n in model.graph.node:
        if n.op_type == "Resize" and len(n.input) > 2:
            how = attribute(n, "coordinate_transformation_mode", b"half_pixel")
            if how in (b"align_corners", b"pytorch_half_pixel"):
                return "Resize: positions are of the size before it is rounded"
        if n.op_type == "ConvTranspose" and attribute(n, "auto_pad", b"").startswith(b"SAME"):
            kernel = constant[n.input[1]].shape[2:]
            if any(k < s for k, s in zip(kernel, attribute(n, "strides", [1] * 3))):
                return "ConvTranspose: SAME gives the input times the stride"
    return None


def compare(folder):
    """(what ONNX Runtime says against it, what differs)"""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    data = folder + "/test_data_set_0"
    why = decided(onnx.load(folder + "/model.onnx"))
    if why:
        return f"({why})", None
    try:
        session = onnxruntime.InferenceSession(folder + "/model.onnx", options)
        names = [i.name for i in session.get_inputs()]
        given = dict(zip(names, tensors(data, "input")))
        if not all(np.isfinite(x).all() for x in given.values()):
            return "(NaN or infinities among the inputs)", None
        got = session.run(None, given)
    except Exception as e:  # whatever it raises is its reason
        return str(e).splitlines()[0][-120:], None
    for i, (x, y) in enumerate(zip(got, tensors(data, "output"))):
        words = difference(np.asarray(x), y)
        if words:
            return None, f"output {i}: {words}"
    return None, None


def main():
    right = wrong = 0
    refused = {}
    for folder in sorted(glob.glob(sys.argv[1] + "/seed_*")):
        reason, words = compare(folder)
        if reason:
            refused.setdefault(reason, os.path.basename(folder))
            refused["n"] = refused.get("n", 0) + 1
        elif words:
            wrong += 1
            print(f"{os.path.basename(folder)}: {words}")
        else:
            right += 1
    n = refused.pop("n", 0)
    for reason, name in refused.items():
        print(f"refused, first {name}: {reason}")
    print(f"{right} passed, {wrong} failed; ONNX Runtime refuses {n}")
    sys.exit(wrong != 0 or right == 0)


main()
