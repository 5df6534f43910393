/* What follows a kernel's sums, an element at a time: a chain of operations from a
 * small table (vector_steps.h), done to a block of vectors while it is in the
 * first cache. */
#ifndef TARGETS_NATIVE_STEPS_H
#define TARGETS_NATIVE_STEPS_H

#include "targets/fused.h"
#include "targets/need.h"
#include "targets/target.h"

struct native_step {
	enum step_kind kind;
	float alpha, beta;
	bool swapped; /* the operand is on the left */
	int32_t port; /* a tensor of the result's shape and format, or -1 */
	const float *channel; /* one for each channel, padded; or NULL */
};

struct native_steps {
	uint32_t n;
	struct native_step step[STEPS_MAX];
};

/* Has the table the step? */
bool native_has_step(const struct step *s);

/* Is it a function made of e^x? */
bool native_step_has_exp(const struct step *s);

/* The table has each, and second operands are of the result's shape or constants
 * of a channel. */
bool need_native_steps(
    const struct match_in *m, struct why *why, const struct fused *f);

/* Constants padded with zeros to `channels`. */
void native_steps_of(struct native_steps *out, const struct fused *f,
    const struct graph *g, const struct candidate *c, size_t channels,
    struct arena *a);

/* Takes the first step out where it only bounds the sums, by *low and *high. */
void native_bounds_of(struct native_steps *s, float *low, float *high);

#endif
