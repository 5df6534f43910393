#!/bin/sh
# Prices of another machine: only its own, the rest refused by name; who sold the
# processor decides nothing.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
"$MARQ" model make tiny -o tiny.onnx -q
edit() { # DB: Python on standard input changes database c
	{ echo "import sqlite3; c = sqlite3.connect('$1')"; cat; echo "c.commit()"; } | python3 -
}
field() { # KEY [FILE]: of a document
	python3 -c 'import json, sys; print(json.load(open(sys.argv[2]))[sys.argv[1]])' "$1" "${2:-out}"
}

run env
expect_status 0
cp out here.json
name=$(field name)
run search tiny.onnx -t host --db a.db -o here -q
expect_status 0

# It is listed, by the name it has itself.
run db envs --db a.db
expect_status 0
expect_in out "$name "
expect_in out 'measured on '
run db envs --db a.db --format=json
expect_status 0
[ "$(python3 -c 'import json; print(*[e["name"] for e in json.load(open("out"))["environments"]])')" = "$name" ] ||
	fail 'another name'

# The plan is the same, by name or by file, and nothing is measured.
for env in here.json "$name" "$(echo "$name" | cut -c1-3)"; do
	run search tiny.onnx -t host --db a.db -o there --force --price-for "$env" --format=json
	expect_status 0
	[ "$(field measured)" = 0 ] || fail 'measured'
	[ "$(field machine)" = "$name" ] || fail 'prices of another machine'
	cmp -s here/map.json there/map.json || fail 'another plan'
done
grep -q '"priced_for"' there/result.json || fail 'the result does not say whose prices'
grep -q '"class": "exact"' there/provenance.json || fail 'no class'

# A board with other cores has no prices: said by name, with nothing borrowed.
python3 - >board.json <<'P'
import json
d = json.load(open("here.json"))
for e in d["environments"]:
    f = {k: v for k, v in e["facts"].items() if not k.startswith("cpu.")}
    f["cpu.core"] = "0x41/0xd49/0x0/0"
    e["facts"] = f
print(json.dumps(d))
P
run search tiny.onnx -t host --db a.db -o none --price-for board.json
expect_status 1
expect_lines 1 err
expect_in err 'no price of it on '
expect_in err ' (Neoverse-N2 r0p0)'
for accept in exact compatible; do
	run search tiny.onnx -t host --db a.db -o none --price-for board.json --accept $accept
	expect_status 1
done
run search tiny.onnx -t host --db a.db -o any --price-for board.json --accept any
expect_status 0
expect_in out " of the plan any, of $name"
grep -q '"class": "any"' any/provenance.json || fail 'the class is not said'

# What a simulator prices costs there what it costs here; what it has nothing for is
# refused by name.
run search tiny.onnx -t mrvl -t host --db a.db -o simulated --price-for here.json --format=json
expect_status 0
[ "$(field measured)" = 0 ] || fail 'measured'
grep -q '"source": "simulated"' simulated/provenance.json || fail 'nothing is simulated'
! grep '"class"' simulated/provenance.json | grep -qv '"exact"' || fail 'not exact'
run search tiny.onnx -t mrvl -t host --db a.db -o none --price-for board.json
expect_status 1
expect_lines 1 err
expect_in err 'nothing can run it: no price of it on '

# What has no price there is left out, and bounded: nothing is proven that a price
# could refute. The plan of all prices lies between the bound and the plan of some.
run search tiny.onnx -t native -t host --db all.db -o all --eager-pricing --format=json
expect_status 0
best=$(field cost_ns)
cp all.db some.db
edit some.db <<'P'
ids = [i for i, in c.execute("select subject_id from subject where summary like 'native.%' order by 1")]
assert ids
c.execute("delete from measurement where subject_id in (%s)" % ",".join(map(str, ids)))
P
for how in '--price-for here.json' '--no-measure --unpriced=bound'; do
	# shellcheck disable=SC2086
	run search tiny.onnx -t native -t host --db some.db -o some --force $how
	expect_status 0
	expect_in out ' left out: no price of them on '
	# shellcheck disable=SC2086
	run search tiny.onnx -t native -t host --db some.db -o some --force $how --format=json
	[ "$(field lower_bound_ns)" -le "$best" ] || fail "bound $(field lower_bound_ns) above $best"
	[ "$(field cost_ns)" -ge "$best" ] || fail "$(field cost_ns) below $best"
	[ "$(field unpriced)" = 0 ] || fail 'the plan has what has no price'
	[ "$(field proven)" = False ] || [ "$(field cost_ns)" = "$best" ] || fail 'wrongly proven'
	[ "$(field refused)" -gt 0 ] || fail 'nothing is left out'
done

# A list is what a lazy search would measure; measured, round by round, it ends. The
# plan is proven with what was measured, which is not all.
for round in 1 2 3 4 5 6 7 8; do
	run search tiny.onnx -t mrvl -t native -t host --db lazy.db --price-for here.json --want lazy.json --force
	expect_status 0
	! grep -q '^marq: 0 wanted' err || break
	run measure lazy.json --db lazy.db --format=json
	expect_status 0
	[ "$(field measured)$(field probed)" != 00 ] || fail "round $round: nothing was measured of what is wanted"
done
expect_in err 'marq: 0 wanted'
run search tiny.onnx -t mrvl -t native -t host --db lazy.db --price-for here.json -o lazy --format=json
expect_status 0
[ "$(field proven)" = True ] || fail 'not proven though nothing is wanted'
[ "$(field refused)" -gt 0 ] || fail 'everything was measured'
run search tiny.onnx -t mrvl -t native -t host --db none --want eager.json --eager-pricing
python3 - <<'P' || fail 'not fewer than all'
import json, sqlite3
c = sqlite3.connect("lazy.db")
priced, = c.execute("select count(distinct subject_id) from measurement join environment using(env_id)"
                    " where hard like '%cost=measured%'").fetchone()
every = len(json.load(open("eager.json"))["subjects"])
print(priced, "of", every)
assert priced < every
P

# Prices of a processor that is sold by another name are exact.
cp a.db sold.db
edit sold.db <<'P'
for i, h in list(c.execute("select env_id,hard from environment")):
    lines = sorted(h.splitlines(True) + ["cpu.model name=Some brand\n"])
    c.execute("update environment set hard=? where env_id=?", ("".join(lines), i))
P
run search tiny.onnx -t host --db sold.db -o sold --price-for here.json
expect_status 0
cmp -s here/map.json sold/map.json || fail 'another plan'
expect_in out "of the plan exact, of $name"

# Compatible ones are those of another patch level.
cp a.db patch.db
edit patch.db <<'P'
for i, h in list(c.execute("select env_id,hard from environment")):
    h = "".join("libm_build=aa\n" if l.startswith("libm_build=") else l for l in h.splitlines(True))
    c.execute("update environment set hard=? where env_id=?", (h, i))
P
run search tiny.onnx -t host --db patch.db -o none --price-for here.json
expect_status 1
run search tiny.onnx -t host --db patch.db -o none --price-for here.json --accept compatible
expect_status 0
expect_in out "of the plan compatible, of $name"

# What is no environment.
echo '{"schema": "marq.env/2"}' >wrong.json
run search tiny.onnx -t host --db a.db -o none --price-for wrong.json
expect_status 3
run search tiny.onnx -t host --db a.db -o none --price-for absent
expect_status 2
expect_in err 'marq db envs'
run search tiny.onnx -t host --db a.db -o none --price-for here.json --threads=2
expect_status 2
expect_in err '--threads=1'
run search tiny.onnx -t host --db none -o none --price-for "$name"
expect_status 2
done_testing
