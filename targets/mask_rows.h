/* The rows of a softmax, which takes the largest of each away: nothing overflows upwards, so no
 * NaN comes of finite numbers however large, nor of minus infinity beside one. So do
 * masks hide what they hide. */
#ifndef TARGETS_MASK_ROWS_H
#define TARGETS_MASK_ROWS_H

#include "targets/target.h"

struct mask_rows {
	enum dtype dtype;
	size_t outer, n, inner; /* n = 0: it is no softmax */
};

/* Of a candidate's input. */
struct mask_rows mask_rows_of(const struct graph *g, const struct candidate *c);

/* Has each row of its input a finite number, and nothing but such and minus infinity? */
bool mask_rows_suffice(const struct mask_rows *r, const void *data);

#endif
