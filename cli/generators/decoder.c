/* A decoder of language, as today's exporters write it: operators of opset 23 in
 * half precision, or weights in blocks of 4 bits. */
#include <math.h>

#include "cli/generators/build.h"
#include "cli/generators/generators.h"

#define BLOCK 32 /* weights that share a scale */

struct decoder {
	int64_t layers, width, heads, key_heads, inner, words, tokens;
};

static const struct decoder tinyllama = {
    .layers = 22,
    .width = 2048,
    .heads = 32,
    .key_heads = 4,
    .inner = 5632,
    .words = 32000,
    .tokens = 8,
};
static const struct decoder small = {
    .layers = 4,
    .width = 1024,
    .heads = 16,
    .key_heads = 4,
    .inner = 2816,
    .words = 4000,
    .tokens = 8,
};

/* Weights are windows of one pool, so that making them takes the memory of the
 * largest only. No two begin at the same place. */
#define SHIFT 64 /* elements between beginnings */

struct making {
	struct model_builder b;
	const struct decoder *d;
	uint16_t *pool; /* [pool_size] halves */
	size_t taken; /* windows */
	bool int4;
};

static void
fill_pool(struct making *m)
{
	const struct decoder *d = m->d;
	const float bound = sqrtf(3.0f / (float)d->width);
	const size_t n = (size_t)(d->words * d->width)
	    + SHIFT * 10 * (size_t)(d->layers + 1);

	if (m->b.constant)
		return;
	m->pool = arena_new(m->b.arena, uint16_t, n);
	for (size_t i = 0; i < n; i++)
		m->pool[i] = f32_to_f16(bound * gen_uniform((uint32_t)i, 0));
}

static value_id
fill(struct making *m, const char *name, float x, uint32_t rank,
    const int64_t *dim)
{
	const uint16_t half = f32_to_f16(x);
	const struct tensor t = tensor_fill(DT_FLOAT16, rank,
	    arena_copy(m->b.arena, dim, rank * sizeof *dim), &half);

	return gen_tensor(&m->b, name, &t);
}

/* A window of the pool, as halves or as bytes. */
static value_id
window(struct making *m, const char *name, enum dtype dtype, uint32_t rank,
    const int64_t *dim)
{
	const int64_t *shape = arena_copy(m->b.arena, dim, rank * sizeof *dim);
	const uint16_t middle = dtype == DT_UINT8 ? 0x99 : f32_to_f16(0.01f);
	const struct tensor t = m->b.constant
	    ? tensor_fill(dtype, rank, shape, &middle)
	    : tensor_view(dtype, rank, shape, m->pool + SHIFT * m->taken++);

	return gen_tensor(&m->b, name, &t);
}

static value_id
linear(struct making *m, value_id x, int64_t rows, int64_t columns)
{
	struct model_builder *b = &m->b;
	const enum op op = m->int4 ? OP_MATMULNBITS : OP_MATMUL;
	const char *name = gen_weight_name(b, op, "weight");
	const int64_t plain[] = {rows, columns};
	const int64_t packed[] = {columns, rows / BLOCK, BLOCK / 2};
	const int64_t scales[] = {columns, rows / BLOCK};
	const struct attr attr[] = {
	    gen_attr_int(b, "K", rows),
	    gen_attr_int(b, "N", columns),
	    gen_attr_int(b, "bits", 4),
	    gen_attr_int(b, "block_size", BLOCK),
	};
	value_id in[3] = {x};

	if (!m->int4) {
		in[1] = window(m, name, DT_FLOAT16, 2, plain);
		return gen_node(b, op, 2, in, 0, NULL);
	}
	in[1] = window(m, name, DT_UINT8, 3, packed);
	in[2] = fill(m, gen_weight_name(b, op, "scales"),
	    sqrtf(3.0f / (float)rows) / 8, 2, scales);
	return gen_node(b, op, 3, in, 4, attr);
}

static value_id
norm(struct making *m, value_id x)
{
	struct model_builder *b = &m->b;
	const struct attr axis[] = {gen_attr_int(b, "axis", -1)};
	value_id in[2] = {x};

	in[1] = fill(m, gen_weight_name(b, OP_RMSNORMALIZATION, "scale"), 1, 1,
	    &m->d->width);
	return gen_node(b, OP_RMSNORMALIZATION, 2, in, 1, axis);
}

/* Cosines or sines of the angles of all tokens, [1, tokens, size / 2]. */
static value_id
angles(struct making *m, const char *name, double (*wave)(double x))
{
	const int64_t size = m->d->width / m->d->heads;
	const int64_t dim[] = {1, m->d->tokens, size / 2};
	uint16_t *to =
	    arena_new(m->b.arena, uint16_t, (size_t)(m->d->tokens * size / 2));
	struct tensor t;

	for (int64_t i = 0; i < m->d->tokens; i++)
		for (int64_t k = 0; k < size / 2; k++)
			to[i * (size / 2) + k] =
			    f32_to_f16((float)wave((double)i
			        * pow(1e4, -2.0 * (double)k / (double)size)));
	t = tensor_view(
	    DT_FLOAT16, 3, arena_copy(m->b.arena, dim, sizeof dim), to);
	return gen_tensor(&m->b, name, &t);
}

static value_id
rotate(struct making *m, value_id x, int64_t heads, const value_id *table)
{
	const struct attr attr[] = {gen_attr_int(&m->b, "num_heads", heads)};
	const value_id in[] = {x, table[0], table[1]};

	return gen_node(&m->b, OP_ROTARYEMBEDDING, 3, in, 1, attr);
}

static value_id
attend(struct making *m, value_id x, const value_id *table)
{
	const struct decoder *d = m->d;
	const int64_t keys = d->key_heads * (d->width / d->heads);
	const struct attr attr[] = {
	    gen_attr_int(&m->b, "q_num_heads", d->heads),
	    gen_attr_int(&m->b, "kv_num_heads", d->key_heads),
	    gen_attr_int(&m->b, "is_causal", 1),
	};
	value_id in[3];

	in[0] = rotate(m, linear(m, x, d->width, d->width), d->heads, table);
	in[1] = rotate(m, linear(m, x, d->width, keys), d->key_heads, table);
	in[2] = linear(m, x, d->width, keys);
	x = gen_node(&m->b, OP_ATTENTION, 3, in, 3, attr);
	return linear(m, x, d->width, d->width);
}

static value_id
multiply(struct making *m, value_id x, value_id y)
{
	const value_id in[] = {x, y};

	return gen_node(&m->b, OP_MUL, 2, in, 0, NULL);
}

/* (swish(x gate) * (x up)) down */
static value_id
feed_forward(struct making *m, value_id x)
{
	const struct decoder *d = m->d;
	value_id gate = linear(m, x, d->width, d->inner), y;

	y = gen_node(&m->b, OP_SIGMOID, 1, &gate, 0, NULL);
	y = multiply(m, gate, y);
	y = multiply(m, y, linear(m, x, d->width, d->inner));
	return linear(m, y, d->inner, d->width);
}

static struct graph *
build(struct arena *a, const char *name, const struct decoder *d, bool int4,
    bool constant)
{
	struct making m = {
	    .b = gen_begin(a, name, constant), .d = d, .int4 = int4};
	const int64_t tokens[] = {1, d->tokens}, table[] = {d->words, d->width};
	value_id in[2], x, waves[2];

	m.b.dtype = DT_FLOAT16;
	m.b.opset = 23;
	fill_pool(&m);
	in[1] = gen_input(&m.b, "ids", DT_INT64, 2, tokens);
	in[0] = window(&m, "embeddings", DT_FLOAT16, 2, table);
	waves[0] = angles(&m, "cosines", cos);
	waves[1] = angles(&m, "sines", sin);
	x = gen_node(&m.b, OP_GATHER, 2, in, 0, NULL);
	for (int64_t i = 0; i < d->layers; i++) {
		x = gen_add(&m.b, x, attend(&m, norm(&m, x), waves));
		x = gen_add(&m.b, x, feed_forward(&m, norm(&m, x)));
	}
	x = linear(&m, norm(&m, x), d->width, d->words);
	gen_output(&m.b, x, "logits");
	return m.b.g;
}

struct graph *
make_decoder(struct arena *a, bool constant)
{
	return build(a, "decoder", &tinyllama, false, constant);
}

struct graph *
make_decoder_int4(struct arena *a, bool constant)
{
	return build(a, "decoder-int4", &tinyllama, true, constant);
}

struct graph *
make_small_decoder(struct arena *a, bool constant)
{
	return build(a, "small-decoder", &small, false, constant);
}

struct graph *
make_small_decoder_int4(struct arena *a, bool constant)
{
	return build(a, "small-decoder-int4", &small, true, constant);
}
