/* A library's kernel that makes a number where NaN is computed, run only where none
 * can be: what it reads is looked at first, and where some element is NaN,
 * infinite or large (a softmax takes what masks are made of) the host computes the
 * composite instead. */
#ifndef TARGETS_GUARDED_H
#define TARGETS_GUARDED_H

#include "targets/target.h"

/* Can nothing of the match become NaN while its inputs and constants are below the
 * guard's limit? True of sums and products of a few, of functions with bounds;
 * not of quotients. */
bool guard_suffices(const struct match_in *m);

/* Put the guard around a kernel, which is then its: *k runs both. It looks at nothing
 * where the kernel is told (`small`) that what its inputs rest on is. */
void guard_kernel(struct kernel *k, const struct target *t,
    const struct graph *g, struct arena *a);

/* Instead of the host the candidate is to run, which keeps NaN: it is compiled when a
 * guarded kernel first needs it. Where that is the first run, the kernel inside goes, and is
 * compiled again when it is needed. */
void guard_otherwise(struct kernel *k, const struct target *t,
    const struct candidate *otherwise, struct arena *a);

#endif
