#!/bin/sh
# A kernel library that is left out, absent, or of an interface that nobody here
# knows is said to be so and nothing of its folder is compiled; and the program
# is built where cmocka is not.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { # WHAT
	echo "FAILED: $1"
	sed 's/^/  | /' "$work/log" | tail -n 20
	failures=$((failures + 1))
}
configure() { # ARGUMENT...
	rm -rf "$work/build"
	cmake -G Ninja -S "$MARQ_SOURCE" -B "$work/build" -DCMAKE_BUILD_TYPE=Release \
		-DMARQ_TESTS=OFF "$@" >"$work/log" 2>&1 ||
		fail "does not configure with $*"
}
expect() { # KIND WHY: the line of configuring; and nothing of it is compiled
	grep -q "^-- $1: not built in: .*$2" "$work/log" || fail "$1: does not say '$2'"
	! ninja -C "$work/build" -t targets all | grep -q "targets/$1/.*\.o:" ||
		fail "$1 is compiled"
}
configure '-DMARQ_WITHOUT=DNNL;XNNPACK;BLAS'
for kind in dnnl xnnpack blas; do
	expect $kind 'was left out on request'
done
absent=
for name in DNNL XNNPACK BLAS; do
	absent="$absent -D${name}_INCLUDE=${name}_INCLUDE-NOTFOUND"
done
# shellcheck disable=SC2086
configure -DCMAKE_FIND_ROOT_PATH="$work/empty" -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY $absent
for kind in dnnl xnnpack blas; do
	expect $kind 'was not found when marq was built'
done

# Headers of the right names with nothing in them that we know.
mkdir "$work/other"
unknown=
for pair in DNNL:dnnl.h XNNPACK:xnnpack.h BLAS:cblas.h; do
	name=${pair%:*} header=${pair#*:}
	echo "int other_$name(void);" >"$work/other/$header"
	echo "!<arch>" >"$work/other/lib$name.a"
	unknown="$unknown -D${name}_INCLUDE=$work/other -D${name}_LIBRARY=$work/other/lib$name.a"
done
# shellcheck disable=SC2086
configure $unknown
for kind in dnnl xnnpack blas; do
	expect $kind "interface of lib.*\.a not known"
done

cat >"$work/pkg-config" <<'END'
#!/bin/sh
case " $* " in
*" cmocka "*) exit 1 ;;
esac
exec pkg-config "$@"
END
chmod +x "$work/pkg-config"
configure -DMARQ_TESTS=ON -DPKG_CONFIG_EXECUTABLE="$work/pkg-config"
grep -q 'tests and benches: left out, cmocka was not found' "$work/log" ||
	fail 'does not say that cmocka is missing'
ninja -C "$work/build" -t targets all | grep -q '^cli/marq:' || fail 'no marq'
[ "$failures" = 0 ]
