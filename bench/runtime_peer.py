"""Other runtimes as contenders: runtime_peer.py RUNTIME MODEL THREADS CORES [DATA]

RUNTIME: ort, openvino, torch, or none (an interpreter with numpy, for its memory);
CORES: 0,1; DATA: a folder with input_0.pb and so on, else inputs are made up. Says
"ready VERSION" (or ends with the reason on one line), then answers each line "N"
with the nanoseconds of N inferences, negative where one was disturbed.
The caller waits for the answer, so only one of us runs.

$MARQ_BENCH_CORE: a file that keeps how fast cores were at their best, from one process
to the next: else nobody would know of a neighbour who was there first and stays.
"""
import math
import os
import resource
import sys
import time

TYPES = {"float": "float32", "double": "float64", "float16": "float16"}


def made_up(random, dtype, shape):
    if dtype in ("float16", "float32", "float64"):
        return random.uniform(-1, 1, shape).astype(dtype)
    return random.integers(0, 2, shape).astype(dtype)


def read_inputs(folder, n):
    """Of test data as ONNX has them; None: there are none."""
    if not folder:
        return None
    import onnx
    from onnx import numpy_helper
    paths = [os.path.join(folder, "input_%d.pb" % i) for i in range(n)]
    return [numpy_helper.to_array(onnx.load_tensor(path)) for path in paths]


def inputs_of(folder, wanted):
    """wanted: (name, numpy's type, shape) of each."""
    import numpy
    given = read_inputs(folder, len(wanted))
    if given:
        return given
    random = numpy.random.default_rng(1)
    for name, _, shape in wanted:
        if not all(isinstance(d, int) for d in shape):
            sys.exit("no: input '%s' has an open shape and there is no data" % name)
    return [made_up(random, dtype, shape) for _, dtype, shape in wanted]


def load_ort(path, threads, folder):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.set_denormal_as_zero", "1")
    options.log_severity_level = 3
    session = ort.InferenceSession(path, options, ["CPUExecutionProvider"])
    binding = session.io_binding()
    wanted = []
    for value in session.get_inputs():
        kind = value.type[len("tensor("):-1]
        wanted.append((value.name, TYPES.get(kind, kind), value.shape))
    for value, data in zip(session.get_inputs(), inputs_of(folder, wanted)):
        binding.bind_cpu_input(value.name, data)
    for value in session.get_outputs():
        binding.bind_output(value.name)
    return "ONNX Runtime " + ort.__version__, lambda: session.run_with_iobinding(binding)


def load_openvino(path, threads, folder):
    import numpy
    import openvino
    core = openvino.Core()
    model = core.read_model(path)
    wanted = []
    for value in model.inputs:
        shape = value.get_partial_shape()
        shape = [d.get_length() if d.is_static else None for d in shape]
        wanted.append((value.any_name, numpy.dtype(value.get_element_type().to_dtype()).name, shape))
    data = inputs_of(folder, wanted)
    if any(None in shape for _, _, shape in wanted):
        model.reshape({value: openvino.PartialShape(list(x.shape)) for value, x in zip(model.inputs, data)})
    compiled = core.compile_model(model, "CPU", {
        "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    for i, x in enumerate(data):
        request.set_input_tensor(i, openvino.Tensor(numpy.ascontiguousarray(x)))
    return "OpenVINO " + openvino.__version__.split("-")[0], request.infer


def load_torch(path, threads, folder):
    import onnx
    import onnx2torch
    import torch
    torch.set_num_threads(threads)
    torch.set_num_interop_threads(1)
    torch.set_flush_denormal(True)
    graph = onnx.load(path)
    weights = {x.name for x in graph.graph.initializer}
    wanted = []
    for value in graph.graph.input:
        t = value.type.tensor_type
        if value.name not in weights:
            shape = [d.dim_value if d.HasField("dim_value") else None for d in t.shape.dim]
            wanted.append((value.name, onnx.helper.tensor_dtype_to_np_dtype(t.elem_type).name, shape))
    module = onnx2torch.convert(graph).eval()
    data = [torch.from_numpy(x.copy()) for x in inputs_of(folder, wanted)]

    def run():
        with torch.inference_mode():
            module(*data)

    return "PyTorch " + torch.__version__.split("+")[0], run


def load_none(path, threads, folder):
    import numpy
    return "numpy " + numpy.__version__, lambda: None


LOADERS = {"ort": load_ort, "openvino": load_openvino, "torch": load_torch, "none": load_none}


def urgent(on):
    """All threads, as the caller's own runs, where that is permitted."""
    try:
        policy = os.SCHED_FIFO if on else os.SCHED_OTHER
        for task in os.listdir("/proc/self/task"):
            os.sched_setscheduler(int(task), policy, os.sched_param(1 if on else 0))
    except (PermissionError, ProcessLookupError):
        pass


def preemptions():
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw


def spin():
    start = time.perf_counter_ns()
    for _ in range(1500):
        pass
    return time.perf_counter_ns() - start


class Core:
    """The one this runs on: slower than at its best while it is throttled, or shared with a neighbour
    (costmodel/watch.h). The first of three finds its code far away behind a run."""

    def __init__(self, file):
        self.file, self.best = file, math.inf
        if file and os.path.exists(file):
            with open(file, encoding="ascii") as f:
                self.best = int(f.read())

    def is_slow(self):
        took = min(spin() for _ in range(3))
        self.best = min(took, self.best)
        return took > 1.08 * self.best

    def keep(self):
        if self.file and self.best < Core(self.file).best:
            with open(self.file + ".new", "w", encoding="ascii") as f:
                f.write("%d\n" % self.best)
            os.replace(self.file + ".new", self.file)


def timed(run, core):
    before = preemptions()
    slow = core.is_slow()
    start = time.perf_counter_ns()
    run()
    took = time.perf_counter_ns() - start
    disturbed = core.is_slow() or slow or preemptions() != before
    return -took if disturbed else took


def load(runtime, path, threads, folder):
    """What it calls itself and what runs it once; it ends on any fault, with a line."""
    try:
        version, run = LOADERS[runtime](path, threads, folder)
        run()
        return version, run
    except Exception as fault:
        words = str(fault).strip().splitlines() or [type(fault).__name__]
        sys.exit("no: " + words[0][:200])


def main():
    runtime, path, threads, cores = sys.argv[1:5]
    os.sched_setaffinity(0, [int(core) for core in cores.split(",")])
    version, run = load(runtime, path, int(threads), sys.argv[5] if len(sys.argv) > 5 else None)
    core = Core(os.environ.get("MARQ_BENCH_CORE"))
    print("ready", version, flush=True)
    for line in sys.stdin:
        urgent(True)
        run()
        took = [timed(run, core) for _ in range(int(line))]
        urgent(False)
        core.keep()
        print(*took, flush=True)


if __name__ == "__main__":
    main()
