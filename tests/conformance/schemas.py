#!/usr/bin/env python3
"""schemas.py SOURCE: the tables of operators against the schemas of the onnx
package: every operator, every version that changed its inputs, outputs or
attributes, up to the newest opset. What is left out is listed, with a reason."""
import re
import sys

import onnx.defs

source = sys.argv[1]
# Rows that take more than the schema, on purpose.
DRAFT = "the backend corpus has the form of a draft, too"
WIDER = {"GRU": "models of opset 1 leave the second output out", "Tile": "and tile by one input",
         "CausalConvWithState": DRAFT, "LinearAttention": DRAFT, "SwiGLU": DRAFT,
         "GroupNormalization": "deprecated where it was new; models of opset 18 to 20 have it"}
# Of opset 1 to 5; it says nothing and is left out everywhere.
IGNORED = {"consumed_inputs"}


TABLE = open(f"{source}/ir/schema.def").read()


def rows(macro):
    for found in re.finditer(rf"^\t{macro}\((.*)\)$", TABLE, re.M):
        yield [word.strip().strip('"') for word in found.group(1).split(",")]


def at(versions, opset):
    """The row of the latest version up to opset."""
    known = [v for v in versions if v <= opset]
    return versions[max(known)] if known else None


arity, gone, attributes = {}, {}, {}
for op, since, *limits in rows("VERSION"):
    arity.setdefault(op, {})[int(since)] = limits
for op, since in rows("DEPRECATED"):
    gone[op] = int(since)
for op, name, kind, first, last, required in rows("ATTR"):
    attributes.setdefault(op, []).append((name, kind, int(first), int(last) or 999, int(required)))

many = 2**31 - 1
faults, seen = [], 0
for schema in onnx.defs.get_all_schemas_with_history():
    op, since = schema.name, schema.since_version
    if schema.domain or op in WIDER:
        continue
    if schema.deprecated:
        if op in gone and gone[op] <= since:
            seen += 1
        else:
            faults.append(f"{op} {since}: deprecated, and no row says so")
        continue
    seen += 1
    row = at(arity.get(op, {}), since)
    want = [str(n) if n != many else "MANY" for n in (schema.min_input, schema.max_input, schema.min_output,
                                                      schema.max_output)]
    if row is None or [w.replace("OP_", "") for w in row] != want:
        faults.append(f"{op} {since}: takes and gives {want}, the row says {row}")
    have = {a[0]: a for a in attributes.get(op, []) if a[2] <= since <= a[3] and a[0] not in IGNORED}
    for name, attr in schema.attributes.items():
        if name in IGNORED:
            continue
        if name not in have:
            faults.append(f"{op} {since}: attribute {name} has no row")
        elif bool(have[name][4]) != attr.required:
            faults.append(f"{op} {since}: attribute {name} is {'' if attr.required else 'not '}required")
    faults += [f"{op} {since}: attribute {name} is none of its" for name in have if name not in schema.attributes]
newest = onnx.defs.onnx_opset_version()
known = int(re.search(r"#define OPSET_NEWEST (\d+)", open(f"{source}/ir/schema.h").read()).group(1))
if known < newest:
    faults.append(f"the newest opset is {newest}, ours {known}")
for fault in sorted(faults):
    print(fault)
for name, why in WIDER.items():
    print(f"not compared: {name}: {why}")
print(f"{seen} versions of operators up to opset {newest}, {len(faults)} faults")
sys.exit(bool(faults) or seen == 0)
