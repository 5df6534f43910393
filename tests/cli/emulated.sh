#!/bin/sh
# Boards of another architecture, played by qemu: prices of one processor are exact
# for no other, a search here with a board's prices makes the plan that the board
# makes itself, a board killed twenty times loses and repeats nothing. It takes what
# the preset aarch64 built (MARQ_TEST_BOARD=1 ./marq-test does), and asserts no time.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
there=$MARQ_SOURCE/build/aarch64/cli
sysroot=${MARQ_SYSROOT:-$MARQ_SOURCE/build/sysroot-aarch64}
skip() {
	echo "skipped: no emulated board: $1"
	exit 77
}
qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static) || skip 'no qemu-aarch64'
[ -e "$sysroot/.made" ] || skip 'tools/make-sysroot was not run'
[ -x "$there/marq" ] && [ -x "$there/marq-measure" ] || skip 'the preset aarch64 is not built'
version() { "$@" version | head -n 1; }
on() { # CPU PROGRAM ARGUMENTS...
	cpu=$1 program=$2
	shift 2
	"$qemu" -L "$sysroot" -cpu "$cpu" "$there/$program" "$@"
}
[ "$(version on cortex-a72 marq)" = "$(version "$MARQ")" ] ||
	skip 'what the preset aarch64 built is of another version'
export TMPDIR=$work
"$MARQ" model make tiny -o tiny.onnx -q
field() { # KEY: of the last document
	python3 -c 'import json, sys; print(json.load(open("out"))[sys.argv[1]])' "$1"
}
run_on() { # CPU ARGUMENTS...: as run, on a board
	command="marq on $*"
	cpu=$1
	shift
	on "$cpu" marq "$@" >out 2>err
	status=$?
}

# Each board searches for itself, and says what it is.
for cpu in neoverse-n1 cortex-a72; do
	on $cpu marq-measure --env >$cpu.json || fail "no environment of $cpu"
	run_on $cpu search tiny.onnx -t blas -t host --db $cpu.db -o $cpu --eager-pricing --format=json
	expect_status 0
	[ "$(field measured)" -gt 0 ] || fail 'nothing was measured'
	# The same search here, with its prices, makes the same plan.
	run search tiny.onnx -t blas -t host --db $cpu.db -o here-$cpu --price-for $cpu.json --format=json
	expect_status 0
	[ "$(field measured)" = 0 ] || fail 'measured here'
	cmp -s $cpu/map.json here-$cpu/map.json || fail 'another plan than the board makes'
	! grep '"class"' here-$cpu/provenance.json | grep -qv '"exact"' || fail 'not exact'
	run db envs --db $cpu.db
	expect_in out ', emulated'
done

# What one has measured is exact for none on the other: in one database, too.
run db merge neoverse-n1.db cortex-a72.db --db both.db
expect_status 0
for pair in 'neoverse-n1 cortex-a72' 'cortex-a72 neoverse-n1'; do
	one=${pair% *} other=${pair#* }
	run search tiny.onnx -t blas -t host --db $one.db -o none --price-for $other.json
	expect_status 1
	expect_in err 'no price of it on '
	for cpu in $one $other; do
		run_on $cpu search tiny.onnx -t blas -t host --db $one.db -o none --no-measure --force
		expect_status 0
		[ $cpu = $one ] || expect_in out ' distinct: 0 from the database, '
		[ $cpu = $other ] || expect_not_in out ': 0 from the database, '
	done
	run search tiny.onnx -t blas -t host --db both.db -o both-$one --price-for $one.json --format=json
	expect_status 0
	cmp -s $one/map.json both-$one/map.json || fail 'another plan'
done

# By list, which x86 writes and Arm measures, until nothing is wanted; what only x86
# offers is wanted once. The plan is proven.
rounds=0
while [ $rounds -lt 8 ]; do
	rounds=$((rounds + 1))
	run search tiny.onnx -t dnnl -t blas -t host --db listed.db --price-for neoverse-n1.json --want list.json --force
	expect_status 0
	! grep -q '^marq: 0 wanted' err || break
	on neoverse-n1 marq-measure list.json board.db >measured 2>&1 || { fail 'cannot measure'; cat measured; }
	cat measured
	run db merge board.db --db listed.db
	expect_status 0
done
command='the last list'
expect_in err 'marq: 0 wanted'
run search tiny.onnx -t dnnl -t blas -t host --db listed.db --price-for neoverse-n1.json -o listed --format=json
expect_status 0
[ "$(field proven)" = True ] || fail 'not proven'

# The connection is lost twenty times.
make_frail "'$qemu' -L '$sysroot' -cpu cortex-a72 '$there/marq-measure' --serve"
run search tiny.onnx -t host --db frail.db -o none --eager-pricing --no-progress --worker "cmd:$work/frail"
expect_status 0
[ "$(cat kills)" = 20 ] || fail "killed $(cat kills) times"
once frail.db || fail 'not once each'
run search tiny.onnx -t host --db frail.db -o frail-plan --price-for cortex-a72.json --eager-pricing --format=json
expect_status 0
[ "$(field measured)" = 0 ] || fail 'something was lost'
done_testing
