#!/bin/sh
# A hostile surrounding: a preloaded library that sets variables, a limit on
# file sizes, no home folder. Each ends, with one line at most.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"

# A library may set again what marq unsets before it starts itself anew.
cat >preload.c <<'END'
#include <stdlib.h>
__attribute__((constructor)) static void set(void) { setenv("OMP_NUM_THREADS", "2", 1); }
END
if cc -shared -fPIC -o preload.so preload.c 2>/dev/null; then
	run_with_preload() {
		command="marq doctor, preloaded"
		ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" \
			LD_PRELOAD="$work/preload.so" timeout 60 "$MARQ" doctor >out 2>err
		status=$?
	}
	run_with_preload
	[ "$status" = 0 ] || [ "$status" = 4 ] || fail "exit status $status"
	expect_in out scheduler
else
	echo "not tried: a preloaded library (no compiler)"
fi

# The kernel's limit on file sizes is an error with words, not a death.
run model make tiny
expect_status 0
command="marq search under ulimit -f"
(ulimit -f 8; exec "$MARQ" search tiny.onnx -t host --no-measure --db none -o t.marq) >out 2>err
status=$?
expect_status 7
expect_lines 1 err
expect_absent t.marq

# OpenBLAS begins threads when it is loaded, and asks for memory for ever where the
# address space is limited: what multiplies nothing does not load it.
command="marq model check, its libraries"
LD_DEBUG=files "$MARQ" model check tiny.onnx >out 2>err || fail "exit status $?"
expect_in err libc.so
expect_not_in err libopenblas
ended_well() { # or with one error, whatever is warned of before it
	[ "$status" != 137 ] || fail 'it does not end'
	[ "$status" = 0 ] || [ "$(grep -c '^marq: error: ' err)" = 1 ] || { fail 'not one error'; cat err; }
}
case ${MARQ_BUILD##*/} in
asan | tsan) ;; # they reserve terabytes
*)
	for size in 150000 200000 230000 300000; do
		command="marq model check under ulimit -v $size"
		(ulimit -v $size; exec timeout -s KILL 120 "$MARQ" model check tiny.onnx) >out 2>err
		status=$?
		expect_status 0
		command="marq search under ulimit -v $size"
		(ulimit -v $size; exec timeout -s KILL 120 "$MARQ" search tiny.onnx -t host \
			--no-measure --db none --force -o v.marq) >out 2>err
		status=$?
		ended_well
	done
	# A kernel of OpenBLAS's would ask for ever, too: it is refused.
	for size in 180000 230000 300000 400000 600000; do
		command="marq run -t blas under ulimit -v $size"
		(ulimit -v $size; exec timeout -s KILL 120 "$MARQ" run tiny.onnx -t blas \
			-t host --pin op:Conv=blas --no-measure --runs=1 --db none) >out 2>err
		status=$?
		ended_well
	done
	;;
esac

# Without HOME nothing is written into the current folder.
command="marq doctor without HOME"
env -u HOME -u XDG_DATA_HOME "$MARQ" doctor >out 2>err
expect_not_in out ./.local
expect_absent .local

# "none" is no file, nor is there one for a user whom nobody knows.
MARQ_DB=none run search tiny.onnx -t host --no-measure -q -o quiet.marq
expect_status 0
expect_lines 0 err
expect_absent none
MARQ_DB=none run db stat
expect_status 2
expect_lines 1 err
MARQ_DB=none run doctor
expect_in out 'none: prices are not kept'
stranger="env -u HOME -u XDG_DATA_HOME -u MARQ_DB setpriv --reuid 54321 --regid 54321 --clear-groups"
chmod 777 .
if $stranger test -x "$MARQ" 2>/dev/null; then
	command="marq search, by a stranger"
	$stranger "$MARQ" search tiny.onnx -t host -o stranger.marq --max-measure=1 >out 2>err
	status=$?
	expect_status 0
	expect_in err 'no home folder: what is measured is not kept'
	expect_absent none
else
	echo "not tried: a user whom nobody knows"
fi
done_testing
