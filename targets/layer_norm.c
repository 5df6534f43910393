#include "targets/layer_norm.h"

#include "targets/axes.h"
#include "targets/step.h"

/* A composite that is read from its root backwards. */
struct norm_reader {
	const struct graph *graph;
	const struct match *match;
	struct layer_norm *out;
};

/* The node of the match that makes v when it is `op`, else NULL. */
static const struct node *
maker_of(const struct norm_reader *r, value_id v, enum op op)
{
	const node_id n = graph_value(r->graph, v)->producer;

	if (n == NODE_NONE || !match_has(r->match, n)
	    || graph_node(r->graph, n)->op != op)
		return NULL;
	return graph_node(r->graph, n);
}

/* Of a node's two inputs the constant one and the other. */
static bool
with_constant(const struct norm_reader *r, const struct node *n,
    value_id *constant, value_id *other)
{
	for (uint32_t i = 0; i < 2; i++)
		if (graph_value(r->graph, n->input[i])->constant) {
			*constant = n->input[i];
			*other = n->input[1 - i];
			return graph_value(r->graph, *other)->constant == NULL;
		}
	return false;
}

/* Is v the mean of x, along the same last dimensions as all the others? */
static bool
is_mean_of(struct norm_reader *r, value_id v, value_id x)
{
	const struct node *n = maker_of(r, v, OP_REDUCEMEAN);
	bool reduced[AXES_MAX];
	uint32_t axis, rank;

	if (n == NULL || n->input[0] != x || attr_int_or(n, "keepdims", 1) == 0
	    || !axes_read(reduced, r->graph, n))
		return false;
	rank = graph_value(r->graph, x)->type.rank;
	axis = axes_first_of_last(reduced, rank);
	if (axis == rank || (r->out->axis != 0 && r->out->axis != axis))
		return false;
	r->out->axis = axis;
	return axis > 0;
}

/* x - mean(x); the first time, x is what is being normalised. */
static bool
is_from_mean(struct norm_reader *r, value_id v)
{
	const struct node *n = maker_of(r, v, OP_SUB);

	if (n == NULL)
		return false;
	if (r->out->x == VALUE_NONE)
		r->out->x = n->input[0];
	return n->input[0] == r->out->x
	    && is_mean_of(r, n->input[1], r->out->x);
}

static bool
is_square(struct norm_reader *r, value_id v)
{
	const struct node *n = maker_of(r, v, OP_POW);
	float e;

	if (n != NULL)
		return is_from_mean(r, n->input[0])
		    && constant_scalar(r->graph, n->input[1], &e) && e == 2;
	n = maker_of(r, v, OP_MUL);
	return n != NULL && is_from_mean(r, n->input[0])
	    && is_from_mean(r, n->input[1]);
}

/* sqrt(mean((x - mean)^2) + epsilon) */
static bool
is_deviation(struct norm_reader *r, value_id v)
{
	const struct node *n = maker_of(r, v, OP_SQRT);
	const struct node *mean;
	value_id epsilon, variance;

	if (n == NULL || (n = maker_of(r, n->input[0], OP_ADD)) == NULL
	    || !with_constant(r, n, &epsilon, &variance)
	    || !constant_scalar(r->graph, epsilon, &r->out->epsilon))
		return false;
	mean = maker_of(r, variance, OP_REDUCEMEAN);
	return mean != NULL && is_square(r, mean->input[0])
	    && is_mean_of(r, variance, mean->input[0]);
}

static bool
read_torch(struct norm_reader *r, value_id v)
{
	const struct node *n = maker_of(r, v, OP_ADD);

	if (n != NULL && !with_constant(r, n, &r->out->shift, &v))
		return false;
	n = maker_of(r, v, OP_MUL);
	if (n != NULL && !with_constant(r, n, &r->out->scale, &v))
		return false;
	n = maker_of(r, v, OP_DIV);
	return n != NULL && is_from_mean(r, n->input[0])
	    && is_deviation(r, n->input[1]);
}

/* scale / sqrt(variance + epsilon) */
static bool
is_times_scale(struct norm_reader *r, value_id v)
{
	const struct node *n = maker_of(r, v, OP_MUL);
	value_id scale;

	if (n == NULL || !with_constant(r, n, &scale, &v)
	    || (n = maker_of(r, v, OP_RECIPROCAL)) == NULL
	    || (r->out->scale != VALUE_NONE && r->out->scale != scale))
		return false;
	r->out->scale = scale;
	return is_deviation(r, n->input[0]);
}

/* One factor of a product is times_scale; the other goes to *x. */
static bool
read_scaled(struct norm_reader *r, value_id v, value_id *x)
{
	const struct node *n = maker_of(r, v, OP_MUL);

	for (uint32_t i = 0; n != NULL && i < 2; i++)
		if (is_times_scale(r, n->input[i])) {
			*x = n->input[1 - i];
			return true;
		}
	return false;
}

/* x * s + (shift - mean * s) */
static bool
read_tf(struct norm_reader *r, value_id v)
{
	const struct node *n = maker_of(r, v, OP_ADD), *rest = NULL;
	value_id x, mean;
	uint32_t i = 0;

	for (; n != NULL && rest == NULL && i < 2; i++)
		rest = maker_of(r, n->input[i], OP_SUB);
	if (rest == NULL
	    || graph_value(r->graph, rest->input[0])->constant == NULL
	    || !read_scaled(r, rest->input[1], &mean)
	    || !read_scaled(r, n->input[2 - i], &x))
		return false;
	r->out->shift = rest->input[0];
	return x == r->out->x && is_mean_of(r, mean, x);
}

static void
read_node(struct layer_norm *l, const struct graph *g, const struct node *n)
{
	const uint32_t rank = node_in(g, n, 0)->type.rank;
	int64_t axis = attr_int_or(n, "axis", -1);

	*l = (struct layer_norm){n->input[0], n->output[0], n->input[1],
	    n->ninputs > 2 ? n->input[2] : VALUE_NONE,
	    (uint32_t)(axis < 0 ? axis + rank : axis),
	    attr_float_or(n, "epsilon", 1e-5f)};
}

bool
layer_norm_read(struct layer_norm *l, const struct graph *g,
    const struct match *m, const char **fault)
{
	const struct node *n = graph_node(g, m->root);
	struct norm_reader r = {g, m, l};

	*fault = NULL;
	if (n->op == OP_LAYERNORMALIZATION) {
		read_node(l, g, n);
		return true;
	}
	*l = (struct layer_norm){
	    VALUE_NONE, n->output[0], VALUE_NONE, VALUE_NONE, 0, 0};
	if (read_torch(&r, l->y))
		return true;
	*l = (struct layer_norm){
	    VALUE_NONE, n->output[0], VALUE_NONE, VALUE_NONE, 0, 0};
	if (read_tf(&r, l->y))
		return true;
	*fault = "the nodes do not normalise one tensor by its own mean";
	return false;
}
