#!/bin/sh
# Tracked files name no machine, no workplace and no registry; git ignores
# nothing that lies among them, and tracks nothing that a run leaves behind.
. "$MARQ_SOURCE/tests/style/files.sh"
if git grep -nIE '/wor[k]/|bash_[j]obs|farm-[s]tudio|\.[l]ibrary' -- .; then
	exit 1
fi
ignored=$(git ls-files --others --ignored --exclude-standard -- \
	':!build' ':!*.marq/*' ':!/*.db*')
[ -z "$ignored" ] || { echo "ignored by git: $ignored"; exit 1; }
tracked=$(git ls-files --cached --ignored --exclude-standard)
[ -z "$tracked" ] || { echo "tracked, though git ignores it: $tracked"; exit 1; }
