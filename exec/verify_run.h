/* A plan is run once against the reference before anybody gets it: each
 * composite by itself on what the reference says goes into it, then the whole
 * plan. In a process apart: a library may end it. */
#ifndef EXEC_VERIFY_RUN_H
#define EXEC_VERIFY_RUN_H

#include "exec/verdict.h"

/* The stated size: multiplications and additions of the model's convolutions
 * and products, and bytes of its values. What is beyond it is only built. */
#define VERIFY_FLOPS 2000000000u
#define VERIFY_BYTES 1000000000u

/* ERR_MEASURE only when no process can be had. */
bool verify_run(struct verified_as *out, const struct plan *p,
    const struct verify_options *o, struct err *err);

#endif
