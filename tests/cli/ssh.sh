#!/bin/sh
# A board behind a real ssh: sshd of this machine on a port of its own, with keys
# made for this test, on the loopback interface and for this user alone.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
board=$(dirname "$MARQ")/marq-measure
export TMPDIR=$work
skip() {
	echo "skipped: no ssh: $1"
	exit 77
}
sshd=$(command -v sshd || ls /usr/sbin/sshd 2>/dev/null) || skip 'no sshd (package openssh-server)'
ssh=$(command -v ssh) || skip 'no ssh'
command -v ssh-keygen >/dev/null || skip 'no ssh-keygen'
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd || skip 'no /run/sshd'
for key in host mine other; do
	ssh-keygen -q -t ed25519 -N '' -f $key || skip 'no key can be made'
done
cat mine.pub >authorized
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >sshd_config <<END
ListenAddress 127.0.0.1:$port
HostKey $work/host
AuthorizedKeysFile $work/authorized
PidFile $work/sshd.pid
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
END
cat >ssh_config <<END
Host board
	HostName 127.0.0.1
	Port $port
	IdentityFile $work/mine
	IdentitiesOnly yes
	UserKnownHostsFile $work/known
	StrictHostKeyChecking accept-new
END
sed 's:/mine$:/other:' ssh_config >ssh_config.other
"$sshd" -D -e -f "$work/sshd_config" >sshd.log 2>&1 &
daemon=$!
trap 'kill $daemon 2>/dev/null; rm -rf "$work"' EXIT
reaches() { "$ssh" -F "$work/ssh_config" -o BatchMode=yes board true 2>reached; }
tries=0
until reaches || [ $tries = 50 ]; do
	tries=$((tries + 1))
	sleep 0.2
done
reaches || skip "this machine lets nobody in: $(tail -n 1 reached)"
# The client reads no configuration but the user's: one of ours stands before it.
mkdir bin
cat >bin/ssh <<END
#!/bin/sh
exec "$ssh" -F "\${SSH_CONFIG:-$work/ssh_config}" "\$@"
END
chmod +x bin/ssh
PATH=$work/bin:$PATH
field() { # KEY: of the last document
	python3 -c 'import json, sys; print(json.load(open("out"))[sys.argv[1]])' "$1"
}
"$MARQ" model make tiny -o tiny.onnx -q

run search tiny.onnx -t host --db live.db -o live --eager-pricing --worker "ssh:board:$board" --format=json
expect_status 0
[ "$(field measured)" -gt 10 ] || fail 'hardly anything was measured'
once live.db || fail 'not once each'
run search tiny.onnx -t host --db live.db -o again --eager-pricing --format=json
expect_status 0
[ "$(field measured)" = 0 ] || fail 'not what this machine would have measured'
cmp -s live/map.json again/map.json || fail 'another plan'

# The other side cuts the connection five times, every other time before it has
# measured: each price once all the same.
cat >once.sh <<END
#!/bin/sh
n=\$(cat "$work/cuts")
[ \$n -lt 5 ] || exec "$board" "\$@"
echo \$((n + 1)) >"$work/cuts"
session=\$(ps -o ppid= -p \$\$)
"$board" "\$@" | {
	for i in \$(seq \$((1 + n % 2))); do
		IFS= read -r line && printf '%s\n' "\$line"
	done
	kill -9 \$session
}
END
chmod +x once.sh
echo 0 >cuts
run search tiny.onnx -t host --db cut.db -o none --eager-pricing --no-progress --worker "ssh:board:$work/once.sh"
expect_status 0
[ "$(cat cuts)" = 5 ] || fail "cut $(cat cuts) times"
once cut.db || fail 'not once each'

# A key that is not known there, a program that is not: one line, nothing written.
export SSH_CONFIG=$work/ssh_config.other
run search tiny.onnx -t host --db c.db -o bad --worker "ssh:board:$board"
expect_status 5
expect_in err 'no worker is left to measure'
expect_absent bad
unset SSH_CONFIG
run search tiny.onnx -t host --db c.db -o bad --worker "ssh:board:$work/absent"
expect_status 5
expect_in err 'no worker is left to measure'
expect_absent bad
done_testing
