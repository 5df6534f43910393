#!/bin/sh
# The folder rule: who may #include whom (design table, README "Folders").
# One row a folder: folder: folders it may include, beside its own.
. "$MARQ_SOURCE/tests/style/files.sh"
rules='
ir/base:
ir: ir/base
targets: ir ir/base
db: ir/base
costmodel: targets db ir ir/base
search: ir/base
plan: search costmodel targets ir ir/base
exec: plan search costmodel targets ir ir/base
emit: plan costmodel search targets ir ir/base
cli: emit exec plan search costmodel db targets ir ir/base
'
owner() {
	case $1 in ir/base/*) echo ir/base ;; *) echo "${1%%/*}" ;; esac
}
bad=0
for file in $(git ls-files '*.c' '*.h' '*.def' | grep -vE '^(bench|tests|tools)/'); do
	folder=$(owner "$file")
	allowed=$(printf '%s' "$rules" | sed -n "s|^$folder:||p")
	for include in $(sed -n 's/^#include "\(.*\)"/\1/p' "$file"); do
		case $include in */*) ;; *)
			echo "$file: \"$include\" is not a full path from the root"
			bad=1 && continue ;;
		esac
		needed=$(owner "$include")
		case " $folder $allowed " in *" $needed "*) ;; *)
			echo "$file: $folder may not include $needed ($include)"
			bad=1 ;;
		esac
	done
	grep -q '#include <sqlite3.h>' "$file" && [ "$folder" != db ] && {
		echo "$file: only db may include sqlite3.h"
		bad=1
	}
done
exit $bad
