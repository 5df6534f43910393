#!/bin/sh
# Tracked files name no machine, no workplace and no registry; and git ignores
# nothing that lies among them.
. "$MARQ_SOURCE/tests/style/files.sh"
if git grep -nIE '/wor[k]/|bash_[j]obs|farm-[s]tudio|\.[l]ibrary' -- .; then
	exit 1
fi
ignored=$(git ls-files --others --ignored --exclude-standard -- \
	':!build' ':!*.marq/*' ':!tuning.db*')
[ -z "$ignored" ] || { echo "ignored by git: $ignored"; exit 1; }
