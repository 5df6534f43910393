/* Bytes that are moved: read in loops, written one after the other. */
#ifndef TARGETS_NATIVE_LOOPS_H
#define TARGETS_NATIVE_LOOPS_H

#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"

struct move_loop {
	size_t n;
	ptrdiff_t step; /* of what is read */
};

/* nblocks x outer.n x inner.n bytes. */
struct move_loops {
	struct move_loop outer, inner;
	size_t nblocks;
	const uint32_t *block; /* [nblocks] where each begins */
};

/* The loops that read bytes in this order, which is overwritten. n: at least 1. */
void move_loops_find(
    struct move_loops *l, uint32_t *order, size_t n, struct arena *a);
void move_bytes(uint8_t *restrict to, const uint8_t *restrict from,
    const struct move_loops *l);

#endif
