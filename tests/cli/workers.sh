#!/bin/sh
# Measured elsewhere: by a list, by a pipe, by several; nothing is measured twice.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
board=$(plain_name "$(dirname "$MARQ")/marq-measure")
export TMPDIR=$work
"$MARQ" model make tiny -o tiny.onnx -q
field() { # KEY: of the last document
	python3 -c 'import json, sys; print(json.load(open("out"))[sys.argv[1]])' "$1"
}
# A list, measured by the small program, brought home.
run search tiny.onnx -t host --db none --eager-pricing --want wanted.json
expect_status 0
expect_in err 'wanted; on the machine they are for: marq measure wanted.json'
expect_absent tiny.marq
[ "$(python3 -c 'import json; print(len(json.load(open("wanted.json"))["subjects"]))')" -gt 10 ] ||
	fail 'hardly anything is wanted'
"$board" wanted.json board.db >measured 2>&1 || { fail 'cannot measure'; cat measured; }
expect_in measured ' 0 known before, 0 not offered by this build'
once board.db || fail 'not once each'
run measure wanted.json --db board.db --format=json
expect_status 0
[ "$(field measured)" = 0 ] || fail 'measured again'
run db merge board.db --db home.db
expect_status 0
run search tiny.onnx -t host --db home.db --eager-pricing --want none.json
expect_status 0
expect_in err '0 wanted'
run search tiny.onnx -t host --db home.db -o listed --eager-pricing --format=json
expect_status 0
[ "$(field measured)" = 0 ] || fail 'the list was not all'

# The first is worth the most: a short list is the beginning of a long one.
run search tiny.onnx -t host --db none --eager-pricing --want short.json --max-measure 5
expect_status 0
python3 - <<'P' || fail 'a short list is another one'
import json
short, long = (json.load(open(f))["subjects"] for f in ("short.json", "wanted.json"))
assert len(short) == 5 and short == long[:5]
P

# What the board's build does not offer is an outcome like others: it is told once,
# and not wanted for ever. Bytes that are not those of the key are no subject.
run search tiny.onnx -t native -t host --db none --eager-pricing --want all.json
expect_status 0
python3 - <<'P'
import base64, json
d = json.load(open("all.json"))
json.dump(d | {"exact": True}, open("less.json", "w"))  # no Winograd
d["subjects"][0]["bytes"] = base64.b64encode(b"another").decode()
json.dump(d, open("forged.json", "w"))
P
"$board" less.json less.db >measured 2>&1 || { fail 'cannot measure'; cat measured; }
expect_not_in measured ' 0 not offered by this build'
"$board" less.json less.db >measured 2>&1
expect_in measured ': 0 measured, '
once less.db || fail 'not once each'
run search tiny.onnx -t native -t host --db less.db --eager-pricing --want none.json --force
expect_status 0
expect_in err 'marq: 0 wanted'
run search tiny.onnx -t native -t host --db less.db -o none --no-measure
expect_status 0
expect_in out ', 0 estimated'
run measure forged.json --db forged.db
expect_status 3
expect_in err 'is no subject'

# Live, over a pipe: the same program is this machine, so its prices are ours.
"$board" --env >env.json || fail 'no environment'
"$MARQ" env | sed '/"load"/d' >here.json
sed '/"load"/d' env.json | cmp -s - here.json || fail 'another environment than that of marq env'
run search tiny.onnx -t host --db live.db -o live --worker "cmd:$board --serve" --format=json
expect_status 0
[ "$(field measured)" -gt 0 ] || fail 'nothing was measured'
run search tiny.onnx -t host --db live.db -o again --format=json
expect_status 0
[ "$(field measured)" = 0 ] || fail 'not what this machine would have measured'
cmp -s live/map.json again/map.json || fail 'another plan'
run search tiny.onnx -t host --db live.db -o there --price-for env.json
expect_status 0
cmp -s live/map.json there/map.json || fail 'another plan'
run search tiny.onnx -t host --db live.db -o none --worker "cmd:$board --serve" --price-for env.json
expect_status 0

[ -z "$(ls "$work"/marq-*.journal 2>/dev/null)" ] || fail 'a journal is left'

# Two boards share the work, and each has some of it: the answers of neither come
# before the other has one.
for i in 1 2; do
	cat >board$i <<-END
		#!/bin/sh
		"$board" --serve | tee -a "$work/said$i" | while IFS= read -r line; do
			tries=0
			case \$line in *'"sample"'*)
				until grep -q '"sample"' "$work/said$((3 - i))" || [ \$tries = 600 ]; do
					tries=\$((tries + 1))
					sleep 0.1
				done ;;
			esac
			printf '%s\n' "\$line"
		done
	END
	chmod +x board$i
	: >said$i
done
run search tiny.onnx -t host --db two.db -o none --eager-pricing --no-progress \
	--worker "cmd:$work/board1" --worker "cmd:$work/board2"
expect_status 0
once two.db || fail 'not once each'
for i in 1 2; do
	grep -q '"sample"' said$i || fail "board $i had nothing to do"
done
# Under which conditions is said of each: of another host, with another governor.
cat >slow <<END
#!/bin/sh
exec "$board" --serve | sed -u 's/"host": *"[^"]*"/"host":"slowboard","governor":"powersave"/'
END
chmod +x slow
: >said1
: >said2
sed "s|\"$board\" --serve|\"$work/slow\"|" board2 >board3
chmod +x board3
run search tiny.onnx -t host --db three.db -o none --eager-pricing --no-progress \
	--worker "cmd:$work/board1" --worker "cmd:$work/board3"
expect_status 0
python3 - <<'P' || fail 'conditions of one board for all'
import sqlite3
c = sqlite3.connect("three.db")
rows = c.execute("select soft,count(*) from measurement join conditions using(conditions_id)"
                 " group by soft").fetchall()
slow = [n for soft, n in rows if "host=slowboard\n" in soft and "governor=powersave\n" in soft]
assert len(rows) == 2 and len(slow) == 1, rows
assert all("load=" in soft for soft, n in rows), rows
P

# A board that is killed twenty times, every other time before it has answered:
# nothing is lost, and nothing is measured twice.
make_frail "$board --serve"
run search tiny.onnx -t host --db frail.db -o none --eager-pricing --no-progress --worker "cmd:$work/frail"
expect_status 0
[ "$(cat kills)" = 20 ] || fail "killed $(cat kills) times"
once frail.db || fail 'not once each'
run search tiny.onnx -t host --db frail.db -o none --eager-pricing --format=json
expect_status 0
[ "$(field measured)" = 0 ] || fail 'something was lost'

# A worker that is none, or is gone: one line, nothing written.
for worker in 'cmd:true' 'cmd:echo welcome to the board' "cmd:$work/absent"; do
	run search tiny.onnx -t host --db c.db -o bad --worker "$worker"
	expect_status 5
	expect_in err 'no worker is left to measure'
	expect_absent bad
done
for worker in board ssh: ssh:-oProxyCommand=x cmd:; do
	run search tiny.onnx -t host --db c.db -o bad --worker "$worker"
	expect_status 2
	expect_in err 'want cmd:COMMAND or ssh:USER@HOST[:PROGRAM]'
done
run search tiny.onnx -t host --db c.db -o bad --int8 --calibrate random:1 --worker "cmd:$board --serve"
[ "$status" != 0 ] || fail '8 bits are measured elsewhere'
# ... and one of another environment than the other.
cat >stranger <<END
#!/bin/sh
exec "$board" --serve | sed -u 's/"isa":"[^"]*"/"isa":"sve2"/g; s/"isa": "[^"]*"/"isa": "sve2"/g'
END
chmod +x stranger
run search tiny.onnx -t host --db d.db -o none --worker "cmd:$board --serve" --worker "cmd:$work/stranger"
expect_status 0
expect_in err 'another environment than the first board'

# What speaks to a board must speak its language.
for line in '{' '{"marq":"measure","jobs":[]}' '{"marq":"open","protocol":2}' \
	'{"marq":"open","protocol":1,"session":"../x","want":{}}' '{"marq":"dance"}'; do
	command="marq-measure --serve, told $line"
	echo "$line" | "$board" --serve >out 2>err
	status=$?
	[ $status != 0 ] || fail 'is content'
	expect_in out '"fault"'
	expect_lines 1 err
done
echo '{"schema": "marq.want/9"}' >wrong.json
run measure wrong.json --db e.db
expect_status 3
"$board" wrong.json e.db 2>/dev/null && fail 'takes any list'

# A board that never says a word holds nobody up: neither the time budget nor who
# interrupts the search.
timeout 120 "$MARQ" search tiny.onnx -t host --db none --time-budget 2s \
	--worker 'cmd:exec sleep 120' -o mute >out 2>err
[ $? = 5 ] || fail "a mute board, a time budget: status $?: $(cat err)"
expect_in err 'it has not answered yet'
expect_absent mute
"$MARQ" search tiny.onnx -t host --db none \
	--worker "cmd:echo dialled >$work/dialled; exec sleep 120" -o mute >out 2>err &
waits=$!
for i in $(seq 600); do
	[ ! -e dialled ] || break
	sleep 0.1
done
kill -TERM $waits
wait $waits
status=$?
[ $status = 5 ] || fail "a mute board, interrupted: status $status: $(cat err)"
expect_absent mute
done_testing
