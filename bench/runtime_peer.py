"""ONNX Runtime as a contender: ort_peer.py MODEL THREADS CORE...

Says "ready VERSION" (or ends with the reason on one line), then answers each
line "N" with the nanoseconds of N inferences, negative where the scheduler
interrupted one. The caller waits for the answer, so only one of us runs.
"""
import os
import resource
import sys
import time


def load(path, threads):
    try:
        import numpy
        import onnxruntime as ort
    except ImportError as fault:
        sys.exit("no: " + str(fault))
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.set_denormal_as_zero", "1")
    options.log_severity_level = 3
    session = ort.InferenceSession(path, options, ["CPUExecutionProvider"])
    binding = session.io_binding()
    random = numpy.random.default_rng(1)
    for value in session.get_inputs():
        shape = [d if isinstance(d, int) else 1 for d in value.shape]
        if value.type != "tensor(float)":
            sys.exit("no: input '%s' is %s" % (value.name, value.type))
        data = random.uniform(-1, 1, shape).astype("float32")
        binding.bind_cpu_input(value.name, data)
    for value in session.get_outputs():
        binding.bind_output(value.name)
    return ort.__version__, lambda: session.run_with_iobinding(binding)


def urgent(on):
    """As the caller does for its own runs, where that is permitted."""
    try:
        policy = os.SCHED_FIFO if on else os.SCHED_OTHER
        os.sched_setscheduler(0, policy, os.sched_param(1 if on else 0))
    except PermissionError:
        pass


def preemptions():
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw


def timed(run):
    before = preemptions()
    start = time.perf_counter_ns()
    run()
    took = time.perf_counter_ns() - start
    return took if preemptions() == before else -took


def main():
    os.sched_setaffinity(0, [int(core) for core in sys.argv[3:]])
    version, run = load(sys.argv[1], int(sys.argv[2]))
    print("ready", version, flush=True)
    for line in sys.stdin:
        urgent(True)
        run()
        took = [timed(run) for _ in range(int(line))]
        urgent(False)
        print(*took, flush=True)


main()
