#!/bin/sh
# Functions stay below 80 lines; a flat table or switch says so with NOLINT.
. "$MARQ_SOURCE/tests/style/files.sh"
command -v ctags >/dev/null || { echo "skipped: no ctags"; exit 77; }
long=$(git ls-files '*.c' | xargs ctags --languages=C --c-kinds=f --fields=+ne -f - |
	awk -F'\t' '{
		from = to = 0
		for (i = 4; i <= NF; i++) {
			if ($i ~ /^line:/) from = substr($i, 6)
			if ($i ~ /^end:/) to = substr($i, 5)
		}
		if (to - from + 1 > 80) print $2 ":" from ":" $1
	}')
bad=0
for entry in $long; do
	file=${entry%%:*} rest=${entry#*:}
	sed -n "$((${rest%%:*} - 3)),$((${rest%%:*} + 1))p" "$file" | grep -q NOLINT && continue
	echo "$file: function ${rest#*:} (line ${rest%%:*}) is over 80 lines"
	bad=1
done
exit $bad
