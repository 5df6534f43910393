#!/bin/sh
# The formatter has the last word (.clang-format); .def tables are exempt.
. "$MARQ_SOURCE/tests/style/files.sh"
. "$MARQ_SOURCE/tests/style/clang.sh"
need_clang clang-format
git ls-files '*.c' '*.h' | xargs clang-format --dry-run -Werror 2>&1 | head -n 40 | {
	out=$(cat)
	[ -z "$out" ] || { printf '%s\n' "$out"; exit 1; }
}
