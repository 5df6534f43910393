#include "exec/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/size.h"
#include "ir/base/order.h"

struct pool_range {
	size_t from, to; /* bytes of the pool */
};

static int
by_offset(const void *a, const void *b)
{
	const struct pool_range *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

static bool
overlaps(const struct lifetime *a, const struct lifetime *b)
{
	return a->first <= b->last && b->first <= a->last;
}

static size_t
extent(const struct lifetime *l)
{
	return size_round_up(l->bytes + MEMORY_SLACK, 64);
}

/* The lowest gap of `bytes` between sorted places. */
static size_t
lowest_gap(const struct pool_range *p, uint32_t n, size_t bytes)
{
	size_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (p[i].from >= at && p[i].from - at >= bytes)
			return at;
		if (p[i].to > at)
			at = p[i].to;
	}
	return at;
}

size_t
memory_lay_out(struct lifetime *l, uint32_t n, struct arena *scratch)
{
	struct ranked *order = arena_new(scratch, struct ranked, n);
	struct pool_range *taken = arena_new(scratch, struct pool_range, n);
	size_t pool = 0;

	for (uint32_t i = 0; i < n; i++)
		order[i] = (struct ranked){l[i].bytes, i};
	qsort(order, n, sizeof *order, by_rank_down);
	for (uint32_t i = 0; i < n; i++) {
		struct lifetime *me = &l[order[i].id];
		uint32_t ntaken = 0;

		for (uint32_t k = 0; k < i; k++) {
			const struct lifetime *other = &l[order[k].id];

			if (overlaps(me, other))
				taken[ntaken++] =
				    (struct pool_range){other->offset,
				        other->offset + extent(other)};
		}
		qsort(taken, ntaken, sizeof *taken, by_offset);
		me->offset = lowest_gap(taken, ntaken, extent(me));
		if (me->offset + extent(me) > pool)
			pool = me->offset + extent(me);
	}
	return pool;
}
