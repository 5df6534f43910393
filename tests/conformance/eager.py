"""eager.py MARQ DATA: does `marq search --search eager` with mrvl:compat=legacy-v0.19
put exactly the composites onto mrvl that upstream has for whole networks, in exactly
its regions, each with a launch of its own?"""
import json
import os
import subprocess
import sys
import tempfile


def search(marq, model, out):
    subprocess.run(
        [marq, "search", model, "--search", "eager", "--no-measure", "--db", "none",
         "-t", "mrvl:compat=legacy-v0.19", "-t", "host", "-o", out, "--emit", "json"],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    docs = []
    for name in ("result.json", "map.json"):
        with open(os.path.join(out, name), encoding="utf-8") as f:
            docs.append(json.load(f))
    return docs


def regions_of(result, source_map):
    """Region -> composites, each the set of names of its ONNX nodes."""
    onnx = {o["id"]: o["name"] or "n%d" % o["index"] for o in source_map["onnx"]}
    nodes = {n["id"]: {onnx[o["id"]] for o in n["onnx"] if o["role"] != "dropped"}
             for n in source_map["nodes"]}
    regions = {}
    for c in result["plan"]["composites"]:
        if c["target"] == 0:
            names = frozenset().union(*(nodes[i] for i in c["node_ids"]))
            regions.setdefault(c["region"], set()).add(names)
    return list(regions.values())


def unpaid(result):
    """Is there a region of mrvl without its launch?"""
    n = sum(r["target"] == 0 for r in result["plan"]["regions"])
    want, have = n * result["mix"][0]["launch"]["ns"], result["total"]["launches_ns"]
    if want != have:
        yield "launches cost %d, not %d" % (have, want)


def faults(expected, ours):
    theirs = [{frozenset(layer["onnx_nodes"]) for layer in r["layers"] if layer["onnx_nodes"]}
              for r in expected["regions"]]
    want, have = set().union(*theirs), set().union(*ours) if ours else set()
    for c in want - have:
        yield "lacks the composite of %s" % sorted(c)
    for c in have - want:
        yield "has a composite of %s that upstream has not" % sorted(c)
    for r in theirs:
        if r not in ours:
            yield "lacks the region of %s" % sorted(min(r, key=sorted))
    for r in ours:
        if r not in theirs:
            yield "has a region of %s that upstream has not" % sorted(min(r, key=sorted))
    if len(ours) != len(theirs):
        yield "%d regions, upstream has %d" % (len(ours), len(theirs))


def main(marq, data):
    bad = 0
    folder = os.path.join(data, "mrvl", "networks")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            expected = json.load(f)
        model = expected["model_file"].removesuffix(".onnx")
        with tempfile.TemporaryDirectory() as out:
            result, source_map = search(
                marq, os.path.join(data, "models", model, "model.onnx"),
                os.path.join(out, "result"))
        ours = regions_of(result, source_map)
        found = list(faults(expected, ours)) + list(unpaid(result))
        for fault in found:
            print("%s: %s" % (model, fault))
        print("%s: %d composites in %d regions, upstream %d" % (
            model, sum(map(len, ours)), len(ours), len(expected["regions"])))
        bad += bool(found)
    return bad


if __name__ == "__main__":
    sys.exit(1 if main(*sys.argv[1:]) else 0)
