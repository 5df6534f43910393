/* The tree of a planning run: branch and bound over the scratch memory of regions.
 * A device's memory holds what its regions keep there and the largest scratch of
 * one of them, which is no sum, so no capacity says it. A node is the plans whose
 * largest scratch lies between two levels: what needs more is banned, and what may
 * be kept is the memory less the lower level. With both levels the same that is
 * exact, as far as a region needs no more than its composites do.
 *
 * One kind of region needs less: one that fills the memory. Then nothing else is
 * kept there, and these plans are a node of their own ("alone"). */
#ifndef PLAN_TREE_H
#define PLAN_TREE_H

#include "plan/memory.h"

/* (X1) bound: no plan of it costs less, at prices that had fallen `fell` times.
 * (X2) A split leaves all plans but the one cover it is for. A tightened child is a
 *      guess that loses plans: it adds nothing to the bound. */
struct plan_node {
	uint32_t low, high; /* levels */
	bool alone;
	bool whole; /* levels do not count: all plans */
	bool quick; /* a proof is not worth much memory yet */
	bool guess; /* a tightened child: capacity counts (X2) */
	const uint64_t *capacity; /* [mix->n] */
	cost_ns bound;
	uint64_t fell;
};

/* What a node's plans cost at least at prices that have fallen `fell` times. */
static inline cost_ns
node_bound(const struct plan_node *n, uint64_t fell)
{
	return n->fell == fell ? n->bound : 0;
}

struct tree {
	const struct target_kind *kind; /* the device's; NULL: none counts */
	const struct mix *mix;
	const struct candidates *candidates;
	const bool *banned; /* [ncandidates] in the request's problem */
	struct arena *arena;
	uint64_t limit; /* of the device's memory */
	uint64_t *scratch; /* [ncandidates] of a region of its own; 0: not of
			    * this kind */
	uint64_t *level; /* [nlevels] ascending: the scratches there are */
	uint32_t nlevels;
	struct plan_node *open, *closed;
	uint32_t nopen, open_cap, nclosed, closed_cap;
};

/* kind is NULL afterwards when no device of the mix has memory that counts. */
void tree_init(struct tree *t, const struct plan *about,
    const struct problem *p, struct arena *a);

void tree_put(struct tree *t, struct plan_node node);

/* A guess, else the one with the lowest bound; false: none is left. */
bool tree_take(struct tree *t, struct plan_node *out);

/* Done: its bound counts, at prices that have fallen so often. */
void tree_close(struct tree *t, struct plan_node node, uint64_t fell);

/* Nodes that were closed before prices fell are open again; false: there is none. */
bool tree_reopen(struct tree *t, uint64_t fell);

/* Limits of a node, in a problem that has those of the request. */
void tree_limit(
    const struct tree *t, const struct plan_node *node, struct problem *p);

/* Does a cover keep so much that what its composites need to run is not left?
 * *use: how much. */
bool tree_overfull(const struct tree *t, const struct problem *p,
    const struct cover *c, struct device_use *use);

/* Put the parts of a node neither of which has that cover, which is overfull. */
void tree_split(
    struct tree *t, const struct plan_node *node, const struct device_use *use);

/* A problem of plans in which one region keeps something and one or more others
 * keep nothing, relaxed: those launch for nothing. What it costs and *launch is
 * their bound. */
bool tree_relax_alone(const struct tree *t, const struct problem *p,
    struct problem *out, cost_ns *launch, struct err *err);

#endif
