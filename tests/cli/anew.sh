#!/bin/sh
# A variable that steers kernel libraries makes marq begin anew without it: a signal
# that comes meanwhile ends it, as at any other time.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
need_preload execs
for signal in 2 15; do
	command="marq env, signal $signal as it begins anew"
	OMP_NUM_THREADS=7 LD_PRELOAD=$preloaded EXEC_SIGNAL=$signal \
		env --default-signal "$MARQ" env >out 2>err
	status=$?
	expect_status $((128 + signal))
	[ ! -s out ] || fail 'it went on'
done
done_testing
