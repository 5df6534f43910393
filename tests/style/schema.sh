#!/bin/sh
# ir/schema.def is in the order it states, which what is found in it by halving
# relies on, and says of each operator what it has to: domain by domain,
# operators by type, rows by kind, rows of one kind by what they are about.
. "$MARQ_SOURCE/tests/style/files.sh"
LC_ALL=C awk '
	function complain(what) {
		print FILENAME ":" FNR ": " what
		bad = 1
	}
	function bare(text) {
		gsub(/^[ \t"]+|[ \t")]+$/, "", text)
		return text
	}
	function state_kind(kind) {
		if (kind in rank) complain(kind " is stated twice")
		rank[kind] = ++nkinds
	}
	# What rows of a kind are sorted by.
	function key_of(kind) {
		if (kind ~ /^(VERSION|DEPRECATED|TAKES|READS|MEANING|VALUE)$/)
			return sprintf("%03d", field[2])
		if (kind == "ATTR")
			return sprintf("%s %03d", bare(field[2]), field[4])
		if (kind == "DEFAULT")
			return sprintf("%s %03d", bare(field[3]), field[2])
		if (kind == "GIVEN")
			return sprintf("%03d", field[3])
		return ""
	}
	function end_operator(a) {
		if (!op) return
		if (nrows["RULE"] != 1)
			complain(op " has " nrows["RULE"] + 0 " RULE rows")
		if (nrows["HOST"] + 0 > 1 || nrows["VALUE"] + 0 > 1)
			complain(op " has two HOST or VALUE rows")
		if (domain == "OP" && !nrows["VERSION"])
			complain(op " has no VERSION row")
		for (a in optional)
			if (!(a in defaults))
				complain(op ": no DEFAULT of its attribute " a)
		for (a in defaults)
			if (!(a in attribute) && !(a in given))
				complain(op ": DEFAULT of " a ", which it has not")
	}
	function begin_operator(quoted) {
		end_operator()
		split($0, quoted, "\"")
		if (substr($0, 1, index($0, "(") - 1) != domain) {
			domain = substr($0, 1, index($0, "(") - 1)
			if (rank[domain] < domain_rank)
				complain("domain " domain " stands too late")
			domain_rank = rank[domain]
			op = ""
		}
		if (op && quoted[2] <= op) complain(quoted[2] " stands behind " op)
		op = quoted[2]
		name = substr($0, index($0, "(") + 1)
		sub(/,.*/, "", name)
		if (name != toupper(op)) complain(op " is called " name)
		noperators++
		split("", nrows); split("", optional); split("", defaults)
		split("", attribute); split("", given)
		previous = previous_key = ""
	}
	function read_row(kind, key) {
		kind = substr($0, 2, index($0, "(") - 2)
		split(substr($0, index($0, "(") + 1), field, ",")
		if (!(kind in rank)) complain("no rows of kind " kind " are stated")
		if (bare(field[1]) != name && field[1] != "\"" op "\"")
			complain("a row of " field[1] " below " op)
		key = key_of(kind)
		if (previous && rank[kind] < rank[previous])
			complain(kind " stands behind " previous)
		if (kind == previous && key < previous_key)
			complain(kind " " key " stands behind " previous_key)
		previous = kind
		previous_key = key
		nrows[kind]++
		if (kind == "ATTR" && bare(field[2]) != "consumed_inputs") {
			attribute[bare(field[2])]
			# Part of what "axes" amounts to.
			if (field[6] + 0 == 0 && bare(field[2]) != "noop_with_empty_axes")
				optional[bare(field[2])]
		}
		if (kind == "DEFAULT") defaults[bare(field[3])]
		if (kind == "GIVEN") given[bare(field[4])]
	}
	/^#ifndef / { state_kind($2); next }
	/^#undef / { undefined[$2]; next }
	/^[A-Z_]*OP\(/ { begin_operator(); next }
	/^\t[A-Z]+\(/ { read_row(); next }
	# Behind the lists of macros nothing else stands.
	noperators && !/^(|\t\t.*)$/ { complain("neither an operator nor a row: " $0) }
	END {
		end_operator()
		for (kind in rank)
			if (!(kind in undefined)) complain(kind " stays defined")
		if (noperators < 100) complain("only " noperators " operators")
		exit bad
	}' ir/schema.def
