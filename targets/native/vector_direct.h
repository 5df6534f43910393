/* Convolution of few filters: vectors are of neighbouring outputs, each weight is one for
 * all of them. Where libraries make vectors of the filters, most of one stays empty. */
#ifndef TARGETS_NATIVE_VECTOR_DIRECT_H
#define TARGETS_NATIVE_VECTOR_DIRECT_H

#include "targets/native/direct_form.h"
#include "targets/native/vector_chain.h"
#include "targets/native/vector_product.h"

/* to[filter][output] = bias + sum over taps of weight * x[offset + output] */
struct direct_sums {
	const float *x;
	const size_t *offset; /* [taps] */
	size_t taps;
	const float *weights; /* [taps][filters] */
	const float *bias; /* [filters] */
	float *to;
	size_t step; /* from a filter's outputs to the next's */
};

/* Vectors of outputs; accumulators have names, see vector_product.h. */
#define VECTORS_1(M, f) M(f, 0)
#define VECTORS_2(M, f) VECTORS_1(M, f) M(f, 1)
#define VECTORS_3(M, f) VECTORS_2(M, f) M(f, 2)
#define VECTORS_4(M, f) VECTORS_3(M, f) M(f, 3)
#define VECTORS_5(M, f) VECTORS_4(M, f) M(f, 4)
#define VECTORS_6(M, f) VECTORS_5(M, f) M(f, 5)
#define VECTORS_7(M, f) VECTORS_6(M, f) M(f, 6)
#define VECTORS_8(M, f) VECTORS_7(M, f) M(f, 7)
#define VECTORS_9(M, f) VECTORS_8(M, f) M(f, 8)
#define VECTORS_10(M, f) VECTORS_9(M, f) M(f, 9)
#define VECTORS_11(M, f) VECTORS_10(M, f) M(f, 10)
#define VECTORS_12(M, f) VECTORS_11(M, f) M(f, 11)
#define VECTORS_13(M, f) VECTORS_12(M, f) M(f, 12)
#define VECTORS_14(M, f) VECTORS_13(M, f) M(f, 13)
#define VECTORS_15(M, f) VECTORS_14(M, f) M(f, 14)
#define VECTORS_16(M, f) VECTORS_15(M, f) M(f, 15)
#define VECTORS_17(M, f) VECTORS_16(M, f) M(f, 16)
#define VECTORS_18(M, f) VECTORS_17(M, f) M(f, 17)
#define VECTORS_19(M, f) VECTORS_18(M, f) M(f, 18)
#define VECTORS_20(M, f) VECTORS_19(M, f) M(f, 19)
#define VECTORS_21(M, f) VECTORS_20(M, f) M(f, 20)
#define VECTORS_22(M, f) VECTORS_21(M, f) M(f, 21)
#define VECTORS_23(M, f) VECTORS_22(M, f) M(f, 22)
#define VECTORS_24(M, f) VECTORS_23(M, f) M(f, 23)
#define FILTERS_1(M, v) M(0, v)
#define FILTERS_2(M, v) FILTERS_1(M, v) M(1, v)
#define FILTERS_4(M, v) FILTERS_2(M, v) M(2, v) M(3, v)
#define FILTERS_8(M, v) FILTERS_4(M, v) M(4, v) M(5, v) M(6, v) M(7, v)

#define DIRECT_START(f, v) vec s##f##_##v = vec_all(p->bias[f]);
#define DIRECT_START_ALL(f, n) VECTORS_##n(DIRECT_START, f)
#define DIRECT_STORE(f, v) \
	vec_store(p->to + f * p->step + v * NATIVE_WIDTH, s##f##_##v);
#define DIRECT_STORE_ALL(f, n) VECTORS_##n(DIRECT_STORE, f)
#define DIRECT_WEIGHT(f, n) const vec w##f = vec_all(w[f]);
#define DIRECT_READ(f, v) const vec x##v = vec_load(x + v * NATIVE_WIDTH);
#define DIRECT_ADD(f, v) s##f##_##v += w##f * x##v;
/* A filter's weight, and all vectors by it. */
#define DIRECT_FILTER(f, n) \
	{ \
		DIRECT_WEIGHT(f, n) \
		VECTORS_##n(DIRECT_ADD, f) \
	}
/* A vector, and all weights by it. */
#define DIRECT_VECTOR_1(f, v) \
	{ \
		DIRECT_READ(f, v) \
		FILTERS_1(DIRECT_ADD, v) \
	}
#define DIRECT_VECTOR_2(f, v) \
	{ \
		DIRECT_READ(f, v) \
		FILTERS_2(DIRECT_ADD, v) \
	}
#define DIRECT_VECTOR_4(f, v) \
	{ \
		DIRECT_READ(f, v) \
		FILTERS_4(DIRECT_ADD, v) \
	}
/* What there is more of stays in memory: it is read once either way. */
#define DIRECT_TAP_1(n) \
	FILTERS_1(DIRECT_WEIGHT, n) VECTORS_##n(DIRECT_VECTOR_1, 0)
#define DIRECT_TAP_2(n) \
	FILTERS_2(DIRECT_WEIGHT, n) VECTORS_##n(DIRECT_VECTOR_2, 0)
#define DIRECT_TAP_4(n) \
	FILTERS_4(DIRECT_WEIGHT, n) VECTORS_##n(DIRECT_VECTOR_4, 0)
#define DIRECT_TAP_8(n) VECTORS_##n(DIRECT_READ, 0) FILTERS_8(DIRECT_FILTER, n)

#define DIRECT(filters, vectors) \
	static __attribute__((noinline)) void direct_##filters##_##vectors( \
	    const struct direct_sums *p) \
	{ \
		const float *w = p->weights; \
\
		FILTERS_##filters( \
		    DIRECT_START_ALL, vectors) for (size_t t = 0; t < p->taps; \
		                                    t++, w += filters) \
		{ \
			const float *x = p->x + p->offset[t]; \
\
			DIRECT_TAP_##filters(vectors) \
		} \
		FILTERS_##filters(DIRECT_STORE_ALL, vectors) \
	}

/* As many sums as registers hold, and a third of them for what is left. */
#if NATIVE_GROUP > 6
#define DIRECT_SUMS 24
DIRECT(1, 24)
DIRECT(2, 12)
DIRECT(4, 6)
DIRECT(8, 3)
DIRECT(1, 8)
DIRECT(2, 4)
DIRECT(4, 2)
DIRECT(8, 1)
#else
#define DIRECT_SUMS 12
DIRECT(1, 12)
DIRECT(2, 6)
DIRECT(4, 3)
DIRECT(1, 4)
DIRECT(2, 2)
DIRECT(4, 1)
#endif

static const struct {
	size_t filters, vectors, rest;
	void (*all)(const struct direct_sums *p);
	void (*few)(const struct direct_sums *p);
} direct_of[] = {
#if NATIVE_GROUP > 6
    {8, 3, 1, direct_8_3, direct_8_1},
    {4, 6, 2, direct_4_6, direct_4_2},
    {2, 12, 4, direct_2_12, direct_2_4},
    {1, 24, 8, direct_1_24, direct_1_8},
#else
    {4, 3, 1, direct_4_3, direct_4_1},
    {2, 6, 2, direct_2_6, direct_2_2},
    {1, 12, 4, direct_1_12, direct_1_4},
#endif
};

/* The row of as many filters as there are left, or of fewer. */
static inline size_t
direct_row(size_t left)
{
	size_t i = 0;

	while (direct_of[i].filters > left)
		i++;
	return i;
}

/* ---- a block's inputs ---- */

/* n numbers of a row of `length`, from `at` on and every `stride`th: zeros before and
 * behind it. */
static inline void
direct_copy_row(const float *row, size_t length, ptrdiff_t at, size_t stride,
    size_t n, float *to)
{
	size_t i = 0;

	for (; i < n && at < 0; i++, at += (ptrdiff_t)stride)
		to[i] = 0;
	if (stride == 1 && i < n && (size_t)at < length) {
		const size_t there = length - (size_t)at;
		const size_t part = there < n - i ? there : n - i;

		memcpy(to + i, row + at, part * sizeof *to);
		i += part;
		at += (ptrdiff_t)part;
	}
	for (; i < n && (size_t)at < length; i++, at += (ptrdiff_t)stride)
		to[i] = row[at];
	for (; i < n; i++)
		to[i] = 0;
}

/* Rows of one phase of a channel; `first` are the block's first outputs. */
static inline void
direct_copy_phase(const struct direct *d, const float *channel,
    const size_t first[2], const size_t phase[2], float *to)
{
	const ptrdiff_t column = (ptrdiff_t)(first[1] * d->stride[1] + phase[1])
	    - (ptrdiff_t)d->before[1];

	for (size_t r = 0; r < d->phase_rows; r++, to += d->pitch) {
		const ptrdiff_t row =
		    (ptrdiff_t)((first[0] + r) * d->stride[0] + phase[0])
		    - (ptrdiff_t)d->before[0];

		if (row < 0 || (size_t)row >= d->in_size[0])
			memset(to, 0, d->pitch * sizeof *to);
		else
			direct_copy_row(channel + (size_t)row * d->in_size[1],
			    d->in_size[1], column, d->stride[1], d->pitch, to);
	}
}

/* Does any tap read that phase? */
ALWAYS bool
direct_has_phase(const struct direct *d, size_t i, size_t phase)
{
	for (size_t k = 0; k < d->kernel[i]; k++)
		if (k * d->dilation[i] % d->stride[i] == phase)
			return true;
	return false;
}

static inline void
direct_copy(const struct direct *d, const float *image, const size_t first[2],
    float *to)
{
	const size_t each = d->phase_rows * d->pitch;

	for (size_t c = 0; c < d->channels; c++)
		for (size_t p = 0; p < d->stride[0] * d->stride[1]; p++) {
			const size_t phase[2] = {
			    p / d->stride[1], p % d->stride[1]};

			if (direct_has_phase(d, 0, phase[0])
			    && direct_has_phase(d, 1, phase[1]))
				direct_copy_phase(d,
				    image + c * d->in_size[0] * d->in_size[1],
				    first, phase, to);
			to += each;
		}
}

/* ---- a block's outputs ---- */

/* All outputs of a block, those between its rows included, for filters of row i. */
static inline void
direct_sum(const struct direct *d, size_t i, size_t filter, size_t n,
    const float *x, float *sums)
{
	const size_t many = direct_of[i].vectors * NATIVE_WIDTH;
	const size_t few = direct_of[i].rest * NATIVE_WIDTH;
	struct direct_sums s = {.x = x,
	    .offset = d->offset,
	    .taps = d->taps,
	    .weights = d->weights + filter * d->taps,
	    .bias = d->bias + filter,
	    .to = sums,
	    .step = d->step};
	size_t at = 0;

	for (; at + many <= n; at += many, s.x += many, s.to += many)
		direct_of[i].all(&s);
	for (; at < n; at += few, s.x += few, s.to += few)
		direct_of[i].few(&s);
}

/* n sums of one filter, which lie at `at` of the output; at most a block of vectors. */
static inline void
direct_finish(const struct direct *d, const float *sums, size_t n, size_t at,
    const void *const *in, float *out)
{
	const size_t vectors = (n + NATIVE_WIDTH - 1) / NATIVE_WIDTH;
	const size_t plane = d->size[0] * d->size[1];
	const size_t filter = at / plane % d->filters;
	vec x[CHAIN_BLOCK], y[CHAIN_BLOCK];

	y[vectors - 1] = vec_all(1);
	chain_read(sums, n, x);
	for (uint32_t i = 0; i < d->steps.n; i++) {
		const struct native_step *s = &d->steps.step[i];

		if (s->channel) {
			y[0] = vec_all(s->channel[filter]);
			step_operation(s, x, y, vectors, 0);
		} else if (s->port >= 0) {
			chain_read((const float *)in[s->port] + at, n, y);
			step_operation(s, x, y, vectors, 1);
		} else {
			step_function(s, x, vectors);
		}
	}
	chain_write(x, n, out + at);
}

/* Outputs n[] of a plane, which begins at `plane` of the output, from first[] on. */
struct direct_block {
	size_t plane, first[2], n[2];
};

/* The rows of one filter. */
static inline void
direct_write(const struct direct *d, const struct direct_block *b,
    const float *sums, const void *const *in, float *out)
{
	const size_t most = (size_t)CHAIN_BLOCK * NATIVE_WIDTH;

	for (size_t r = 0; r < b->n[0]; r++)
		for (size_t c = 0; c < b->n[1]; c += most)
			direct_finish(d, sums + r * d->pitch + c,
			    b->n[1] - c < most ? b->n[1] - c : most,
			    b->plane + (b->first[0] + r) * d->size[1]
			        + b->first[1] + c,
			    in, out);
}

static void
direct_unit(const struct direct *d, size_t unit, float *scratch,
    const void *const *in, float *out)
{
	const size_t across = direct_blocks(d, 1);
	const size_t image = unit / across / direct_blocks(d, 0);
	struct direct_block b = {
	    .first = {unit / across % direct_blocks(d, 0) * d->block[0],
	        unit % across * d->block[1]}};

	for (size_t i = 0; i < 2; i++) {
		const size_t left = d->size[i] - b.first[i];

		b.n[i] = left < d->block[i] ? left : d->block[i];
	}
	direct_copy(d,
	    (const float *)in[d->port]
	        + image * d->channels * d->in_size[0] * d->in_size[1],
	    b.first, scratch);
	for (size_t f = 0; f < d->filters;) {
		const size_t i = direct_row(d->filters - f);
		float *sums = scratch + d->inputs;

		direct_sum(
		    d, i, f, (b.n[0] - 1) * d->pitch + b.n[1], scratch, sums);
		for (size_t k = 0; k < direct_of[i].filters; k++, f++) {
			b.plane =
			    (image * d->filters + f) * d->size[0] * d->size[1];
			direct_write(d, &b, sums + k * d->step, in, out);
		}
	}
}

#endif
