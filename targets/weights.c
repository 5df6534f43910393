#include "targets/weights.h"

#include <math.h>

#include "targets/dequantized.h"

static const float *
floats(const struct graph *g, value_id v, struct arena *a)
{
	return packable_floats(g, v, a);
}

void
norm_line_of(struct norm_line *out, const struct node *n, const struct graph *g,
    struct arena *a)
{
	const float *gamma = floats(g, n->input[1], a);
	const float *beta = floats(g, n->input[2], a);
	const float *mean = floats(g, n->input[3], a);
	const float *variance = floats(g, n->input[4], a);
	const double epsilon = (double)attr_float_or(n, "epsilon", 1e-5f);
	const size_t k = (size_t)node_in(g, n, 1)->type.dim[0];
	double *scale = arena_new(a, double, k);
	double *shift = arena_new(a, double, k);

	for (size_t i = 0; i < k; i++) {
		scale[i] =
		    (double)gamma[i] / sqrt((double)variance[i] + epsilon);
		shift[i] = (double)beta[i] - (double)mean[i] * scale[i];
	}
	*out = (struct norm_line){k, scale, shift};
}

/* The scale goes into the weights, the rest into the bias. */
static void
fold_norm(struct conv_weights *w, const struct fused *f, const struct graph *g,
    struct arena *a)
{
	const struct type *t = &node_in(g, f->anchor, 1)->type;
	const size_t per = type_elements(t, 1);
	struct norm_line line;
	float *weights, *bias;

	norm_line_of(&line, f->norm, g, a);
	weights = arena_new(a, float, line.n *per);
	bias = arena_new(a, float, line.n);
	for (size_t i = 0; i < line.n; i++) {
		const double before = w->bias ? (double)w->bias[i] : 0.0;

		for (size_t j = 0; j < per; j++)
			weights[i * per + j] =
			    (float)((double)w->weights[i * per + j]
			        * line.scale[i]);
		bias[i] = (float)(before * line.scale[i] + line.shift[i]);
	}
	w->weights = weights;
	w->bias = bias;
}

/* A constant added to each channel behind it. */
static void
add_bias(struct conv_weights *w, const struct fused *f, const struct graph *g,
    struct arena *a)
{
	const struct tensor *t = graph_value(g, f->bias)->constant;
	const float *more = floats(g, f->bias, a);
	float *bias = arena_new(a, float, t->count);

	for (size_t i = 0; i < t->count; i++)
		bias[i] = more[i] + (w->bias ? w->bias[i] : 0);
	w->bias = bias;
}

void
fused_conv_weights(struct conv_weights *out, struct fused *f,
    const struct graph *g, struct arena *a)
{
	const struct node *n = f->anchor;

	*out = (struct conv_weights){.weights = floats(g, n->input[1], a)};
	if (n->ninputs > 2 && n->input[2] != VALUE_NONE)
		out->bias = floats(g, n->input[2], a);
	if (f->norm)
		fold_norm(out, f, g, a);
	fused_take_bias(f, g, 1);
	if (f->bias != VALUE_NONE)
		add_bias(out, f, g, a);
}

void
fused_product(struct product *out, struct fused *f, const struct graph *g)
{
	const struct node *n = f->anchor;

	*out = (struct product){.left = n->input[0],
	    .right = n->input[1],
	    .bias = VALUE_NONE,
	    .alpha = 1,
	    .beta = 1};
	if (n->op == OP_GEMM) {
		out->transpose_left = attr_int_or(n, "transA", 0) != 0;
		out->transpose_right = attr_int_or(n, "transB", 0) != 0;
		out->alpha = attr_float_or(n, "alpha", 1);
		out->beta = attr_float_or(n, "beta", 1);
		if (n->ninputs > 2)
			out->bias = n->input[2];
	}
	if (out->bias != VALUE_NONE)
		return;
	fused_take_bias(f, g, graph_value(g, f->end)->type.rank - 1);
	out->bias = f->bias;
	out->beta = 1;
}

const float *
scaled_floats(const struct graph *g, value_id v, float factor, struct arena *a)
{
	const struct type *t = &graph_value(g, v)->type;
	const float *from = floats(g, v, a);
	size_t count = 1;
	float *to;

	if (factor == 1)
		return from;
	for (uint32_t i = 0; i < t->rank; i++)
		count *= (size_t)t->dim[i];
	to = arena_new(a, float, count);
	for (size_t i = 0; i < count; i++)
		to[i] = from[i] * factor;
	return to;
}

const float *
weights_channels_last(const float *from, const struct type *t, struct arena *a)
{
	size_t k = (size_t)t->dim[0], c = (size_t)t->dim[1];
	size_t area = (size_t)t->dim[2] * (size_t)t->dim[3];
	float *to = arena_new(a, float, k *c *area);

	for (size_t i = 0; i < k; i++)
		for (size_t j = 0; j < c; j++)
			for (size_t p = 0; p < area; p++)
				to[(i * area + p) * c + j] =
				    from[(i * c + j) * area + p];
	return to;
}
