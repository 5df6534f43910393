#!/usr/bin/env python3
"""The plans of two builds of marq, say with the libraries of two Debians, side by side.

    builds.py A B MODEL...   A and B: programs `marq`; MODEL: a file, or FILE@DIM=N,DIM=N;
                             $MIX: targets (default "dnnl xnnpack blas host"),
                             $ROUNDS (default 7); $SEARCH: further options of search

Each build prices and plans each model from an empty database of its own, and runs its
plan against the host reference. Then both plans run in turn, a second each, the first
another one in each round. Times are medians of rounds; A/A is A's even rounds by its
odd ones; "same" counts nodes that both plans leave to one target.
"""
import json, os, statistics, subprocess, sys, tempfile


def call(*args):
    return subprocess.run([str(x) for x in args], capture_output=True, text=True)


def proven(result):
    with open(os.path.join(result, "result.json"), encoding="utf-8") as f:
        return json.load(f)["proof"]["proven"]


def planned(marq, model, folder):
    """The result's folder; what went wrong; how far from the reference."""
    file, _, dims = model.partition("@")
    dims = [x for dim in dims.split(",") if dim for x in ("--dim", dim)]
    result = os.path.join(folder, "plan.marq")
    mix = [x for kind in os.environ.get("MIX", "dnnl xnnpack blas host").split() for x in ("-t", kind)]
    more = os.environ.get("SEARCH", "").split()
    out = call(marq, "search", file, *dims, *mix, *more, "--db", os.path.join(folder, "t.db"), "-o", result, "-q")
    if out.returncode:
        return None, out.stderr.strip().splitlines()[-1]
    out = call(marq, "run", result)
    said = [x for x in out.stdout.splitlines() if "reference" in x]
    return (result, said[-1] if said else "no word of the reference") if not out.returncode else (None, out.stderr.strip())


def timed(marq, result):
    """Milliseconds of a run, and the target of each node."""
    run = json.loads(call(marq, "run", result, "--no-reference", "--format=json").stdout)
    return run["measured_ns"] / 1e6, {node: x["target"] for x in run["composites"] for node in x["onnx"]}


def both(each):
    a, b = each
    return "both" if a and b else "A" if a else "B" if b else "neither"


def compare(a, b, model, rounds):
    name = os.path.basename(os.path.dirname(os.path.abspath(model.partition("@")[0])))
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        contenders = [(marq, *planned(marq, model, folder)) for marq, folder in ((a, one), (b, other))]
        for marq, result, word in contenders:
            if result is None:
                print(f"| {name} | {marq}: {word} |", flush=True)
                return None
        times, target = [[], []], [None, None]
        for i in range(rounds):
            for k in (0, 1) if i % 2 == 0 else (1, 0):
                ms, target[k] = timed(contenders[k][0], contenders[k][1])
                times[k].append(ms)
        same = sum(target[1].get(node) == kind for node, kind in target[0].items())
        ratio = statistics.median(q / p for p, q in zip(*times))
        print(f"| {name} | {statistics.median(times[0]):.3f} | {statistics.median(times[1]):.3f} | {ratio:.3f} | "
              f"{statistics.median(times[0][::2]) / statistics.median(times[0][1::2]):.3f} | {same} of {len(target[0])} | "
              f"{both(proven(c[1]) for c in contenders)} | {both('matches' in c[2] for c in contenders)} |", flush=True)
        return ratio


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    a, b, *models = sys.argv[1:]
    print("| model | A, ms | B, ms | B / A | A/A | same | proven | right |\n|---|---:|---:|---:|---:|---:|---|---|")
    ratios = [r for r in (compare(a, b, m, int(os.environ.get("ROUNDS", "7"))) for m in models) if r]
    print(f"\n{len(ratios)} of {len(models)} models, geometric mean of B / A {statistics.geometric_mean(ratios):.3f}")


main()
