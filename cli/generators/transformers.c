/* Transformer architectures. */
#include <math.h>

#include "cli/generators/build.h"
#include "cli/generators/generators.h"

struct encoder {
	int64_t tokens, width, heads, inner;
	unsigned layers;
};

static value_id
transpose(struct model_builder *b, value_id x, const int64_t perm[4])
{
	const struct attr attr[] = {gen_attr_ints(b, "perm", 4, perm)};

	return gen_node(b, OP_TRANSPOSE, 1, &x, 1, attr);
}

static value_id
matmul(struct model_builder *b, value_id x, value_id y)
{
	const value_id in[] = {x, y};

	return gen_node(b, OP_MATMUL, 2, in, 0, NULL);
}

/* Project and split into heads: [1, heads, tokens, width / heads], the last
 * two exchanged for keys. */
static value_id
project(struct model_builder *b, value_id x, const struct encoder *e, bool keys)
{
	const int64_t split[] = {1, e->tokens, e->heads, e->width / e->heads};
	const int64_t by_head[] = {0, 2, 1, 3}, by_key[] = {0, 2, 3, 1};

	x = gen_linear(b, x, e->width, e->width);
	x = gen_reshape(b, x, 4, split);
	return transpose(b, x, keys ? by_key : by_head);
}

static value_id
scaled(
    struct model_builder *b, enum op op, value_id x, const char *name, float by)
{
	value_id in[2] = {x};

	in[1] = gen_scalar(
	    b, arena_printf(b->arena, "%s_%u", name, b->counter), by);
	return gen_node(b, op, 2, in, 0, NULL);
}

static value_id
attention(struct model_builder *b, value_id x, const struct encoder *e)
{
	const int64_t joined[] = {1, e->tokens, e->width};
	const int64_t back[] = {0, 2, 1, 3};
	const struct attr axis[] = {gen_attr_int(b, "axis", -1)};
	value_id q = project(b, x, e, false), k = project(b, x, e, true);
	value_id v = project(b, x, e, false), s;

	s = scaled(b, OP_DIV, matmul(b, q, k), "root",
	    sqrtf((float)(e->width / e->heads)));
	s = gen_node(b, OP_SOFTMAX, 1, &s, 1, axis);
	s = transpose(b, matmul(b, s, v), back);
	s = gen_reshape(b, s, 3, joined);
	return gen_linear(b, s, e->width, e->width);
}

/* x - mean, over the standard deviation, scaled and shifted: written out, as
 * exporters did before LayerNormalization was an operator. */
static value_id
layer_norm(struct model_builder *b, value_id x, int64_t width)
{
	const int64_t last[] = {-1};
	const struct attr mean[] = {gen_attr_ints(b, "axes", 1, last)};
	value_id in[2] = {x}, centred, spread;

	in[1] = gen_node(b, OP_REDUCEMEAN, 1, &x, 1, mean);
	centred = gen_node(b, OP_SUB, 2, in, 0, NULL);
	spread = scaled(b, OP_POW, centred, "two", 2);
	spread = gen_node(b, OP_REDUCEMEAN, 1, &spread, 1, mean);
	spread = scaled(b, OP_ADD, spread, "epsilon", 1e-12f);
	in[0] = centred;
	in[1] = gen_node(b, OP_SQRT, 1, &spread, 0, NULL);
	in[0] = gen_node(b, OP_DIV, 2, in, 0, NULL);
	in[1] =
	    gen_weight(b, arena_printf(b->arena, "norm_%u_scale", b->counter),
	        WEIGHT_SCALE, 1, &width);
	in[0] = gen_node(b, OP_MUL, 2, in, 0, NULL);
	in[1] =
	    gen_weight(b, arena_printf(b->arena, "norm_%u_bias", b->counter),
	        WEIGHT_BIAS, 1, &width);
	return gen_add(b, in[0], in[1]);
}

/* x/2 (1 + erf(x / sqrt 2)) */
static value_id
gelu(struct model_builder *b, value_id x)
{
	value_id in[2] = {x};
	value_id e = scaled(b, OP_DIV, x, "root_two", sqrtf(2.0f));

	e = gen_node(b, OP_ERF, 1, &e, 0, NULL);
	in[1] = scaled(b, OP_ADD, e, "one", 1);
	return scaled(
	    b, OP_MUL, gen_node(b, OP_MUL, 2, in, 0, NULL), "half", 0.5f);
}

static struct graph *
make_encoder(
    struct arena *a, const char *name, const struct encoder *e, bool constant)
{
	struct model_builder b = gen_begin(a, name, constant);
	const int64_t dim[] = {1, e->tokens, e->width};
	value_id x = gen_input(&b, "embeddings", DT_FLOAT, 3, dim), y;

	for (unsigned i = 0; i < e->layers; i++) {
		y = attention(&b, x, e);
		x = layer_norm(&b, gen_add(&b, x, y), e->width);
		y = gelu(&b, gen_linear(&b, x, e->width, e->inner));
		y = gen_linear(&b, y, e->inner, e->width);
		x = layer_norm(&b, gen_add(&b, x, y), e->width);
	}
	gen_output(&b, x, "encoded");
	return b.g;
}

struct graph *
make_bert_base(struct arena *a, bool constant)
{
	static const struct encoder bert = {
	    .tokens = 128,
	    .width = 768,
	    .heads = 12,
	    .inner = 3072,
	    .layers = 12,
	};

	return make_encoder(a, "bert-base", &bert, constant);
}

struct graph *
make_tiny_encoder(struct arena *a, bool constant)
{
	static const struct encoder tiny = {
	    .tokens = 16,
	    .width = 32,
	    .heads = 4,
	    .inner = 64,
	    .layers = 2,
	};

	return make_encoder(a, "tiny-encoder", &tiny, constant);
}
