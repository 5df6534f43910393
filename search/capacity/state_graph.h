/* The labels of the backward DP without what they paid, as a graph: a state is what a
 * partial cover asks of the rest, an arc takes one more candidate. Paths from the
 * first state to a last one are covers. */
#ifndef SEARCH_CAPACITY_STATE_GRAPH_H
#define SEARCH_CAPACITY_STATE_GRAPH_H

#include "ir/base/map.h"
#include "search/budget.h"
#include "search/cover.h"
#include "search/frontier.h"

struct state_arc {
	uint32_t from, to, candidate;
	uint32_t before; /* its position, in half steps from the first run */
	uint32_t runs; /* it opens */
	cost_ns cost; /* candidate, launches, trees of values that close */
};

struct state_graph {
	struct arena *arena;
	struct map index; /* group and entries -> state */
	struct state_arc *arc;
	uint32_t *top; /* [nstates] highest node not covered; NO_NODE: last */
	uint32_t narcs, arc_cap, nstates, top_cap;
	bool runs_limited; /* so that their number is part of a state */
	cost_ns base; /* paid by every cover */
	/* Filled by states_find(): */
	uint32_t *order; /* [nstates] states, each after those before it */
	uint32_t *in_start; /* [nstates + 1] into arc[], which is by `to` */
	uint32_t *out_start, *out; /* arcs by `from` */
};

/* Find all states of a problem, whatever its capacities. False: there are more
 * than `max_rate` arcs a node, or time or memory ran out. */
bool state_graph_find(struct state_graph *s, const struct problem *p,
    uint32_t max_rate, const struct budget *budget, struct arena *a);

/* The cover of a path: arcs in the order of the DP. */
void state_graph_cover(struct cover *out, const struct problem *p,
    const struct state_arc *const *arc, uint32_t n, struct arena *a);

#endif
