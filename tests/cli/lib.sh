# Shared by the scripts of this folder: `run` calls marq in a fresh folder and
# keeps its streams; expectations print what was wrong and are counted.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
export XDG_DATA_HOME="$work/data"
export PYTHONUTF8=1
unset MARQ_DB

run() {
	command="marq $*"
	"$MARQ" "$@" >out 2>err
	status=$?
}

fail() {
	echo "FAILED: $command: $1"
	failures=$((failures + 1))
}

expect_status() {
	[ "$status" = "$1" ] || { fail "exit status $status, not $1"; sed 's/^/  | /' err; }
}

expect_lines() { # N FILE
	[ "$(wc -l <"$2")" = "$1" ] || { fail "$2 has $(wc -l <"$2") lines, not $1"; sed 's/^/  | /' "$2"; }
}

expect_in() { # FILE TEXT
	grep -qF -- "$2" "$1" || { fail "$1 lacks '$2'"; sed 's/^/  | /' "$1" | head -n 20; }
}

expect_not_in() { # FILE TEXT
	! grep -qF -- "$2" "$1" || fail "$1 has '$2'"
}

expect_absent() {
	[ ! -e "$1" ] || fail "$1 exists"
}

expect_json() {
	python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$1" ||
		fail "$1 is not one JSON document"
}

need_target() { # KIND: the test skips where it is not built in
	why=$("$MARQ" targets check "$1" 2>&1) || {
		echo "skipped: $why"
		exit 77
	}
}

# Another name for a file, in $work: one without a blank or a colon, which a build folder's
# path may have, for what divides words at them (LD_PRELOAD, commands, lists of options).
plain_name() { # FILE
	ln -sf "$1" "$work/${1##*/}" && printf '%s\n' "$work/${1##*/}"
}

need_preload() { # NAME: of tests/preload; sets $preloaded, or the test skips
	case ${MARQ_BUILD##*/} in
	asan | tsan | fuzz)
		echo "skipped: nothing is preloaded before a sanitizer"
		exit 77
		;;
	esac
	[ -e "$MARQ_BUILD/tests/libmarq_$1.so" ] || { echo "skipped: libmarq_$1.so is not built"; exit 77; }
	preloaded=$(plain_name "$MARQ_BUILD/tests/libmarq_$1.so")
}

wait_until() { # COMMAND...: until it succeeds; fails after a minute
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || return 1
		sleep 0.1
	done
}

is_marq() { # PID: no longer the shell or the env that starts it, which ignore signals
	[ "/proc/$1/exe" -ef "$MARQ" ]
}

is_gone() { # PID: ended, though its parent may not have been told
	case $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) in
	'' | Z* | X*) ;;
	*) false ;;
	esac
}

make_frail() { # COMMAND: frail runs it, killed twenty times, every other time before
	# it has answered; kills says how often it was
	cat >frail <<END
#!/bin/sh
n=\$(cat "$work/kills")
[ \$n -lt 20 ] || exec $1
echo \$((n + 1)) >"$work/kills"
mkfifo "$work/answers\$n"
exec 3<&0
$1 <&3 >"$work/answers\$n" &
child=\$!
exec 3<&-
lines=0
while IFS= read -r line; do
	printf '%s\n' "\$line"
	lines=\$((lines + 1))
	[ \$lines -le \$((n % 2)) ] || break
done <"$work/answers\$n"
kill -9 \$child
END
	chmod +x frail
	echo 0 >kills
}

once() { # DB: has every subject one price and no more?
	python3 - "$1" <<'P'
import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
rows = c.execute("select count(*) from measurement join environment using(env_id)"
                 " where hard like '%cost=measured%' group by subject_id, env_id").fetchall()
assert len(rows) > 10, rows
assert all(n == 1 for n, in rows), rows
P
}

done_testing() {
	[ "$failures" = 0 ] || exit 1
	exit 0
}
