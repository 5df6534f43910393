/* Orders for qsort(): ascending. */
#ifndef IR_BASE_ORDER_H
#define IR_BASE_ORDER_H

#include <stdint.h>

static inline int
by_u32(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static inline int
by_u64(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* No NaN. */
static inline int
by_double(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

#endif
