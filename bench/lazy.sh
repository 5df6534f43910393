#!/bin/sh
# How many of the distinct candidates lazy pricing measures from an empty
# database, what it takes, and what it overlooks: the rest is then measured into the
# same database (--eager-pricing) and the search repeated; and all is measured
# from an empty one. lazy.sh MODEL.onnx...
# MARQ names the program (default build/release/cli/marq), KEEP a folder for the
# databases and results.
set -eu
marq=${MARQ:-build/release/cli/marq}
if [ -n "${KEEP:-}" ]; then
	dir=$KEEP
else
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
fi
field() { sed -n "s/.*\"$2\": *\([0-9]*\).*/\1/p" "$dir/$1" | head -n 1; }
# search NAME MODEL DB FLAGS...: seconds into $took
search() {
	out=$1 model=$2 db=$3
	shift 3
	began=$(date +%s%N)
	"$marq" search "$model" -t dnnl -t xnnpack -t blas -t host --db "$dir/$db" \
		--no-progress -q --format json -o "$dir/result" --force "$@" >"$dir/$out"
	took=$((($(date +%s%N) - began) / 100000000))
}
tenths() { echo "$(($1 / 10)).$(($1 % 10))"; }
seconds() { tenths $((($1 + 50) / 100)); }
# hundredths of a per cent by which $1 is more than $2
more() {
	e=$((($1 - $2) * 10000 / $2)) sign=
	[ $e -ge 0 ] || e=$((-e)) sign=-
	printf '%s%d.%02d %%' "$sign" $((e / 100)) $((e % 100))
}
echo "| model | distinct | measured | probed, again | s probing | s measuring | s lazy | s eager | bounds broken | cost, us | all measured | more | all anew |"
echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
for model; do
	name=$(basename "$(dirname "$model")")
	rm -f "$dir/$name".db* "$dir/$name".all*
	search "$name.lazy" "$model" "$name.db"
	lazy=$took
	search "$name.rest" "$model" "$name.db" --eager-pricing
	search "$name.eager" "$model" "$name.all" --eager-pricing
	distinct=$(field "$name.lazy" distinct_candidates) measured=$(field "$name.lazy" measured_candidates)
	cost=$(field "$name.lazy" cost_ns) rest=$(field "$name.rest" cost_ns)
	echo "| $name | $distinct | $measured ($((100 * measured / distinct)) %) | $(field "$name.lazy" probed), $(field "$name.lazy" probed_again) | $(seconds "$(field "$name.lazy" glancing_ms)") | $(seconds "$(field "$name.lazy" measuring_ms)") | $(tenths $lazy) | $(tenths $took) | $(field "$name.lazy" broken_bounds) of $(field "$name.lazy" bounded) | $((cost / 1000)) | $((rest / 1000)) | $(more "$cost" "$rest") | $(($(field "$name.eager" cost_ns) / 1000)) |"
done
