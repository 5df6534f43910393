/* The abstract problem: nodes of a DAG, candidates to cover them, formats of
 * the values between them, and what conversions and launches cost. Knows no
 * ONNX, no backend and no database; README.md says what a solution is. */
#ifndef SEARCH_PROBLEM_H
#define SEARCH_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/cost.h"

#define FORMATS_MAX 32u
#define TARGETS_MAX 1024u
#define NO_NODE UINT32_MAX /* producer of what the caller feeds */
#define NO_CLASS UINT32_MAX /* of a value that has one format only */
#define NO_LIMIT UINT32_MAX
/* Distinct formats one value may be asked for in, and, where local ones are
 * among them, a way into those: its cheapest conversions are a Steiner tree, and
 * that is found exactly. */
#define DEMANDS_MAX 10u

struct problem_port {
	uint32_t value;
	uint32_t format;
};

/* Something that can be chosen: `node` run as one by `target`. */
struct problem_candidate {
	cost_ns cost; /* COST_NEVER: is never chosen */
	uint64_t resource; /* counts against the target's capacity */
	uint32_t target;
	uint32_t class; /* equal classes: same structure, same cost */
	bool banned; /* by a constraint that was asked for */
	bool
	    hopeless; /* derived: no constraint of its target lets it through */
	uint32_t nnodes, ninputs, noutputs;
	const uint32_t *node; /* ascending */
	const struct problem_port
	    *input; /* ascending values, read from outside */
	const struct problem_port *output; /* ascending values, used outside */
};

/* Node ids are topological: producers have smaller ids than consumers. */
struct problem_node {
	uint32_t ninputs, noutputs;
	const uint32_t *input, *output; /* value ids */
	const char *name; /* for people; may be NULL */
};

struct problem_value {
	uint32_t producer; /* NO_NODE: fed by the caller */
	uint32_t class; /* row of conversion costs */
	uint32_t initial; /* mask: formats the caller feeds it in */
	uint32_t required; /* mask: formats the caller asks for */
	bool mark; /* stop-fusion: its producer and a consumer are never in one
		    * candidate or run */
};

struct problem_target {
	const char *name;
	cost_ns launch; /* of each run; COST_NEVER: it cannot launch */
	uint32_t max_runs; /* NO_LIMIT: any number */
	uint32_t max_run_nodes; /* NO_LIMIT: any size */
	bool fed_only; /* runs read nothing but what the caller feeds */
	uint64_t capacity; /* of the sum of resources; UINT64_MAX: any */
	uint32_t part_of; /* 1 + the target it is a part of, whose capacity its
			   * candidates count against; runs are its own. 0:
			   * it is a target by itself */
};

struct problem {
	uint32_t nnodes, nvalues, ncandidates, ntargets, nformats, nclasses;
	struct problem_node *node;
	struct problem_value *value;
	struct problem_candidate *candidate;
	struct problem_target *target;
	cost_ns *conversion; /* [class][from][to], nformats wide */
	const char *const *format_name; /* [nformats] or NULL: for people */
	/* Mask of formats a value is in within one run only: the one that made
	 * it so, or one it was brought in for, which is paid by each. */
	uint32_t local;

	/* Derived by problem_index() (problem_index.h). */
	const uint32_t *user_start, *user; /* consumers of a value, ascending */
	const uint32_t *low_start, *low; /* candidates by their lowest node */
	const uint32_t *high_start, *high; /* ... by their highest node */
	bool *tracked; /* [ntargets] runs matter: launch, local formats or a
			* limit on runs */
	uint32_t ntracked;
	const uint32_t *equivalent; /* [ncandidates] search/equivalents.h */
	bool has_marks;
};

/* Is there no constraint against this candidate? */
static inline bool
candidate_allowed(const struct problem_candidate *c)
{
	return !c->banned && !c->hopeless;
}

static inline bool
candidate_holds(const struct problem_candidate *c, uint32_t node)
{
	for (uint32_t i = 0; i < c->nnodes; i++)
		if (c->node[i] == node)
			return true;
	return false;
}

/* May this candidate be chosen at all? */
static inline bool
candidate_usable(const struct problem_candidate *c)
{
	return candidate_allowed(c) && c->cost != COST_NEVER;
}

/* The target itself, or the one it is a part of: whose capacity counts. */
static inline uint32_t
target_owner(const struct problem *p, uint32_t target)
{
	uint32_t part_of = p->target[target].part_of;

	return part_of ? part_of - 1 : target;
}

/* What runs of a target pay; one that cannot launch has none. */
static inline cost_ns
target_launch(const struct problem *p, uint32_t target)
{
	cost_ns launch = p->target[target].launch;

	return launch == COST_NEVER ? 0 : launch;
}

/* Does a value leave some candidate before its last node runs? */
bool problem_leaves_early(const struct problem *p);

/* The place of a node among the users of a value; UINT32_MAX: it is none. */
uint32_t problem_find_use(
    const struct problem *p, uint32_t value, uint32_t node);

/* Cost of one conversion of a value; 0 within a format. */
static inline cost_ns
conversion_cost(
    const struct problem *p, uint32_t class, uint32_t from, uint32_t to)
{
	if (from == to)
		return 0;
	if (class == NO_CLASS)
		return COST_NEVER;
	return p->conversion[((size_t) class * p->nformats + from) * p->nformats
	    + to];
}

/* Cost of bringing a value into a local format, for one run: that of the
 * cheapest conversion from a format that is not local. */
cost_ns transfer_cost(const struct problem *p, uint32_t class, uint32_t format);

/* The formats it costs that from, a mask: others are no way in. */
uint32_t transfer_formats(
    const struct problem *p, uint32_t class, uint32_t format);

#endif
