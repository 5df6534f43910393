/* A step of the order search: one more candidate at the end of the order, in the
 * run that goes on or in a new one. All that a cover pays is paid here. */
#ifndef SEARCH_ORDER_STEP_H
#define SEARCH_ORDER_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "search/convert.h"
#include "search/live_forward.h"
#include "search/problem.h"

struct stepper {
	const struct problem *p;
	struct converter_memo memo;
	bool splits; /* may a run end though the next target is the same? */
};

/* The problem is indexed. */
void stepper_init(struct stepper *s, const struct problem *p, struct arena *a);

/* Make what the caller feeds live in a new state. False: it cannot be had in a
 * format the caller requires. */
bool stepper_start(struct stepper *s, struct forward_state *x);

/* Is it fed, or its producer covered? */
static inline bool
value_is_there(
    const struct problem *p, const struct forward_state *x, uint32_t value)
{
	uint32_t maker = p->value[value].producer;

	return maker == NO_NODE || bitset_has(x->covered, maker);
}

/* Not covered, and all it reads is there. A candidate's lowest node reads nothing
 * the candidate makes, so it is ready whenever the candidate is. */
static inline bool
node_is_ready(
    const struct problem *p, const struct forward_state *x, uint32_t node)
{
	if (bitset_has(x->covered, node))
		return false;
	for (uint32_t i = 0; i < p->node[node].ninputs; i++)
		if (!value_is_there(p, x, p->node[node].input[i]))
			return false;
	return true;
}

/* None of its nodes covered, and all it reads is there. */
bool candidate_is_ready(const struct problem *p, const struct forward_state *x,
    const struct problem_candidate *c);

/* May the candidate, which is ready, go on with the current run? */
bool run_can_take(const struct problem *p, const struct forward_state *x,
    const struct problem_candidate *c);

/* `to`, another state, = `from` with the candidate taken, which is ready; in the
 * current run (which can take it), or not. False: a limit, or no conversion,
 * forbids it, and `to` is of no use. */
bool stepper_take(struct stepper *s, struct forward_state *to,
    const struct forward_state *from, const struct problem_candidate *c,
    bool extend);

#endif
