#include "targets/xnnpack/loops.h"

#include <stdbool.h>

#include "ir/base/float_mode.h"
#include "targets/lanes.h"

#define RANKS 6
#define TILED 2 /* dimensions, the last ones */

typedef void any_task(void);

struct shared_loop;
struct place;

/* What a loop was asked for. */
struct loop_call {
	/* so many items from a place on */
	void (*run)(const struct shared_loop *l, struct place *p, size_t n);
	any_task *task; /* called with what its form has */
	void *context;
	uint32_t uarch, flags, rank, tiled;
};

/* Its items are tiles, of 1 in dimensions that have none. */
struct shared_loop {
	const struct loop_call *call;
	size_t range[RANKS], tile[RANKS];
	struct lanes lanes;
};

/* Where an item begins, and how much of the tiled dimensions it has. */
struct place {
	size_t at[RANKS], count[TILED], lane;
};

/* ---- where items lie ---- */

static size_t
tiles_of(const struct shared_loop *l, uint32_t d)
{
	return l->range[d] / l->tile[d] + (l->range[d] % l->tile[d] != 0);
}

static void
find(const struct shared_loop *l, struct place *p, size_t item)
{
	for (uint32_t d = l->call->rank; d-- > 0;) {
		const size_t tiles = tiles_of(l, d);

		p->at[d] = item % tiles * l->tile[d];
		item /= tiles;
	}
}

/* Neighbours are found without dividing; a form knows its numbers of dimensions. */
static inline void
step(const struct shared_loop *l, struct place *p, uint32_t rank)
{
	for (uint32_t d = rank; d-- > 0;) {
		p->at[d] += l->tile[d];
		if (p->at[d] < l->range[d])
			return;
		p->at[d] = 0;
	}
}

static inline void
measure(
    const struct shared_loop *l, struct place *p, uint32_t rank, uint32_t tiled)
{
	for (uint32_t k = 0; k < tiled; k++) {
		const uint32_t d = rank - tiled + k;
		const size_t left = l->range[d] - p->at[d];

		p->count[k] = left < l->tile[d] ? left : l->tile[d];
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
	size_t first, n;

	while ((n = lanes_next(&l->lanes, lane, &first)) > 0) {
		find(l, &p, first);
		l->call->run(l, &p, n);
	}
	if (flush)
		float_mode_set(mode);
}

static void
run(const struct loop_call *c, const size_t *range, const size_t *tile)
{
	const uint32_t untiled = c->rank - c->tiled;
	struct shared_loop l;
	size_t items = 1;

	l.call = c;
	for (uint32_t d = 0; d < c->rank; d++) {
		l.range[d] = range[d];
		l.tile[d] = d < untiled ? 1 : tile[d - untiled];
		items *= tiles_of(&l, d);
	}
	lanes_run(&l.lanes, items, LANES_MOST, run_lane, &l);
}

/* ---- one function for each form ---- */

#define SAID_PLAIN
#define SAID_THREAD , p->lane
#define SAID_UARCH , c->uarch
#define SAID_UARCH_THREAD , c->uarch, p->lane
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
	    const struct shared_loop *l, struct place *p, size_t n) \
	{ \
		const struct loop_call *c = l->call; \
\
		for (; n > 0; n--, step(l, p, dims)) { \
			measure(l, p, dims, tiles); \
			((void(*) LOOP_TASK(lead, dims, tiles))c->task)( \
			    c->context SAID_##lead AT_##dims COUNTS_##tiles); \
		} \
	} \
	WEAK LOOP_DECLARED(form, lead, dims, tiles) \
	{ \
		const struct loop_call c = {run_##form, (any_task *)task, \
		    context, CORE_##lead, flags, dims, tiles}; \
\
		(void)pool; \
		run(&c, (const size_t[]){RANGE_##dims}, \
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
