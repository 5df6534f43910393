#!/bin/sh
# clang-tidy where style asks for it: the base, the search and the plan.
. "$MARQ_SOURCE/tests/style/files.sh"
. "$MARQ_SOURCE/tests/style/clang.sh"
need_clang clang-tidy
case $MARQ_BUILD in
*/release) ;;
*) echo "skipped: runs once, with the release preset"; exit 77 ;;
esac
git ls-files 'ir/base/*.c' 'search/*.c' 'plan/*.c' |
	xargs -P 2 -n 4 clang-tidy --quiet --extra-arg=-Wno-unknown-warning-option -p "$MARQ_BUILD" 2>/dev/null |
	grep -E 'warning:|error:' && exit 1
exit 0
