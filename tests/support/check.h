/* What a plan computes against what it should, over several sets of inputs. */
#ifndef TESTS_SUPPORT_CHECK_H
#define TESTS_SUPPORT_CHECK_H

#include "exec/executor.h"

/* Inputs, the right outputs, and how far each element may be off. */
struct check_set {
	const struct tensor *in; /* [ninputs] */
	const struct tensor *want; /* [noutputs] */
	const double *const *slack; /* [noutputs][elements] beside what follows
	                             * from range and type, infinite where
	                             * anything is right; or NULL */
	const struct tensor *also; /* [nalso * noutputs] as right, element by
	                            * element, the last nrounded with slack where
	                            * no number is wanted */
	uint32_t nalso, nrounded;
	bool no_nan; /* what should be NaN may be anything */
	bool more_nan; /* NaN may come out where a number should: 0 times
	                * infinity in what a library pads with zeros, and
	                * sums that overflow either way in another order */
};

/* Does it compute in half precision anywhere? */
bool check_has_half(const struct plan *p);

/* The largest |x| of a tensor's finite elements. */
double check_range(const struct tensor *t);

/* Open the plan and run it over sets order[0..n-1]. false, with a few words in
 * err, when it cannot be run or some output is wrong; *wrong tells which. */
bool check_plan(const struct plan *p, uint32_t threads,
    const struct check_set *set, const uint32_t *order, uint32_t n, bool *wrong,
    struct err *err);

#endif
