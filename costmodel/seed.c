#include "costmodel/seed.h"

#include <assert.h>
#include <string.h>

void *
seed_buffer(struct arena *a, size_t bytes)
{
	return arena_alloc(a, bytes + 256);
}

static uint64_t
next_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* Uniform in [-1, 1). */
static float
next_float(uint64_t *state)
{
	return (float)(next_random(state) >> 40) * 0x1p-23f - 1.f;
}

static bool
is_index_of(const struct node *n, value_id v)
{
	switch (n->op) {
	case OP_GATHER:
	case OP_GATHERELEMENTS:
	case OP_GATHERND:
	case OP_SCATTER:
	case OP_SCATTERELEMENTS:
	case OP_SCATTERND:
		return n->input[1] == v;
	case OP_ONEHOT:
		return n->input[0] == v;
	default:
		return false;
	}
}

static bool
is_index(const struct graph *g, value_id v)
{
	for (node_id i = 0; i < g->nnodes; i++)
		if (is_index_of(graph_node(g, i), v))
			return true;
	return false;
}

static void
seed_floats(enum dtype dtype, size_t n, uint64_t state, void *out)
{
	for (size_t i = 0; i < n; i++) {
		float x = next_float(&state);

		if (dtype == DT_FLOAT)
			((float *)out)[i] = x;
		else if (dtype == DT_DOUBLE)
			((double *)out)[i] = (double)x;
		else
			((uint16_t *)out)[i] = dtype == DT_FLOAT16
			    ? f32_to_f16(x)
			    : f32_to_bf16(x);
	}
}

void
seed_value(const struct graph *g, value_id v, void *out)
{
	const struct type *t = &graph_value(g, v)->type;
	size_t n = 0, bytes = 0;
	uint32_t width = dtype_bits(t->dtype) / 8;
	bool fits = tensor_size(t->dtype, t->dim, t->rank, &n, &bytes);

	assert(fits);
	(void)fits;
	if (t->dtype == DT_FLOAT || t->dtype == DT_DOUBLE
	    || t->dtype == DT_FLOAT16 || t->dtype == DT_BFLOAT16) {
		seed_floats(t->dtype, n,
		    (uint64_t)v * UINT64_C(0x9e3779b97f4a7c15) + 1, out);
		return;
	}
	memset(out, 0, bytes);
	if (is_index(g, v) || width == 0)
		return;
	for (size_t i = 0; i < n; i++) /* little-endian one */
		((uint8_t *)out)[i * width] = 1;
}
