/* Images of 8-bit codes as a convolution reads them: channels last, with the code of
 * zero around them. */
#ifndef TARGETS_DNNL_BYTE_IMAGE_H
#define TARGETS_DNNL_BYTE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/graph.h"
#include "targets/window.h"

/* Sizes are those of two dimensions, the first 1 where the tensor has one alone. */
struct byte_image {
	size_t batch, channels, groups;
	size_t in[2], out[2];
	size_t before[2];
	size_t padded[2]; /* as far as the last window reaches */
	size_t kernel[2], stride[2], dilation[2];
	bool is_unsigned;
};

/* x and y: what goes in and comes out, [N, C, (H,) W], of known shape. false: the
 * padding is negative, or needs more memory than windows do in any model seen. */
bool byte_image_of(struct byte_image *i, const struct window *w,
    const struct type *x, const struct type *y, size_t groups);
/* The same window as two dimensions without padding. */
struct window byte_image_window(const struct byte_image *i);
/* Codes of one padded batch, in [N][H][W][C]. */
size_t byte_image_size(const struct byte_image *i);
/* Positions of the result, over all of the batch. */
size_t byte_image_positions(const struct byte_image *i);

/* Fill `to` [N][padded][C] from x [N][C][in]. */
void byte_image_fill(
    const struct byte_image *i, const void *from, int32_t zero, uint8_t *to);
/* Sums of codes less zero under each window: sum[N][out][groups]. plane is scratch of
 * padded positions times groups. */
void byte_image_sums(const struct byte_image *i, const uint8_t *codes,
    int32_t zero, int32_t *plane, int32_t *sum);

#endif
