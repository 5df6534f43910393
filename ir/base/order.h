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

/* Things by a figure; equal ones by id. */
struct ranked {
	uint64_t by;
	uint32_t id;
};

static inline int
by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->by != y->by)
		return x->by < y->by ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* The largest first. */
static inline int
by_rank_down(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->by != y->by)
		return x->by < y->by ? 1 : -1;
	return (x->id > y->id) - (x->id < y->id);
}

/* No NaN. */
static inline int
by_double(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

#endif
