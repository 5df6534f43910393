/* The plan: a cover put back onto the graph. Composites in execution order,
 * conversions where they are paid, regions, and what was proven about it. */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/price.h"
#include "ir/graph.h"
#include "plan/objective.h"
#include "targets/candidates.h"
#include "targets/target.h"

/* A chosen candidate: one backend layer. */
struct plan_composite {
	uint32_t candidate; /* index into candidates */
	uint32_t region;
	cost_ns cost; /* its price; its share where a region has one */
};

/* Making a value available in another format; paid once per (value, to), and where
 * that format is not in host memory, by each region that reads it so. */
struct plan_conversion {
	value_id value;
	format_id from, to;
	cost_ns cost;
	uint32_t before; /* composite (position in plan->composite) that first
			  * needs it; == ncomposites: a graph output does */
};

/* Consecutive composites of one target, run by one invocation. */
struct plan_region {
	uint32_t target;
	uint32_t first, ncomposites; /* positions in plan->composite */
	uint32_t ninputs, noutputs;
	const struct port *input; /* by value id */
	const struct port *output; /* used outside or asked for; by value id */
	cost_ns launch; /* 0 for targets that do not launch */
	cost_ns cost; /* of the composites, as one */
};

struct plan;

/* A region whose price as a whole was not that of its composites one by one. */
struct plan_move {
	uint32_t target;
	node_id node; /* the lowest of its first composite */
	uint32_t ncomposites, nnodes;
	cost_ns parts, whole;
};

/* What another searcher's cover would cost, all paid. */
struct plan_baseline {
	const char *name; /* "dnnl + host", "eager", ... */
	cost_ns cost; /* COST_NEVER: has no cover */
	bool bound; /* a lower bound: of prices, or of a cover that does not fit
		     * its device */
	const struct plan *plan; /* NULL: not kept */
};

/* Two candidates for one place whose prices were closer than their noise,
 * measured again in turn. */
struct plan_tie {
	uint32_t a, b; /* candidates */
	uint64_t low, high; /* b takes this much per a, millionths: quartiles */
	bool tied; /* neither is faster by a per cent */
};

struct plan {
	/* What has no price yet counts with its lower bound; else with an
	 * estimate. */
	bool at_least;
	const struct graph *graph;
	const struct mix *mix;
	const struct candidates *candidates;
	const struct prices *prices;
	uint32_t ncomposites, nconversions, nregions, nbaselines, nties;
	const struct plan_composite *composite; /* execution order */
	const struct plan_conversion *conversion; /* in the order paid */
	const struct plan_region *region; /* execution order */
	const struct plan_baseline *baseline;
	const struct plan_tie *tie; /* near ties on the way to this plan */
	cost_ns cost; /* all paid: composites + conversions + launches */
	cost_ns lower_bound; /* no legal plan costs less at these prices */
	uint32_t rounds; /* searches until no region's price moved */
	uint32_t nmoved;
	const struct plan_move *moved; /* of all rounds, in order */
	bool proven; /* cost == lower_bound */
	bool among; /* of the regions that were offered only: others may cost
		     * less than what they are made of */
	const char *searcher;
	const uint32_t *composite_of; /* [nnodes] position in composite */
};

struct cover;

/* What runs a composite. */
static inline const struct candidate *
plan_candidate(const struct plan *p, uint32_t composite)
{
	return &p->candidates->candidate[p->composite[composite].candidate];
}

/* What a plan pays where it pays this price. */
static inline cost_ns
plan_pays(const struct plan *p, const struct price *price)
{
	return p->at_least ? price_least(price) : price_expected(price);
}

/* The regions what is proven of it is proven among; 0: all there could be. */
uint32_t plan_among(const struct plan *p);

/* What a part of a plan costs: the objective at what its price counts as there. */
cost_ns plan_candidate_cost(const struct plan *p, uint32_t candidate);
cost_ns plan_conversion_cost(
    const struct plan *p, const struct plan_conversion *c);
cost_ns plan_launch_cost(const struct plan *p, uint32_t target);

/* The sums of the objective's terms; added up they are the plan's cost. */
struct plan_sums {
	cost_ns ns[NTERMS];
};

struct plan_sums plan_sums_of(const struct plan *p);

/* The cost of a baseline over that of the plan; false where that would say
 * nothing: no such plan, or a bound of it against estimates. */
bool plan_ratio(
    double *ratio, const struct plan *p, const struct plan_baseline *b);

/* How many composites and conversions of a plan have no price. */
uint32_t plan_unpriced(const struct plan *p);

/* How many composites are of sizes, branches or steps that only a run tells, and
 * no measurement says what they take: the plan costs at least its cost. */
uint32_t plan_unsized(const struct plan *p);

/* The target that causes a conversion: whose own memory is at one of its ends, else
 * the reader; of what goes to the caller, the producer. */
uint32_t plan_payer(const struct plan *p, const struct plan_conversion *c);

/* What its cost rests on, as the weakest of its prices does: price_basis(). */
const char *plan_basis(const struct plan *p);

/* The same of what runs on one target; "" where nothing does. */
const char *plan_target_basis(const struct plan *p, uint32_t target);

/* A region of the plan as its target is asked about it; its number is 0. */
struct region plan_region_of(
    const struct plan *p, uint32_t region, struct arena *a);

/* What n candidates of one target cost as one region, in that order; false: what
 * they cost one by one, but for rounding. Of `p` only graph, mix, candidates and prices
 * count. */
bool plan_region_cost(
    const struct plan *p, const uint32_t *candidate, uint32_t n, cost_ns *out);

/* The candidates [<= c->nsteps] of the region of a cover that begins at a step; how
 * many. */
uint32_t cover_region(
    const struct cover *c, uint32_t from, uint32_t *candidate);

/* The plan of a cover whose candidate, node, value and format ids are the
 * graph's: regions with their boundary and their price as units, conversions,
 * costs. Sets everything but nbaselines, baseline, lower_bound, rounds, moved,
 * proven and searcher. `out` names the graph, mix, candidates and prices, and
 * says at_least already. */
void plan_build(struct plan *out, const struct cover *cover, struct arena *a);

/* What a plan would cost at the prices that `p` names now. */
cost_ns plan_cost_now(const struct plan *p);

/* Independent of the search: every node once, ports available in the right
 * format when read, order, regions convex and acyclic, the cost recomputed. */
bool plan_verify(const struct plan *p, struct err *err);

#endif
