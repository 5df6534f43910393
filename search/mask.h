/* Sets of formats as masks. */
#ifndef SEARCH_MASK_H
#define SEARCH_MASK_H

#include <stdint.h>

static inline uint32_t
mask_count(uint32_t mask)
{
	uint32_t n = 0;

	for (; mask; mask &= mask - 1)
		n++;
	return n;
}

/* The lowest of a set that is not empty. */
static inline uint32_t
mask_lowest(uint32_t mask)
{
#ifdef __GNUC__
	return (uint32_t)__builtin_ctz(mask);
#else
	uint32_t f = 0;

	while (!(mask >> f & 1))
		f++;
	return f;
#endif
}

/* for (uint32_t rest = mask, f; mask_next(&rest, &f);) */
static inline int
mask_next(uint32_t *rest, uint32_t *format)
{
	if (!*rest)
		return 0;
	*format = mask_lowest(*rest);
	*rest &= *rest - 1;
	return 1;
}

#endif
