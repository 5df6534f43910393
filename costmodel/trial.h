/* One candidate set up to run: buffers with seeded inputs in the formats it
 * wants, and the outputs the reference says are right. */
#ifndef COSTMODEL_TRIAL_H
#define COSTMODEL_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "targets/target.h"

struct kept_operands;
struct reference;

struct trial {
	const struct graph *graph;
	const struct mix *mix;
	const struct candidate *candidate;
	struct kernel kernel;
	const void **in; /* [ninputs] in their ports' formats */
	void **out; /* [noutputs] likewise */
	size_t *in_bytes, *out_bytes;
};

/* Set up without a kernel: somebody else computes the outputs. */
bool trial_fill(struct trial *t, const struct graph *g, const struct mix *m,
    const struct candidate *c, struct arena *a, struct err *err);

/* The same with inputs that are kept, for other trials as well, and with outputs in
 * rooms. */
bool trial_fill_kept(struct trial *t, const struct graph *g,
    struct kept_operands *kept, const struct candidate *c, struct arena *a,
    struct err *err);

/* A kernel for what was set up. */
bool trial_compile(struct trial *t, struct arena *a, struct err *err);

/* Set up and compile. ERR_UNSUPPORTED when the kind refuses, or a port has no
 * static shape. */
bool trial_open(struct trial *t, const struct graph *g, const struct mix *m,
    const struct candidate *c, struct arena *a, struct err *err);
void trial_run(struct trial *t);
/* Let inputs and outputs lie in one piece of memory where the kernel can use
 * that, as they will in a plan. What inputs hold is lost. */
void trial_share(struct trial *t, struct arena *a);

/* Compare the outputs of the last run with the reference: *error is the
 * largest difference relative to the reference's largest magnitude, *allowed
 * what the formats justify. */
bool trial_check(struct trial *t, struct reference *r, double *error,
    double *allowed, struct arena *a, struct err *err);
void trial_close(struct trial *t);

#endif
