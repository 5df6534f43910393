/* How far two tensors are apart. */
#ifndef IR_COMPARE_H
#define IR_COMPARE_H

#include <stdbool.h>

#include "ir/tensor.h"

struct tolerance {
	double absolute,
	    relative; /* |got - want| <= absolute + relative |want| */
	double whole; /* the same of whole numbers */
	bool made_up; /* inputs and weights are: where the reference has NaN
	               * or an infinity nothing is asked */
	bool overflows; /* nor where got has one: half precision */
};

struct comparison {
	bool matches;
	bool same_shape; /* and type; dimensions of 1 do not count: test data
			  * often lacks them */
	double max_error; /* largest |got - want| */
	double range; /* largest finite |want| */
	double excess; /* largest |got - want| over what is allowed */
	size_t worst; /* where that is */
	size_t outside; /* elements beyond the tolerance */
	bool same_argmax; /* of the whole tensor */
};

/* NaN equals NaN; booleans must be equal. Of sequences, item by item. */
void tensors_compare(struct comparison *out, const struct tensor *got,
    const struct tensor *want, const struct tolerance *t);

/* max_error as a part of the range; infinite when type or shape differ, or what
 * is no number does. */
double comparison_relative(const struct comparison *c);

#endif
