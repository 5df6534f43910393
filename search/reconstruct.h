/* From the last label of the backward DP back to a cover in execution order. */
#ifndef SEARCH_UNROLL_H
#define SEARCH_UNROLL_H

#include "search/cover.h"
#include "search/extrapolate.h"

void reconstruct(struct cover *out, const struct problem *p,
    const struct extrapolation *from, const struct trace *last,
    struct arena *a);

#endif
