/* Verdicts that the database has: a plan that was right is right when nothing has
 * changed that it depends on. */
#ifndef EXEC_VERDICTS_H
#define EXEC_VERDICTS_H

#include "costmodel/pricer.h"
#include "exec/verdict.h"

/* What a verdict depends on: this program, the plan (so the libraries, the machine
 * and the wiring, see plan_key.h), the bytes of the model, how it is verified. */
struct hash128 verdict_key(const struct plan *p, const struct pricer *pricer,
    const struct verify_options *o);

/* false: there is none, or none that can be read. */
bool verdict_find(
    struct verified_as *out, struct pricer *pricer, struct hash128 key);

/* Only what is not to be tried again: right, or built. */
void verdict_keep(
    struct pricer *pricer, struct hash128 key, const struct verified_as *v);

#endif
