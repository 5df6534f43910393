#!/bin/sh
# Device-placement files (search/README.md), solved by the exact search and by cbc:
# a table with both answers and their CPU seconds, then what the answers cost by the
# files' own objective.
#   bench/placement.sh BUILD FILE.json...
# MARQ_CBC_SECONDS is cbc's limit for each (default 60).
set -eu
build=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
marq=$build/cli/marq
for file in "$@"; do
	name=$(basename "$(dirname "$file")")-$(basename "$file" .json)
	"$marq" solve -q --placement "$file" --dump-problem "$work/$name.json" \
		>"$work/$name.txt"
done
status=0
"$build/tests/prop_search_ilp" "$work"/*.json || status=$?
if [ $status = 77 ]; then
	echo "$0: no cbc: nothing was compared" >&2
fi
echo
echo "| problem | sum, ms | makespan, ms |"
echo "|---|---|---|"
for text in "$work"/*.txt; do
	awk -v name="$(basename "$text" .txt)" '
		$1 == "cost" { cost = $2 } $1 == "makespan" { makespan = $2 }
		END { printf "| %s | %.3f | %.3f |\n", name, cost / 1e6,
			makespan / 1e6 }' "$text"
done
exit $status
