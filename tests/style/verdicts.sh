#!/bin/sh
# A script of tests/cli fails where an expectation was not met: it stops at the
# first (`set -e`) or ends with done_testing, which counts them.
. "$MARQ_SOURCE/tests/style/files.sh"
bad=0
for f in $(git ls-files 'tests/cli/*.sh'); do
	[ -e "$f" ] || continue
	case $(tail -n 1 "$f") in done_testing) continue ;; esac
	if grep -q '^set -e' "$f" || git grep -q "^\. .*/${f##*/}\"" -- tests/cli; then
		continue
	fi
	echo "$f: does not end with done_testing"
	bad=1
done
exit $bad
