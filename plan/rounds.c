/* Around the search: what it does not know of regions, until it proposes nothing
 * that is news and something that fits. */
#include "plan/quest.h"
#include "plan/trace.h"
#include "search/budget.h"

/* May a region of it cost less than its parts? A tool's figures of single layers
 * include what is paid once a region. */
static bool
may_discount(const struct target *t)
{
	return t->kind->discounts
	    || (t->ask_ms > 0 && t->source == PRICE_EXTERNAL
	        && t->kind->launches);
}

static void
learn_regions(struct quest *q, const struct cover *c, bool *news)
{
	uint32_t before = q->wholes.nmoved;

	wholes_cost(&q->wholes, c, news);
	trace_learn(q->r->trace, "region prices", q->wholes.nmoved - before,
	    q->wholes.nmoved);
}

/* Where regions may be cheaper than the sum of what is in them, the search sees
 * no reason to make large ones: offer those of a target alone. */
static bool
offer_discounts(struct quest *q, bool *news, struct err *err)
{
	const struct mix *m = q->r->mix;

	for (uint32_t t = 0; t < m->n; t++) {
		const uint32_t allowed[2] = {t, quest_fallback(m, t)};
		struct search_options o = search_turn(&q->r->search);
		struct search_result r;
		bool more = false;

		if (!may_discount(&m->target[t]) || quest_is_late(q))
			continue;
		if (!search_single(&r, &q->problem, allowed, &o, q->arena, err))
			return false;
		trace_solve(q->r->trace, "discount", &r);
		if (r.found)
			quest_group(q, &r.cover);
		if (r.found && !quest_ask_regions(q, &r.cover, err))
			return false;
		if (r.found)
			learn_regions(q, &r.cover, &more);
		*news |= more;
	}
	return true;
}

bool
quest_has_discounts(const struct mix *m)
{
	for (uint32_t t = 0; t < m->n; t++)
		if (may_discount(&m->target[t]))
			return true;
	return false;
}

/* TUNING: searches at most. Every one but the last has priced a region that was
 * not priced before, of which there are finitely many, but a great many. */
#define ROUNDS_MAX 16

/* Weigh the best cover of a round: its plan is the best so far when it is cheaper
 * than one that fits as well. *news: a region's price as a whole was news. */
static bool
weigh_round(struct quest *q, struct search_result *best, bool *fits, bool *news,
    struct err *err)
{
	struct device_use overflow;
	struct plan plan;
	bool is_fit;

	if (!quest_ask_regions(q, &q->best.cover, err))
		return false;
	if (q->rounds > 0) /* prices may have moved since */
		quest_weigh(q, &best->cover, &q->plan);
	overflow = q->overflow;
	is_fit = quest_weigh(q, &q->best.cover, &plan);
	trace_offer(q->r->trace, &plan, is_fit);
	learn_regions(q, &q->best.cover, news);
	if (q->rounds > 0
	    && (is_fit < *fits
	        || (is_fit == *fits && plan.cost >= q->plan.cost))) {
		q->overflow = overflow;
		return true;
	}
	*fits = is_fit;
	best->cover = q->best.cover;
	q->plan = plan;
	return true;
}

bool
quest_search_regions(struct quest *q, bool *fits, struct err *err)
{
	struct search_result best;
	uint64_t fell;
	bool news, discounts = quest_has_discounts(q->r->mix);
	/* what was learned of regions is a guess, and forbids some */
	const bool relaxed = q->wholes.nmoved == 0;

	*fits = false;
	if (!quest_decide(q, err))
		return false;
	if (q->overfull)
		return true;
	best = q->best;
	fell = q->bound_fell;
	q->rounds = 0;
	if (!weigh_round(q, &best, fits, &news, err))
		return false;
	if (quest_may_improve(q) && discounts
	    && !offer_discounts(q, &news, err))
		return false;
	for (q->rounds = 1; news && quest_may_improve(q)
	     && q->rounds < ROUNDS_MAX && !quest_is_late(q);
	     q->rounds++) {
		if (!quest_search(q, err)) {
			if (err->kind != ERR_NO_COVER)
				return false;
			/* with what tools refuse taken out nothing is left:
			 * the best of the rounds before */
			err_clear(err);
			break;
		}
		if (q->overfull)
			break;
		if (!weigh_round(q, &best, fits, &news, err))
			return false;
	}
	q->best = best;
	q->bound_fell = fell;
	if (discounts || !relaxed || q->plan.cost < best.lower_bound) {
		q->best.lower_bound = 0; /* sums of parts bound nothing */
		q->best.proven = false;
	}
	return true;
}
