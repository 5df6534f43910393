#!/bin/sh
# Is the plan of every model proven? For each model of a folder (one folder per
# model, with a model.onnx) and three mixes: the problem that `marq search` solves,
# then a table of how long the exact search takes on it, in CPU ms.
#   bench/proven.sh BUILD MODELS [OPTION...]
# OPTION... go to marq search; without any, prices are estimates and simulations
# and no database is used. With KEEP=FOLDER the problems stay there, for instance
# for build/release/tests/prop_search_ilp FOLDER/*.json, which asks cbc.
set -eu
build=$1 models=$2
shift 2
[ $# -gt 0 ] || set -- --no-measure --db=none
work=${KEEP:-$(mktemp -d)}
[ "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
for mix in "dnnl xnnpack blas host" "mrvl host" "mrvl dnnl xnnpack host"; do
	targets= name=$(echo "$mix" | tr ' ' '+')
	for t in $mix; do
		targets="$targets -t $t"
	done
	for model in "$models"/*/model.onnx; do
		file=$(basename "$(dirname "$model")" | tr . _)
		# shellcheck disable=SC2086
		"$build/cli/marq" search "$model" $targets "$@" \
			--dump-problem="$work/$name-$file.json" \
			-o "$work/out" >/dev/null 2>"$work/why" ||
			echo "$name $file: $(tail -1 "$work/why")" >&2
		rm -rf "$work/out"
	done
done
"$build/bench/bench_search" "$work"/*.json
