/* A problem the sweep cannot take, made easier, and a cover of the easy one
 * brought back. */
#ifndef SEARCH_RELAX_H
#define SEARCH_RELAX_H

#include "search/cover.h"
#include "search/problem.h"

/* The same problem without the limits the sweep cannot keep, and with launches
 * counted for one target only (the dearest; others are charged the one launch
 * they cannot avoid): its optimum is a lower bound. False: it cannot be made. */
bool relax(struct problem *easy, const struct problem *p, struct arena *a);

/* A cover of the relaxed problem as one of the problem: runs of targets that may
 * have only one are gathered, and runs that are too long cut. False: it is not
 * legal all the same. */
bool tighten(struct cover *out, const struct problem *p,
    const struct cover *easy, struct arena *a);

#endif
