#include "targets/native/pixels.h"

struct pixels
pixels_of(enum layout layout, const struct type *t, size_t width)
{
	const size_t area = (size_t)t->dim[2] * (size_t)t->dim[3];
	const size_t lanes = layout == LAYOUT_BLK16 ? 16
	    : layout == LAYOUT_BLK8                 ? 8
	                                            : width;
	size_t channels = (size_t)t->dim[1];

	if (layout == LAYOUT_NHWC)
		return (struct pixels){area * channels, lanes, lanes, channels};
	channels = rounded(channels, lanes);
	return (struct pixels){area * channels, area * lanes, lanes, lanes};
}

const float *
floats_padded(const float *from, size_t n, size_t to, struct arena *a)
{
	float *padded = arena_new(a, float, to);

	for (size_t i = 0; from && i < n; i++)
		padded[i] = from[i];
	return padded;
}
