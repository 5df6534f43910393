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

wait_until() { # COMMAND...: until it succeeds; fails after a minute
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || return 1
		sleep 0.1
	done
}

is_gone() { # PID: ended, though its parent may not have been told
	case $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) in
	'' | Z* | X*) ;;
	*) false ;;
	esac
}

done_testing() {
	[ "$failures" = 0 ] || exit 1
	exit 0
}
