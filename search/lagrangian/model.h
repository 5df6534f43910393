/* Lagrangian prices: a lower bound for every cover, and for what is left to a
 * label. Costs here are signed and scaled; README.md has the derivation. */
#ifndef SEARCH_LAGRANGIAN_MODEL_H
#define SEARCH_LAGRANGIAN_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/bitset.h"
#include "search/budget.h"
#include "search/convert.h"
#include "search/problem.h"
#include "search/worklist.h"

/* A way somebody may ask for a value at one use (a consumer node). */
struct dual_option {
	uint32_t value, format;
	uint32_t target; /* that asks, where launches hang on it; or NO_LIMIT */
};

/* A use: one consumer node of one value; index as in problem->user. */
struct dual_use {
	uint32_t node, value;
	uint32_t first, noptions; /* options, and their prices */
	bool on_path; /* leaving a target's run here is a launch of it */
};

/* A set of formats a value may be had in, and what its tree costs. */
struct dual_subset {
	uint32_t mask;
	int64_t cost;
};

/* A way a value comes about: fed, or made by candidates of one format. */
struct dual_supply {
	uint32_t value, have; /* formats, a mask */
	uint32_t target; /* that makes it, where launches hang on it; or
			  * NO_LIMIT */
	uint32_t inside, ninside; /* uses within the candidate, in inside[] */
	uint32_t first, nsubsets;
	uint32_t asked; /* formats of the subsets beyond those given */
	uint32_t given; /* formats it is in, or required in */
	bool all_subsets; /* of `asked` are there */
	size_t first_sum; /* [nsubsets or 1][uses + 1] in sum[] */
	uint32_t first_way, nways; /* with one use outside: NO_LIMIT: more */
	int64_t base; /* its tree while nobody takes a way */
	uint32_t best; /* subset, or way's option, that gives the gain */
};

/* How the only use of a supply may take it: an option, and the tree for it. */
struct dual_way {
	uint32_t option;
	int64_t cost;
};

struct dual {
	const struct problem *p;
	struct arena *arena;
	struct converter_memo *memo;
	int64_t *launch; /* [ntargets] counted along the path */
	uint32_t nlaunching; /* targets that have any */
	struct dual_use *use;
	struct dual_option *option;
	struct dual_subset *subset;
	struct dual_supply *supply;
	uint32_t *inside;
	uint32_t noptions, nsubsets, nsupplies, ninside;
	uint32_t option_cap, subset_cap, supply_cap, inside_cap;
	const uint32_t *supply_start; /* [nvalues + 1] supplies by value */
	struct dual_way *way;
	uint32_t nways, way_cap;
	uint32_t *pays_start, *pays; /* options each candidate pays for */
	uint32_t *makes_start, *makes; /* supplies each candidate makes */
	bool *ends_path; /* [nnodes] the path's last node */
	const uint32_t *path_use; /* [nvalues] use on the path, or UINT32_MAX */
	/* Prices. A candidate's reduced cost is its own cost and some rows of
	 * the account: those of its nodes, negated prices; of what it pays for;
	 * of the supplies it makes. Candidates go by their place in
	 * problem->high here. */
	int64_t *account; /* [nnodes], then pay[], then gain[] */
	int64_t *pay; /* [noptions] */
	int64_t *gain; /* [nsupplies] the cheapest tree less what its uses
			* pay; <= tree */
	uint32_t *row_start, *row; /* of a place */
	uint32_t *column_start, *column; /* of a row: places that have it */
	int64_t *reduced; /* [places] */
	uint32_t *high_node; /* [places] */
	uint32_t *chosen; /* [nnodes] the place that the relaxed problem takes
			   * of those with this highest node, or UINT32_MAX */
	int64_t *worth; /* [nnodes] its reduced cost, or 0 */
	int64_t level; /* the bound at these prices, once nothing is stale */
	struct worklist stale_supply,
	    stale_node; /* gain[]; chosen[], worth[] */
	int64_t *sum; /* what the first uses of supplies pay together */
	uint32_t *hole; /* [nnodes] scratch */
	int64_t *rest; /* [nnodes + 1] bound of nodes 0..n-1 in the end */
	cost_ns *excess; /* [ncandidates] what taking it adds to the bound of a
			  * label (ns, rounded down) */
	int64_t bound; /* of every cover, scaled */
};

#define DUAL_SCALE 16 /* units per ns: steps are fractions of one */
/* TUNING: steps for one problem; README.md says why not fewer. */
#define DUAL_ROUNDS 300

/* May prices of the problem take their share of so many bytes (0: any number)? The
 * labels they bound need the rest. */
bool dual_fits(const struct problem *p, size_t bytes);

/* False: costs are too large for it. */
bool dual_init(struct dual *d, const struct problem *p,
    struct converter_memo *memo, struct arena *a);

/* Begin with multipliers of a problem like this one instead of with the cheapest
 * candidates', unless they bound it worse than a part of `upper` says; before the
 * first improvement. */
void dual_begin(struct dual *d, const int64_t *account, cost_ns upper);

/* Improve the bound by at most `rounds` subgradient steps towards `upper`, while
 * there is time. */
void dual_improve(struct dual *d, cost_ns upper, uint32_t rounds,
    const struct budget *budget);

/* No cover costs less. */
cost_ns dual_bound(const struct dual *d);

/* A live value on its way: `have` is 0 until it is made; `need` what was asked
 * for so far; `leaves`: its maker would start a new run, were it of a
 * target that launches. `paid`: formats it is asked for too, and whose last
 * conversion, at cost[format], is paid unless it is made in them. */
struct dual_live {
	uint32_t value, have, need;
	bool leaves;
	uint32_t paid;
	const cost_ns *cost;
};

/* What is covered: the nodes above `top` (NO_NODE: all) and those of over[]. */
struct dual_cut {
	uint32_t top, nover;
	const uint32_t *over; /* ascending, below top */
};

/* What it adds to the price of the nodes that are left, in scaled units;
 * INT64_MAX: nothing can make it any more. */
int64_t dual_value(
    struct dual *d, const struct dual_live *live, const struct dual_cut *cut);

/* The same for a label that covers from the first node on: what a value that was
 * made or fed (`have` is not 0) adds to the price of the nodes that are not
 * covered, its whole tree included: what is paid of that is the caller's to take
 * off. The run it comes from is paid as well, so where its use on the path is left,
 * no launch is charged for that one but for the run of `running` that goes on, if
 * somebody else takes the value: the caller takes one launch of that off for all. */
int64_t dual_value_left(struct dual *d, const struct dual_live *live,
    struct bitset covered, uint32_t running);

/* What a fed value adds while none of its users is done. */
int64_t dual_fed(const struct dual *d, uint32_t value);

#endif
