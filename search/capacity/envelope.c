#include "search/capacity/envelope.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

/* x / of parts of a drop in cost, rounded down. x <= of <= 2 * HULL_UNITS_MAX, so
 * nothing overflows. */
static cost_ns
part(cost_ns drop, uint64_t x, uint64_t of)
{
	assert(of > 0 && x <= of && of <= 2 * ENVELOPE_UNITS_MAX);
	return drop / of * x + drop % of * x / of;
}

static int
by_units(const void *a, const void *b)
{
	const struct envelope_point *x = a, *y = b;

	if (x->units != y->units)
		return x->units < y->units ? -1 : 1;
	return x->cost < y->cost ? -1 : x->cost > y->cost;
}

/* Is b on or above the line from a to c? */
static bool
is_above(const struct envelope_point *a, const struct envelope_point *b,
    const struct envelope_point *c)
{
	return a->cost - b->cost <= part(
	           a->cost - c->cost, b->units - a->units, c->units - a->units);
}

/* Add a point to the right of the hull. */
static uint32_t
push(struct envelope_point *point, uint32_t n, struct envelope_point next)
{
	if (n > 0 && next.cost >= point[n - 1].cost)
		return n;
	while (n > 1 && is_above(&point[n - 2], &point[n - 1], &next))
		n--;
	point[n] = next;
	return n + 1;
}

/* Cut the hull off at the limit. The line to what is beyond stays: covers above it
 * may be within. Rounded down, or the line would be too high. */
static uint32_t
cut(struct envelope_point *point, uint32_t n, uint64_t limit)
{
	struct envelope_point end = {.units = limit};
	const struct envelope_point *last;
	cost_ns drop;

	if (n == 0 || point[n - 1].units <= limit)
		return n;
	while (n > 0 && point[n - 1].units > limit)
		n--;
	if (n == 0 || point[n - 1].units == limit)
		return n;
	last = &point[n - 1];
	drop = part(last->cost - point[n].cost, limit - last->units,
	    point[n].units - last->units);
	end.cost = last->cost - drop - 1;
	return push(point, n, end);
}

void
envelope_make(struct envelope *out, struct envelope_point *point, uint32_t n,
    uint64_t limit, struct arena *a)
{
	uint32_t kept = 0;

	if (n > 0)
		qsort(point, n, sizeof *point, by_units);
	for (uint32_t i = 0; i < n; i++)
		kept = push(point, kept, point[i]);
	out->n = cut(point, kept, limit);
	for (uint32_t i = 1; i < out->n; i++) {
		assert(point[i - 1].units < point[i].units);
		assert(point[i - 1].cost > point[i].cost);
	}
	assert(out->n == 0 || point[out->n - 1].units <= limit);
	out->point = arena_copy(a, point, out->n * sizeof *point);
}

cost_ns
envelope_at(const struct envelope *h, uint64_t units)
{
	uint32_t from = 0, to = h->n; /* the first corner beyond */
	const struct envelope_point *l, *r;

	while (from < to) {
		uint32_t mid = (from + to) / 2;

		if (h->point[mid].units <= units)
			from = mid + 1;
		else
			to = mid;
	}
	assert(to <= h->n);
	if (to == 0)
		return COST_NEVER;
	l = &h->point[to - 1];
	if (to == h->n)
		return l->cost;
	r = l + 1;
	return l->cost
	    - part(l->cost - r->cost, units - l->units, r->units - l->units);
}
