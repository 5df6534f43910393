/* Plans that must contain a given candidate, and plans at random prices: every
 * candidate of a model gets its turn, in every implementation. */
#ifndef TESTS_SUPPORT_FORCE_H
#define TESTS_SUPPORT_FORCE_H

#include "costmodel/price.h"
#include "plan/plan.h"
#include "tests/support/support.h"

struct force {
	struct arena *arena;
	const struct graph *graph;
	struct mix mix;
	struct candidates found;
	struct prices prices;
	/* [found.n] why its library cannot build it, or it has no price; NULL:
	 * it can and has. */
	const char **refused;
	uint32_t nrefused;
};

#define FORCE_NONE UINT32_MAX

/* Enumerate the candidates of a mix and build each once. The mix is a list that
 * ends with NULL; keep_nan leaves out what loses NaN. */
bool force_open(struct force *f, const struct graph *g,
    const char *const *target, bool keep_nan, struct arena *a, struct err *err);

/* A verified plan with candidate `wanted` in it (FORCE_NONE: none), everything
 * else at random prices. *placed: whether it is in it. */
bool force_plan(struct plan *out, struct force *f, uint32_t wanted,
    struct rng *r, bool *placed, struct arena *a, struct err *err);

/* "dnnl.conv nhwc (Conv[1x3x9x9, const 8x3x3x3 > 1x8x7x7] Relu[...])". */
const char *force_text(
    const struct force *f, uint32_t candidate, struct arena *a);

#endif
