#include "targets/convert.h"

#include <string.h>

#include "ir/halves.h"
#include "targets/target.h"

/* Every layout here maps (n, c, p), p the position inside a channel's map, to
 * an offset; block is 1 for plain, C for channels last. */
struct conversion {
	struct format from, to;
	enum dtype from_dtype, to_dtype;
	size_t batch, channels, positions; /* rank 4; else 1, 1, elements */
	size_t from_block, to_block;
	size_t width; /* bytes of an element, when dtypes are equal */
	size_t to_bytes; /* of the result, padding included */
	struct quant quant; /* of a side that holds 8 bits */
};

static size_t
block_of(enum layout layout, size_t channels)
{
	switch (layout) {
	case LAYOUT_NHWC:
		return channels;
	case LAYOUT_BLK8:
		return 8;
	case LAYOUT_BLK16:
		return 16;
	default:
		return 1;
	}
}

static size_t
offset(const struct conversion *k, size_t block, size_t n, size_t c, size_t p)
{
	size_t blocks = (k->channels + block - 1) / block;

	return ((n * blocks + c / block) * k->positions + p) * block
	    + c % block;
}

static void
copy_bytes(struct converter *c, const void *in, void *out)
{
	const struct conversion *k = c->state;

	memcpy(out, in, k->to_bytes);
}

/* TUNING: tiles of 16 x 64 four-byte elements stay in the L1 cache. */
#define TILE_CHANNELS 16
#define TILE_POSITIONS 64

static size_t
smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* out[j * rows + i] = in[i * columns + j], by squares of a line of the cache. */
#define TRANSPOSE(type, tile) \
	static void transpose_##type( \
	    const void *from, void *to, size_t rows, size_t columns) \
	{ \
		const type *restrict in = from; \
		type *restrict out = to; \
\
		for (size_t i0 = 0; i0 < rows; i0 += tile) \
			for (size_t j0 = 0; j0 < columns; j0 += tile) { \
				size_t i1 = smaller(i0 + tile, rows); \
				size_t j1 = smaller(j0 + tile, columns); \
\
				for (size_t j = j0; j < j1; j++) \
					for (size_t i = i0; i < i1; i++) \
						out[j * rows + i] = \
						    in[i * columns + j]; \
			} \
	}
TRANSPOSE(uint8_t, 64)
TRANSPOSE(uint16_t, 32)
TRANSPOSE(uint32_t, 16)

static bool
is_transposable(size_t width)
{
	return width == 1 || width == 2 || width == 4;
}

/* Each image's [rows][columns] becomes [columns][rows]. */
static void
transpose_images(const struct conversion *k, const uint8_t *in, uint8_t *out,
    size_t rows, size_t columns)
{
	const size_t one = rows * columns * k->width;

	for (size_t n = 0; n < k->batch; n++, in += one, out += one)
		if (k->width == 1)
			transpose_uint8_t(in, out, rows, columns);
		else if (k->width == 2)
			transpose_uint16_t(in, out, rows, columns);
		else
			transpose_uint32_t(in, out, rows, columns);
}

static void
plain_to_last(struct converter *c, const void *in, void *out)
{
	const struct conversion *k = c->state;

	transpose_images(k, in, out, k->channels, k->positions);
}

static void
last_to_plain(struct converter *c, const void *in, void *out)
{
	const struct conversion *k = c->state;

	transpose_images(k, in, out, k->positions, k->channels);
}

static float
load(const struct conversion *k, const uint8_t *at)
{
	const enum dtype t = k->from_dtype;
	uint16_t half;
	float x;

	if (dtype_is_byte(t))
		return quant_to_real(&k->quant, *at);
	if (t == DT_FLOAT) {
		memcpy(&x, at, sizeof x);
		return x;
	}
	memcpy(&half, at, sizeof half);
	return t == DT_FLOAT16 ? f16_to_f32(half) : bf16_to_f32(half);
}

static void
store(const struct conversion *k, float x, uint8_t *at)
{
	const enum dtype t = k->to_dtype;
	uint16_t half;

	if (dtype_is_byte(t)) {
		*at = quant_from_real(&k->quant, x);
		return;
	}
	if (t == DT_FLOAT) {
		memcpy(at, &x, sizeof x);
		return;
	}
	half = t == DT_FLOAT16 ? f32_to_f16(x) : f32_to_bf16(x);
	memcpy(at, &half, sizeof half);
}

static void
move_element(const struct conversion *k, const uint8_t *in, size_t i,
    uint8_t *out, size_t o)
{
	if (k->from_dtype == k->to_dtype) {
		memcpy(out + o * k->width, in + i * k->width, k->width);
		return;
	}
	store(k, load(k, in + i * (dtype_bits(k->from_dtype) / 8)),
	    out + o * (dtype_bits(k->to_dtype) / 8));
}

static void
move_tile(const struct conversion *k, const uint8_t *in, uint8_t *out, size_t n,
    size_t c0)
{
	size_t c1 = smaller(c0 + TILE_CHANNELS, k->channels);

	for (size_t p0 = 0; p0 < k->positions; p0 += TILE_POSITIONS) {
		size_t p1 = smaller(p0 + TILE_POSITIONS, k->positions);

		for (size_t c = c0; c < c1; c++)
			for (size_t p = p0; p < p1; p++)
				move_element(k, in,
				    offset(k, k->from_block, n, c, p), out,
				    offset(k, k->to_block, n, c, p));
	}
}

/* Any layout and float type to any other. */
static void
move_all(struct converter *c, const void *in, void *out)
{
	const struct conversion *k = c->state;

	if (k->channels % k->to_block != 0)
		memset(out, 0, k->to_bytes);
	for (size_t n = 0; n < k->batch; n++)
		for (size_t c0 = 0; c0 < k->channels; c0 += TILE_CHANNELS)
			move_tile(k, in, out, n, c0);
}

/* Bytes mean floats by a scale only. */
static bool
is_castable(const struct conversion *k, enum dtype t)
{
	return t == DT_FLOAT || t == DT_FLOAT16 || t == DT_BFLOAT16
	    || (dtype_is_byte(t) && k->quant.scale > 0);
}

/* Bytes stay bytes: whether they have a sign is the value's business. */
static enum dtype
dtype_in(const struct format_change *x, enum dtype held)
{
	const enum dtype own = x->type->dtype;

	return held == DT_UNDEFINED
	        || (dtype_is_byte(held) && dtype_is_byte(own))
	    ? own
	    : held;
}

static bool
describe(struct conversion *k, const struct format_change *x, struct err *err)
{
	const struct format from = x->from, to = x->to;
	const struct type *type = x->type;
	size_t count = 0, bytes = 0;

	k->from = from;
	k->to = to;
	k->quant = x->quant ? *x->quant : (struct quant){.scale = 0};
	k->from_dtype = dtype_in(x, from.dtype);
	k->to_dtype = dtype_in(x, to.dtype);
	k->width = dtype_bits(k->from_dtype) / 8;
	if (!type_is_static(type)
	    || !tensor_size(type->dtype, type->dim, type->rank, &count, &bytes))
		return err_set(err, ERR_UNSUPPORTED,
		    "a value without static shape cannot be converted");
	if (k->width == 0
	    || (k->from_dtype != k->to_dtype
	        && !(is_castable(k, k->from_dtype)
	            && is_castable(k, k->to_dtype))))
		return err_set(err, ERR_UNSUPPORTED,
		    "nothing here converts %s to %s", dtype_name(k->from_dtype),
		    dtype_name(k->to_dtype));
	if (type->rank != 4
	    && (from.layout != LAYOUT_PLAIN || to.layout != LAYOUT_PLAIN))
		return err_set(err, ERR_UNSUPPORTED,
		    "a layout of rank 4 for a value of rank %u",
		    (unsigned)type->rank);
	k->batch = k->channels = 1;
	k->positions = count;
	if (type->rank == 4) {
		k->batch = (size_t)type->dim[0];
		k->channels = (size_t)type->dim[1];
		k->positions = (size_t)type->dim[2] * (size_t)type->dim[3];
	}
	k->from_block = block_of(from.layout, k->channels);
	k->to_block = block_of(to.layout, k->channels);
	k->to_bytes = format_bytes(to, type);
	return true;
}

static void
widen_all(struct converter *c, const void *in, void *out)
{
	const struct conversion *k = c->state;

	halves_widen(k->from_dtype, in, k->to_bytes / sizeof(float), out);
}

static void
narrow_all(struct converter *c, const void *in, void *out)
{
	const struct conversion *k = c->state;

	halves_narrow(k->to_dtype, in, k->to_bytes / 2, out);
}

/* Element by element in the order they lie in, padding too? */
static bool
is_in_order(const struct conversion *k)
{
	const bool dense = k->from.layout <= LAYOUT_NHWC
	    && k->to.layout <= LAYOUT_NHWC
	    && (k->channels == 1 || k->positions == 1);

	return dense || k->from.layout == k->to.layout;
}

/* Same bytes in another place? One position or one channel makes plain and
 * channels-last equal. */
static bool
is_copy(const struct conversion *k)
{
	return k->from_dtype == k->to_dtype && is_in_order(k);
}

/* (what is held as floats is floats to a library) */
static bool
library_converter(struct converter *c, enum layout from, enum layout to,
    const struct type *type, struct arena *a)
{
	uint32_t n;
	const struct target_kind *const *kind = target_kinds(&n);
	struct type floats = *type;

	floats.dtype = DT_FLOAT;

	for (uint32_t i = 0; i < n; i++)
		if (kind[i]->converter
		    && kind[i]->converter(c, from, to, &floats, a))
			return true;
	return false;
}

bool
converter_new(struct converter *c, const struct format_change *change,
    struct arena *a, struct err *err)
{
	struct conversion *k = arena_new(a, struct conversion, 1);
	const struct format from = change->from, to = change->to;

	*c = (struct converter){.state = k};
	if (!describe(k, change, err))
		return false;
	if (k->to_bytes == 0 || is_copy(k)) {
		c->run = copy_bytes;
		return true;
	}
	if (is_in_order(k) && dtype_is_half(k->from_dtype)
	    && k->to_dtype == DT_FLOAT) {
		c->run = widen_all;
		return true;
	}
	if (is_in_order(k) && k->from_dtype == DT_FLOAT
	    && dtype_is_half(k->to_dtype)) {
		c->run = narrow_all;
		return true;
	}
	if (is_transposable(k->width) && k->from_dtype == k->to_dtype
	    && from.layout <= LAYOUT_NHWC && to.layout <= LAYOUT_NHWC) {
		c->run =
		    to.layout == LAYOUT_NHWC ? plain_to_last : last_to_plain;
		return true;
	}
	/* SOURCE: measured: the library wins wherever blocks are involved, and
	 * has a slow case (channels last to plain) where they are not. */
	if (k->from_dtype == DT_FLOAT && k->to_dtype == DT_FLOAT
	    && library_converter(c, from.layout, to.layout, change->type, a))
		return true;
	c->state = k;
	c->run = move_all;
	return true;
}
