#include "search/check.h"
#include "search/clock.h"
#include "search/order.h"
#include "search/solve.h"
#include "search/sweep.h"

/* TUNING: widths of the first beam, whose cover bounds the exact sweep, and
 * labels (at some 150 bytes) that make up the default memory budget. */
#define BEAM_FIRST 8
#define BEAM_ALONE 64
#define LABEL_BYTES 150

static void
sweep_twice(struct search_result *out, const struct problem *p,
    const struct search_options *o, struct arena *a)
{
	uint64_t memory = o->memory_budget ? o->memory_budget : SEARCH_MEMORY;
	struct sweep_limits limits = {.upper = COST_NEVER,
	    .beam = o->beam ? o->beam : BEAM_FIRST,
	    .deadline = o->time_budget_ns ? clock_ns() + o->time_budget_ns : 0,
	    .stop = o->stop};
	struct search_result first;

	sweep_search(&first, p, &limits, a);
	*out = first;
	if (first.proven)
		return;
	limits.beam = 0;
	limits.max_labels = memory / LABEL_BYTES;
	if (first.found)
		limits.upper = first.cover.cost;
	sweep_search(out, p, &limits, a);
	out->labels += first.labels;
	if (!out->found && first.found) {
		out->found = true;
		out->cover = first.cover;
	}
	if (first.lower_bound > out->lower_bound)
		out->lower_bound = first.lower_bound;
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
		sweep_twice(out, p, o, a);
	else
		order_search(out, p, o, a);
	out->searcher = "exact";
	return !out->found || cover_check(&out->cover, p, a, err);
}
