#!/bin/sh
# The Arm Compute Library as a plug-in: random models through its rules give what
# the host gives, a plan of it runs right, nothing is measured twice. Where this is
# no Arm, qemu runs what the preset aarch64 built.
set -u
. "$(dirname "$0")/lib.sh"
skip() {
	echo "skipped: $1"
	exit 77
}
build=$MARQ_BUILD under=
[ -e "$build/marq_acl.so" ] || {
	build=$MARQ_SOURCE/build/aarch64
	sysroot=${MARQ_SYSROOT:-$MARQ_SOURCE/build/sysroot-aarch64}
	[ -e "$build/marq_acl.so" ] ||
		skip 'the plug-in acl was not built: no libarm_compute with kernels for CPUs'
	qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static) || skip 'no qemu-aarch64'
	[ -x "$build/cli/marq" ] && [ -x "$build/tests/fuzz_candidates" ] ||
		skip 'the preset aarch64 is not built'
	under="$qemu -cpu neoverse-n1 -L $sysroot"
	version=$("$MARQ" version | head -n 1)
	printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$under" "$build/cli/marq" >emulated
	chmod +x emulated
	MARQ=$work/emulated
	[ "$("$MARQ" version | head -n 1)" = "$version" ] ||
		skip 'what the preset aarch64 built is of another version'
}
plugin=plugin:path=$build/marq_acl.so
run targets check "$plugin"
[ "$status" = 0 ] || skip "$(cat err)"
run targets show "$plugin"
expect_status 0
expect_in out fact.acl_build=
expect_in out fact.acl_file=/
for rule in conv conv_clip gemm matmul pool softmax; do
	expect_in out "acl.$rule"
done

$under "$build/tests/fuzz_candidates" -t "$plugin" -n "${MARQ_ACL_MODELS:-20}" >tried 2>&1 ||
	{ fail 'random models differ'; cat tried; }
grep -q '[1-9][0-9]* plans' tried || { fail 'nothing was tried'; cat tried; }

run model make tiny -o tiny.onnx
search() { # FOLDER
	run search tiny.onnx -t "$plugin" -t host --pin op:Conv=acl --db prices.db -o "$1"
	expect_status 0
}
search tiny
expect_in tiny/result.json '"rule": "acl.conv"'
expect_in out verified
search again
expect_in out ', 0 measured'
cmp -s tiny/result.json again/result.json || fail 'another result'
run run tiny -t "$plugin" -t host --db prices.db --runs 3
expect_status 0
expect_in out 'matches the host reference'
done_testing
