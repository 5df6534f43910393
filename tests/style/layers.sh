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
git ls-files '*.c' '*.h' '*.def' | grep -vE '^(bench|tests|tools)/' |
	RULES=$rules xargs awk '
	function owner(path) {
		if (path ~ /^ir\/base\//) return "ir/base"
		sub(/\/.*/, "", path)
		return path
	}
	function fault(what) {
		print FILENAME ": " what
		bad = 1
	}
	BEGIN {
		n = split(ENVIRON["RULES"], row, "\n")
		for (i = 1; i <= n; i++) {
			m = split(row[i], word, /:? /)
			sub(/:$/, "", word[1])
			allowed[word[1], word[1]] = 1
			for (k = 2; k <= m; k++) allowed[word[1], word[k]] = 1
		}
	}
	/^#include "/ {
		needed = $0
		sub(/^#include "/, "", needed)
		sub(/".*/, "", needed)
		folder = owner(FILENAME)
		if (needed !~ /\//)
			fault("\"" needed "\" is not a full path from the root")
		else if (owner(needed) != folder && !((folder, owner(needed)) in allowed))
			fault(folder " may not include " owner(needed) " (" needed ")")
	}
	/#include <sqlite3.h>/ && owner(FILENAME) != "db" { fault("only db may include sqlite3.h") }
	END { exit bad }'
