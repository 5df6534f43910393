#!/bin/sh
# tools/make-sysroot takes no package that Debian did not sign, replaces no folder
# that it did not make, and leaves one that is whole alone. No network: apt reads
# an archive of our own.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for program in apt-get apt-config dpkg-deb; do
	command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }
done
[ -r /usr/share/keyrings/debian-archive-keyring.gpg ] ||
	{ echo 'skipped: no keys of Debian'; exit 77; }
failures=0
fail() { # WHAT
	echo "FAILED: $1"
	sed 's/^/  | /' "$work/out"
	failures=$((failures + 1))
}
list=$work/archive/dists/bookworm
mkdir -p "$work/bin" "$list/main/binary-arm64"
: >"$list/main/binary-arm64/Packages"
{
	printf 'Origin: Debian\nSuite: bookworm\nCodename: bookworm\nArchitectures: arm64\nComponents: main\nSHA256:\n'
	echo " $(sha256sum <"$list/main/binary-arm64/Packages" | cut -d' ' -f1) 0 main/binary-arm64/Packages"
} >"$list/Release"
real=$(command -v apt-get)
cat >"$work/bin/apt-get" <<END
#!/bin/sh
[ "\$1" != indextargets ] || { echo "file:$work/archive n=bookworm"; exit; }
exec "$real" "\$@"
END
chmod +x "$work/bin/apt-get"
sysroot() { # FOLDER
	PATH="$work/bin:$PATH" "$MARQ_SOURCE/tools/make-sysroot" bookworm "$1" \
		>"$work/out" 2>&1
	status=$?
}
sysroot "$work/unsigned"
[ "$status" = 1 ] || fail "status $status for an archive that nobody signed"
grep -q 'not signed' "$work/out" || fail 'does not say that it is not signed'
[ ! -e "$work/unsigned" ] || fail 'a folder of unsigned packages'

mkdir "$work/mine"
: >"$work/mine/thesis"
sysroot "$work/mine"
[ "$status" = 2 ] && [ -e "$work/mine/thesis" ] || fail "status $status for a folder of other things"
[ "$failures" = 0 ]
