#!/bin/sh
# The first SIGTERM or SIGINT ends a search soon, with the best so far or nothing,
# never with half a result; the exit status says so. (By itself this search takes
# minutes; how soon it was is printed only.)
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
need_target dnnl
"$MARQ" model make resnet50 -o net.onnx --weights constant -q

has_measured() { # DATABASE
	"$MARQ" db list --db "$1" 2>/dev/null | grep -q .
}

for signal in TERM INT; do
	for delay in 0.1 0.4 measured; do
		command="marq search, SIG$signal after $delay"
		rm -rf net.marq
		# a shell starts background jobs with SIGINT ignored
		env --default-signal=INT "$MARQ" search net.onnx -t dnnl -t host \
			--eager-pricing --db "$signal.db" -o net.marq >out 2>err &
		pid=$!
		wait_until is_marq $pid || fail 'it does not start'
		case $delay in
		measured) wait_until has_measured "$signal.db" || fail 'nothing was measured' ;;
		*) sleep $delay ;;
		esac
		kill -s $signal $pid
		begun=$(date +%s)
		wait $pid
		status=$?
		took=$(($(date +%s) - begun))
		echo "$command: $took s"
		[ $took -le 60 ] || fail "it took $took s"
		case $signal$status in
		INT130 | TERM143) ;;
		*) fail "exit status $status"; sed 's/^/  | /' err ;;
		esac
		if [ -e net.marq ]; then
			expect_json net.marq/result.json
			expect_in err 'stopped early'
		fi
		[ -z "$(ls -d net.marq.tmp-* 2>/dev/null)" ] || fail 'half a result is left'
	done
done

# What waits for its input ends at the first.
is_waiting() { # PID: it has made the file that its input goes to
	ls -l "/proc/$1/fd" | grep -q deleted
}
mkfifo input
for command in 'search - -o none --db none' 'solve -' 'batch -' 'db import - --db in.db'; do
	sleep 300 >input &
	feeder=$!
	"$MARQ" $command <input >out 2>err &
	pid=$!
	wait_until is_waiting $pid || fail 'does not wait for its input'
	kill -s TERM $pid
	wait_until is_gone $pid || fail 'goes on waiting for its input'
	kill -s KILL $pid 2>/dev/null
	wait $pid
	[ $? = 143 ] || fail 'no end by the signal'
	kill $feeder
	wait $feeder 2>/dev/null
done

# Whoever starts it may ignore that children end: it waits for its own all the same.
run model make tiny
cat >batch.yaml <<'END'
version: 1
defaults: {db: none, out: batch, options: ["--no-measure", "--no-verify"]}
mixes: [{name: host, targets: [host]}]
models: [{path: tiny.onnx}]
END
"$MARQ" search tiny.onnx -t host --db none --eager-pricing --want wanted.json -q
for command in 'marq batch batch.yaml' 'marq run tiny.onnx -t host --db none' 'marq model check tiny.onnx' \
	'marq search tiny.onnx -t host --db none -o none' 'marq-measure wanted.json board.db'; do
	python3 - "${MARQ%/*}"/$command >out 2>err <<'END'
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # a shell cannot
signal.alarm(120)
os.execv(sys.argv[1], sys.argv[1:])
END
	status=$?
	expect_status 0
done
has_measured board.db || fail 'nothing was measured on the board'

# What was measured before the signal is kept.
for signal in TERM INT; do
	run db verify --db $signal.db
	expect_status 0
	has_measured $signal.db || fail 'what was measured is lost'
done
done_testing
