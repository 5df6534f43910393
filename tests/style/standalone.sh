#!/bin/sh
# Tracked files name no machine, no workplace and no registry.
set -eu
cd "$MARQ_SOURCE"
if git grep -nIE '/wor[k]/|bash_[j]obs|farm-[s]tudio|\.[l]ibrary' -- .; then
	exit 1
fi
