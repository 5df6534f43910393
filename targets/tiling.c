#include "targets/tiling.h"

#include <string.h>

#include "targets/target.h"

/* TUNING: reading the weights counts as so many tiles, a transform of a channel as
 * so many multiplications; from rates of one core (docs/notebook.md). */
#define WEIGHTS_AS_TILES 9
#define TRANSFORM_AS 12
/* TUNING: weights of more than this are read anew for each block from far away. */
#define FAR ((size_t)4 << 20)

struct tiling
tiling_of(const struct type *in, const struct type *out, uint32_t window,
    size_t groups)
{
	return (struct tiling){in, out, (size_t)in->dim[1] / groups,
	    (size_t)out->dim[1] / groups, window - 1};
}

size_t
tiling_area(const struct tiling *t, uint32_t size)
{
	return (size_t)(size + t->beyond) * (size + t->beyond);
}

size_t
tiling_count(const struct tiling *t, uint32_t size)
{
	const int64_t *dim = t->out->dim;

	return (size_t)(dim[0] * ((dim[2] + size - 1) / size)
	    * ((dim[3] + size - 1) / size));
}

double
tiling_effort(const struct tiling *t, uint32_t size)
{
	const double c = (double)t->channels, k = (double)t->filters;
	const double tiles = (double)tiling_count(t, size);

	return (double)tiling_area(t, size)
	    * ((tiles + WEIGHTS_AS_TILES) * c * k
	        + tiles * TRANSFORM_AS * (c + k));
}

bool
tiling_is_far(const struct tiling *t, uint32_t size)
{
	return sizeof(float) * tiling_area(t, size) * t->channels * t->filters
	    > FAR;
}

bool
tiling_is_worth(const struct tiling *t, uint32_t size, double least,
    const struct target *target)
{
	const char *memory = target_option_get(target, "memory");

	return strcmp(memory, "free") == 0 || !tiling_is_far(t, size)
	    || tiling_effort(t, size) < least;
}
