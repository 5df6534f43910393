/* Laying buffers with known lifetimes into one pool. */
#ifndef EXEC_MEMORY_H
#define EXEC_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"

/* In use from step `first` to step `last`, both included. */
struct lifetime {
	size_t bytes;
	uint32_t first, last;
	size_t offset; /* found: a multiple of 64 */
};

/* Bytes behind each buffer that kernels may read. */
#define MEMORY_SLACK 64

/* Give each buffer an offset so that no two in use at one time overlap, slack
 * included: largest first, each at the lowest place that is free. The pool's
 * size. */
size_t memory_lay_out(struct lifetime *l, uint32_t n, struct arena *scratch);

#endif
