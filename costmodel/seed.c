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
	case OP_GATHERBLOCKQUANTIZED:
	case OP_SCATTER:
	case OP_SCATTERELEMENTS:
	case OP_SCATTERND:
		return n->input[1] == v;
	case OP_ONEHOT:
		return n->input[0] == v;
	case OP_ROIALIGN:
		return n->input[2] == v;
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
store_float(enum dtype dtype, float x, void *out, size_t i)
{
	if (dtype == DT_FLOAT)
		((float *)out)[i] = x;
	else if (dtype == DT_DOUBLE)
		((double *)out)[i] = (double)x;
	else
		((uint16_t *)out)[i] =
		    dtype == DT_FLOAT16 ? f32_to_f16(x) : f32_to_bf16(x);
}

static bool
is_seeded_float(enum dtype t)
{
	return t == DT_FLOAT || t == DT_DOUBLE || t == DT_FLOAT16
	    || t == DT_BFLOAT16;
}

/* The same generator whatever the value; never zero. */
static uint64_t
state_of(uint64_t which)
{
	return which * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

void
seed_value(const struct graph *g, value_id v, void *out)
{
	seed_sample(g, v, 0, out);
}

void
seed_sample(const struct graph *g, value_id v, uint32_t sample, void *out)
{
	const struct type *t = &graph_value(g, v)->type;
	size_t n = 0, bytes = 0;
	uint32_t width = dtype_bits(t->dtype) / 8;
	uint64_t state = state_of((uint64_t)sample << 32 | v);
	bool fits = tensor_size(t->dtype, t->dim, t->rank, &n, &bytes);

	assert(fits);
	(void)fits;
	if (is_seeded_float(t->dtype)) {
		for (size_t i = 0; i < n; i++)
			store_float(t->dtype, next_float(&state), out, i);
		return;
	}
	memset(out, 0, bytes);
	if (is_index(g, v) || width == 0)
		return;
	for (size_t i = 0; i < n; i++) /* little-endian one */
		((uint8_t *)out)[i * width] = 1;
}

/* Like whole numbers they are one, which more operators take than a word. */
static struct tensor
texts_of(const struct type *t, size_t n, struct arena *a)
{
	struct string_view *text = arena_new(a, struct string_view, n);

	for (size_t i = 0; i < n; i++)
		text[i] = (struct string_view){"1", 1};
	return tensor_strings(t->rank, t->dim, text);
}

bool
seed_tensor(struct tensor *out, const struct graph *g, value_id v,
    uint32_t sample, struct arena *a)
{
	const struct type *t = &graph_value(g, v)->type;
	size_t n, bytes;
	void *data;

	if (t->kind != TYPE_TENSOR || !type_is_static(t)
	    || !tensor_size(t->dtype, t->dim, t->rank, &n, &bytes))
		return false;
	if (t->dtype == DT_STRING) {
		*out = texts_of(t, n, a);
		return true;
	}
	data = seed_buffer(a, bytes);
	seed_sample(g, v, sample, data);
	*out = tensor_view(t->dtype, t->rank, t->dim, data);
	return true;
}

/* One over the root of how many are summed, about: the elements of all
 * dimensions but the first, as a power of two. */
static float
scale_of(const struct tensor *t)
{
	float scale = 1;

	if (t->rank < 2 || t->dim[0] == 0)
		return 1;
	for (size_t n = t->count / (size_t)t->dim[0]; n >= 4; n /= 4)
		scale /= 2;
	return scale;
}

bool
seed_weights(
    const struct tensor *like, bool positive, uint64_t which, void *out)
{
	uint64_t state = state_of(~which);
	float scale = scale_of(like);

	if (dtype_is_byte(like->dtype)) {
		for (size_t i = 0; i < like->count; i++)
			((uint8_t *)out)[i] = (uint8_t)next_random(&state);
		return true;
	}
	if (!is_seeded_float(like->dtype))
		return false;
	for (size_t i = 0; i < like->count; i++) {
		float x = next_float(&state) * 0.75f;

		x += x < 0 ? -0.25f : 0.25f;
		if (positive && x < 0)
			x = -x;
		store_float(like->dtype, x * scale, out, i);
	}
	return true;
}

/* Vectors may be variances and scales. */
static bool
seed_one(struct value *v, uint64_t which, struct arena *a)
{
	const struct tensor *t = v->constant;
	struct tensor *made;
	void *data;

	if (!t || !t->made_up)
		return false;
	data = seed_buffer(a, t->bytes);
	if ((t->rank < 2 && !is_seeded_float(t->dtype))
	    || !seed_weights(t, t->rank < 2, which, data))
		return true; /* zeros will do */
	made = arena_new(a, struct tensor, 1);
	*made = tensor_view(t->dtype, t->rank, t->dim, data);
	made->made_up = true;
	v->constant = made;
	return true;
}

uint32_t
seed_made_up(struct graph *g, struct arena *a)
{
	struct graph *body;
	uint32_t n = 0;

	for (value_id v = 0; v < g->nvalues; v++)
		n += seed_one(&g->value[v], v, a);
	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *node = graph_node(g, id);

		for (uint32_t k = 0; (body = node_body(node, k)) != NULL; k++)
			n += seed_made_up(body, a);
	}
	return n;
}
