/* "region prices": what regions of a cover cost as units, which the search does not
 * know, until it proposes no region that is news. */
#include <assert.h>

#include "plan/evaluate.h"
#include "plan/propose.h"
#include "plan/regions.h"
#include "plan/trace.h"

/* May a region of it cost less than its parts? A tool's figures of single layers
 * include what is paid once a region. */
static bool
may_discount(const struct target *t)
{
	return t->kind->discounts
	    || (t->ask_ms > 0 && t->source == PRICE_EXTERNAL
	        && t->kind->launches);
}

bool
regions_may_discount(const struct mix *m)
{
	for (uint32_t t = 0; t < m->n; t++)
		if (may_discount(&m->target[t]))
			return true;
	return false;
}

static bool
learn(struct planner *pl, const struct cover *c)
{
	uint32_t before = pl->known.nmoved;
	bool news = knowledge_learn(&pl->known, c);

	trace_learn(pl->r->trace, "region prices", pl->known.nmoved - before,
	    pl->known.nmoved);
	return news;
}

/* Where regions may be cheaper than the sum of what is in them, the search sees
 * no reason to make large ones: offer those of a target alone. */
static bool
offer_discounts(struct planner *pl, bool *news, struct err *err)
{
	const struct mix *m = pl->r->mix;

	for (uint32_t t = 0; t < m->n; t++) {
		struct search_result r;

		if (!may_discount(&m->target[t]) || planner_is_late(pl))
			continue;
		if (!propose_single(pl, t, &r, err)
		    || (r.found && !evaluate_ask(pl, &r.cover, err)))
			return false;
		*news |= r.found && learn(pl, &r.cover);
	}
	return true;
}

/* TUNING: searches at most. Every one but the last has priced a region that was
 * not priced before, of which there are finitely many, but a great many. */
#define ROUNDS_MAX 16

/* The cover is priced and decided: here it becomes a plan. (O4) ROUNDS_MAX times. */
bool
ask_regions(
    struct planner *pl, struct proposal *p, enum verdict *v, struct err *err)
{
	struct node_visit *x = &pl->visit;
	bool improve = pl->mode == MODE_SEARCH, news;

	assert(p->best.found && x->rounds < ROUNDS_MAX);
	if (!evaluate_ask(pl, &p->best.cover, err))
		return false;
	if (x->rounds == 0) {
		x->searcher = p->best.searcher;
		x->proven = p->best.proven && pl->known.nmoved == 0;
	}
	evaluate_offer(pl, p);
	news = learn(pl, &p->best.cover);
	if (x->rounds == 0 && improve && !offer_discounts(pl, &news, err))
		return false;
	if (++x->rounds < ROUNDS_MAX && news && improve
	    && !planner_is_late(pl)) {
		effort_after(pl, true);
		*v = ORACLE_LEARNED;
	}
	return true;
}
