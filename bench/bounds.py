#!/usr/bin/env python3
"""How often bounds made from probes are above the price that was measured later.

usage: bounds.py DATABASE

Looks at what has a price and was probed, in the order of prices; the shares are those
of costmodel/bounds.c and drift.c. To fill a database with both: a search, which probes, then the
same with --eager-pricing, which prices all.
"""
import collections
import sqlite3
import sys

ONE, TWO, SLACK = 0.45, 0.6, 1000  # BOUND_ONE, BOUND_TWO, PROBE_SLACK_NS
LAST, LEAST, LOWEST, MARGIN, MOST = 32, 16, 16, 0.85, 0.85  # drift.c
GUESS_ONE, GUESS_TWO = 0.85, 0.98


def read(path):
    """[(price, probes)] in ns, of what has both."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    facts = dict(db.execute("select env_id, hard from environment"))
    kind = {
        env: next(
            (f[5:] for f in hard.split("\n") if f.startswith("cost=")), ""
        )
        for env, hard in facts.items()
    }
    price, probe = {}, collections.defaultdict(list)
    for subject, env, outcome, low in db.execute(
        "select subject_id, env_id, outcome, low_ns from measurement"
        " where outcome in ('ok', 'noisy') and retired = 0"
        " order by measurement_id"
    ):
        if kind[env] == "glance":
            probe[subject].append((low, low if outcome == "ok" else low / 2))
        elif kind[env] == "measured":
            price.setdefault(subject, low)
    return [(price[s], probe[s]) for s in price if s in probe]


def shares(pairs):
    """What two equal probes are bounded by, before each price."""
    ratios = []
    for price, probes in pairs:
        last = sorted(ratios[-LAST:])
        yield (
            min(max(MARGIN * last[len(last) // LOWEST], TWO), MOST)
            if len(last) >= LEAST
            else TWO
        )
        ratios.append(price / min(p for _, p in probes))


def bound(probes, share):
    least = min(p for _, p in probes)
    spread = max(p for p, _ in probes) / least - 1
    part = 1 / (1 + spread) if len(probes) > 1 else ONE / TWO
    return least * part * share - SLACK


def guess(probes, _):
    return min(p for _, p in probes) * (
        GUESS_TWO if len(probes) > 1 else GUESS_ONE
    )


pairs = read(sys.argv[1])
for name, f in (("bounds", bound), ("guesses", guess)):
    above = sum(
        price < f(probes, share)
        for (price, probes), share in zip(pairs, shares(pairs))
    )
    print(
        f"{name}: {above} of {len(pairs)} above the price,"
        f" {100 * above / max(len(pairs), 1):.2f} %"
    )
