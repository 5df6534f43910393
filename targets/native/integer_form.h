/* Convolutions and products of bytes, summed in 32 bits: what their kernels, compiled
 * once for each instruction set, and the code around them share. */
#ifndef TARGETS_NATIVE_INTEGER_FORM_H
#define TARGETS_NATIVE_INTEGER_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a row of bytes is gathered: the window of an output pixel, channels last; a
 * matrix is an image of one line under a window of one pixel. */
struct integer_window {
	size_t height, width, channels; /* of the input */
	size_t rows, columns; /* of the output */
	size_t kernel[2];
	int64_t stride[2], dilation[2], before[2];
	bool in_place; /* rows are read where they lie */
};

/* Of a tile of four by four pixels, which says what two by two pixels of a convolution
 * with windows of three by three are (vector_byte_tiles.h). */
#define TILE_POINTS ((size_t)16)

/* Weights of bytes, four by four along the depth. Bytes from 0 to 255 times two of them,
 * added up, stay in 16 bits where neither those above nor those below zero sum up to more
 * than 128; what is beyond that is taken off and multiplied once more. */
struct byte_quads {
	const int32_t *at; /* [filters / pair][quads][pair], four bytes each */
	const int32_t *sum; /* [filters] of a filter's weights */
	size_t quads; /* along the depth */
	const uint32_t *start; /* [filters / pair + 1] of these: */
	const uint32_t *quad; /* which it is */
	const int32_t *more; /* [pair], four bytes each, for each */
};

struct integer_form {
	struct integer_window window;
	size_t rows; /* of all images: their outputs' pixels, or tiles */
	size_t depth; /* bytes of a row, or of a tile's point */
	size_t points; /* of a tile; else 1 */
	size_t padded; /* the same in whole blocks of two vectors' numbers */
	size_t outputs; /* of a row */
	size_t filters; /* these padded to two whole vectors */
	size_t block; /* rows at once */
	size_t parts; /* of the filters, shared out among threads */
	bool from_unsigned;
	/* Less their zeros, or what tiles are multiplied by: [filters / pair][points]
	 * [padded / 2][pair][2], pair: two vectors. */
	const int16_t *weights;
	const int32_t *bias; /* [filters] */
	const struct byte_quads
	    *quads; /* weights as bytes, in place of `weights` */
	/* What becomes of a sum: round(sum * multiplier) + zero in 8 bits, or a float,
	 * sum * (multiplier * the run's scale) + shift. */
	const float *multiplier, *shift; /* [filters] */
	bool to_floats, to_unsigned;
	float zero;
	size_t scratch; /* numbers of 32 bits, of a thread */
};

/* TUNING: rows of a block stay in a private cache, of what a row takes there; fewer would
 * read the weights too often. */
#define INTEGER_CACHED ((size_t)192 << 10)
#define INTEGER_FEWEST 24

/* How many blocks of rows there are then. */
static inline size_t
integer_blocks(const struct integer_form *f, size_t row_bytes)
{
	const size_t cached = INTEGER_CACHED / row_bytes;
	const size_t most = cached > INTEGER_FEWEST ? cached : INTEGER_FEWEST;

	return (f->rows + most - 1) / most;
}

/* Of a run. */
struct integer_data {
	const uint8_t *in, *end; /* what comes in */
	void *out;
	int32_t zero; /* of what comes in */
	float scale; /* likewise, where floats come out */
};

/* Blocks of rows, for each part of the filters. */
static inline size_t
integer_units(const struct integer_form *f)
{
	return (f->rows + f->block - 1) / f->block * f->parts;
}

/* Numbers of 32 bits that a thread's scratch has to have. */
typedef size_t integer_room(const struct integer_form *f);

/* Unit `unit`; `scratch` is a thread's. `copied`: it holds the unit's rows, for the unit
 * before was of the same block. */
typedef void integer_run(const struct integer_form *f, size_t unit, bool copied,
    const struct integer_data *d, int32_t *scratch);

#endif
