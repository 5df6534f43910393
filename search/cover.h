/* A cover: the chosen candidates in execution order, the runs they form and
 * the conversions between them. */
#ifndef SEARCH_COVER_H
#define SEARCH_COVER_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "search/convert.h"
#include "search/problem.h"

struct cover_step {
	uint32_t candidate;
	uint32_t run; /* ascending from 0; one target each */
};

/* To a local format: one for each run it is brought in for. */
struct cover_conversion {
	uint32_t value, from, to;
	uint32_t before; /* the step that first needs it; nsteps: the caller */
	cost_ns cost;
};

struct cover {
	const struct cover_step *step; /* execution order */
	const struct cover_conversion *conversion; /* by before, value, order */
	uint32_t nsteps, nconversions, nruns;
	cost_ns cost; /* candidates + conversions + launches */
};

/* Fill the runs, conversions and cost of steps whose candidates are in a legal
 * order: `fresh[i]` asks for a new run at step i even if the target does not
 * change (NULL: only where it must be). */
void cover_complete(struct cover *out, const struct problem *p,
    const uint32_t *candidate, const bool *fresh, uint32_t n, struct arena *a);

#endif
