#include "targets/xnnpack/loops.h"

#include <stdbool.h>

#include "ir/base/float_mode.h"
#include "targets/lanes.h"

#define RANKS 6
#define TILED 2 /* dimensions, the last ones */

typedef void any_task(void);

struct place;

/* What a loop was asked for. */
struct loop_call {
	void (*run)(const struct loop_call *a, const struct place *p);
	any_task *task; /* called with what its form has */
	void *context;
	uint32_t uarch, flags, rank, tiled;
};

/* Its items are tiles, of 1 in dimensions that have none. */
struct shared_loop {
	const struct loop_call *call;
	size_t range[RANKS], tile[RANKS], tiles[RANKS];
	struct lanes lanes;
};

/* Where an item begins, and how much of the tiled dimensions it has. */
struct place {
	size_t item, tile[RANKS];
	size_t at[RANKS], count[TILED], lane;
};

/* ---- where items lie ---- */

static void
find(const struct shared_loop *l, struct place *p, size_t item)
{
	size_t rest = item;

	for (uint32_t d = l->call->rank; d-- > 0; rest /= l->tiles[d])
		p->tile[d] = rest % l->tiles[d];
}

/* Neighbours are found without dividing. */
static void
step(const struct shared_loop *l, struct place *p)
{
	for (uint32_t d = l->call->rank; d-- > 0;) {
		if (++p->tile[d] < l->tiles[d])
			return;
		p->tile[d] = 0;
	}
}

static void
go_to(const struct shared_loop *l, struct place *p, size_t item)
{
	const uint32_t rank = l->call->rank, untiled = rank - l->call->tiled;

	if (item == p->item + 1)
		step(l, p);
	else
		find(l, p, item);
	p->item = item;
	for (uint32_t d = 0; d < rank; d++)
		p->at[d] = p->tile[d] * l->tile[d];
	for (uint32_t d = untiled; d < rank; d++) {
		const size_t left = l->range[d] - p->at[d];

		p->count[d - untiled] = left < l->tile[d] ? left : l->tile[d];
	}
}

/* ---- running ---- */

static void
run_lane(void *of, uint32_t lane)
{
	struct shared_loop *l = of;
	const bool flush = l->call->flags & PTHREADPOOL_FLAG_DISABLE_DENORMALS;
	const uint32_t mode = flush ? float_denormals_off() : 0;
	struct place p = {.lane = lane};
	size_t item;

	while (lanes_next(&l->lanes, lane, &item)) {
		go_to(l, &p, item);
		l->call->run(l->call, &p);
	}
	if (flush)
		float_mode_set(mode);
}

static void
run(const struct loop_call *a, const size_t *range, const size_t *tile)
{
	const uint32_t untiled = a->rank - a->tiled;
	struct shared_loop l;
	size_t items = 1;

	l.call = a;
	for (uint32_t d = 0; d < a->rank; d++) {
		l.range[d] = range[d];
		l.tile[d] = d < untiled ? 1 : tile[d - untiled];
		l.tiles[d] = range[d] / l.tile[d] + (range[d] % l.tile[d] != 0);
		items *= l.tiles[d];
	}
	lanes_run(&l.lanes, items, LANES_MOST, run_lane, &l);
}

/* ---- one function for each form ---- */

#define SAID_PLAIN
#define SAID_THREAD , p->lane
#define SAID_UARCH , a->uarch
#define SAID_UARCH_THREAD , a->uarch, p->lane
#define AT_1 , p->at[0]
#define AT_2 AT_1, p->at[1]
#define AT_3 AT_2, p->at[2]
#define AT_4 AT_3, p->at[3]
#define AT_5 AT_4, p->at[4]
#define AT_6 AT_5, p->at[5]
#define COUNTS_0
#define COUNTS_1 , p->count[0]
#define COUNTS_2 COUNTS_1, p->count[1]
#define RANGE_1 i
#define RANGE_2 RANGE_1, j
#define RANGE_3 RANGE_2, k
#define RANGE_4 RANGE_3, l
#define RANGE_5 RANGE_4, m
#define RANGE_6 RANGE_5, n
#define TILE_0 1
#define TILE_1 tile_a
#define TILE_2 tile_a, tile_b
/* All cores of one kind are the default's: its number only says which of a library's
 * kernels is the fastest. */
#define CORE_PLAIN 0
#define CORE_THREAD 0
#define CORE_UARCH ((void)last_uarch, uarch)
#define CORE_UARCH_THREAD CORE_UARCH

/* Weak, so that a static pthreadpool which is linked for the sake of a loop that we
 * have not may have its own of all. */
#ifdef __GNUC__
#define WEAK __attribute__((weak))
#else
#define WEAK
#endif

#define LOOP(form, lead, dims, tiles) \
	static void run_##form( \
	    const struct loop_call *a, const struct place *p) \
	{ \
		((void(*) LOOP_TASK(lead, dims, tiles))a->task)( \
		    a->context SAID_##lead AT_##dims COUNTS_##tiles); \
	} \
	WEAK LOOP_DECLARED(form, lead, dims, tiles) \
	{ \
		const struct loop_call a = {run_##form, (any_task *)task, \
		    context, CORE_##lead, flags, dims, tiles}; \
\
		(void)pool; \
		run(&a, (const size_t[]){RANGE_##dims}, \
		    (const size_t[]){TILE_##tiles}); \
	}
#include "targets/xnnpack/loops.def"
#undef LOOP

WEAK size_t
pthreadpool_get_threads_count(pthreadpool_t pool)
{
	(void)pool;
	return lanes_for(SIZE_MAX, LANES_MOST);
}

pthreadpool_t
loops_pool(void)
{
	return NULL;
}
