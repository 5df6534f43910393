#!/bin/sh
# tools/install-deps asks for what is missing and for nothing else; and where
# all is there it needs neither root nor network. Stand-ins play dpkg-query,
# apt-get and sudo.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { # WHAT
	echo "FAILED: $1"
	sed 's/^/  | /' "$work/out" "$work/calls"
	failures=$((failures + 1))
}
mkdir "$work/bin"
cat >"$work/bin/dpkg-query" <<'END'
#!/bin/sh
shift 3
for package; do
	case " $LACKS " in
	*" $package "*) ;;
	*" $package:removed "*) echo "$package deinstall ok config-files" ;;
	*) echo "$package install ok installed" ;;
	esac
done
END
printf '#!/bin/sh\necho "apt-get $*" >>"$CALLS"\n[ "$1" != "$BROKEN" ]\n' >"$work/bin/apt-get"
printf '#!/bin/sh\nexec "$@"\n' >"$work/bin/sudo"
chmod +x "$work/bin"/*
install_deps() { # LACKS KIND...
	LACKS=$1
	shift
	: >"$work/calls"
	LACKS=$LACKS CALLS=$work/calls BROKEN=${broken-} PATH="$work/bin:$PATH" \
		"$MARQ_SOURCE/tools/install-deps" "$@" >"$work/out" 2>&1
	status=$?
}
install_deps ''
[ "$status" = 0 ] && [ ! -s "$work/out" ] && [ ! -s "$work/calls" ] ||
	fail 'does something where nothing is missing'
install_deps 'libyaml-dev libdnnl-dev:removed libcmocka-dev' build need option
[ "$status" = 0 ] || fail "status $status"
grep -qx 'installing: libyaml-dev libdnnl-dev' "$work/out" || fail 'says another thing'
grep -q ' install .* libyaml-dev libdnnl-dev$' "$work/calls" || fail 'installs another thing'
install_deps libcmocka-dev build need option
[ "$status" = 0 ] && [ ! -s "$work/calls" ] || fail 'installs what was not asked for'
broken=install
install_deps libcmocka-dev
[ "$status" = 1 ] || fail "status $status where apt-get fails"
grep -q 'could not install: libcmocka-dev' "$work/out" || fail 'does not say what'

# Every library that the build asks for is a package of the list, and each kind
# is one that the scripts know.
for library in $(sed -n 's/^pkg_check_modules([A-Z0-9_]* *REQUIRED.* \([a-z0-9-]*\))/\1/p' \
	"$MARQ_SOURCE/cmake/libraries.cmake"); do
	grep -q "^need  *\(lib\)\?${library#lib}3\?-dev" \
		"$MARQ_SOURCE/tools/packages.txt" || fail "no package brings $library"
done
bad=$(grep -vE '^(#|(build|need|option|unit|test|cross|fresh) )' "$MARQ_SOURCE/tools/packages.txt")
[ -z "$bad" ] || fail "unknown kind: $bad"
# ... and what a package is built from is what the build needs.
for package in $(awk '$1 == "need" || $1 == "option" { print $2 }' "$MARQ_SOURCE/tools/packages.txt"); do
	grep -q "^ $package\b" "$MARQ_SOURCE/debian/control" ||
		fail "debian/control lacks $package"
done
[ "$failures" = 0 ]
