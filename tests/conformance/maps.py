#!/usr/bin/env python3
"""maps.py MARQ FOLDER: where the folded nodes of each model in the folder went:
every one into a node that a plan covers, or into an output of the model."""
import json
import pathlib
import subprocess
import sys
import tempfile

import onnx

marq, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folded = lost = models = 0
for model in sorted(folder.glob("*/model.onnx")):
    outputs = {o.name for o in onnx.load(model, load_external_data=False).graph.output}
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run([marq, "search", model, "-t", "host", "--no-measure", "--no-verify", "--db", "none", "-o",
                               f"{out}/r"], capture_output=True, text=True, timeout=600)
        if done.returncode == 2:  # open dimensions, which nobody binds here
            continue
        if done.returncode:
            sys.exit(f"{model}: {done.stderr.strip()}")
        nodes = json.load(open(f"{out}/r/map.json"))["onnx"]
    models += 1
    for n in nodes:
        if n["fate"] != "folded":
            continue
        folded += 1
        inner = n["graph"] != "" or nodes[n["id"]].get("domain")
        if "into" in n and nodes[n["into"]]["fate"] == "covered":
            continue
        if "into" not in n and (inner or outputs & set(n["outputs"])):
            continue
        lost += 1
        print(f"{model.parent.name}: {n['name'] or n['op_type']} went {n.get('into', 'nowhere')}")
print(f"{models} models, {folded} folded nodes, {lost} of them without a destination")
sys.exit(lost > 0 or folded == 0)
