#!/bin/sh
# eager.sh MARQ MODEL...: how much the plan beats the eager one with mrvl in the
# mix, and why: a table. CPU prices are those of the database and estimates ($DB,
# default none): nothing is measured. Exits 1 when a plan is costlier than eager.
set -eu
marq=$1
shift
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
echo "| model | eager, ms | plan, ms | less | launches | of one composite left out | merged | nodes left | proven |"
echo "|---|---:|---:|---:|---:|---:|---:|---:|---|"
for model; do
	"$marq" search "$model" -t mrvl -t host --no-measure --db "${DB:-none}" \
		-o "$out/result" --force --emit json -q
	python3 - "$out/result/result.json" "$model" <<'END'
import json, os, sys
with open(sys.argv[1], encoding="utf-8") as f:
    result = json.load(f)
eager, cost = result.get("eager"), result["total"]["cost_ns"]
name = os.path.basename(os.path.dirname(sys.argv[2]))
if eager is None:
    print("| %s | | %.3f | nothing is offloaded | | | | | |" % (name, cost / 1e6))
    sys.exit(0)
least = "at least " if eager["bound"] else ""
print("| %s | %s%.3f | %.3f | %.1f %% | %d for %d | %d | %d | %d | %s |" % (
    name, least, eager["cost_ns"] / 1e6, cost / 1e6, 100 - 100 * cost / eager["cost_ns"],
    eager["launches"], eager["eager_launches"], eager["lone"], eager["merged"], eager["left"],
    "yes" if result["proof"]["proven"] else "gap %.1f %%" % (100 * result["proof"]["gap"])))
sys.exit(cost > eager["cost_ns"])
END
done
