#!/usr/bin/env python3
"""metadata.py MARQ FOLDER: of each exported model in the folder, in partitioned.onnx and in the models of the host's
regions,
 - what the author remarked of the model and its graph is there, and of each node (by its outputs) that is still his;
 - every value_info has an element type, and every output of a node of the main graph that has one in the user's model
   has one here;
 - every node of the main graph and of functions says where it runs, for people who open it in Netron."""
import collections
import pathlib
import subprocess
import sys
import tempfile

import onnx

marq, folder = sys.argv[1], pathlib.Path(sys.argv[2])
count = collections.Counter()


def own(props):
    return {p.key: p.value for p in props if not p.key.startswith("marq.")}


def typed(info):
    kind = info.type.WhichOneof("value")
    return kind is not None and (kind != "tensor_type" or info.type.tensor_type.elem_type != 0)


def check(made, given, whole):
    authors = {o: own(n.metadata_props) for n in given.graph.node for o in n.output if o}
    fault = []
    if own(made.metadata_props) != own(given.metadata_props):
        fault.append(f"model: {own(made.metadata_props)}")
    if own(made.graph.metadata_props) != own(given.graph.metadata_props):
        fault.append(f"graph: {own(made.graph.metadata_props)}")
    count["typed values"] += len(made.graph.value_info)
    fault += [f"value_info '{v.name}' has no type" for v in made.graph.value_info if not typed(v)]
    nodes = list(made.graph.node) + [n for f in made.functions for n in f.node]
    for n in nodes:
        mine = own(n.metadata_props)
        theirs = next((authors[o] for o in n.output if o in authors), {})
        called = n.domain == "marq.region"
        if mine and not called:
            count["nodes with metadata"] += 1
            if theirs and mine != theirs:
                fault.append(f"node '{n.name}' ({n.op_type}): {mine}")
        elif theirs and not called and n.op_type not in ("Constant", "ConstantOfShape", "QuantizeLinear", "DequantizeLinear"):
            fault.append(f"node '{n.name}' ({n.op_type}) lost {theirs}")
        if whole and n.op_type not in ("Constant", "ConstantOfShape"):
            said = [p.value for p in n.metadata_props if p.key == "marq.placement"] or [n.doc_string]
            count["placements"] += 1
            if not said[0]:
                fault.append(f"node '{n.name}' ({n.op_type}) says nothing of where it runs")
    if whole:
        known = {v.name for v in given.graph.value_info if typed(v)}
        here = {v.name for v in made.graph.value_info} | {v.name for v in made.graph.output}
        for n in made.graph.node:
            fault += [f"'{o}' has no value_info" for o in n.output if o in known and o not in here]
    return fault


bad = 0
for path in sorted(folder.glob("*/model.onnx")):
    given = onnx.load(path, load_external_data=False)
    stamp = given.metadata_props.add()
    stamp.key, stamp.value = "author", "somebody"
    if given.ir_version >= 10:
        stamp = given.graph.metadata_props.add()
        stamp.key, stamp.value = "graph", "a remark"
    with tempfile.TemporaryDirectory() as work:
        onnx.save(given, f"{work}/model.onnx")
        for side in path.parent.iterdir():  # data beside the model
            if side.is_file() and side.name != "model.onnx":
                pathlib.Path(f"{work}/{side.name}").symlink_to(side.resolve())
        done = subprocess.run([marq, "search", f"{work}/model.onnx", "-t", "mrvl", "-t", "host", "--no-measure", "--no-verify",
                               "--db", "none", "-o", f"{work}/r", "--emit=onnx"], capture_output=True, text=True, timeout=600)
        if done.returncode == 2:  # open dimensions, which nobody binds here
            continue
        if done.returncode:
            sys.exit(f"{path}: {done.stderr.strip()}")
        count["models"] += 1
        for made in [pathlib.Path(f"{work}/r/partitioned.onnx"), *sorted(pathlib.Path(f"{work}/r/host").glob("*.onnx"))]:
            if not made.exists():
                continue
            count["files"] += 1
            for fault in check(onnx.load(made), given, made.name == "partitioned.onnx"):
                bad += 1
                print(f"{path.parent.name}/{made.name}: {fault}")
for what, n in count.items():
    print(n, what)
sys.exit(bad > 0 or count["models"] < 10 or count["nodes with metadata"] == 0)
