#!/bin/sh
# Every header compiles alone, and every .c file includes its own header first.
. "$MARQ_SOURCE/tests/style/files.sh"
bad=0
for header in $(git ls-files '*.h'); do
	printf '#include "%s"\n' "$header" |
		cc -std=c11 -D_POSIX_C_SOURCE=200809L -fsyntax-only -Wall -Werror \
			-I. -I"$MARQ_BUILD" -isystem /usr/include/cjson -x c - ||
		{ echo "$header does not compile alone"; bad=1; }
done
for source in $(git ls-files '*.c' | grep -v '^tests/'); do
	header=${source%.c}.h
	[ -e "$header" ] || continue
	first=$(sed -n 's/^#include "\(.*\)"/\1/p' "$source" | head -n 1)
	[ "$first" = "$header" ] ||
		{ echo "$source: includes \"$first\" before its own header"; bad=1; }
done
exit $bad
