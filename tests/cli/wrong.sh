#!/bin/sh
# Kernels of the simulated accelerator that compute wrong (tests/wrong/wrong.c):
# the search finds each, names it, bars it and plans without it.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
wrong=$MARQ_BUILD/tests/marq_wrong
export MARQ_DB=none

run model make tiny -o tiny.onnx
expect_status 0

search() { # RULE FOLDER: with that rule's kernels wrong
	command="MARQ_WRONG=$1 search -o $2"
	MARQ_WRONG=$1 "$wrong" search tiny.onnx -t mrvl -t host --no-measure \
		-o "$2" >out 2>err
	status=$?
	expect_status 0
	expect_in out "verified: max error"
}

rules() { # FOLDER
	grep -o '"rule": *"[^"]*"' "$1/result.json"
}

search none right
expect_not_in err "barred"
for rule in mrvl.sum mrvl.conv2d_nhwc2nhwc; do
	rules right | grep -qF "\"$rule\"" || fail "$rule is not in right"
	search "$rule" "$rule"
	expect_in err "mrvl nhwc at"
	expect_in err "computes something else than the reference"
	expect_in err "barred, and searched again"
	! rules "$rule" | grep -qF "\"$rule\"" || fail "$rule is in the plan"
	run run "$rule"
	expect_status 0
	expect_in out "matches the host reference"
done
rules mrvl.sum | grep -q '"mrvl.conv2d' || fail "what is right was barred"
done_testing
