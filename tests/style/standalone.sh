#!/bin/sh
# Tracked files name no machine, no workplace and no registry.
. "$MARQ_SOURCE/tests/style/files.sh"
if git grep -nIE '/wor[k]/|bash_[j]obs|farm-[s]tudio|\.[l]ibrary' -- .; then
	exit 1
fi
