"""Writes the documents of a result of about N nodes, without a search.

large.py FOLDER NODES: blocks of 16 nodes in 9 composites and 3 regions, on two
targets in turn, every node in a module and on a line."""
import json
import pathlib
import sys

BLOCK = [("npu", ["Conv", "Relu"]), ("npu", ["Conv", "Add", "Relu"]), ("npu", ["MaxPool"]),
         ("host", ["Sigmoid"]), ("host", ["Mul", "Add"]), ("host", ["Resize"]),
         ("npu", ["MatMul", "Add", "Relu"]), ("npu", ["MatMul", "Add"]), ("npu", ["Softmax"])]
COST = {"npu": 900, "host": 2500}


class Plan:
    def __init__(self):
        self.nodes, self.composites, self.regions, self.conversions = [], [], [], []
        self.onnx, self.scopes = [], [{"id": 0, "parent": 0, "name": "", "path": "", "class": "Net"}]
        self.value = "input"

    def composite(self, target, ops, scope):
        out = f"value_{len(self.nodes)}"
        number = len(self.composites)
        first = len(self.nodes)
        for op in ops:
            node = len(self.nodes)
            label = f"{op}_{node}"
            self.nodes.append({"id": node, "ref": label, "label": label, "op_type": op, "composite": number})
            self.onnx.append({"id": node, "name": label, "op_type": op, "outputs": [label], "fate": "covered",
                              "graph": "", "index": node, "scope": scope, "line": node % 50,
                              "nodes": [{"node": node, "role": "kept"}]})
        kind = 0 if target == "npu" else 1
        if not self.regions or self.regions[-1]["target"] != kind:
            self.regions.append({"id": len(self.regions), "name": f"{target}_{len(self.regions)}", "target": kind,
                                 "first": number, "composites": 0, "inputs": [], "outputs": [],
                                 "launch_ns": 50 if kind == 0 else 0, "cost_ns": 0})
            self.conversions.append({"value": self.value, "from": "host/plain" if kind == 0 else "npu/plain",
                                     "to": f"{target}/plain", "before": number, "bytes": 64, "cost_ns": 120,
                                     "price": {"source": "simulated", "state": "known", "ns": 120}})
        self.regions[-1]["composites"] += 1
        price = {"source": "simulated" if kind == 0 else "measured", "state": "known", "ns": COST[target]}
        self.composites.append({"id": number, "region": len(self.regions) - 1, "target": kind,
                                "rule": f"{target}.{ops[0].lower()}", "implementation": "plain", "nodes": [],
                                "node_ids": list(range(first, len(self.nodes))),
                                "inputs": [{"value": self.value, "format": f"{target}/plain"}],
                                "outputs": [{"value": out, "format": f"{target}/plain"}],
                                "cost_ns": COST[target], "price": price})
        self.value = out


def build(n):
    p = Plan()
    while len(p.nodes) < n:
        scope = len(p.scopes)
        p.scopes.append({"id": scope, "parent": 0, "name": f"block.{scope - 1}",
                         "path": f"block.{scope - 1}", "class": "Block"})
        for target, ops in BLOCK:
            p.composite(target, ops, scope)
    return p


def documents(p):
    parts = [sum(x[key] for x in rows) for key, rows in
             (("cost_ns", p.composites), ("cost_ns", p.conversions), ("launch_ns", p.regions))]
    total = sum(parts)
    mix = [{"id": 0, "kind": "npu", "text": "npu", "prices": "simulated", "environment": {},
            "launch": {"source": "simulated"}},
           {"id": 1, "kind": "host", "text": "host", "prices": "measured", "environment": {"cpu": "any"}}]
    result = {"schema": "marq.result/3", "model": {"path": "large.onnx"}, "mix": mix,
              "total": {"cost_ns": total, "basis": "simulated", "composites_ns": parts[0], "conversions_ns": parts[1],
                        "launches_ns": parts[2], "low_ns": total // 2, "high_ns": total * 2},
              "proof": {"searcher": "none", "proven": True, "lower_bound_ns": total, "gap": 0},
              "baselines": [{"name": "host", "cost_ns": 3 * total, "bound": False}],
              "sensitivity": None, "counts": {"composites": len(p.composites)}, "notes": [], "nodes": p.nodes,
              "plan": {"schema": "marq.plan/1", "targets": ["npu", "host"], "composites": p.composites,
                       "regions": p.regions, "conversions": p.conversions}}
    lines = [{"id": i, "file": "net.py", "line": 10 + i, "function": "forward", "text": f"x = step_{i}(x)"}
             for i in range(50)]
    nodes = [{"id": n["id"], "ref": n["ref"], "label": n["label"], "op_type": n["op_type"],
              "composite": n["composite"], "onnx": [{"id": n["id"], "role": "kept"}]} for n in p.nodes]
    mapped = {"schema": "marq.map/1", "scopes": p.scopes, "lines": lines, "onnx": p.onnx, "nodes": nodes,
              "composites": [], "regions": [], "layers": []}
    return {"result": result, "map": mapped,
            "provenance": {"schema": "marq.provenance/1", "command": "marq search large.onnx", "counts": {}}}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir()
    for name, document in documents(build(int(sys.argv[2]))).items():
        (folder / f"{name}.json").write_text(json.dumps(document))


main()
