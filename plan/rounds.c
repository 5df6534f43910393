/* Around the search: what it does not know of regions, until it proposes nothing
 * that is news and something that fits. */
#include "plan/quest.h"

/* Where regions may be cheaper than the sum of what is in them, the search sees
 * no reason to make large ones: offer those of a target alone. */
static bool
offer_discounts(struct quest *q, bool *news, struct err *err)
{
	const struct mix *m = q->r->mix;

	for (uint32_t t = 0; t < m->n; t++) {
		const uint32_t allowed[2] = {t, quest_fallback(m, t)};
		struct search_result r;
		bool more = false;

		if (!m->target[t].kind->discounts)
			continue;
		if (!search_single(
		        &r, &q->problem, allowed, &q->r->search, q->arena, err))
			return false;
		if (r.found)
			wholes_cost(&q->wholes, &r.cover, &more);
		*news |= more;
	}
	return true;
}

static bool
has_discounts(const struct mix *m)
{
	for (uint32_t t = 0; t < m->n; t++)
		if (m->target[t].kind->discounts)
			return true;
	return false;
}

/* TUNING: searches at most. Every one but the last has priced a region that was
 * not priced before, of which there are finitely many, but a great many. */
#define ROUNDS_MAX 16

/* Weigh the best cover of a round: its plan is the best so far when it is cheaper
 * than one that fits as well. *news: a region's price as a whole was news. */
static void
weigh_round(struct quest *q, struct search_result *best, bool *fits, bool *news)
{
	struct device_use overflow = q->overflow;
	struct plan plan;
	bool is_fit = quest_weigh(q, &q->best.cover, &plan);

	wholes_cost(&q->wholes, &q->best.cover, news);
	if (q->rounds > 0
	    && (is_fit < *fits
	        || (is_fit == *fits && plan.cost >= q->plan.cost))) {
		q->overflow = overflow;
		return;
	}
	*fits = is_fit;
	best->cover = q->best.cover;
	q->plan = plan;
}

/* The loop of prices, and around it: price the regions of the cover as wholes,
 * tell the search, and repeat until it proposes nothing that is not known. The
 * best of all rounds, at its cost as it would be emitted, is taken; *fits: it
 * fits its devices. */
static bool
search_regions(struct quest *q, bool *fits, struct err *err)
{
	struct search_result best;
	bool news, discounts = has_discounts(q->r->mix);

	if (!quest_decide(q, err))
		return false;
	best = q->best;
	q->rounds = 0;
	weigh_round(q, &best, fits, &news);
	if (quest_may_improve(q) && discounts
	    && !offer_discounts(q, &news, err))
		return false;
	for (q->rounds = 1;
	     news && quest_may_improve(q) && q->rounds < ROUNDS_MAX;
	     q->rounds++) {
		if (!quest_search(q, err))
			return false;
		weigh_round(q, &best, fits, &news);
	}
	q->best = best;
	if (discounts || q->plan.cost < best.lower_bound) {
		q->best.lower_bound = 0; /* sums of parts bound nothing */
		q->best.proven = false;
	}
	return true;
}

/* The search knows a lower bound of what regions take of a device. A cover that
 * does not fit is searched again with the capacity lowered by what was too much:
 * the next one fits or the capacity falls further. The bound stays that of the
 * first search, which every plan that fits costs at least. */
bool
quest_search_fitting(struct quest *q, struct err *err)
{
	cost_ns bound;
	bool fits;

	if (!search_regions(q, &fits, err))
		return false;
	bound = q->best.lower_bound;
	while (!fits) {
		if (!problem_tighten(&q->problem, &q->plan, &q->overflow))
			return quest_explain_none(q, err);
		problem_reindex(&q->problem, q->arena);
		if (!search_regions(q, &fits, err))
			return false;
	}
	q->best.lower_bound = bound;
	return true;
}
