#!/bin/sh
# run.sh NAME RUNNER...: run a conformance runner (and what it is run in) on the
# data of that name, or skip loudly where the data is absent. The runner itself
# takes any path.
set -eu
name=$1
shift
data=$MARQ_SHARED/data
case $name in
onnx)
	archive=$(ls "$data"/onnx-backend-data-*.tar.xz 2>/dev/null | head -n 1)
	[ -n "$archive" ] || { echo "skipped: no backend corpus under $data"; exit 77; }
	path=$MARQ_BUILD/onnx-backend-data
	[ -d "$path" ] || {
		rm -rf "$path.tmp" && mkdir -p "$path.tmp"
		tar -xJf "$archive" -C "$path.tmp"
		mv "$path.tmp" "$path"
	} ;;
collage) path=$data/collage/cases.json ;;
shapes | authored) path=$data/models ;;
*) path=$data/$name ;;
esac
[ -e "$path" ] || { echo "skipped: no $path"; exit 77; }
case $name in
shapes | authored) exec "$@" "$path" "$data/exports" ;;
exports) # by default all of it is measured too, which takes a quarter of an hour
	"$@" --measure "$path" skl_kmeans
	exec "$@" --no-measure "$path" ;;
esac
exec "$@" "$path"
