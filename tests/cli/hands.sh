#!/bin/sh
# Nothing of the user's is lost: every command and option that writes refuses
# what is there already, and with --force replaces what it may, never an input.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
cheap='-t host --no-measure --db none'
run model make tiny -o tiny.onnx -q
run search tiny.onnx $cheap -o result -q --dump-problem problem.json
run search tiny.onnx -t host --db a.db -o none -q
"$MARQ" calibrate >params.json
cat >layers.json <<'END'
{"schema": "marq.measurements/1", "samples": []}
END
cp tiny.onnx kept.onnx
keep() { # NAME: what must not change
	rm -rf before && cp -a "$1" before
}
expect_kept() { # NAME
	diff -r --no-dereference before "$1" >/dev/null 2>&1 || fail "$1 was changed"
	[ -z "$(ls -a | grep 'tmp-')" ] || fail 'a temporary file is left behind'
}

# One row an output: what reads there, "|", the command with OUT for its name.
cat >writers <<'END'
tiny.onnx|search tiny.onnx -t host --no-measure --db none -o none --dump-problem OUT
tiny.onnx|search tiny.onnx -t host --no-measure --db none -o none --want OUT
tiny.onnx|run tiny.onnx -t host --no-measure --db none --dump-problem OUT
tiny.onnx|explain tiny.onnx -t host --no-measure --db none --all --fast --dump-problem OUT
problem.json|solve problem.json --dump-problem OUT
result/result.json|report result -o OUT
result/map.json|report result -o OUT
result/result.json|compare result result --html OUT
tiny.onnx|compare tiny.onnx@host result --no-measure --db none --html OUT
a.db|db export OUT --db a.db
a.db|db export OUT --db a.db --jsonl
a.db|db backup OUT --db a.db
|model make tiny -o OUT
END
while IFS='|' read -r input line; do
	command=$line
	# a new name: written, and whole
	rm -rf new
	run $(echo "$line" | sed 's/OUT/new/')
	expect_status 0
	[ -s new ] || fail 'nothing is written'
	# a file of the user's: refused, then replaced when asked to
	echo precious >precious && keep precious
	run $(echo "$line" | sed 's/OUT/precious/')
	expect_status 7
	expect_in err 'exists already'
	expect_kept precious
	run $(echo "$line" | sed 's/OUT/precious/') --force
	expect_status 0
	[ "$(cat precious | tr -d '\0')" != precious ] || fail 'not replaced'
	# neither a link's target nor a folder, even then
	echo precious >target && ln -sf target link && keep target
	run $(echo "$line" | sed 's/OUT/link/') --force
	expect_status 7
	expect_kept target
	[ -L link ] || fail 'the link is gone'
	rm -rf folder && mkdir folder && echo precious >folder/file && keep folder
	run $(echo "$line" | sed 's/OUT/folder/') --force
	expect_status 7
	expect_kept folder
	# nor what the command reads, by its own or another name
	[ -n "$input" ] || continue
	keep "$input"
	run $(echo "$line" | sed "s|OUT|$input|") --force
	expect_status 7
	expect_in err 'which this command reads'
	expect_kept "$input"
	ln -f "$input" hard
	run $(echo "$line" | sed "s|OUT|hard|") --force
	expect_status 7
	expect_kept "$input"
	rm hard
	# a folder that is not there
	run $(echo "$line" | sed 's|OUT|absent/x|') --force
	expect_status 7
	expect_not_in err 'tmp-'
done <writers

# Results: a result or an empty folder is replaced, nothing else.
again="search tiny.onnx $cheap -q -o"
keep result
run $again result
expect_status 7
expect_kept result
run $again result --force
expect_status 0
mkdir empty
run $again empty --force
expect_status 0
[ -f empty/result.json ] || fail 'the empty folder is not filled'
for what in precious/notes.txt precious/result.json/x; do
	rm -rf precious && mkdir -p "$(dirname $what)" && echo mine >$what && keep precious
	run $again precious --force
	expect_status 7
	expect_in err 'holds no result'
	expect_kept precious
done
rm -rf precious && mkdir precious && echo '{"schema": "other/1"}' >precious/result.json && keep precious
run $again precious --force
expect_status 7
expect_kept precious
keep tiny.onnx
run $again tiny.onnx --force
expect_status 7
expect_kept tiny.onnx
rm -f link && ln -s result link && keep result
for name in link link/; do
	run $again $name --force
	expect_status 7
	expect_in err 'a link'
	expect_kept result
done
keep result
run search result/annotated.onnx $cheap -q -o result --force
expect_status 7
expect_kept result
run search tiny.onnx $cheap -q -o result --force --replay result/result.json
expect_status 7
expect_kept result
(cd result && "$MARQ" search ../tiny.onnx $cheap -q -o . --force 2>../err)
[ $? = 7 ] || fail 'replaces the current folder'
expect_kept result
run $again absent/result
expect_status 7
expect_lines 1 err
expect_not_in err 'tmp-'

# Every file a command names as input is one, also beside the model.
for option in '--db a.db' '--constraints c.json' '--replay result/result.json' \
	'-t rules:file=rules.json'; do
	file=${option##* }
	file=${file##*=}
	[ -e "$file" ] || echo '{}' >"$file"
	keep "$file"
	run search tiny.onnx -t host --no-measure $option -o none --dump-problem "$file" --force
	expect_status 7
	expect_in err 'which this command reads'
	expect_kept "$file"
done
rm -f "$work/data/marq/tuning.db" && mkdir -p "$work/data/marq" && echo x >"$work/data/marq/tuning.db"
run search tiny.onnx -t host --no-measure -o none --dump-problem "$work/data/marq/tuning.db" --force
expect_status 7

# The old result is there until the new one is whole.
run search tiny.onnx $cheap -q -o result --force
(while :; do [ -f result/result.json ] || echo gone; done) >watched &
watcher=$!
for i in 1 2 3; do
	run search tiny.onnx $cheap -q -o result --force
	expect_status 0
done
kill $watcher
wait $watcher 2>/dev/null
[ ! -s watched ] || fail 'the result was not there for a while'

# No option that takes a file or folder escapes: each is known to read or write,
# or, like line=-, only names one.
reads='db run html=w constraints dump-problem=w replay data placement from output=w want=w measure-timeout
	probes=w start calibrate line=- local=w locks=w
	progress-fd forbid target'
for name in $(sed -n 's/^COMMAND(\([a-z]*\),.*/\1/p' "$MARQ_SOURCE/cli/commands.def") \
	'model make' 'model info' 'model check'; do
	"$MARQ" $name --help
done | grep -oE -- '--[a-z-]+=[A-Z.a-z]*(FILE|DIR|json)[A-Za-z.]*' | sort -u >files
[ "$(wc -l <files)" -ge 8 ] || fail 'the help names no files'
while read -r option; do
	option=${option%%=*}
	case " $(echo $reads) " in
	*" ${option#--} "* | *" ${option#--}=w "* | *" ${option#--}=- "*) ;;
	*) fail "$option takes a file: does it read or write?" ;;
	esac
done <files
done_testing
