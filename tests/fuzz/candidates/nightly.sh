#!/bin/sh
# nightly.sh PROGRAM [MODELS [FIRST SEED]]: a million models (or so many), from a
# seed of its own each night, on half of the processors, a third of them as on
# older ones. Prints what was found; fails when that is anything.
set -eu
program=$1 models=${2:-1000000} first=${3:-$(($(date +%s) / 86400 * 1000000 % 4000000000))}
jobs=$((($(nproc) + 1) / 2)) each=$((models / ((($(nproc) + 1) / 2) * 3) + 1))
folder=$(mktemp -d)
i=0
for isa in SSE41 AVX2 DEFAULT; do
	for job in $(seq "$jobs"); do
		from=$((first + i * each))
		i=$((i + 1))
		ONEDNN_MAX_CPU_ISA=$isa nice "$program" -n "$each" -s "$from" \
			-o "$folder/models" >"$folder/$isa.$job" 2>&1 &
	done
	wait
done
grep -h -v 'cannot be built' "$folder"/[SAD]* || true
echo "models that failed: $folder/models"
! grep -q '^seed .*' "$folder"/[SAD]*
