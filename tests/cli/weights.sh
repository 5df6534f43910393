#!/bin/sh
# Models without weights, and models whose weights are not to be looked at.
set -eu
. "$MARQ_SOURCE/tests/cli/lib.sh"

search() { # MODEL OUT [OPTION...]
	model=$1 out=$2
	shift 2
	"$MARQ" search "$model" -t dnnl -t host --no-measure --db none -o "$out" "$@"
}

"$MARQ" model make tiny -o full.onnx
"$MARQ" model make tiny --weights none -o bare.onnx
size() { wc -c <"$1"; }
[ "$(size bare.onnx)" -lt "$(($(size full.onnx) / 2))" ]

# the structure is the same: the same plan
search full.onnx full
search bare.onnx bare
search full.onnx unread --weights none 2>unread.err
plan() {
	python3 -c 'import json, sys
r = json.load(open(sys.argv[1] + "/result.json"))
p = r["plan"]
print(json.dumps([r["total"], p["composites"], p["regions"], p["conversions"]]))' "$1" >"$1.plan"
}
for out in full bare unread; do
	plan $out
done
cmp full.plan bare.plan
cmp full.plan unread.plan

# what is written has no weights either, and can be read again
[ "$(size bare/partitioned.onnx)" -lt "$(($(size full/partitioned.onnx) / 2))" ]
[ "$(size unread/partitioned.onnx)" -lt "$(($(size full/partitioned.onnx) / 2))" ]
# and nothing else that is written has those that were not to be read
[ -e bare/annotated.onnx ]
[ ! -e unread/annotated.onnx ]
grep 'annotated.onnx is left out' unread.err
python3 -c 'import sys
whole = open("full.onnx", "rb").read()
middle = whole[len(whole) // 2:][:64] # of a kernel
assert whole.count(middle) == 1
for name in sys.argv[1:]:
    assert middle not in open(name, "rb").read(), name' $(find unread -type f)
"$MARQ" model info bare/partitioned.onnx >out 2>err
grep 'weights have no content' err

# it runs on seeded numbers, and says so
"$MARQ" run bare.onnx -t dnnl -t host --no-measure --db none --runs 1 >out 2>err
grep 'lacks: run with seeded numbers' err
grep 'matches the host reference' out

# the standard wants content
if search bare.onnx strict --strict 2>err; then exit 1; fi
grep "rule 'weightless'" err
