#!/bin/sh
# Searches that run together on one database share the measuring: nothing is measured
# by two of them, short looks included.
set -u
. "$MARQ_SOURCE/tests/cli/lib.sh"
command='searches together'
"$MARQ" model make tiny -o tiny.onnx -q
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	"$MARQ" search tiny.onnx -t host --db prices.db --no-confirm -o none -q 2>err$i ||
		echo "search $i: $(cat err$i)" >>failed &
done
wait
[ ! -e failed ] || fail "$(cat failed)"
python3 - <<'P' || fail 'see above'
import sqlite3, sys
rows = sqlite3.connect("prices.db").execute(
    "SELECT hard, summary, count(*) AS times FROM measurement JOIN environment USING (env_id) JOIN subject USING (subject_id)"
    " GROUP BY env_id, subject_id ORDER BY times DESC").fetchall()
looks = [times for hard, _, times in rows if "cost=glance" in hard]
prices = [times for hard, _, times in rows if "cost=measured" in hard]
print(f"looks: {len(looks)} subjects, at most {max(looks)} times; prices: {len(prices)}, at most {max(prices)} times")
# A look is taken twice at most, by whomever.
sys.exit(max(looks) > 2 or max(prices) > 1)
P
done_testing
