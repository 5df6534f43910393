#!/bin/sh
# run.sh PROGRAM NAME: replay the corpus kept under fuzz/corpus/NAME.
set -eu
corpus=$MARQ_SOURCE/tests/fuzz/corpus/$2
[ -d "$corpus" ] || { echo "no corpus for $2"; exit 1; }
exec "$1" "$corpus"/*
