/* Winograd's tiles of a convolution: what they promise, and the memory that filters take
 * which are transformed ahead, one for each element of a tile. */
#ifndef TARGETS_TILING_H
#define TARGETS_TILING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/tensor.h"

struct target;

/* What tiles of one convolution have in common. */
struct tiling {
	const struct type *in, *out;
	size_t channels, filters; /* of a group */
	uint32_t beyond; /* what a tile's inputs have more than its outputs */
};

/* Of images and a square window, stride 1. */
struct tiling tiling_of(const struct type *in, const struct type *out,
    uint32_t window, size_t groups);

/* Elements of what a tile of size x size outputs reads. */
size_t tiling_area(const struct tiling *t, uint32_t size);

/* Tiles of the whole result. */
size_t tiling_count(const struct tiling *t, uint32_t size);

/* In multiplications of a group, more or less. */
double tiling_effort(const struct tiling *t, uint32_t size);

/* Are a group's filters so many that each block of tiles reads them from far away? */
bool tiling_is_far(const struct tiling *t, uint32_t size);

/* The option of targets that transform filters. */
#define TILING_MEMORY \
	{ \
		"memory", "spared|free", "spared", \
		    "free: convolutions may keep filters of several times the memory for little" \
	}

/* Are tiles of `size` worth their filters' memory? Those that are far away have to promise to
 * be faster than smaller tiles, which take `least` multiplications. */
bool tiling_is_worth(const struct tiling *t, uint32_t size, double least,
    const struct target *target);

#endif
