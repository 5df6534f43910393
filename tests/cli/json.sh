#!/bin/sh
# With --format json every command writes exactly one document, whatever goes
# wrong, and its "exit" is the exit status: over the table of commands.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
run model make tiny -o tiny.onnx -q
run search tiny.onnx -t host --no-measure --db none -o result -q
run search tiny.onnx -t host --db a.db -o none -q
: >empty.onnx

documents=0
one_document() { # STATUS: that it is JSON is seen at the end, for all at once
	expect_status "$1"
	documents=$((documents + 1))
	cp out "document$documents"
	echo "$command" >"document$documents.command"
	[ "$status" = 0 ] || grep -q "\"exit\": $1" out || { fail 'another "exit"'; cat out; }
}

expect_all_json() {
	[ "$documents" -ge 80 ] || fail 'too few documents'
	python3 - "$documents" <<'END' || fail 'not one JSON document'
import json, sys
bad = False
for i in range(1, int(sys.argv[1]) + 1):
    try:
        json.load(open(f"document{i}"))
    except ValueError as fault:
        print(open(f"document{i}.command").read().strip(), fault, sep=": ")
        bad = True
sys.exit(bad)
END
}

commands=$(sed -n 's/^COMMAND(\([a-z]*\),.*/\1/p' "$MARQ_SOURCE/cli/commands.def")
[ "$(echo "$commands" | wc -l)" -ge 10 ] || fail 'no table of commands'
for name in $commands; do
	run "$name" --no-such-option --format json
	one_document 2
	grep -q "no-such-option" out || { fail 'the document does not name the option'; cat out; }
	run "$name" --format=json --color purple
	one_document 2
	run "$name" --help --format json
	expect_status 0
	[ -s out ] || fail 'no help'
done

# Arguments that lack, are too many, or mean nothing.
while read -r line; do
	run $line --format json
	one_document 2
done <<'EOF'
nonsense
search
search tiny.onnx --shape a=1x-3
search tiny.onnx -t nonsense
run
explain tiny.onnx
explain tiny.onnx -t host --no-measure --db none --node nosuch
explain tiny.onnx -t host --no-measure --db none --what-if nosuch
compare
compare result
compare tiny.onnx result
report
batch
model
model nonsense
model make nonsense
solve
targets nonsense
targets show nonsense
db
db nonsense
doctor nonsense
EOF

# Input that is not there, or is no such input.
for line in 'search absent.onnx' 'run absent.onnx' 'explain absent.onnx --all' \
	'compare absent result' 'compare absent.onnx@host result' 'report absent' \
	'batch absent.yaml' 'model info absent.onnx' 'solve absent.json' \
	'calibrate absent.json' 'db stat --db absent.db'; do
	run $line --format json
	[ "$status" != 0 ] || fail 'took what is not there'
	one_document "$status"
done
for line in 'search empty.onnx' 'run empty.onnx' 'model check empty.onnx' 'solve empty.onnx'; do
	run $line --format json
	one_document 3
done

# What works: one document, too.
for line in 'search tiny.onnx -t host --no-measure --db none -o none' \
	'search tiny.onnx -t host --no-measure --db none -o x --dry-run' \
	'explain tiny.onnx -t host --no-measure --db none --all' \
	'compare result result' 'report result -o page.html' 'model info tiny.onnx' \
	'model check tiny.onnx' 'model make tiny -o again.onnx' 'targets list' 'model make' \
	'targets show mrvl' 'doctor' 'db stat --db a.db' 'db list --db a.db' \
	'db merge --db b.db a.db a.db' 'db export a.jsonl --db a.db --jsonl' \
	'db import a.jsonl a.jsonl --db b.db' 'db gc --db a.db' \
	'db invalidate --outcome crash --db a.db' 'db verify --db a.db' 'db migrate --db a.db' \
	'db backup c.db --db a.db' 'db canary tiny.onnx -t host --db a.db'; do
	run $line --format json
	one_document 0
done

expect_all_json

# Messages have no colour unless it is asked for, or where it is not wanted.
run search absent.onnx
expect_not_in err "$(printf '\033')"
run search absent.onnx --color always
expect_in err "$(printf '\033[31m')"
NO_COLOR=1 "$MARQ" search absent.onnx 2>err
expect_not_in err "$(printf '\033')"

# Nothing is lost when the reader goes away or the disk is full.
"$MARQ" targets show mrvl --format json 2>err | head -c 1 >/dev/null
[ ! -s err ] || fail 'complains of a reader that went away'
if [ -w /dev/full ]; then
	"$MARQ" targets show mrvl --format json >/dev/full 2>err
	[ $? = 7 ] || fail 'a full disk is no fault'
fi
done_testing
