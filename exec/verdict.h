/* What verifying a plan comes to. */
#ifndef EXEC_VERDICT_H
#define EXEC_VERDICT_H

#include "ir/base/hash.h"
#include "ir/infer.h"
#include "plan/plan.h"

enum verified_kind {
	VERIFY_RIGHT,
	VERIFY_BUILT, /* nothing was to run; the libraries build all of it */
	VERIFY_BEYOND, /* so it is, the model being beyond the stated size */
	VERIFY_PARTS, /* each composite by itself, but for opaque ones, whose
	               * outputs are made up */
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
	/* RIGHT: the largest over the plan's outputs; WRONG: of the
	 * composite's; as a part of their largest magnitude. */
	double error;
	bool on_record; /* found by an earlier search */
	char detail[160];
};

struct verify_options {
	node_eval reference;
	uint32_t threads; /* 0 = 1 */
	bool whatever_size; /* no model is beyond it */
	bool only_build; /* run nothing */
	struct hash128 model; /* its bytes, see model_hash() */
};

#endif
