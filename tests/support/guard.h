/* A candidate run once by itself with its tensors at the end of pages behind which
 * nothing is mapped: what it reads or writes beyond them ends the process. */
#ifndef TESTS_SUPPORT_GUARD_H
#define TESTS_SUPPORT_GUARD_H

#include "costmodel/reference.h"
#include "costmodel/trial.h"

/* The 64 bytes of slack that kernels may read are NaN, as is what outputs hold
 * before. ERR_VERDICT when what comes out is not the reference's; true as well
 * where the library does not build it. */
bool guard_run(const struct graph *g, const struct mix *m,
    const struct candidate *c, struct reference *r, struct arena *a,
    struct err *err);

#endif
