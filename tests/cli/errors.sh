#!/bin/sh
# What bad input gets: one clear line on stderr, the right exit status, nothing
# left behind, one JSON document when JSON was asked for.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"

run foo
expect_status 2
expect_lines 1 err
expect_in err "no command 'foo'"

run search --no-such-option x.onnx
expect_status 2
run search
expect_status 2
expect_in err 'no model given'
run search x.onnx --shape a=1x-3
expect_status 2
run search x.onnx --time-budget 5
expect_status 2
expect_in err "'5' is not a duration"

run search absent.onnx
expect_status 7
expect_lines 1 err
expect_in err 'absent.onnx'

printf 'not a model at all' >garbage.onnx
run search garbage.onnx -o garbage.marq
expect_status 3
expect_lines 1 err
expect_in err 'garbage.onnx'
expect_absent garbage.marq
[ -z "$(ls | grep tmp-)" ] || fail 'a temporary directory is left behind'

run search garbage.onnx --format json
expect_status 3
expect_json out
expect_in out '"exit": 3'

: >empty.onnx
run search empty.onnx
expect_status 3
mkdir folder.onnx
run search folder.onnx
expect_status 7

# A file that is none of ours is named, once.
run model make tiny -o fine.onnx
expect_status 0
printf '{"schema": ' >bad.json
is_named_once() { # COMMAND...
	run "$@"
	[ "$status" = 3 ] || [ "$status" = 2 ] || fail "exit status $status"
	expect_lines 1 err
	expect_in err 'bad.json:'
	expect_not_in err 'bad.json: bad.json'
}
is_named_once solve bad.json
is_named_once batch bad.json
is_named_once measure bad.json --db m.db
is_named_once db import bad.json --db m.db
for more in --price-for=bad.json --constraints=bad.json --replay=bad.json \
	-tmrvl:params=bad.json -trules:file=bad.json; do
	is_named_once search fine.onnx -t host --no-measure --db none -o none -q $more
done

run search garbage.onnx -t nonsense
expect_status 3
done_testing
