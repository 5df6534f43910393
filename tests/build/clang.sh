#!/bin/sh
# Clang has nothing to say about any source either, with the flags that it was
# built with here: what the preset clang builds with -Werror, without building.
case $MARQ_BUILD in
*/release) ;;
*) echo "skipped: runs once, with the release preset"; exit 77 ;;
esac
command -v clang >/dev/null || { echo 'skipped: no clang'; exit 77; }
found=$(clang --version | sed -n 's/.*clang version \([0-9]*\).*/\1/p')
case $found in
14 | 19) ;;
*) echo "skipped: clang $found is installed, the sources are held to 14 and 19"; exit 77 ;;
esac
list=$MARQ_BUILD/compile_commands.json
# Each command, as JSON has it, without its compiler; -fsyntax-only beats -c.
sed -n 's/^ *"command": "[^ ]* \(.*\)",$/\1/p' "$list" |
	sed 's/\\"/"/g; s/\\\\/\\/g' >"$MARQ_BUILD/clang-arguments"
[ "$(wc -l <"$MARQ_BUILD/clang-arguments")" = "$(grep -c '"file":' "$list")" ] ||
	{ echo "not understood: $list"; exit 1; }
cd "$MARQ_BUILD" && xargs -P 2 -d '\n' -n 1 sh -c 'eval "exec clang $1 \
	-fsyntax-only -Werror -Wno-unknown-warning-option -Wno-format-nonliteral \
	-Wno-missing-field-initializers"' sh <"$MARQ_BUILD/clang-arguments"
