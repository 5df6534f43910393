#!/bin/sh
# clang-tidy where style asks for it: the base, the search and the plan.
. "$MARQ_SOURCE/tests/style/files.sh"
command -v clang-tidy >/dev/null || { echo "skipped: no clang-tidy"; exit 77; }
case $MARQ_BUILD in
*/release) ;;
*) echo "skipped: runs once, with the release preset"; exit 77 ;;
esac
git ls-files 'ir/base/*.c' 'search/*.c' 'plan/*.c' |
	xargs -P 2 -n 4 clang-tidy --quiet --extra-arg=-Wno-unknown-warning-option -p "$MARQ_BUILD" 2>/dev/null |
	grep -E 'warning:|error:' && exit 1
exit 0
