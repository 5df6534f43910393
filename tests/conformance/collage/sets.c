#include "tests/conformance/collage/sets.h"

set
set_outputs(const struct dag *d, set s)
{
	set all = 0;

	for (uint32_t i = 0; i < d->n; i++)
		if (s & bit(i))
			all |= d->out[i];
	return all & ~s;
}

/* Everything reachable from `from` without passing through `around`. */
static set
reachable(const struct dag *d, set from, set around)
{
	set seen = from & ~around, before = 0;

	while (seen != before) {
		before = seen;
		seen |= set_outputs(d, seen) & ~around;
	}
	return seen;
}

set
set_entries(const struct dag *d, set s)
{
	set all = 0;

	for (uint32_t i = 0; i < d->n; i++)
		if (s & bit(i) && (d->reads[i] || d->in[i] & ~s || !d->in[i]))
			all |= bit(i);
	return all;
}

bool
set_is_convex(const struct dag *d, set s)
{
	return (set_outputs(d, reachable(d, set_outputs(d, s), s)) & s) == 0;
}

set
set_exits(const struct dag *d, set s)
{
	set all = s & d->asked;

	for (uint32_t i = 0; i < d->n; i++)
		if (s & bit(i) && d->out[i] & ~s)
			all |= bit(i);
	return all;
}

static bool
has_tap(const struct dag *d, set s)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (set_exits(d, s) & bit(i) && d->out[i] & s)
			return true;
	return false;
}

/* Longest path inside, in operators; structural nodes do not count. */
uint32_t
set_depth(const struct dag *d, set s)
{
	uint32_t deepest = 0, of[NODES_MAX] = {0};

	for (uint32_t i = 0; i < d->n; i++) {
		if (!(s & bit(i)))
			continue;
		for (uint32_t k = 0; k < d->n; k++)
			if (d->in[i] & s & bit(k) && of[k] > of[i])
				of[i] = of[k];
		of[i] += !((d->structural | d->constants) & bit(i));
		if (of[i] > deepest)
			deepest = of[i];
	}
	return deepest;
}

enum kind
set_kind(const struct dag *d, set s)
{
	enum kind most = ELEMWISE;

	for (uint32_t i = 0; i < d->n; i++)
		if (s & bit(i) && d->kind[i] > most)
			most = d->kind[i];
	return most;
}

bool
set_is_valid(const struct dag *d, set s, const struct limits *l)
{
	return (l->max_exits == 0 || size(set_exits(d, s)) <= l->max_exits)
	    && (l->max_depth == 0 || set_depth(d, s) <= l->max_depth)
	    && (l->taps || !has_tap(d, s)) && set_is_convex(d, s);
}

/* Disjoint, `up` feeds `down`, and no path between them leaves both. */
bool
sets_are_touching(const struct dag *d, set up, set down)
{
	set outside = (set_outputs(d, up) | set_outputs(d, down)) & ~up & ~down;

	return (up & down) == 0 && set_outputs(d, up) & set_entries(d, down)
	    && (set_outputs(d, reachable(d, outside, up | down)) & (up | down))
	    == 0;
}

void
sets_add(struct sets *s, set x)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->of[i] == x)
			return;
	if (s->n < SETS_MAX)
		s->of[s->n++] = x;
}

void
sets_filter(const struct dag *d, struct sets *s, const struct limits *l)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->n; i++)
		if (set_is_valid(d, s->of[i], l))
			s->of[kept++] = s->of[i];
	s->n = kept;
}
