#!/bin/sh
# How many of the distinct candidates lazy pricing measures, and how long it
# takes, from an empty database: lazy.sh MODEL.onnx...
# MARQ names the program (default build/release/cli/marq).
set -eu
marq=${MARQ:-build/release/cli/marq}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
field() { sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p" "$dir/out" | head -n 1; }
echo "| model | distinct candidates | glanced at | measured | share | with conversions | seconds |"
echo "|---|---|---|---|---|---|---|"
for model; do
	began=$(date +%s%N)
	rm -f "$dir"/prices.db*
	"$marq" search "$model" -t dnnl -t xnnpack -t blas -t host \
		--db "$dir/prices.db" --no-progress -q --format json -o "$dir/result" --force >"$dir/out"
	took=$((($(date +%s%N) - began) / 100000000))
	distinct=$(field distinct_candidates) measured=$(field measured_candidates)
	echo "| $model | $distinct | $(field glanced) | $measured | $((100 * measured / distinct)) % | $(field measured) | $((took / 10)).$((took % 10)) |"
done
