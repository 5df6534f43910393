#!/bin/sh
# Makes of this folder what the device's driver (DPDK, librte_ml_cnxk) loads:
# model.bin where one region is the whole model, else model.tar, which holds
# mod.so, mod.json and mod.params. Names of programs come from the environment:
#   MRVL_TMLC  Marvell's compiler           (mrvl-tmlc)
#   CC         the compiler for the device  (aarch64-linux-gnu-gcc)
#   CFLAGS     its options                  (-O3 -mcpu=neoverse-n2)
#   MAKE, TAR, BASE64
#   MRVL_FILES where <symbol>-nodes.json and <symbol>-consts.json are (../../mrvl)
#   OUT        what is made                 (model.bin or model.tar)
# Ends with 0: made; 1: a program failed; 3: a program is missing, one line says
# which and how far it came.
set -fu
cd "$(dirname "$0")" || exit 1
: "${MRVL_TMLC:=mrvl-tmlc}" "${CC:=aarch64-linux-gnu-gcc}"
: "${CFLAGS:=-O3 -mcpu=neoverse-n2}" "${MRVL_FILES:=../../mrvl}"
: "${MAKE:=make}" "${TAR:=tar}" "${BASE64:=base64}"
read -r kind count <regions.txt || exit 1
: "${OUT:=model.$kind}"
missing=
has() { # VARIABLE COMMAND
	command -v "${2%% *}" >/dev/null 2>&1 && return
	missing="$missing${missing:+, }$2 ($1)"
	return 1
}
fail() {
	echo "build.sh: $*" >&2
	exit 1
}
compile() { # SYMBOL BATCH OPTIONS...
	symbol=$1 batch=$2
	shift 2
	rm -rf "build/bin_$symbol"
	cp "$MRVL_FILES/$symbol-nodes.json" "$MRVL_FILES/$symbol-consts.json" \
		build || fail "the files of region $symbol are not in $MRVL_FILES"
	(cd build && $MRVL_TMLC -mn "$symbol" -f1 "$symbol-nodes.json" \
		-f2 "$symbol-consts.json" "$@" -b "$batch") >"build/$symbol.log" 2>&1 </dev/null ||
		fail "$MRVL_TMLC refused region $symbol: see build/$symbol.log"
	bin=build/bin_$symbol/$symbol.bin
	[ "$(head -c 4 "$bin" 2>/dev/null)" = MRVL ] ||
		fail "$MRVL_TMLC left no binary for region $symbol: see build/$symbol.log"
	"$BASE64" <"$bin" | tr -d '\n' >"build/$symbol.base64" ||
		fail "cannot write build/$symbol.base64"
}

mkdir -p build || exit 1
rm -f "$OUT"
done=
if [ "$kind" = tar ]; then
	has MAKE "$MAKE" && has CC "$CC" && {
		"$MAKE" -s CC="$CC" CFLAGS="$CFLAGS" build/cpu.o || fail "cpu.c does not compile"
		done='cpu.c compiled, '
	}
	has TAR "$TAR"
fi
has BASE64 "$BASE64"
if has MRVL_TMLC "$MRVL_TMLC"; then
	made=0
	while read -r symbol batch options; do
		[ "$symbol" = "$kind" ] && continue
		# shellcheck disable=SC2086
		compile "$symbol" "$batch" $options
		made=$((made + 1))
	done <regions.txt
	[ "$made" -eq "$count" ] || fail "regions.txt names $made regions, not $count"
	done="$done$made of $count regions compiled"
else
	done="${done}0 of $count regions compiled"
fi
if [ "$missing" ]; then
	echo "build.sh: missing: $missing; done: $done; not made: $OUT" >&2
	exit 3
fi
if [ "$kind" = bin ]; then
	cp "$bin" "$OUT" || exit 1
else
	"$MAKE" -s CC="$CC" CFLAGS="$CFLAGS" MRVL_FILES="$MRVL_FILES" build/mod.so ||
		fail "mod.so cannot be linked"
	{
		cp mod.json mod.params build &&
			"$TAR" -cf "$OUT" -C build mod.so mod.json mod.params
	} || fail "$OUT cannot be written"
fi
echo "$OUT"
