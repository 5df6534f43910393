"""One-node models of com.microsoft and ai.onnx.ml, run by ONNX Runtime without
optimisations and by `marq run -t host`; arguments: MARQ [NAME-PART]."""
import concurrent.futures
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.parser
import onnxruntime
from authored import put_back
from onnx import TensorProto, helper, numpy_helper

marq, part = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
rng = np.random.default_rng(7)
MS, ML = "com.microsoft", "ai.onnx.ml"
CASES = []


def real(*shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def whole(low, high, *shape, dtype=np.int64):
    return rng.integers(low, high, shape).astype(dtype)


def f32(x):
    return np.array(x, np.float32)


def i64(x):
    return np.array(x, np.int64)


def u8(x):
    return np.array(x, np.uint8)


def case(name, domain, op, inputs, outputs=1, fixed=(), steps=0.0, **attrs):
    """inputs: arrays, None where left out; fixed: those that are initialisers;
    steps: of the range an output may be off; instead: (text of nodes as onnx.parser
    reads them) what ONNX Runtime runs, where it has the operator for other processors
    only."""
    CASES.append((name, domain, op, inputs, outputs, fixed, steps, attrs))


def write(folder, name, domain, op, inputs, outputs, fixed, attrs):
    wanted = (1,) * outputs if isinstance(outputs, int) else outputs
    names = [f"x{i}" if v is not None else "" for i, v in enumerate(inputs)]
    out = [f"y{i}" if want else "" for i, want in enumerate(wanted)]
    attrs = dict(attrs)
    ml, stray, instead = attrs.pop("ml", 3), attrs.pop("standard", 9), attrs.pop("instead", None)
    opset = 21 if any(isinstance(v, TensorProto) for v in inputs) else 19
    node = helper.make_node(op, names, out, domain=domain, **attrs)
    fed = [i for i, v in enumerate(inputs) if v is not None and i not in fixed]
    info = [helper.make_tensor_value_info(names[i], helper.np_dtype_to_tensor_dtype(inputs[i].dtype), inputs[i].shape)
            for i in fed]
    held = [v if isinstance(v, TensorProto) else numpy_helper.from_array(v, names[i])
            for i, v in enumerate(inputs) if v is not None and i in fixed]
    typed = [onnx.ValueInfoProto(name=y) if op != "MultiHeadAttention" else
             helper.make_tensor_value_info(y, TensorProto.FLOAT, None) for y in out if y]
    graph = helper.make_graph([node], name, info, typed, held)
    model = helper.make_model(graph, ir_version=9, opset_imports=[
        helper.make_opsetid("", opset if domain else stray), helper.make_opsetid(MS, 1), helper.make_opsetid(ML, ml)])
    path = f"{folder}/model.onnx"
    onnx.save(model, path)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if instead:
        del graph.node[:]
        graph.node.extend(onnx.parser.parse_node(text) for text in instead)
        model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 20)])
        path = f"{folder}/instead.onnx"
        onnx.save(model, path)
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    want = session.run(None, {names[i]: inputs[i] for i in fed})
    for i, at in enumerate(fed):
        open(f"{folder}/input_{i}.pb", "wb").write(numpy_helper.from_array(inputs[at]).SerializeToString())
    for i, y in enumerate(want):
        open(f"{folder}/output_{i}.pb", "wb").write(numpy_helper.from_array(np.asarray(y)).SerializeToString())
    return want


def apart(function, *arguments):
    """Call it in a process of its own, which it may end; what went wrong, or ""."""
    def child(pipe):
        try:
            function(*arguments)
            pipe.send("")
        except Exception as e:  # noqa: BLE001: whatever it says
            pipe.send(str(e).splitlines()[0][:150])

    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=child, args=(there,))
    process.start()
    there.close()
    try:
        said = here.recv()
    except EOFError:
        said = "it died"
    process.join()
    return said


def verdict(c, folder):
    name, domain, op, inputs, outputs, fixed, steps, attrs = c
    os.mkdir(folder)
    said = apart(write, folder, name, domain, op, inputs, outputs, fixed, attrs)
    if said:
        return "no reference", said
    done = subprocess.run([marq, "run", f"{folder}/model.onnx", "-t", "host", "--data", folder, "--no-measure",
                           "--db", "none", "--runs", "1", "--format", "json"], capture_output=True, text=True,
                          timeout=600)
    if done.returncode not in (0, 1) or not done.stdout.startswith("{"):
        text = done.stderr.strip().splitlines()[-1:] or [""]
        return ("refused" if done.returncode == 3 else "failed"), text[0][-180:]
    for check in json.loads(done.stdout)["checks"]:
        if check["matches"] or ("_room_" in name and check["output"] != "y0"):
            continue
        error, span = check["max_error"], check["range"]
        limit = steps if steps >= 1 else 1e-5 + span * (steps or 1e-4)
        if not error or error > limit:
            return "failed", f"{check['output']} differs from the {check['against']} by {error} of {span}"
    return "passed", ""


def main(*makers):
    for make in makers:
        make()
    todo = [c for c in CASES if part in c[0]]
    count = dict.fromkeys(("passed", "refused", "no reference", "failed"), 0)
    with concurrent.futures.ThreadPoolExecutor(2) as pool, tempfile.TemporaryDirectory() as root:
        for c, (word, text) in zip(todo, pool.map(verdict, todo, (f"{root}/{i}" for i in range(len(todo))))):
            count[word] += 1
            if word != "passed":
                print(f"{word} {c[0]}: {text}", flush=True)
        for line in put_back(root):
            count["failed"] += 1
            print(line)
    print(f"{count['no reference']} that ONNX Runtime does not run, {count['refused']} refused")
    print(f"{count['passed']} passed, {count['failed']} failed")
    sys.exit(count["failed"] > 0 or count["passed"] == 0)
