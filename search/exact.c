#include <string.h>

#include "search/check.h"
#include "search/clock.h"
#include "search/dual.h"
#include "search/order.h"
#include "search/solve.h"
#include "search/sweep.h"

/* TUNING: a narrow beam finds a first cover; where no node has more labels than
 * WIDTH_PLAIN the sweep needs no prices; else ROUNDS steps of the dual and a
 * wider beam guided by it come first. LABEL_BYTES turns a memory budget into
 * labels. */
#define BEAM_FIRST 8
#define BEAM_GUIDED 64
#define BEAM_ALONE 64
#define WIDTH_PLAIN 1200
#define ROUNDS 300
#define LABEL_BYTES 200

struct exact {
	const struct problem *p;
	struct sweep_limits limits;
	struct search_result *best;
	struct arena *arena; /* the covers' */
};

/* One sweep; keep what it finds and proves. */
static void
sweep(struct exact *x)
{
	struct search_result r;

	x->limits.upper = x->best->found ? x->best->cover.cost : COST_NEVER;
	sweep_search(&r, x->p, &x->limits, x->arena);
	x->best->labels += r.labels;
	if (r.found) {
		x->best->found = true;
		x->best->cover = r.cover;
	}
	if (r.lower_bound > x->best->lower_bound)
		x->best->lower_bound = r.lower_bound;
	if (r.proven
	    || (x->best->found
	        && x->best->lower_bound >= x->best->cover.cost)) {
		x->best->proven = true;
		x->best->lower_bound =
		    x->best->found ? x->best->cover.cost : COST_NEVER;
	}
}

static uint32_t
tracked_target(const struct problem *p)
{
	for (uint32_t t = 0; t < p->ntargets; t++)
		if (p->tracked[t])
			return t;
	return NO_LIMIT;
}

/* Wide graphs: prices first, then a guided beam, then the sweep they prune. */
static void
sweep_priced(struct exact *x, uint64_t max_labels)
{
	struct converter_memo memo;
	struct arena space;
	struct dual dual;

	arena_init(&space);
	convert_init(&memo, x->p, &space);
	if (dual_init(&dual, x->p, tracked_target(x->p), &memo, &space)) {
		dual_improve(
		    &dual, x->best->found ? x->best->cover.cost : 0, ROUNDS);
		x->limits.dual = &dual;
		x->limits.beam = BEAM_GUIDED;
		sweep(x);
	}
	x->limits.beam = 0;
	x->limits.max_width = 0;
	x->limits.max_labels = max_labels;
	if (!x->best->proven)
		sweep(x);
	x->limits.dual = NULL;
	arena_release(&space);
}

static void
sweep_all(struct search_result *out, const struct problem *p,
    const struct search_options *o, struct arena *a)
{
	uint64_t memory = o->memory_budget ? o->memory_budget : SEARCH_MEMORY;
	uint64_t max_labels = memory / LABEL_BYTES + 1;
	struct exact x = {.p = p, .best = out, .arena = a};

	*out = (struct search_result){.why = ""};
	x.limits.deadline =
	    o->time_budget_ns ? clock_ns() + o->time_budget_ns : 0;
	x.limits.stop = o->stop;
	x.limits.beam = o->beam ? o->beam : BEAM_FIRST;
	sweep(&x);
	x.limits.beam = 0;
	x.limits.max_labels = max_labels;
	x.limits.max_width = WIDTH_PLAIN;
	if (!out->proven)
		sweep(&x);
	if (!out->proven)
		sweep_priced(&x, max_labels);
	if (!out->proven)
		out->why = "the label or time budget ran out";
}

bool
search_beam(struct search_result *out, const struct problem *p,
    const struct search_options *o, struct arena *a, struct err *err)
{
	struct search_options narrow = *o;
	struct sweep_limits limits = {.upper = COST_NEVER,
	    .beam = o->beam ? o->beam : BEAM_ALONE,
	    .stop = o->stop};

	narrow.memory_budget = 1;
	narrow.beam = limits.beam;
	if (sweep_handles(p))
		sweep_search(out, p, &limits, a);
	else
		order_search(out, p, &narrow, a);
	out->searcher = "beam";
	return !out->found || cover_check(&out->cover, p, a, err);
}

bool
search_exact(struct search_result *out, const struct problem *p,
    const struct search_options *o, struct arena *a, struct err *err)
{
	if (sweep_handles(p))
		sweep_all(out, p, o, a);
	else
		order_search(out, p, o, a);
	out->searcher = "exact";
	return !out->found || cover_check(&out->cover, p, a, err);
}
