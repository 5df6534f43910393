/* A plan is run once against the reference before anybody gets it: each
 * composite by itself on what the reference says goes into it, then the whole
 * plan. In a process apart: a library may end it. */
#ifndef EXEC_VERIFY_RUN_H
#define EXEC_VERIFY_RUN_H

#include "ir/infer.h"
#include "plan/plan.h"

enum verified_kind {
	VERIFY_RIGHT,
	VERIFY_BEYOND, /* the model is beyond the stated size: nothing ran */
	VERIFY_UNKNOWN, /* the reference cannot run the model: see detail */
	VERIFY_REFUSED, /* the library cannot build the composite */
	VERIFY_WRONG, /* the composite computes something else */
	VERIFY_DIED, /* the composite ends its process */
	VERIFY_WRONG_TOGETHER, /* right by itself, not in the plan */
	VERIFY_WRONG_WHOLE, /* the plan, and no composite can be named */
};

struct verified_as {
	enum verified_kind kind;
	uint32_t composite; /* position in the plan, of what is wrong */
	double
	    error; /* RIGHT: the largest over the plan's outputs; WRONG: of the
	               * composite's; as a part of their largest magnitude */
	char detail[160];
};

struct verify_options {
	node_eval reference;
	uint32_t threads; /* 0 = 1 */
	bool whatever_size; /* no model is beyond it */
};

/* The stated size: multiplications and additions of the model's convolutions
 * and products, and bytes of its values. */
#define VERIFY_FLOPS 2000000000u
#define VERIFY_BYTES 1000000000u

/* ERR_MEASURE only when no process can be had. */
bool verify_run(struct verified_as *out, const struct plan *p,
    const struct verify_options *o, struct err *err);

#endif
