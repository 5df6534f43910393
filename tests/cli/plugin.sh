#!/bin/sh
# Plug-ins as a user of marq sees them: the tutorial, built with one line from the
# installed header, and a stand-in that misbehaves in every way.
. "$(dirname "$0")/lib.sh"
"$MARQ_BUILD/tests/standin_model" net.onnx pf || exit 1
so=$(plain_name "$MARQ_BUILD/tests/libmarq_standin.so")
so_1_0=$(plain_name "$MARQ_BUILD/tests/libmarq_standin_1_0.so")
plugin=plugin:path=$so
search() {
	run search net.onnx --db prices.db --force -o plan "$@"
}

# What hangs while it is opened or asked is given a minute: all of them at once, looked at
# in the end.
for call in entry open environment close; do
	STANDIN=hang-$call "$MARQ" targets check "$plugin" >/dev/null 2>hang-$call &
done
for call in layers emit; do
	"$MARQ" search net.onnx --db hang-$call.db -o after-$call --measure-timeout 10s \
		-t "$plugin,does=hang-$call" -t host --pin op:MaxPool=standin >/dev/null 2>hang-$call &
done

# The tutorial: from the header as it is installed, with the line it says.
DESTDIR=$work/root cmake --install "$MARQ_BUILD" --prefix /usr >installed 2>&1 ||
	{ fail 'does not install'; cat installed; }
"${CC:-cc}" -O3 -Wall -Wextra -Werror -shared -fPIC -o tutorial.so \
	"$MARQ_SOURCE/examples/plugin/tutorial.c" -Iroot/usr/include ||
	fail 'the tutorial does not compile'
[ "$(wc -l <"$MARQ_SOURCE/examples/plugin/tutorial.c")" -lt 200 ] || fail 'is too long'
[ "$(PKG_CONFIG_PATH=root/usr/share/pkgconfig pkg-config --modversion marq_plugin)" = 1.1 ] ||
	fail 'no marq_plugin.pc'
for dialect in c++98 c++17; do
	command -v c++ >/dev/null || { echo 'not checked: no c++'; break; }
	echo '#include <marq_plugin.h>' | c++ -x c++ -std=$dialect -Wall -Wextra -pedantic -Werror \
		-Wno-long-long -Iroot/usr/include -fsyntax-only - || fail "the header is no $dialect"
done
run model make tiny -o tiny.onnx
run search tiny.onnx -t plugin:path=tutorial.so -t host --forbid host:op:Relu --db prices.db -o tiny
expect_status 0
expect_in tiny/result.json '"rule": "tutorial.relu"'
expect_in tiny/result.json '"fact.tutorial_version": "1"'
expect_in out verified
run search tiny.onnx -t plugin:path=tutorial.so -t host --forbid host:op:Relu --db prices.db -o again
expect_in out ', 0 measured'
expect_in out ' of the range (on record)'
cmp -s tiny/result.json again/result.json || fail 'another result'
# With other weights it is another model: its prices are known, and it is verified.
python3 - <<'EOS' || fail 'no weights'
text = open("tiny.onnx", "rb").read()
at = len(text) // 2
open("other.onnx", "wb").write(text[:at] + bytes([text[at] ^ 1]) + text[at + 1:])
EOS
run search other.onnx -t plugin:path=tutorial.so -t host --forbid host:op:Relu --db prices.db -o other
expect_status 0
expect_in out ', 0 measured'
expect_in out ' of the range'
expect_not_in out 'on record'
run run tiny.onnx -t plugin:path=tutorial.so -t host --forbid host:op:Relu --db prices.db --runs 3
expect_status 0
expect_in out 'matches the host reference'
# A result may come from anywhere: it does not name what is loaded.
run run tiny --db prices.db --runs 3
expect_status 2
expect_in err 'opened only when you name it'
run run tiny -t plugin:path=tutorial.so -t host --db prices.db --runs 3
expect_status 0
# Nor does one that is installed load what a file says: its name alone may stand there.
sed 's/plugin:path=tutorial.so/ort:library=evil.so/' tiny/result.json >result.new
mv result.new tiny/result.json
run run tiny --db prices.db --runs 3
expect_status 2
expect_in err "with 'ort:library=evil.so', which is opened only when you name it"
# A list of what is wanted is such a file, too.
run search tiny.onnx -t plugin:path=tutorial.so -t host --db none --want list.json
expect_status 0
for list in list:plugin:path=tutorial.so loads:ort:library=evil.so starts:external:cmd=false; do
	named=${list#*:}
	list=${list%%:*}.json
	[ -e "$list" ] || sed "s/plugin:path=tutorial.so/$named/" list.json >"$list"
	run measure "$list" --db listed.db
	expect_status 2
	expect_lines 1 err
	expect_in err "is for '$named', which is opened only when you name it"
	"$MARQ_BUILD/cli/marq-measure" "$list" listed.db 2>err
	status=$?
	expect_status 2
done
run measure list.json -t plugin:path=tutorial.so --db listed.db
expect_status 0

# What it is, and what it is not.
run targets show "$plugin"
expect_status 0
expect_in out 'fact.board=7'
expect_in out 'fact.lines=a'
expect_not_in out 'cost=measured'
expect_in out 'option.level=low'
expect_not_in out 'not for standard output'
refused() { # STATUS TARGET WORDS
	run targets check "$2"
	expect_status "$1"
	expect_in err "$3"
	expect_lines 1 err
}
refused 2 plugin 'it needs the option path=FILE.so'
refused 4 plugin:path=none.so 'none.so'
refused 2 "$plugin,shape=1" "unknown option 'shape'"
refused 2 "$plugin,level=middle" 'must be one of low|high'
refused 4 "plugin:path=$MARQ_BUILD/tests/libmarq_standin_2.so" \
	'made for version 2 of the plug-in interface, this marq has 1'
refused 4 ort "target 'ort' is not installed: no "
echo 'no library' >text.so
refused 4 plugin:path=text.so 'cannot be loaded'
[ -e "$MARQ_BUILD/tests/libmarq_record.so" ] &&
	refused 4 "plugin:path=$MARQ_BUILD/tests/libmarq_record.so" 'no plug-in of marq'
says() { # WHAT STATUS WORDS
	export STANDIN="$1"
	refused "$2" "$plugin" "$3"
	unset STANDIN
}
says short 4 'no whole table'
says holes 4 'no whole table'
says refuses 4 'it wants a newer marq'
says long 4 'what it says of itself is longer than 1048576 bytes'
says facts 3 'its facts: more than 65536 bytes'
says json 3 'not valid JSON'
says format 3 "'marq-rules' version 1 is not marq-plugin version 1"
says later 3 "'marq-plugin' version 2 is not marq-plugin version 1"
says name 3 "'host' is no name for it"
says none 3 'no rules'
says twice 3 "two rules 'a'"
says pattern 3 "rule 0"
for call in entry open environment close; do
	says crash-$call 4 'it died of signal 6 (Aborted) while it was opened'
done
says exit 4 'it ended the process while it was opened (status 3)'
says nothing 4 'open: it gives no target'
says absent 4 'no board is there; plug one in'
# Older and newer ones of our version work.
for minor in older newer; do
	export STANDIN=$minor
	search -t "$plugin,does=$minor" -t host --pin op:MaxPool=standin
	unset STANDIN
	expect_status 0
	expect_in plan/result.json '"rule": "standin.pool"'
done

# A large file of a region is in the result; too large a one, or too many layers, cost
# what would have been said.
asked() { # STANDIN
	export STANDIN=$1
	run search net.onnx --db none --no-measure --force -o plan -t "$plugin" -t host \
		--pin op:MaxPool=standin --max-output 100MiB
	unset STANDIN
	expect_status 0
}
asked file
[ "$(find plan/standin -name '*-large' -size +9215k)" ] || fail 'no large file of a region'
asked files
expect_in plan/standin/standin_0-unsupported.txt 'its files: more than 1073741824 bytes'
expect_in plan/map.json '"symbol": "standin-0"'
asked layers
expect_not_in plan/map.json '"symbol": "standin-0"'

# One that was made with the header of the first version, and today's under a host of
# that version.
run search net.onnx --db prices.db --force -o plan -t host --pin op:MaxPool=standin \
	-t "plugin:path=$so_1_0"
expect_status 0
expect_in out verified
"$MARQ_BUILD/tests/standin_oldhost" "$so" || fail 'not for a host of 1.0'

# Larger parts are offered where it says so, and what is proven is proven among
# them: the whole of two nodes that copy, and nothing else, is left here.
export STANDIN=regions
search -t "$plugin" -t host --forbid host:op:MaxPool --forbid standin:op:Flatten
expect_status 0
expect_in out 'proven among 1 region at these prices'
expect_in plan/result.json '"among_regions": 1'
expect_in plan/report.md 'Proven among 1 region at'
expect_in plan/report.html 'proven cheapest among 1 region<'
run compare plan plan
expect_in out '; the first is proven among 1 region; the second is proven among 1 region)'
cat >night.yaml <<-YAML
	version: 1
	defaults: {db: prices.db, out: night, options: ["--forbid=host:op:MaxPool", "--forbid=standin:op:Flatten"]}
	mixes: [{name: both, targets: ["$plugin", host]}]
	models: [{path: net.onnx}]
YAML
run batch night.yaml
expect_status 0
expect_in night/summary.md '| proven among 1 region |'
expect_in night/summary.html '>proven among 1 region<'
expect_in night/summary.csv ',"",1'
expect_in night/summary.prom 'marq_among_regions{model="net",mix="both",shape=""} 1'
expect_in night/summary.json '"among_regions": 1'
python3 "$MARQ_SOURCE/tests/support/schema.py" "$MARQ_SOURCE/share/schema/batch.json" night/summary.json ||
	fail 'summary.json does not keep its schema'
search -t "$plugin" -t host --pin op:MaxPool=standin --pin op:Flatten=standin --eager-pricing
expect_status 0
python3 - plan/result.json <<'EOS' || fail 'no region of both nodes'
import json, sys
plan = json.load(open(sys.argv[1]))["plan"]
cheap = plan["composites"]
assert [(c["rule"], len(c["nodes"])) for c in cheap] in (
    [("standin.region", 2)], [("standin.node", 1), ("standin.node", 1)]), cheap
EOS
# What is the whole model is told so.
search -t "$plugin,does=needs-alone" -t host --eager-pricing
expect_status 0
# What is picked because it is cheap is measured again, and that counts: the first
# price of the whole is made the least, then the second a second.
cheap='--pin op:MaxPool=standin --pin op:Flatten=standin --no-confirm'
price() { # COST NS WHERE: of the stand-in's; how many there are
	python3 - "$@" <<'EOS'
import sqlite3, sys
cost, ns, where = sys.argv[1:]
db = sqlite3.connect("prices.db")
found = db.execute("SELECT measurement_id FROM measurement JOIN subject USING(subject_id) JOIN environment"
    " USING(env_id) WHERE outcome IN ('ok', 'noisy') AND hard LIKE '%needs-alone%' AND hard LIKE ? AND summary " + where,
    ("%cost=" + cost + "%",)).fetchall()
for row in found:
    db.execute("UPDATE measurement SET outcome='ok', n=9, low_ns=?, median_ns=?, high_ns=?, min_ns=? WHERE measurement_id=?",
        (ns, ns, ns, ns, *row))
db.commit()
print(len(found))
EOS
}
rules() { # of the plan
	python3 -c 'import json
print(*[c["rule"] for c in json.load(open("plan/result.json"))["plan"]["composites"]])'
}
whole="LIKE 'standin.region onnx/alone%'"
# Where nothing of it is in the plan it is compared with and run in turn all the same, as
# the runtime one would use otherwise.
search -t "$plugin,does=needs-alone" -t host --forbid standin:op:MaxPool --forbid standin:op:Flatten
costs=$(python3 -c 'import json; print(json.load(open("plan/result.json"))["total"]["cost_ns"])')
for moment in measured second; do
	price $moment $((costs * 11 / 10)) "$whole" >wholes
done
search -t "$plugin,does=needs-alone" -t host
expect_in out " of $plugin,does=needs-alone + host (A/A "
price second 1000 "$whole" >wholes
[ "$(price measured 1000 "$whole")" -ge 1 ] || fail 'the whole has no price of its own'
price measured 30000000 "LIKE 'standin.node%'" >nodes
search -t "$plugin,does=needs-alone" -t host $cheap
[ "$(rules)" = standin.region ] || fail "$(rules) and not the whole"
[ "$(price second 1000000000 "$whole")" -ge 1 ] || fail 'no second price'
search -t "$plugin,does=needs-alone" -t host $cheap
expect_in out ' 0 measured'
[ "$(rules)" = 'standin.node standin.node' ] || fail "$(rules) for a second price of a second"
# What is made of parts was picked for their prices: it is run in turn with the whole.
search -t "$plugin,does=needs-alone" -t host --pin op:MaxPool=standin --pin op:Flatten=standin
expect_in out 'confirmed: '
expect_in out " of $plugin,does=needs-alone + host (A/A "
# Operators that are written out are offered as their author has them, too: tried on
# their own attributes (this one copies, with others it would not), and its layer is of
# all nodes that it became.
python3 "$MARQ_SOURCE/tests/support/authored.py" 0 1 scaler.onnx texts.onnx
STANDIN=authored
run search scaler.onnx -t "$plugin,does=needs-author" -t host --db prices.db --force -o plan --pin op:Sub=standin
expect_status 0
expect_in plan/result.json '"implementation": "authored/Scaler/alone"'
expect_in plan/provenance.json 'unsupported: standin: no Scaler'
python3 - plan/map.json <<'EOS' || fail 'other nodes of a layer'
import json, sys
m = json.load(open(sys.argv[1]))
nodes = [n["id"] for n in m["nodes"]]
assert len(nodes) > 1 and [l["nodes"] for l in m["layers"]] == [nodes]
EOS
grep -q Scaler plan/standin/standin-0.onnx || fail 'another model than was compiled'
run run plan -t "$plugin,does=needs-author" -t host --db prices.db
expect_status 0
expect_in out 'matches the host reference'
# Texts have no bytes that it could be given.
run explain texts.onnx -t "$plugin" -t host --db none --no-measure --all
expect_status 0
expect_in out "'x' is of texts"
unset STANDIN
search -t "$plugin" -t host
expect_in out 'proven optimal at these prices'

# Whatever it does costs one candidate, is said and remembered.
outcome() { # ACTION WORDS
	limit=60s
	case $1 in hang*) limit=10s ;; esac
	search -t "$plugin,does=$1" -t host --eager-pricing --measure-timeout $limit
	expect_status 0
	expect_in plan/provenance.json "$2"
	n=$(grep -c '"target": "plugin.*"samples": 0, "detail"' plan/provenance.json)
	[ "$n" = 1 ] || [ $limit = 10s ] || fail "$n candidates failed"
}
outcome refuse 'unsupported: standin: no such unit  [31xxx'
outcome crash-compile 'crash: the worker died of signal 6'
outcome hang-compile 'timeout: no answer within the time limit'
outcome no-program 'unsupported: standin: compile: it gives no program'
outcome status 'unsupported: standin: an unknown status'
outcome crash-execute 'crash: the worker died of signal 6'
outcome hang-execute 'timeout: no answer within the time limit'
outcome crash-release 'crash: the worker died of signal 6'
outcome hang-release 'timeout: no answer within the time limit'
# (a sanitizer that looks for leaks at the end has a status of its own)
outcome exit 'crash: the worker ended with status '
outcome fail 'wrong result: standin: execute: the board is on fire'
outcome wrong 'wrong result: differs from the reference'
outcome slack 'wrong result: standin: execute: it wrote behind output 0'
outcome input 'wrong result: standin: execute: it wrote to input 0'
outcome rounding 'wrong result: standin: execute: it left another rounding mode'
outcome control 'wrong result: standin: execute: it left another floating-point control word'
outcome spin 'wrong result: standin: execute: its threads go on running when it is done'
[ "$(nproc)" = 1 ] ||
	outcome affinity 'wrong result: standin: execute: it left another affinity'
# An exception that nobody catches ends the process, in whatever call.
if command -v c++ >/dev/null; then
	c++ -O2 -Wall -Wextra -Werror -shared -fPIC -o throws.so \
		"$MARQ_SOURCE/tests/plugin/throws.cc" -Iroot/usr/include || fail 'throws.cc does not compile'
	THROWS=open run targets check plugin:path=throws.so
	expect_status 4
	expect_in err 'it died of signal 6'
	for call in compile execute; do
		THROWS=$call run search net.onnx --db $call.db --force -o plan -t plugin:path=throws.so -t host --eager-pricing
		expect_status 0
		expect_in plan/provenance.json 'crash: the worker died of signal 6'
	done
fi

# What it says of a region it made: layers and files; what goes wrong there costs only that.
about_region() { # ACTION
	search -t "$plugin,does=$1" -t host --pin op:MaxPool=standin
	expect_status 0
}
about_region nothing
expect_in plan/map.json '"copy"'
[ -n "$(find plan/standin -name '*-copy.txt')" ] || fail 'no file of the region'
about_region no-layers
expect_in err 'no layers of standin_0: standin: layers: no layers today'
about_region no-emit
expect_in err 'no files of standin_0: standin: emit: no file today'
for call in layers emit; do
	about_region crash-$call
	expect_in err 'it died of signal 6 (Aborted) while it was asked for its'
done

search -t "$plugin,does=slack" -t host --eager-pricing
expect_in out ', 0 measured'
expect_in plan/provenance.json 'it wrote behind output 0'

# What a program before this one held against it is found out anew; what this one does
# is not.
judged() {
	run search net.onnx --db judged.db --force -o plan -t "$plugin" -t host --eager-pricing
	expect_status 0
}
blame() { # BACK: all of it, by what the check said so many versions ago
	python3 - "$1" <<'EOS' || fail 'no such prices'
import re, sqlite3, sys
db = sqlite3.connect("judged.db")
env, hard = db.execute("SELECT env_id, hard FROM environment WHERE hard LIKE '%plugin_judge=%'").fetchone()
older = re.sub(r"(?<=judge=)\d+", lambda now: str(int(now[0]) - int(sys.argv[1])), hard)
db.execute("UPDATE measurement SET outcome='wrong_result', n=0, low_ns=0, median_ns=0, high_ns=0, min_ns=0,"
    " detail='its threads go on' WHERE env_id=?", (env,))
db.execute("UPDATE environment SET hard=? WHERE env_id=?", (older, env))
db.commit()
EOS
}
judged
blame 0
judged
expect_in out ', 0 measured'
expect_in plan/provenance.json 'wrong result: its threads go on'
blame 1
judged
expect_not_in out ', 0 measured'
expect_not_in plan/provenance.json 'its threads go on'
# Processor time that is another than the clock's is shown beside it. What a price is
# of is the lower end of its runs, of several attempts: no attempt's median.
took() { # OF-ALL-PRICES: processor time, as SQL
	python3 - "$1" <<-'EOS'
		import sqlite3, sys
		db = sqlite3.connect("judged.db")
		(ns,) = db.execute(f"SELECT {sys.argv[1]} FROM measurement WHERE low_ns > 0").fetchone()
		db.execute("UPDATE measurement SET cpu_ns = ?", (ns,))
		db.commit()
	EOS
	judged
	expect_in out ', 0 measured'
}
took 'min(low_ns)'
expect_not_in plan/report.html '; processor time'
took '8 * max(low_ns)'
expect_in plan/report.html '; processor time'
expect_in plan/report.md 'Processor time of a run, of all threads: '
run explain plan --all
expect_in out ', processor time '

# Of several threads a price is one beside the mix's other runtimes, which are loaded,
# have run and wait; whoever cannot is loaded. The key says so. Of one thread it is not.
two="-t $plugin,does=alone -t plugin:path=$so_1_0,does="
high="-t $plugin,does=alone,level=high"
if [ "$(nproc)" -gt 1 ]; then
	search ${two}threads -t host -t plugin:path=tutorial.so --eager-pricing --threads 2
	expect_status 0
	expect_in plan/provenance.json 'unsupported: standin: others are beside it'
	python3 -c 'import sqlite3
assert sqlite3.connect("prices.db").execute("SELECT 1 FROM environment WHERE hard LIKE ?", ("%beside=standin,tutorial\n%",)).fetchone()' ||
		fail 'the key does not say so'
	search ${two}threads -t host -t plugin:path=tutorial.so --eager-pricing --threads 2
	expect_in out ', 0 measured'
	search -t plugin:path=tutorial.so -t host -t "plugin:path=$so_1_0,does=threads" -t "$plugin,does=alone" \
		--eager-pricing --threads 2
	expect_in out ', 0 measured'
	search $high ${two#* * }crash-product -t host --eager-pricing --threads 2
	expect_status 0
	expect_not_in plan/provenance.json 'beside it'
	expect_not_in plan/provenance.json crash:
	search -t "$plugin,does=alone" -t host --eager-pricing --threads 2
	expect_not_in plan/provenance.json 'beside it'
fi

wait
for call in entry open environment close; do
	expect_in hang-$call 'no end within 60 seconds while it was opened'
	expect_lines 1 hang-$call
done
for call in layers emit; do
	expect_in hang-$call 'no end within 60 seconds while it was asked for its'
	[ -s after-$call/result.json ] || fail "no result where $call hangs"
done
done_testing
