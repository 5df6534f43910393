#include "targets/dnnl/dynamic_sides.h"

#include <string.h>

#include "targets/integer.h"

/* by_output: weights are [outputs][depth], not [depth][outputs]. */
static int32_t *
sum_weights(const struct dynamic_sides *s, const int8_t *steps, bool by_output,
    struct arena *a)
{
	const size_t step = by_output ? 1 : s->outputs;
	int32_t *sum = arena_new(a, int32_t, s->outputs);

	for (size_t i = 0; i < s->outputs; i++) {
		const int8_t *at = steps + i * (by_output ? s->depth : 1);

		for (size_t k = 0; k < s->depth; k++)
			sum[i] += at[k * step];
	}
	return sum;
}

struct dynamic_sides
dynamic_sides_read(const struct dynamic_product *d, const struct graph *g,
    const struct candidate *c, const int8_t *steps, struct arena *a)
{
	const bool is_conv = integer_places(d->product)->is_conv;
	const struct tensor *w = integer_constant(g, d->product, 1);
	struct dynamic_sides s = {
	    .outputs = (size_t)w->dim[is_conv ? 0 : 1],
	    .zero = dynamic_read_zero(d, g, c),
	    .codes = candidate_input(c, d->product->input[0]),
	    .by = candidate_input(c, d->scale),
	    .is_unsigned = node_in(g, d->product, 0)->type.dtype == DT_UINT8,
	    .has_bias = d->bias != NULL,
	};

	s.depth = w->count / s.outputs;
	s.weights = sum_weights(&s, steps, is_conv, a);
	s.zeros = integer_zeros(g, d->product, s.outputs, a);
	s.scale = integer_entries(d->scales, s.outputs, a);
	s.bias = integer_entries(d->bias, s.outputs, a);
	for (size_t i = 0; i < s.outputs; i++)
		s.has_zeros = s.has_zeros || s.zeros[i] != 0;
	return s;
}

struct left_side
dynamic_sides_left(const struct dynamic_sides *s, const void *const *in)
{
	struct left_side l = {
	    .codes = in[s->codes], .zero = dynamic_zero(&s->zero, in)};

	memcpy(&l.scale, in[s->by], sizeof l.scale);
	return l;
}

enum dynamic_vectors
dynamic_vectors(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx512dq")
	    && __builtin_cpu_supports("avx512vl"))
		return VECTORS_AVX512;
	if (__builtin_cpu_supports("avx2"))
		return VECTORS_AVX2;
#endif
	return VECTORS_NONE;
}
