/* What 8 bits lose: measured over samples, against the float reference. */
#ifndef PLAN_ACCURACY_H
#define PLAN_ACCURACY_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Sums of squares over everything that was compared. */
struct loss {
	double signal, noise;
	double max_error; /* largest difference as a part of the range */
	uint32_t n,
	    argmax; /* comparisons, those with the same largest element */
};

/* Signal to noise in dB; infinite where nothing is lost. */
static inline double
loss_sqnr(const struct loss *l)
{
	return l->noise > 0 ? 10 * log10(l->signal / l->noise)
	                    : (double)INFINITY;
}

/* What a plan must keep; 0: anything goes. */
struct accuracy_limits {
	double min_sqnr, max_error;
};

struct plan_accuracy {
	uint32_t nsamples;
	struct accuracy_limits limits;
	/* [nregions] at its outputs, given what the reference gives it; n = 0:
	 * the region does not compute in 8 bits. */
	const struct loss *region;
	const struct loss *output; /* [noutputs] end to end; n = 0: constant */
	/* [nvalues] how 8 bits hold values, and what was seen of them. */
	const char *data, *rule; /* as the user said them */
	uint32_t nbarred; /* composites that were barred from 8 bits */
};

#endif
