#!/bin/sh
# No two modules (x.c with x.h) include each other, however far round, and no
# struct tag means two things. What is listed here may stay until it is cut.
. "$MARQ_SOURCE/tests/style/files.sh"
allowed_circles='
emit/qdq emit/work
'
# (each plug-in defines the handles of its interface)
allowed_tags='bounds check walk written marq_target marq_program'
git ls-files '*.c' '*.h' | grep -vE '^(bench|tests|tools)/' | LC_ALL=C sort |
	CIRCLES=$allowed_circles TAGS=$allowed_tags xargs awk '
	function stem(path) {
		sub(/\.[ch]$/, "", path)
		return path
	}
	# Tarjan: name the circle that ends at v.
	function visit(v, i, w, circle, n, at) {
		index_of[v] = low[v] = ++count
		stack[++top] = v
		on[v] = 1
		for (i = 1; i <= nuses[v]; i++) {
			w = uses[v, i]
			if (!(w in module) || w == v)
				continue
			if (!(w in index_of)) {
				visit(w)
				if (low[w] < low[v]) low[v] = low[w]
			} else if (on[w] && index_of[w] < low[v]) {
				low[v] = index_of[w]
			}
		}
		if (low[v] != index_of[v])
			return
		for (at = top; stack[at] != v; at--)
			;
		n = top - at + 1
		circle = sorted(at, top)
		for (i = at; i <= top; i++)
			on[stack[i]] = 0
		top = at - 1
		if (n > 1 && !(circle in allowed)) {
			print "modules include each other: " circle
			bad = 1
		}
	}
	function sorted(from, to, i, k, name, text) {
		for (i = from + 1; i <= to; i++)
			for (k = i; k > from && stack[k - 1] > stack[k]; k--) {
				name = stack[k]
				stack[k] = stack[k - 1]
				stack[k - 1] = name
			}
		for (i = from; i <= to; i++)
			text = text (i > from ? " " : "") stack[i]
		return text
	}
	BEGIN {
		n = split(ENVIRON["CIRCLES"], row, "\n")
		for (i = 1; i <= n; i++) allowed[row[i]] = 1
		n = split(ENVIRON["TAGS"], row, " ")
		for (i = 1; i <= n; i++) allowed_tag[row[i]] = 1
	}
	FNR == 1 {
		v = stem(FILENAME)
		if (!(v in module)) order[++nmodules] = v
		module[v] = 1
	}
	/^[ \t]*#[ \t]*include[ \t]+"/ {
		split($0, part, "\"")
		uses[v, ++nuses[v]] = stem(part[2])
	}
	/^(static )?(const )?struct [a-z0-9_]+ *\{/ {
		tag = $0
		sub(/^(static )?(const )?struct /, "", tag)
		sub(/[^a-z0-9_].*/, "", tag)
		if ((tag in tag_in) && tag_in[tag] != FILENAME && !(tag in allowed_tag)) {
			print FILENAME ": struct " tag " is defined in " tag_in[tag] " as well"
			bad = 1
		}
		tag_in[tag] = FILENAME
	}
	END {
		if (nmodules < 100) { print "only " nmodules " modules"; exit 1 }
		for (i = 1; i <= nmodules; i++)
			if (!(order[i] in index_of)) visit(order[i])
		exit bad
	}'
