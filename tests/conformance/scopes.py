#!/usr/bin/env python3
"""scopes.py MARQ FOLDER SCHEMA: of each exported model in the folder,
 - map.json fits its schema;
 - each ONNX node has the module that torch.onnx's metadata names (by this script's own
   reading, with Python's literals), or that its name says;
 - each stack trace reaches all of its lines, and the innermost of the author's own;
 - ids called stable are unique, and the same when the model is searched with another mix;
 - what `explain --by` adds up is the plan's cost."""
import ast
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import onnx

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
from schema import Schema  # noqa: E402

marq, folder, schema = sys.argv[1], pathlib.Path(sys.argv[2]), Schema(sys.argv[3])

def search(model, out, *targets):
    done = subprocess.run([marq, "search", model, "--no-measure", "--no-verify", "--db", "none", "-o", out, "--emit=json"]
                          + [a for t in targets for a in ("-t", t)], capture_output=True, text=True, timeout=600)
    if done.returncode == 2:  # open dimensions, which nobody binds here
        return None
    if done.returncode:
        sys.exit(f"{model}: {done.stderr.strip()}")
    return json.load(open(f"{out}/map.json"))


def module_of(node):
    """By the exporter's metadata; None: it wrote none."""
    meta = {p.key: p.value for p in node.metadata_props}
    names = meta.get("pkg.torch.onnx.name_scopes")
    return ([""] + ast.literal_eval(names)[:-1])[-1] if names else None


def frames_of(node):
    trace = {p.key: p.value for p in node.metadata_props}.get("pkg.torch.onnx.stack_trace", "")
    return [(f, int(n)) for f, n in re.findall(r'File "([^"\n]*)", line (\d+)', trace)]


def costs(out, by):
    text = subprocess.run([marq, "explain", out, "--by", by, "--format", "json"], capture_output=True, text=True, check=True)
    return json.loads(text.stdout)


count = collections.Counter()
for model in sorted(folder.glob("*/model.onnx")):
    proto = onnx.load(model, load_external_data=False)
    with tempfile.TemporaryDirectory() as work:
        m = search(model, f"{work}/a", "host")
        if m is None:
            continue
        schema.check(m)
        quantised = any(n.op_type == "QuantizeLinear" for n in proto.graph.node)
        other = search(model, f"{work}/b", "host", "mrvl:quantize=int8" if quantised else "mrvl")
        schema.check(other)
        plan = json.load(open(f"{work}/a/result.json"))["total"]["cost_ns"]
        for by in ("module", "line", "op", "target"):
            c = costs(f"{work}/a", by)
            whole = sum(r["exclusive_ns"] for r in c["rows"]) + c["conversions_ns"] + c["launches_ns"]
            assert abs(whole - plan) <= 1, (model, by, whole, plan)
            if by == "module":
                assert c["rows"][0]["inclusive_ns"] == whole - c["conversions_ns"] - c["launches_ns"], model
        folded = subprocess.run([marq, "explain", f"{work}/a", "--by", "folded"], capture_output=True, text=True, check=True)
        assert sum(int(line.rsplit(" ", 1)[1]) for line in folded.stdout.splitlines()) == plan, model
        speedscope = json.loads(subprocess.run([marq, "explain", f"{work}/a", "--by", "speedscope"],
                                               capture_output=True, text=True, check=True).stdout)
        profile, = speedscope["profiles"]
        assert sum(profile["weights"]) == profile["endValue"] == plan
        assert all(i < len(speedscope["shared"]["frames"]) for s in profile["samples"] for i in s)
        assert len(profile["samples"]) == len(profile["weights"])
    count["models"] += 1
    stable = [n["stable"] for n in m["onnx"]]
    assert len(set(stable)) == len(stable), model
    assert stable == [n["stable"] for n in other["onnx"]], model
    main = {n["index"]: n for n in m["onnx"] if n["graph"] == ""}
    scoped = any(module_of(n) is not None for n in proto.graph.node)
    count["models with metadata"] += scoped
    for i, node in enumerate(proto.graph.node):
        mapped, module, frames = main[i], module_of(node), frames_of(node)
        assert mapped["op_type"] == node.op_type
        path = m["scopes"][mapped["scope"]]["path"]
        count["nodes"] += 1
        if module is not None:
            count["nodes with a module"] += 1
            count["modules reached"] += path == module
            if path != module:
                print(f"{model.parent.name}: {node.name} is in '{path}', not '{module}'")
        elif node.name.startswith("/") and node.name.count("/") > 1:
            count["nodes with a module"] += 1
            count["modules reached"] += path != ""
        if frames:
            count["stack traces"] += 1
            got = [(m["lines"][k]["file"], m["lines"][k]["line"]) for k in mapped["lines"]]
            own = [f for f in frames if "/site-packages/torch/" not in f[0]] or frames
            count["lines reached"] += got == frames and got.index(own[-1]) >= 0 and (
                m["lines"][mapped["line"]]["file"], m["lines"][mapped["line"]]["line"]) == own[-1]
    # parents first
    for s in m["scopes"]:
        assert s["parent"] < s["id"] or s["id"] == 0
for line in (f"{n} {what}" for what, n in count.items()):
    print(line)
ok = (count["modules reached"] == count["nodes with a module"] > 0 and count["lines reached"] == count["stack traces"] > 0
      and count["models with metadata"] >= 10)
sys.exit(not ok)
