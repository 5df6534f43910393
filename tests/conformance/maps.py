#!/usr/bin/env python3
"""maps.py MARQ FOLDER: of each model in the folder, everything has a destination:
 - every folded node went into a node that a plan covers, or into an output of the model;
 - every node in a body of a function, once for each call, or of If, Loop and Scan has an entry with its path (as this
   script writes functions out), and a graph node that stands for it, what it was folded into, or a reason;
 - every initialiser of the file, those of bodies too, is in the map once: read by nodes of the plan, an output, part of
   what a covered node reads, or read by nothing (by this script's own reading);
 - every constant a backend is given is made of initialisers, or of what folded nodes made;
 - every conversion that the plan pays is something inserted; layers of no node are synthesized, of several fused."""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import onnx

marq, folder = sys.argv[1], pathlib.Path(sys.argv[2])
count, faults = collections.Counter(), []


def graphs(graph):
    """The graph and the bodies in it."""
    yield graph
    for node in graph.node:
        for a in node.attribute:
            for body in ([a.g] if a.type == a.GRAPH else a.graphs):
                yield from graphs(body)


def initialisers(graph):
    return [t.name for t in graph.initializer] + [t.values.name for t in graph.sparse_initializer]


def read_somewhere(graph):
    """Names that anything reads, wherever."""
    return {i for g in graphs(graph) for n in g.node for i in n.input} | {o.name for g in graphs(graph) for o in g.output}


def check_nodes(name, m, outputs):
    nodes = m["onnx"]
    for n in nodes:
        if n["fate"] != "folded":
            continue
        count["folded nodes"] += 1
        if "into" in n and nodes[n["into"]]["fate"] == "covered":
            continue
        if "into" not in n and (n["graph"] != "" or n["domain"] or outputs & set(n["outputs"])):
            continue
        faults.append(f"{name}: {n['name'] or n['op_type']} went {n.get('into', 'nowhere')}")


def check_initialisers(name, m, graph):
    want = collections.Counter(i for g in graphs(graph) for i in initialisers(g))
    have = collections.Counter(i["name"] for i in m["initialisers"])
    if want != have:
        faults.append(f"{name}: initialisers {want - have} are missing, {have - want} are of nobody")
    read = read_somewhere(graph)
    for i in m["initialisers"]:
        count["initialisers"] += 1
        count[f"initialisers {i['fate']}"] += 1
        there = {
            "covered": bool(i["nodes"]) or i.get("output", False),
            "folded": m["onnx"][i["into"]]["fate"] == "covered" if "into" in i else True,
            "dropped": True,
        }[i["fate"]]
        # A branch never taken, and what only dropped nodes read, may take readers along.
        gone = any(n["fate"] == "dropped" for n in m["onnx"])
        if not there or (i["fate"] == "dropped" and i["name"] in read and not gone):
            faults.append(f"{name}: initialiser '{i['name']}' is {i['fate']} and has no destination")


def label(node, i):
    return node.name or f"{node.op_type}_{i}"


def paths(nodes, functions):
    """Path of each node in a body, and whether it is one of a function: calls are written out, wherever they are."""
    def walk(nodes, where, called):
        for i, n in enumerate(nodes):
            here = where + label(n, i)
            if where:
                yield here, called
            f = functions.get((n.domain, n.op_type, n.overload))
            if f:
                yield from walk(f.node, here + "/", True)
                continue
            for a in n.attribute:
                for k, body in enumerate([a.g] if a.type == a.GRAPH else a.graphs):
                    number = f"[{k}]" if a.type == a.GRAPHS and len(a.graphs) > 1 else ""
                    yield from walk(body.node, f"{here}/{a.name}{number}/", called)
    yield from walk(nodes, "", False)


def check_bodies(name, m, model):
    functions = {(f.domain, f.name, f.overload): f for f in model.functions}
    want = list(paths(model.graph.node, functions))
    for key, called in (("parts", True), ("onnx", False)):
        have = collections.Counter(n["path"] for n in m[key] if n["graph"])
        told = collections.Counter(p for p, c in want if c == called)
        if have != told:
            faults.append(f"{name}: {key} lack {told - have}, {have - told} are of nobody")
        for n in m[key]:
            if not n["graph"]:
                continue
            count["nodes of functions" if called else "nodes of control flow"] += 1
            into = m["parts"][n["into_part"]] if "into_part" in n else m["onnx"][n["into"]] if "into" in n else None
            there = {"covered": bool(n["nodes"]), "folded": not into or into["fate"] == "covered", "dropped": bool(n.get("why"))}
            if not there[n["fate"]]:
                faults.append(f"{name}: {n['path']} is {n['fate']} and has no destination")
            if called and n["fate"] == "covered" and not m["onnx"][n["call"]]["nodes"]:
                faults.append(f"{name}: {n['path']} is there, its call is not")


def check_layers(name, m, result):
    made = {i["name"] for i in m["initialisers"]} | {o for n in m["onnx"] if n["fate"] == "folded" for o in n["outputs"]}
    known = {n["ref"] for n in m["nodes"]}
    for layer in m["layers"]:
        n = len(layer["nodes"])
        if layer["role"] != ("synthesized" if n == 0 else "kept" if n == 1 else "fused"):
            faults.append(f"{name}: layer {layer['id']} of {n} nodes is {layer['role']}")
        for c in layer["constants"]:
            count["constants of backends"] += 1
            faults.extend(f"{name}: '{v}' in {c['name']} comes from nowhere" for v in c["values"] if v not in made | known)
    paid = [c["value"] for c in result["plan"]["conversions"]]
    told = [i["value"] for i in m["inserted"] if i["op_type"] == "conversion"]
    count["conversions"] += len(paid)
    if paid != told or any(i["role"] != "synthesized" for i in m["inserted"]):
        faults.append(f"{name}: conversions {told}, paid are {paid}")


for model in sorted(folder.glob("*/model.onnx")):
    proto = onnx.load(model, load_external_data=False)
    graph = proto.graph
    for mix in (["-t", "host"], ["-t", "mrvl", "-t", "host"]):
        with tempfile.TemporaryDirectory() as out:
            done = subprocess.run([marq, "search", model, *mix, "--no-measure", "--no-verify", "--db", "none", "-o",
                                   f"{out}/r", "--emit=json"], capture_output=True, text=True, timeout=600)
            if done.returncode == 2:  # open dimensions, which nobody binds here
                break
            if done.returncode:
                sys.exit(f"{model}: {done.stderr.strip()}")
            m, result = (json.load(open(f"{out}/r/{k}.json")) for k in ("map", "result"))
        count["searches"] += 1
        check_nodes(model.parent.name, m, {o.name for o in graph.output})
        check_initialisers(model.parent.name, m, graph)
        check_layers(model.parent.name, m, result)
        check_bodies(model.parent.name, m, proto)
for fault in faults:
    print(fault)
for what, n in count.items():
    print(n, what)
print(f"{len(faults)} without a destination")
sys.exit(len(faults) > 0 or not all(count[k] for k in ("folded nodes", "nodes of functions", "nodes of control flow",
                                                            "initialisers", "constants of backends", "conversions")))
