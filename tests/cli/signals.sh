#!/bin/sh
# The first SIGTERM or SIGINT ends a search within five seconds with the best so
# far or nothing, never with half a result; the exit status says so.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
"$MARQ" model make squeezenet -o net.onnx --weights constant -q

for signal in TERM INT; do
	for delay in 0.1 0.4 0.9; do
		command="marq search, SIG$signal after $delay s"
		rm -rf net.marq
		# a shell starts background jobs with SIGINT ignored
		env --default-signal=INT "$MARQ" search net.onnx -t dnnl -t host \
			--db "$signal.db" -o net.marq >out 2>err &
		pid=$!
		sleep $delay
		kill -s $signal $pid 2>/dev/null
		begun=$(date +%s)
		wait $pid
		status=$?
		[ $(($(date +%s) - begun)) -le 6 ] || fail 'it took more than five seconds'
		case $status in
		0 | 130 | 143) ;;
		*) fail "exit status $status"; sed 's/^/  | /' err ;;
		esac
		if [ -e net.marq ]; then
			expect_json net.marq/result.json
		fi
		[ -z "$(ls -d net.marq.tmp-* 2>/dev/null)" ] || fail 'half a result is left'
	done
done

# What was measured before the signal is kept.
run db stat --db TERM.db
expect_status 0
done_testing
