#!/bin/sh
# A search that ends early writes a plan that can be run: its cost counts no bound
# as a price, the bound is a figure of its own and not above it, and every price
# says what it rests on.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
targets='-t dnnl -t host'
"$MARQ" targets 2>/dev/null | grep -q '^dnnl  *ok' || targets='-t host'
run model make tiny -o tiny.onnx -q
expect_status 0

check() { # RESULT: words of what is wrong
	python3 - "$1" <<'P'
import json, sys
r = json.load(open(sys.argv[1]))
total, proof, plan = r['total'], r['proof'], r['plan']
bases = {'measured', 'simulated', 'external', 'estimated'}
parts = plan['composites'] + plan['conversions']
unpriced = [p for p in parts if p['price']['state'] == 'bound']
for p in parts:
    price = p['price']
    if price['basis'] not in bases:
        print('basis', price['basis'])
    if not price['low_ns'] <= price['ns'] <= price['high_ns']:
        print('range', price)
    if price['state'] == 'bound' and price['ns'] < price['bound_ns']:
        print('an estimate below its bound', price)
# Samples may agree to the clock's step, of tens of nanoseconds; not everywhere.
measured = [p['price'] for p in parts if p['price']['basis'] == 'measured'
            and p['price']['samples'] > 2 and p['price']['ns'] >= 1000]
one_sided = [p for p in measured if not p['low_ns'] < p['ns'] < p['high_ns']]
if len(one_sided) > len(measured) // 4:
    print('one-sided ranges:', len(one_sided), 'of', len(measured), one_sided)
if total['basis'] not in bases or total['unpriced'] != len(unpriced):
    print('total', total, len(unpriced))
if unpriced and (proof['proven'] or total['basis'] != 'estimated'):
    print('proven or measured with', len(unpriced), 'without a price')
if proof['lower_bound_ns'] > total['cost_ns']:
    print('bound above the plan', proof['lower_bound_ns'], total['cost_ns'])
want = 1 - proof['lower_bound_ns'] / total['cost_ns']
if abs(proof['gap'] - want) > 1e-6:
    print('gap', proof['gap'], 'is not', want)
for b in r['baselines']:
    if b['bound'] and b.get('basis', 'bound') != 'bound':
        print('baseline', b)
    if b['bound'] and unpriced and b['ratio'] is not None:
        print('a bound over estimates', b)
P
}

for limit in --max-measure=1 --max-measure=7 --max-measure=20 \
	--time-budget=200ms --time-budget=1s --no-measure; do
	rm -rf out.marq t.db
	run search tiny.onnx $targets --db t.db $limit -o out.marq
	expect_status 0
	! grep 'at least .* x[0-9]' out || grep -qE '^plan: .*(measured|simulated),' out ||
		fail "$limit: compares a bound with estimates"
	wrong=$(check out.marq/result.json)
	[ -z "$wrong" ] || fail "$limit: $wrong"
	run run out.marq --db t.db --no-measure --runs 1
	expect_status 0
	expect_in out 'matches the host reference'
done

# Nothing was measured: nothing says so.
run search tiny.onnx $targets --db none --no-measure -o estimated.marq
expect_status 0
expect_in out 'some of its prices are estimates'
expect_in estimated.marq/report.md '| estimated |'
expect_not_in estimated.marq/report.md '| measured |'
done_testing
