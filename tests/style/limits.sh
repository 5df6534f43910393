#!/bin/sh
# docs/limits.md says what ir/base/limits.def says, no more and no less.
. "$MARQ_SOURCE/tests/style/files.sh"
have=$(sed -n 's/^| `\([A-Z0-9_]*\)` | \([0-9]* [a-z]*\) |.*/\1 \2/p' docs/limits.md)
want=$(sed -n 's/^LIMIT(\([A-Z0-9_]*\), \([0-9]*\), "\([a-z]*\)".*/\1 \2 \3/p' ir/base/limits.def)
[ -n "$want" ] && [ "$have" = "$want" ] || {
	echo "limits.def has:"
	echo "$want"
	echo "docs/limits.md has:"
	echo "$have"
	exit 1
}
for name in $(echo "$want" | cut -d' ' -f1); do
	git grep -q "LIMIT_$name\b" -- '*.c' '*.h' || { echo "$name is not used"; exit 1; }
done
