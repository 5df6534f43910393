#include "targets/narrow.h"

#include <assert.h>
#include <string.h>

#include "ir/halves.h"

/* SOURCE: ONNX Runtime's text of MatMulNBits. */
#define BLOCK_MIN 16

/* ---- what is taken ---- */

static const struct tensor *
constant_in(const struct graph *g, const struct node *n, uint32_t slot)
{
	const struct value *v = node_in(g, n, slot);

	return v ? v->constant : NULL;
}

static bool
is_numbers(const struct tensor *t)
{
	return t && tensor_is_numbers(t);
}

static bool
is_real(const struct tensor *t)
{
	return is_numbers(t)
	    && (t->dtype == DT_FLOAT || t->dtype == DT_FLOAT16);
}

static size_t
blocks_of(int64_t depth, int64_t block)
{
	return (size_t)((depth - 1) / block + 1);
}

/* Zero points are absent, codes, or numbers like the scales. */
static bool
fits_zeros(const struct graph *g, const struct node *n, size_t columns,
    size_t blocks, size_t bits)
{
	const struct tensor *t = constant_in(g, n, 3);

	if (!node_in(g, n, 3))
		return true;
	if (is_real(t))
		return t->count == columns * blocks;
	return is_numbers(t) && t->dtype == DT_UINT8
	    && t->count == columns * ((blocks * bits + 7) / 8);
}

static const char *
fault_of_blocks(const struct graph *g, const struct node *n)
{
	const struct tensor *codes = constant_in(g, n, 1);
	const struct tensor *scales = constant_in(g, n, 2);
	const int64_t bits = attr_int_or(n, "bits", 4);
	const int64_t block = attr_int_or(n, "block_size", 0);
	const int64_t depth = attr_int_or(n, "K", 0);
	const int64_t columns = attr_int_or(n, "N", 0);
	size_t blocks;

	if (bits != 4 && bits != 8)
		return "codes of other than 4 or 8 bits";
	if (attr_int_or(n, "weight_prepacked", 0) || node_in(g, n, 4))
		return "weights in another order";
	if (block < BLOCK_MIN || block > INT32_MAX || (block & (block - 1))
	    || depth < 1 || depth > INT32_MAX || columns < 1
	    || columns > INT32_MAX)
		return "sizes out of range";
	blocks = blocks_of(depth, block);
	if (!is_numbers(codes) || codes->dtype != DT_UINT8
	    || codes->count
	        != (size_t)columns * blocks * (size_t)(block * bits / 8)
	    || !is_real(scales) || scales->count != (size_t)columns * blocks
	    || !fits_zeros(g, n, (size_t)columns, blocks, (size_t)bits))
		return "weights that are no constants of these sizes";
	return NULL;
}

const char *
narrow_fault(const struct graph *g, const struct node *n)
{
	const struct tensor *t = constant_in(g, n, 1);

	if (n->op == OP_MATMULNBITS)
		return fault_of_blocks(g, n);
	if (n->op != OP_MATMUL || !is_numbers(t) || t->dtype != DT_FLOAT16
	    || t->rank != 2 || t->count == 0)
		return "no matrix of constant halves";
	return NULL;
}

/* ---- opening ---- */

/* Bytes of a constant where it lies, if it lies anywhere. */
static const unsigned char *
bytes_of(const struct tensor *t, struct arena *a)
{
	return t->kind == TENSOR_VIEW ? t->data : tensor_data(t, a);
}

static float *
floats_of(const struct tensor *t, struct arena *a)
{
	float *to = arena_new(a, float, t->count);

	for (size_t i = 0; i < t->count; i++)
		to[i] = (float)tensor_real(t, i);
	return to;
}

static float
zero_point(const struct narrow *p, const struct tensor *t, size_t i)
{
	const size_t column = i / p->blocks, block = i % p->blocks;
	const size_t row = (p->blocks * p->bits + 7) / 8;

	if (!t)
		return (float)(1u << (p->bits - 1));
	if (t->dtype != DT_UINT8)
		return (float)tensor_real(t, i);
	if (p->bits == 8)
		return (float)tensor_int(t, column * row + block);
	return (float)(tensor_int(t, column * row + block / 2) >> block % 2 * 4
	    & 15);
}

static void
open_blocks(struct narrow *p, const struct graph *g, const struct node *n,
    struct arena *a)
{
	const struct tensor *zeros = constant_in(g, n, 3);
	float *zero;

	p->depth = (size_t)attr_int_or(n, "K", 0);
	p->columns = (size_t)attr_int_or(n, "N", 0);
	p->bits = (uint32_t)attr_int_or(n, "bits", 4);
	while (INT64_C(1) << p->block_shift != attr_int_or(n, "block_size", 0))
		p->block_shift++;
	p->blocks = ((p->depth - 1) >> p->block_shift) + 1;
	p->by_column = true;
	p->codes = bytes_of(constant_in(g, n, 1), a);
	p->scale = floats_of(constant_in(g, n, 2), a);
	zero = arena_new(a, float, p->columns * p->blocks);
	for (size_t i = 0; i < p->columns * p->blocks; i++)
		zero[i] = zero_point(p, zeros, i);
	p->zero = zero;
}

void
narrow_open(struct narrow *p, const struct graph *g, const struct node *n,
    struct arena *a)
{
	const struct tensor *t = constant_in(g, n, 1);

	*p = (struct narrow){.bits = 16};
	if (n->op == OP_MATMULNBITS) {
		open_blocks(p, g, n, a);
		return;
	}
	p->depth = (size_t)t->dim[0];
	p->columns = (size_t)t->dim[1];
	p->codes = bytes_of(t, a);
}

const float *
narrow_bias(const struct graph *g, const struct node *n, struct arena *a)
{
	return n->op == OP_MATMULNBITS && node_in(g, n, 5)
	    ? floats_of(node_in(g, n, 5)->constant, a)
	    : NULL;
}

/* ---- unpacking ---- */

/* So many codes as numbers: loops of constant length are vectorised. */
static inline void
unpack_few(
    const unsigned char *from, bool four, float scale, float zero, float *to)
{
	int code[BLOCK_MIN];

	for (uint32_t i = 0; four && i < BLOCK_MIN / 2; i++) {
		code[2 * i] = from[i] & 15;
		code[2 * i + 1] = from[i] >> 4;
	}
	for (uint32_t i = 0; !four && i < BLOCK_MIN; i++)
		code[i] = from[i];
	for (uint32_t i = 0; i < BLOCK_MIN; i++)
		to[i] = ((float)code[i] - zero) * scale;
}

/* The last few of a column may go beyond it. */
static void
unpack_column(const struct narrow *p, size_t column, float *to)
{
	const bool four = p->bits == 4;
	const size_t step = four ? BLOCK_MIN / 2 : BLOCK_MIN;
	const size_t block = column * p->blocks;
	const unsigned char *from =
	    p->codes + ((block << p->block_shift) >> (four ? 1 : 0));
	float rest[BLOCK_MIN];

	for (size_t k = 0; k < p->depth; k += BLOCK_MIN, from += step) {
		const size_t at = block + (k >> p->block_shift);
		const size_t left = p->depth - k;

		if (four)
			unpack_few(from, true, p->scale[at], p->zero[at],
			    left < BLOCK_MIN ? rest : to + k);
		else
			unpack_few(from, false, p->scale[at], p->zero[at],
			    left < BLOCK_MIN ? rest : to + k);
		if (left < BLOCK_MIN)
			memcpy(to + k, rest, left * sizeof *rest);
	}
}

void
narrow_unpack(const struct narrow *p, size_t from, size_t n, float *to)
{
	assert(from + n <= p->columns);
	if (p->by_column) {
		for (size_t i = 0; i < n; i++)
			unpack_column(p, from + i, to + i * p->depth);
		return;
	}
	for (size_t k = 0; k < p->depth; k++)
		halves_widen(DT_FLOAT16, p->codes + 2 * (k * p->columns + from),
		    n, to + k * n);
}
