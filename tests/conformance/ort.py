"""The ONNX files a search writes, run by ONNX Runtime.

ort.py MARQ MODELS [NAME [SEARCHER]]: for every model under MODELS (folders with model.onnx
and perhaps test_data_set_0) and every mix, searches it and then
 - onnx.checker accepts partitioned.onnx, annotated.onnx and host/*.onnx (with
   full shape inference where it accepts the user's model so);
 - ONNX Runtime, optimisations off, gets from partitioned.onnx and annotated.onnx
   the outputs it gets from the user's model.
Prints a row per model and mix, then the sum. NAME runs the models whose name
contains it only. The searcher is "eager": it makes the most regions."""
import collections
import os
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime
from onnx import numpy_helper

MIXES = (("dnnl", "host"), ("mrvl", "host"))
# What is folded at import was computed by other code than ORT's: an error is
# measured against the largest element of its output. A float32 is rounded by up
# to 6e-8 of itself and a float16 by 5e-4, a few times over.
MOST_ERROR = {"float16": 2e-3}
MOST_ERROR_ELSE = 1e-5


class NotRunnable(Exception):
    """ONNX Runtime or the test cannot run the user's own model."""


def session(path):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def inputs_of(model):
    """What ONNX asks for: inputs that have no initialiser."""
    have = {t.name for t in model.graph.initializer}
    return [i for i in model.graph.input if i.name not in have]


def stored_input(folder, index):
    path = os.path.join(folder, "test_data_set_0", f"input_{index}.pb")
    if not os.path.exists(path):
        return None
    with open(path, "rb") as f:
        return numpy_helper.to_array(onnx.TensorProto.FromString(f.read()))


def made_input(value, random):
    """Random figures of the declared shape; open dimensions are 1."""
    if not value.type.HasField("tensor_type"):
        raise NotRunnable(f"input {value.name} is no tensor")
    tensor = value.type.tensor_type
    shape = [d.dim_value or 1 for d in tensor.shape.dim]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    if dtype.kind == "f":
        return random.standard_normal(shape).astype(dtype)
    return random.integers(0, 2, shape).astype(dtype)


def feeds_of(folder, model):
    random = numpy.random.default_rng(1)
    feeds = {}
    for i, value in enumerate(inputs_of(model)):
        stored = stored_input(folder, i)
        feeds[value.name] = made_input(value, random) if stored is None else stored
    return feeds


def run(path, feeds):
    s = session(path)
    wanted = {i.name for i in s.get_inputs()}
    names = [o.name for o in s.get_outputs()]
    return dict(zip(names, s.run(names, {k: v for k, v in feeds.items() if k in wanted})))


def kind_of(value):
    return "" if isinstance(value, list) else str(numpy.asarray(value).dtype)


def error_of(a, b):
    """0 for equal bytes, else the largest difference over the largest element."""
    if isinstance(a, list):
        return max((error_of(x, y) for x, y in zip(a, b)), default=0.0) if len(a) == len(b) else numpy.inf
    a, b = numpy.asarray(a), numpy.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return numpy.inf
    if a.tobytes() == b.tobytes():
        return 0.0
    if a.dtype.kind not in "fiub":
        return 0.0 if numpy.array_equal(a, b) else numpy.inf
    a, b = a.astype(numpy.float64), b.astype(numpy.float64)
    if not numpy.array_equal(numpy.isfinite(a), numpy.isfinite(b)):
        return numpy.inf
    finite = numpy.isfinite(a)
    if not numpy.array_equal(a[~finite], b[~finite], equal_nan=True):
        return numpy.inf
    scale = numpy.abs(a[finite]).max(initial=0.0)
    return float(numpy.abs(a - b)[finite].max(initial=0.0) / (scale or 1.0))


def accepts(model, shapes):
    """What onnx.checker says of the user's model with the shapes bound that the
    search binds: nothing (None), valid (False), valid with full inference (True)."""
    bound = onnx.ModelProto()
    bound.CopyFrom(model)
    for value in bound.graph.input:
        if value.name in shapes:
            for dim, extent in zip(value.type.tensor_type.shape.dim, shapes[value.name].shape):
                dim.dim_value = extent
    verdict = None
    for full in (False, True):
        try:
            onnx.checker.check_model(bound, full_check=full)
            verdict = full
        except Exception:
            break
    return verdict


def search(marq, case, mix, searcher, out):
    command = [marq, "search", "--max-output=8GiB", case.path, "-o", out, "--db", "none", "--no-measure",
               "--search", searcher, "--time-budget", "30s", "--format", "json"]
    for target in mix:
        command += ["-t", target]
    for name, value in case.shapes.items():
        if value.ndim:
            command += ["--shape", name + "=" + "x".join(map(str, value.shape))]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 5):
        raise RuntimeError(done.stderr.strip().split("\n")[-1])


def check_files(out, full):
    """All that was written must be as valid as the user's model; annotated.onnx
    is his own, so it is nothing but that."""
    files = [os.path.join(out, "partitioned.onnx")]
    if full is not None:
        files.append(os.path.join(out, "annotated.onnx"))
    host = os.path.join(out, "host")
    if os.path.isdir(host):
        files += [os.path.join(host, n) for n in sorted(os.listdir(host)) if n.endswith(".onnx")]
    for path in files:
        try:
            onnx.checker.check_model(path, full_check=bool(full))
        except Exception as e:
            raise RuntimeError(f"{os.path.relpath(path, out)}: {str(e).strip().splitlines()[0]}")
    return len(files)


# A model with what is fed to it: shapes to bind, onnx.checker's opinion, the
# outputs of the user's own file.
Case = collections.namedtuple("Case", "path feeds shapes accepted expected")


def try_mix(marq, case, mix, searcher):
    """What there was to see, in words; raises on whatever is wrong."""
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "out")
        search(marq, case, mix, searcher, out)
        checked = check_files(out, case.accepted)
        partitioned = os.path.join(out, "partitioned.onnx")
        functions = len(onnx.load(partitioned, load_external_data=False).functions)
        worst = 0.0
        for file in ("annotated.onnx", "partitioned.onnx"):
            got = run(os.path.join(out, file), case.feeds)
            if got.keys() != case.expected.keys():
                raise RuntimeError(f"{file}: outputs {sorted(got)}, not {sorted(case.expected)}")
            for name, value in case.expected.items():
                error = error_of(value, got[name])
                worst = max(worst, error)
                most = MOST_ERROR.get(kind_of(value), MOST_ERROR_ELSE)
                if error > most:
                    raise RuntimeError(f"{file}: output {name} is off by {error:.2g} of its range")
    same = "same bytes" if worst == 0 else f"within {worst:.1e}"
    return f"{functions:3} regions as functions, {checked:3} files checked, {same}"


def try_model(marq, folder, searcher, count):
    path, name = os.path.join(folder, "model.onnx"), os.path.basename(folder)
    try:
        model = onnx.load(path)
        feeds = feeds_of(folder, model)
        case = Case(path, feeds, feeds, accepts(model, feeds), run(path, feeds))
    except Exception as e:
        count["not runnable"] += 1
        print(f"{name:32} not runnable: {str(e).strip().splitlines()[0][:120]}", flush=True)
        return
    for mix in MIXES:
        try:
            said, verdict = try_mix(marq, case, mix, searcher), "passed"
        except Exception as e:
            said, verdict = "FAILED: " + str(e).strip().splitlines()[0][:300], "failed"
        count[verdict] += 1
        print(f"{name:32} {'+'.join(mix):9} {said}", flush=True)


def main():
    marq, models = sys.argv[1], sys.argv[2]
    only = sys.argv[3] if len(sys.argv) > 3 else ""
    searcher = sys.argv[4] if len(sys.argv) > 4 else "eager"
    count = collections.Counter()
    for name in sorted(os.listdir(models)):
        folder = os.path.join(models, name)
        if only in name and os.path.exists(os.path.join(folder, "model.onnx")):
            try_model(marq, folder, searcher, count)
    print(f"{count['passed']} passed, {count['failed']} failed, "
          f"{count['not runnable']} models not runnable by ONNX Runtime {onnxruntime.__version__}")
    sys.exit(1 if count["failed"] or not count["passed"] else 0)


if __name__ == "__main__":
    main()
