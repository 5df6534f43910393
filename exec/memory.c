#include "exec/memory.h"

#include <stdlib.h>

#include "ir/base/size.h"
#include "ir/base/order.h"

/* What has its place. */
struct placed {
	size_t from, to; /* bytes of the pool */
	uint32_t first, last; /* steps */
};

static size_t
extent(const struct lifetime *l)
{
	return size_round_up(l->bytes + MEMORY_SLACK, 64);
}

/* The lowest gap of `bytes` between what is there while `me` is; sorted by place. */
static size_t
lowest_gap(
    const struct placed *p, uint32_t n, const struct lifetime *me, size_t bytes)
{
	size_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (p[i].first > me->last || me->first > p[i].last)
			continue;
		if (p[i].from >= at && p[i].from - at >= bytes)
			return at;
		if (p[i].to > at)
			at = p[i].to;
	}
	return at;
}

/* Keeps them sorted: what comes later lies mostly further up. */
static void
put(struct placed *p, uint32_t n, struct placed new)
{
	for (; n > 0 && p[n - 1].from > new.from; n--)
		p[n] = p[n - 1];
	p[n] = new;
}

size_t
memory_lay_out(struct lifetime *l, uint32_t n, struct arena *scratch)
{
	struct ranked *order = arena_new(scratch, struct ranked, n);
	struct placed *placed = arena_new(scratch, struct placed, n);
	size_t pool = 0;

	for (uint32_t i = 0; i < n; i++)
		order[i] = (struct ranked){l[i].bytes, i};
	qsort(order, n, sizeof *order, by_rank_down);
	for (uint32_t i = 0; i < n; i++) {
		struct lifetime *me = &l[order[i].id];
		size_t bytes = extent(me), end;

		me->offset = lowest_gap(placed, i, me, bytes);
		end = me->offset + bytes;
		put(placed, i,
		    (struct placed){me->offset, end, me->first, me->last});
		if (end > pool)
			pool = end;
	}
	return pool;
}
