#!/bin/sh
# Databases as each version of their schema left them (three attempts, of which
# the newest have one retired): read, merged, saved, copied, brought forward.
. "$MARQ_SOURCE/tests/cli/lib.sh"
seeds=$MARQ_SOURCE/tests/fuzz/corpus/fuzz_dbfile

there() { # FILE: how many attempts, retired ones too
	"$MARQ" db stat --db "$1" --format=json |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["attempts"])'
}

expect_three() { # FILE
	[ "$(there "$1")" = 3 ] || fail "$1 has $(there "$1") attempts, not 3"
	run db verify --db "$1"
	expect_status 0
}

newest=$(sed -n 's/^#define SCHEMA_VERSION //p' "$MARQ_SOURCE/db/schema.h")
version=2
while [ "$version" -le "$newest" ]; do
	mkdir "v$version"
	old=v$version/old.db
	cp "$seeds/v$version.db" "$old" || fail "no file of schema $version"
	chmod u+w "$old"
	run db verify --db "$old"
	expect_status 0
	for verb in merge repair backup; do
		new=v$version/$verb.db
		case $verb in
		merge) run db merge "$old" --db "$new" ;;
		*) run db "$verb" "$new" --db "$old" ;;
		esac
		expect_status 0
		[ "$verb" = backup ] || expect_three "$new"
	done
	cmp -s "$seeds/v$version.db" "$old" || fail 'reading changed it'
	run db migrate --db "$old"
	expect_status 0
	expect_three "$old"
	run db export "v$version/text" --jsonl --db "$old"
	expect_status 0
	version=$((version + 1))
done
[ "$version" -gt 5 ] || fail "schema $newest"

# What a file says of its age is not believed: columns that are there, or are not.
for lie in 1 $((newest - 1)) "$newest"; do
	for version in 2 5 "$newest"; do
		cp "$seeds/v$version.db" lie.db
		python3 - "$lie" <<'EOF'
import sqlite3, sys
db = sqlite3.connect("lie.db")
db.execute(f"PRAGMA user_version={int(sys.argv[1])}")
db.commit()
EOF
		rm -f to.db
		run db merge lie.db --db to.db
		[ "$status" = 0 ] || expect_lines 1 err
		[ "$status" != 0 ] || expect_three to.db
		run db migrate --db lie.db
		[ "$status" = 0 ] || expect_lines 1 err
		[ "$status" -lt 8 ] || fail "status $status"
		rm -f lie.db*
	done
done
done_testing
