/* What the files of the pricing loop share: a search under way. */
#ifndef PLAN_QUEST_H
#define PLAN_QUEST_H

#include "plan/slices.h"
#include "plan/search.h"
#include "plan/wholes.h"

struct quest {
	const struct plan_request *r;
	struct arena *arena;
	struct problem problem;
	/* Its limits as they were asked for: slices and plans that do not fit
	 * lower them for a time. */
	const struct problem_target *asked; /* [mix->n] */
	struct search_result best;
	/* How often prices fell. A bound is proven at prices that had fallen so
	 * often, and worth nothing once they have again (quest_bound()). */
	uint64_t fell, bound_fell;
	uint64_t epoch; /* prices were taken over so often */
	struct wholes wholes; /* what is known of whole regions */
	uint32_t rounds; /* searches until no region's price moved */
	struct plan plan; /* of its cover, at its true cost */
	struct device_use overflow; /* of the last cover that did not fit; its
				     * kind is NULL when all did */
	const struct plan_baseline *baseline;
	uint32_t nbaselines;
	struct plan_tie *tie; /* [nties] near ties, compared; chosen: `a` */
	uint32_t nties, tie_cap;
	uint32_t *ask; /* [candidates->n] to be priced */
	uint32_t nask;
	struct pricer_conversion *convert; /* [nconvert] to be priced as well */
	uint32_t nconvert, convert_cap;
	bool *doubted; /* [candidates->n] worth a price as a rival */
	uint32_t ndoubted;
	const struct slices *slices; /* NULL: a cover may keep any amount */
	/* The best cover keeps too much for what it needs to run: it is neither
	 * priced nor proven. */
	bool overfull;
	bool at_least; /* plans count bounds, not estimates: plan.h */
	bool quick; /* a proof is not worth much memory yet */
};

/* Memory for labels of a search that need not prove anything. */
uint64_t quest_quick_bytes(const struct quest *q);

/* The time is over, or the user wants what there is: no search may begin that an
 * answer can do without. */
bool quest_is_late(const struct quest *q);

/* Take over prices that changed. */
void quest_reprice(struct quest *q);

/* Are the problem's limits those that were asked for? Bounds of the answer and
 * baselines are taken from no other. */
bool quest_is_asked(const struct quest *q);

/* What no plan costs less than: the bound of q->best, unless prices fell since. */
cost_ns quest_bound(const struct quest *q);

/* The bound anew: of the question's own problem, at the prices there are. */
bool quest_rebound(struct quest *q, struct err *err);

/* Regions of a cover that was just found as its targets group them. */
void quest_group(struct quest *q, struct cover *cover);

/* List the candidates, one of each key, and conversions of a cover that have no
 * price yet. */
void quest_list_unpriced(struct quest *q, const struct cover *cover);

/* List all conversions there are that have no price yet. */
void quest_list_conversions(struct quest *q);

/* Price what is listed; *moved: did any of it get a price? */
bool quest_price_listed(struct quest *q, bool *moved, struct err *err);

/* The same without probes first and whatever lies next to what. */
bool quest_price_all_listed(struct quest *q, bool *moved, struct err *err);

/* Solve and price until the cheapest cover is priced, fill q->best. */
bool quest_search(struct quest *q, struct err *err);

/* Could b stand in a's place with nothing else changed? */
bool quest_is_rival(const struct quest *q, uint32_t a, uint32_t b);

/* How far from the price of a chosen candidate a rival's may be and still be
 * doubted; 0: where not much of the cover's cost hangs on it. */
uint64_t quest_doubt(const struct cover *c, const struct price *chosen);

/* Price rivals of a cover's dearest choices that were only probed and seemed
 * near; *moved: more is known of some. */
bool quest_price_rivals(
    struct quest *q, const struct cover *c, bool *moved, struct err *err);

/* The same, then near ties of the best cover: choices between candidates that
 * could stand for each other (same nodes, same ports) and whose prices are
 * closer than their noise. Each is measured again in turn with the chosen one;
 * what stays within a per cent is tied, and then fewer boundaries win. */
bool quest_decide(struct quest *q, struct err *err);

/* The same, and around it: price the regions of the cover as wholes, tell the
 * search, and repeat until it proposes nothing that is not known. The best of all
 * rounds, at its cost as it would be emitted, is q->plan; *fits: it fits its
 * devices. When q->overfull is set there is none. */
bool quest_search_regions(struct quest *q, bool *fits, struct err *err);

/* May regions of some target cost less than their parts? Then sums of parts
 * bound nothing. */
bool quest_has_discounts(const struct mix *m);

/* The same around it, until regions fit their devices. */
bool quest_search_fitting(struct quest *q, struct err *err);

/* The plan of a cover. True when it fits its devices, else
 * q->overflow says why not. */
bool quest_weigh(struct quest *q, const struct cover *cover, struct plan *out);

/* Have tools say what the regions of a cover cost, where their targets' prices
 * are a tool's: before it is weighed. */
bool quest_ask_regions(
    struct quest *q, const struct cover *cover, struct err *err);

/* Every plan that was found has a region that a tool refuses. Always false. */
bool quest_explain_refused(const struct quest *q, struct err *err);

/* No cover: the error that says why. Always false. */
bool quest_explain_none(struct quest *q, struct err *err);

/* The target that can run anything: what a single target falls back to. */
uint32_t quest_fallback(const struct mix *m, uint32_t target);

/* What the plan is compared with; takes a baseline's cover over when a search
 * that was cut short found nothing as cheap. */
bool quest_baselines(struct quest *q, struct err *err);

/* Is the plan the answer of a search that may change it? A searcher asked for
 * by name, and a replay, answer for themselves. */
bool quest_may_improve(const struct quest *q);

#endif
