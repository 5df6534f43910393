# Shared by the scripts of this folder: they look at what git tracks.
set -eu
cd "$MARQ_SOURCE"
git ls-files >/dev/null || { echo 'skipped: no git checkout'; exit 77; }
