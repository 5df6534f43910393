/* How far two tensors are apart. */
#ifndef EXEC_COMPARE_H
#define EXEC_COMPARE_H

#include <stdbool.h>

#include "ir/tensor.h"

struct tolerance {
	double absolute,
	    relative; /* |got - want| <= absolute + relative |want| */
	double whole; /* the same of whole numbers */
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

/* NaN equals NaN; booleans must be equal. */
void tensors_compare(struct comparison *out, const struct tensor *got,
    const struct tensor *want, const struct tolerance *t);

#endif
