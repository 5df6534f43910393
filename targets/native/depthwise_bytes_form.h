/* Convolutions of each channel of bytes by itself: what their kernels, compiled once for
 * each instruction set, and the code around them share. */
#ifndef TARGETS_NATIVE_DEPTHWISE_BYTES_FORM_H
#define TARGETS_NATIVE_DEPTHWISE_BYTES_FORM_H

#include "targets/native/integer_form.h"

#define DEPTHWISE_TAPS 49 /* of the largest window */
#define TAPS_LINES ((DEPTHWISE_TAPS + 1) / 2) /* two by two */

/* Channels lie last, and are taken two vectors at a time; of the last ones some twice,
 * where they are not whole ones. */
struct depthwise_bytes {
	struct integer_window window;
	size_t images;
	size_t block; /* rows of a unit */
	size_t reach; /* columns under all windows of a row */
	size_t ring; /* lines under all windows of a row */
	bool from_unsigned, to_unsigned;
	float zero; /* of what comes out */
	/* [parts][pairs of lines][columns of the window][lanes of two vectors][2], as the
	 * kernel's version has it */
	const int16_t *weights;
	const int32_t
	    *bias; /* [channels], and what the input's zero adds to a sum */
	const float *multiplier; /* [channels] */
	const uint8_t
	    *beyond; /* [channels] the input's zero: what lies around it */
};

/* Where the channels of a part begin. */
static inline size_t
depthwise_part_at(size_t part, size_t each, size_t channels)
{
	const size_t at = part * each;

	return at + each <= channels ? at : channels - each;
}

/* A part's weights, [pairs][2][channels of it], as the kernel reads them. */
typedef void depthwise_bytes_pack(
    const int16_t *from, size_t pairs, int16_t *to);

/* Blocks of an image's rows. */
static inline size_t
depthwise_bytes_blocks(const struct depthwise_bytes *d)
{
	return (d->window.rows + d->block - 1) / d->block;
}

/* Numbers of 32 bits that a thread's scratch has to have: `width` of a vector. */
static inline size_t
depthwise_bytes_room(const struct depthwise_bytes *d, size_t width)
{
	return d->ring * (d->reach * 2 * width + 2);
}

/* A block of an image's rows, of images * blocks; `scratch` is a thread's. */
typedef void depthwise_bytes_run(const struct depthwise_bytes *d, size_t unit,
    const uint8_t *in, uint8_t *out, int32_t *scratch);

#endif
