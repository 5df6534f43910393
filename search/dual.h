/* Lagrangian prices: a lower bound for every cover, and for what is left to a
 * label. Costs here are signed and scaled; README.md has the derivation. */
#ifndef SEARCH_DUAL_H
#define SEARCH_DUAL_H

#include <stdbool.h>
#include <stdint.h>

#include "search/convert.h"
#include "search/problem.h"

/* A way somebody may ask for a value at one use (a consumer node). */
struct dual_option {
	uint32_t format;
	bool tracked; /* by the tracked target; only where it matters */
};

/* A use: one consumer node of one value; index as in problem->user. */
struct dual_use {
	uint32_t node, first, noptions; /* options, and their prices */
	bool on_path; /* leaving the tracked target here is a launch */
};

/* A set of formats a value may be had in, and what its tree costs. */
struct dual_subset {
	uint32_t mask;
	int64_t cost;
};

/* A way a value comes about: fed, or made by candidates of one format. */
struct dual_supply {
	uint32_t value, have; /* formats, a mask */
	bool tracked;
	uint32_t inside, ninside; /* uses within the candidate, in inside[] */
	uint32_t first, nsubsets;
	int64_t gain; /* the cheapest tree less what its users pay; <= tree */
	uint32_t best; /* subset that gives it */
};

struct dual {
	const struct problem *p;
	struct arena *arena;
	struct converter_memo *memo;
	uint32_t tracked;
	int64_t launch;
	struct dual_use *use;
	struct dual_option *option;
	struct dual_subset *subset;
	struct dual_supply *supply;
	uint32_t *inside;
	uint32_t noptions, nsubsets, nsupplies, ninside;
	uint32_t option_cap, subset_cap, supply_cap, inside_cap;
	const uint32_t *supply_start; /* [nvalues + 1] supplies by value */
	uint32_t *pays_start, *pays; /* options each candidate pays for */
	uint32_t *makes_start, *makes; /* supplies each candidate makes */
	bool *ends_path; /* [nnodes] the path's last node */
	const uint32_t *path_use; /* [nvalues] use on the path, or UINT32_MAX */
	int64_t *price; /* [nnodes] */
	int64_t *pay; /* [noptions] */
	int64_t *rest; /* [nnodes + 1] bound of nodes 0..n-1 in the end */
	cost_ns *excess; /* [ncandidates] what taking it adds to the bound of a
			  * label (ns, rounded down) */
	int64_t bound; /* of every cover, scaled */
};

#define DUAL_SCALE 16 /* units per ns: steps are fractions of one */

/* False: costs are too large for it. */
bool dual_init(struct dual *d, const struct problem *p, uint32_t tracked,
    struct converter_memo *memo, struct arena *a);

/* Improve the bound by at most `rounds` subgradient steps towards `upper`. */
void dual_improve(struct dual *d, cost_ns upper, uint32_t rounds);

/* No cover costs less. */
cost_ns dual_bound(const struct dual *d);

/* A live value on its way: `have` is 0 until it is made; `need` what was asked
 * for so far; `leaves`: its maker would start a new run, were it of the tracked
 * target. */
struct dual_live {
	uint32_t value, have, need;
	bool leaves;
};

/* What it adds to the price of the nodes that are left, in scaled units;
 * covered(context, node) says which of its users are done. */
int64_t dual_value(struct dual *d, const struct dual_live *live,
    bool (*covered)(const void *context, uint32_t node), const void *context);

/* What a fed value adds while none of its users is done. */
int64_t dual_fed(const struct dual *d, uint32_t value);

#endif
