# Tools of clang say other things in every major version; the tree is held to
# what this one says.
major=14
need_clang() { # PROGRAM
	command -v "$1" >/dev/null || { echo "skipped: no $1"; exit 77; }
	found=$("$1" --version | sed -n 's/.*version \([0-9]*\).*/\1/p' | head -n 1)
	[ "$found" = $major ] || {
		echo "skipped: $1 $found is installed, the tree is held to $major"
		exit 77
	}
}
