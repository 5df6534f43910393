#!/bin/sh
# What is linked is hardened as Debian's own programs are, as built and as
# installed, and the loader looks into no folder that anybody may write to.
set -u
command -v readelf >/dev/null || { echo 'skipped: no readelf'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { # WHAT
	echo "FAILED: $file: $1"
	failures=$((failures + 1))
}
cached() { # NAME: its value where this was configured
	sed -n "s/^$1:[A-Z]*=//p" "$MARQ_BUILD/CMakeCache.txt"
}
# One element a line. "." stands for an empty one, the current folder.
search_path() {
	readelf -dW "$file" | sed -n 's/.*(R[UN]*PATH).*\[\(.*\)\]/\1/p' |
		tr : '\n' | sed 's/^$/./'
}
check() { # FILE
	file=$1
	readelf -hW "$file" | grep -q 'Type: *DYN' || fail 'not position-independent'
	readelf -lW "$file" | grep -q GNU_RELRO || fail 'no RELRO'
	readelf -dW "$file" | grep -q 'BIND_NOW' || fail 'binds lazily'
	readelf -lW "$file" | grep GNU_STACK | grep -q RWE && fail 'executable stack'
	readelf -sW "$file" | grep -q __stack_chk_fail || fail 'no stack protector'
	for folder in $(search_path); do
		case $folder in
		"$MARQ_BUILD"* | "$MARQ_SOURCE"*) fail "looks into the build: $folder" ;;
		/*) ;;
		*) fail "looks into '$folder'" ;;
		esac
	done
	case $(cached CMAKE_BUILD_TYPE)/$(cached MARQ_SANITIZE) in
	Rel*/)
		readelf -sW "$file" | grep -q '__snprintf_chk' ||
			fail 'no _FORTIFY_SOURCE'
		;;
	esac
}
DESTDIR=$work cmake --install "$MARQ_BUILD" --prefix /usr >"$work/log" 2>&1 ||
	{ cat "$work/log"; exit 1; }
check "$MARQ"
check "$work/usr/bin/marq"
[ "$failures" = 0 ]
