#!/bin/sh
# The package for the device: what is in it, and its script with no tool, with
# tools played by stand-ins that note their command lines, and with bad ones.
. "$(dirname "$0")/lib.sh"
mkdir bin
"$MARQ_BUILD/tests/standin_model" mixed.onnx csc || exit 1
"$MARQ_BUILD/tests/standin_model" whole.onnx pcf || exit 1
search() { # OUT MODEL [ARTEFACTS]
	out_dir=$1 model=$2
	shift 2
	run search "$model.onnx" -t mrvl -t host --db none --no-measure --search eager \
		-o "$out_dir" --emit="${1:-code,json}"
	expect_status 0
}
build() { # OUT: of its package; status, out, err
	command="build.sh of $1"
	sh "$1/artifacts/mrvl/build.sh" >out 2>err
	status=$?
}
cc=$(command -v cc) || { echo 'skipped: no cc'; exit 77; }

# two regions and what is between them
search mixed mixed
package=mixed/artifacts/mrvl
for file in build.sh Makefile regions.txt ops.h cpu.c module.s map.json mod.json mod.params; do
	[ -s "$package/$file" ] || fail "no $file"
	expect_in mixed/files.json "artifacts/mrvl/$file"
done
expect_in mixed/map.json '"package": "mrvl", "name": "marq_cpu_'
expect_in mixed/map.json '"symbol": "tvmgen_mrvl_main_0", "operation": null'
functions=$(grep -c '"kind"' "$package/map.json")
[ "$(grep -c '"op": "tvm_op"' "$package/mod.json")" = "$functions" ] ||
	fail "mod.json and map.json have not the same functions"
[ "$(grep -c '^FUNCTION' "$package/cpu.c")" = "$(grep -c '"kind": "cpu"' "$package/map.json")" ] ||
	fail "cpu.c lacks functions"
if command -v shellcheck >/dev/null; then
	shellcheck "$package/build.sh" || fail 'shellcheck'
fi

# the functions of the CPU alone need no tool but a compiler
make -s -C "$package" CC="$cc" CFLAGS='-O1 -Wall -Wextra -Werror' build/cpu.so ||
	fail 'cpu.so'
rm -r "$package/build"

# nothing is installed: one line says so
MRVL_TMLC=no-tmlc CC=no-cc
export MRVL_TMLC CC
build mixed
expect_status 3
expect_lines 1 err
expect_in err 'missing: no-cc (CC), no-tmlc (MRVL_TMLC); done: 0 of 2 regions compiled; not made: model.tar'
CC=$cc CFLAGS=-O1
export CFLAGS
build mixed
expect_status 3
expect_lines 1 err
expect_in err 'missing: no-tmlc (MRVL_TMLC); done: cpu.c compiled, 0 of 2 regions compiled'
expect_absent "$package/model.tar"

# the compiler, noting what it was told
cat >bin/tmlc <<'END'
#!/bin/sh
echo "$*" >>"$CALLS"
[ -s "$4" ] && [ -s "$6" ] || exit 9
mkdir "bin_$2"
printf 'MRVL and more of %s' "$2" >"bin_$2/$2.bin"
END
cat >bin/refuses <<'END'
#!/bin/sh
echo 'error: kernel too large'
exit 1
END
cat >bin/silent <<'END'
#!/bin/sh
mkdir "bin_$2"
echo garbage >"bin_$2/$2.bin"
END
chmod +x bin/*
PATH="$work/bin:$PATH" CALLS="$work/calls"
export PATH CALLS
MRVL_TMLC=tmlc
build mixed
expect_status 0
expect_in out model.tar
expect_lines 2 calls
expect_in calls '-mn tvmgen_mrvl_main_0 -f1 tvmgen_mrvl_main_0-nodes.json -f2 tvmgen_mrvl_main_0-consts.json -arch=mlip -quantize=fp16 -wb_pin_ocm=0 -num_tiles=8 -b 1'
tar -tf "$package/model.tar" >members
printf 'mod.so\nmod.json\nmod.params\n' | cmp - members || fail 'not the three members'
mkdir unpacked
tar -xf "$package/model.tar" -C unpacked
cmp unpacked/mod.json "$package/mod.json" || fail 'mod.json'
cmp unpacked/mod.params "$package/mod.params" || fail 'mod.params'
# regions, in base64, and their nodes lie in mod.so
expect_in unpacked/mod.so "$(printf 'MRVL and more of tvmgen_mrvl_main_1' | base64)"
expect_in unpacked/mod.so "$(sed -n 3p mixed/mrvl/tvmgen_mrvl_main_1-nodes.json)"
for symbol in __tvm_dev_mblob __tvm_module_ctx $(sed -n 's/^FUNCTION(\(.*\))/\1/p' "$package/cpu.c"); do
	expect_in unpacked/mod.so "$symbol"
done
# again: what is there is in nobody's way
build mixed
expect_status 0
OUT="$work/elsewhere.tar" build mixed
expect_status 0
[ -s elsewhere.tar ] || fail 'OUT is not heeded'

# tools that refuse, leave garbage
MRVL_TMLC=refuses build mixed
expect_status 1
expect_lines 1 err
expect_in err 'refuses refused region tvmgen_mrvl_main_0: see build/tvmgen_mrvl_main_0.log'
expect_in "$package/build/tvmgen_mrvl_main_0.log" 'kernel too large'
expect_absent "$package/model.tar"
MRVL_TMLC=silent build mixed
expect_status 1
expect_in err 'left no binary for region tvmgen_mrvl_main_0'
MRVL_FILES=$work build mixed
expect_status 1
expect_in err "are not in $work"

# one region that is the whole model: its binary, with no compiler for the CPU
search whole whole
CC=no-cc
: >calls
build whole
expect_status 0
expect_in out model.bin
expect_lines 1 calls
expect_in whole/artifacts/mrvl/model.bin 'MRVL and more of tvmgen_mrvl_main_0'

# by its own name, and by the kind's
search named mixed package
[ -s named/artifacts/mrvl/mod.json ] || fail '--emit=package'
expect_absent named/mrvl
search kind mixed mrvl
[ -s kind/artifacts/mrvl/mod.json ] || fail '--emit=mrvl'
done_testing
