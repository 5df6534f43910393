#include "targets/blas/sums.h"

#include <math.h>

#include "targets/bytes.h"

#define EXACT ((int64_t)1 << 24) /* floats are exact up to here */
#define BYTE_STEPS 255 /* of an 8-bit value from its zero */

/* ---- weights ---- */

static size_t
weight_index(const struct sums *s, size_t output, size_t k)
{
	return s->by_depth ? k * s->outputs + output : output * s->depth + k;
}

/* Cut where some output's sum could leave what is exact. */
static void
cut(struct sums *s, struct arena *a)
{
	int64_t *far = arena_new(a, int64_t, s->outputs);

	s->end = arena_new(a, uint32_t, s->depth);
	for (size_t k = 0; k < s->depth; k++) {
		bool over = false;

		for (size_t o = 0; o < s->outputs; o++) {
			far[o] += BYTE_STEPS
			    * (int64_t)fabsf(s->weight[weight_index(s, o, k)]);
			over = over || far[o] > EXACT;
		}
		if (!over)
			continue;
		s->end[s->nparts++] = (uint32_t)k;
		for (size_t o = 0; o < s->outputs; o++)
			far[o] = BYTE_STEPS
			    * (int64_t)fabsf(s->weight[weight_index(s, o, k)]);
	}
	s->end[s->nparts++] = (uint32_t)s->depth;
}

void
sums_of(struct sums *s, const struct tensor *w, const struct tensor *zero,
    struct arena *a)
{
	float *to = arena_new(a, float, w->count);

	for (size_t i = 0; i < w->count; i++)
		to[i] = (float)tensor_real(w, i)
		    - integer_entry(
		        zero, s->by_depth ? i % s->outputs : i / s->depth);
	s->weight = to;
	cut(s, a);
}

/* ---- requantising ---- */

void
requantise_map(uint8_t *restrict to, const int32_t *restrict sum, size_t n,
    const struct requantising *q, size_t output)
{
	const float m = q->multiplier[output], zero = q->zero;
	const int32_t bias = q->bias ? q->bias[output] : 0;
	const struct byte_limits l = byte_limits(q->is_unsigned);

	for (size_t i = 0; i < n; i++)
		to[i] = (uint8_t)(int32_t)byte_near(
		    (float)(sum[i] + bias) * m, zero, l);
}

void
requantise_row(uint8_t *restrict to, const int32_t *restrict sum, size_t n,
    const struct requantising *q)
{
	const float *restrict m = q->multiplier;
	const struct byte_limits l = byte_limits(q->is_unsigned);
	const float zero = q->zero;

	for (size_t i = 0; i < n; i++)
		to[i] =
		    (uint8_t)(int32_t)byte_near((float)sum[i] * m[i], zero, l);
}

/* ---- sums ---- */

void
add_whole(int32_t *to, const float *from, size_t n, bool first)
{
	if (first)
		for (size_t i = 0; i < n; i++)
			to[i] = (int32_t)from[i];
	else
		for (size_t i = 0; i < n; i++)
			to[i] += (int32_t)from[i];
}

struct zero
zero_of(const struct graph *g, const struct candidate *c, const struct node *n,
    uint32_t input)
{
	const struct value *v = node_in(g, n, input);
	struct zero z = {.port = -1};

	if (!v)
		return z;
	z.constant = integer_entry(v->constant, 0);
	if (v->constant)
		return z;
	z.port = candidate_input(c, n->input[input]);
	z.is_unsigned = v->type.dtype == DT_UINT8;
	return z;
}

float
zero_now(const struct zero *z, const void *const *in)
{
	const struct byte_code code = {.is_unsigned = z->is_unsigned};
	float zero = z->constant;

	if (z->port >= 0)
		bytes_widen(&zero, in[z->port], 1, 1, &code);
	return zero;
}

void
multiply_by(const struct multiplication *m, uint32_t lanes)
{
	if (lanes > 1)
		multiply_block(
		    m, &(struct result_block){0, m->rows, 0, m->columns});
	else
		multiply(m);
}
