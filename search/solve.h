/* Solving a problem: every searcher fills the same result. */
#ifndef SEARCH_SOLVE_H
#define SEARCH_SOLVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "search/cover.h"
#include "search/problem.h"

/* What one search leaves for the next of nearly the same problem: it starts where that
 * ended. Whatever is in here, covers and bounds are the problem's own. */
struct search_hints {
	struct arena *arena;
	uint32_t nnodes; /* of the problem it is of; 0: there was none */
	bool is_wide; /* labels alone were too many */
	int64_t *account; /* [naccount] Lagrangian multipliers */
	uint32_t naccount, account_cap;
};

struct search_options {
	uint64_t deadline_ns; /* by the clock; then all ends; 0: none */
	uint64_t (*clock)(void); /* NULL: clock_ns(), but for tests */
	uint64_t memory_budget; /* bytes of labels; 0: SEARCH_MEMORY */
	uint32_t beam; /* labels kept a position; 0: SEARCH_BEAM */
	uint32_t threads; /* for independent searches; 0: one */
	const atomic_bool *stop; /* may be NULL; true: best so far, now */
	struct search_hints *hints; /* may be NULL; read and written */
	FILE *trace; /* may be NULL; a line a stage */
};

#define SEARCH_MEMORY (UINT64_C(1) << 30)

struct search_result {
	bool found; /* is there a cover in `cover`? */
	bool proven; /* the cover is optimal; or, without one, there is none */
	struct cover cover;
	cost_ns lower_bound; /* no legal cover costs less */
	const char *searcher;
	uint64_t labels; /* kept by the exact search */
	const char *why; /* not proven: what ran out; else "" */
};

/* The cheapest legal cover, checked, with the lower bound that was proven. Not
 * finding one is no error: ERR_INTERNAL only when a cover fails the check. */
bool search_exact(struct search_result *out, const struct problem *p,
    const struct search_options *o, struct arena *a, struct err *err);

/* Baselines. Their lower bounds and proofs are about covers made of what the
 * baseline allows itself. */

/* The cheapest cover with candidates of two targets only (which may be the
 * same): a target and what falls back for it. */
bool search_single(struct search_result *out, const struct problem *p,
    const uint32_t target[2], const struct search_options *o, struct arena *a,
    struct err *err);

/* What every other tool does: targets claim in registration order, from the
 * outputs towards the inputs and at each node the largest candidate first,
 * first come first served; of equal node sets of a target the cheapest. Those that would close a cycle or break a constraint are passed
 * over. The order of execution, formats and conversions are then the best. */
bool search_eager(struct search_result *out, const struct problem *p,
    const struct search_options *o, struct arena *a, struct err *err);

/* Claims the largest candidates first, and then as search_eager(). */
bool search_greedy(struct search_result *out, const struct problem *p,
    const struct search_options *o, struct arena *a, struct err *err);

/* A beam of o->beam labels (0: 64) a node, no proof attempted. */
bool search_beam(struct search_result *out, const struct problem *p,
    const struct search_options *o, struct arena *a, struct err *err);

/* Any of the above by name: "exact", "beam", "greedy", "eager", "brute" or
 * "single:TARGET". ERR_USAGE for others. Baselines come without a proof. */
bool search_named(struct search_result *out, const struct problem *p,
    const char *name, const struct search_options *o, struct arena *a,
    struct err *err);

/* Every cover in every order: the oracle of the tests. Exponential, so
 * ERR_UNSUPPORTED beyond 12 nodes. */
bool search_exhaustive(struct search_result *out, const struct problem *p,
    const struct search_options *o, struct arena *a, struct err *err);

#endif
