#!/bin/sh
# nightly.sh PROGRAM [MODELS [FIRST SEED]]: a million models (or so many), from a
# seed of its own each night, on half of the processors. Prints what was found;
# fails when that is anything but candidates that cannot be built.
set -eu
program=$1 models=${2:-1000000} first=${3:-$(($(date +%s) / 86400 * 1000000 % 4000000000))}
jobs=$((($(nproc) + 1) / 2))
each=$((models / jobs + 1))
folder=$(mktemp -d)
for job in $(seq "$jobs"); do
	nice "$program" -n "$each" -s "$((first + (job - 1) * each))" \
		-o "$folder/models" >"$folder/out.$job" 2>&1 &
done
wait
cat "$folder"/out.* | grep -v '^seed .*: cannot be built: ' || true
echo "models that failed: $folder/models"
! grep -h -v '^seed .*: cannot be built: ' "$folder"/out.* | grep -q '^seed '
