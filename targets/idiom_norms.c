/* Normalisations that were spelled out. */
#include <math.h>

#include "targets/axes.h"
#include "targets/idiom_write.h"

/* The first of the last dimensions that all means and sums of the match are
 * taken over, kept as 1; RANK_UNKNOWN when they are not such. */
static uint32_t
common_axis(const struct idiom_writer *w)
{
	uint32_t common = RANK_UNKNOWN;

	for (uint32_t i = 0; i < w->match->nnodes; i++) {
		const struct node *n = graph_node(w->graph, w->match->node[i]);
		bool reduced[AXES_MAX];
		uint32_t rank, axis;

		if (n->op != OP_REDUCEMEAN)
			continue;
		rank = node_in(w->graph, n, 0)->type.rank;
		if (attr_int_or(n, "keepdims", 1) == 0
		    || !axes_read(reduced, w->graph, n))
			return RANK_UNKNOWN;
		axis = axes_first_of_last(reduced, rank);
		if (axis == rank || (common != RANK_UNKNOWN && common != axis))
			return RANK_UNKNOWN;
		common = axis;
	}
	return common;
}

static bool
take_epsilon(struct idiom_writer *w)
{
	double e;

	if (!caught_number(w, "epsilon", &e) || !(e >= 0))
		return false;
	write_float(w, "epsilon", e);
	return true;
}

/* Does the constant hold one element for each of x's in dimensions first..end,
 * and broadcast along the others? */
static bool
varies_along(
    const struct tensor *t, const struct type *x, uint32_t first, uint32_t end)
{
	const uint32_t skip = t->rank > x->rank ? 0 : x->rank - t->rank;

	if (t->rank > x->rank || t->rank < x->rank - first)
		return false;
	for (uint32_t i = skip; i < x->rank; i++)
		if (t->dim[i - skip] != (i >= first && i < end ? x->dim[i] : 1))
			return false;
	return true;
}

/* The weights of slot (1: scale, 2: shift) over dimensions first..end; made up
 * of ones or zeros where the model has none. */
static bool
take_weights(
    struct idiom_writer *w, uint32_t slot, uint32_t first, uint32_t end)
{
	const char *name = slot == 1 ? "scale" : "shift";
	const struct type *x = &graph_value(w->graph, w->x)->type;
	const value_id v = caught(w, name);

	if (v == VALUE_NONE) {
		write_input(w, slot,
		    write_filled(w, x->dtype, end - first, x->dim + first,
		        slot == 1 ? 1 : 0));
		return true;
	}
	if (!caught_constant(w, name)
	    || caught_constant(w, name)->dtype != x->dtype
	    || !varies_along(caught_constant(w, name), x, first, end))
		return false;
	write_input(w, slot, write_reshaped(w, v, end - first, x->dim + first));
	return true;
}

/* A tensor whose dimensions but the first are known. */
static bool
is_known(const struct type *t, uint32_t from)
{
	if (t->kind != TYPE_TENSOR || t->rank == RANK_UNKNOWN)
		return false;
	for (uint32_t i = from; i < t->rank; i++)
		if (t->dim[i] <= 0)
			return false;
	return true;
}

static bool
write_layer_norm(struct idiom_writer *w, uint32_t axis, uint32_t rank)
{
	w->kind = IDIOM_LAYER_NORM;
	w->ninputs = w->nattrs = 0;
	write_input(w, 0, w->x);
	write_int(w, "axis", axis);
	return take_epsilon(w) && take_weights(w, 1, axis, rank)
	    && (caught(w, "shift") == VALUE_NONE
	        || take_weights(w, 2, axis, rank));
}

/* Over all but the first two dimensions, with weights for each channel. */
static bool
write_instance_norm(struct idiom_writer *w, uint32_t axis)
{
	w->kind = IDIOM_INSTANCE_NORM;
	w->ninputs = w->nattrs = 0;
	write_input(w, 0, w->x);
	return axis == 2 && take_epsilon(w) && take_weights(w, 1, 1, 2)
	    && take_weights(w, 2, 1, 2);
}

bool
write_norm(struct idiom_writer *w)
{
	const struct type *x = &graph_value(w->graph, w->x)->type;
	const uint32_t axis = common_axis(w);

	if (axis == RANK_UNKNOWN || !is_known(x, axis < 2 ? axis : 1))
		return false;
	return write_layer_norm(w, axis, x->rank)
	    || write_instance_norm(w, axis);
}

bool
write_rms(struct idiom_writer *w)
{
	const struct type *x = &graph_value(w->graph, w->x)->type;
	const uint32_t axis = common_axis(w);

	if (axis == RANK_UNKNOWN || !is_known(x, axis))
		return false;
	write_input(w, 0, w->x);
	write_int(w, "axis", axis);
	return take_epsilon(w) && take_weights(w, 1, axis, x->rank);
}

/* [n, c, ...] as [n, groups, rest...]? */
static bool
are_groups(const struct type *x, const struct type *split)
{
	return is_known(x, 1) && is_known(split, 1) && x->rank >= 3
	    && split->rank >= 3 && split->dim[0] == x->dim[0]
	    && x->dim[1] % split->dim[1] == 0;
}

/* Of one made by an instance normalisation, its own weights do nothing. */
static bool
take_instance(struct idiom_writer *w)
{
	const struct node *n = caught_node(w, "instance");
	const struct tensor *ones = caught_constant(w, "ones");
	const struct tensor *zeros = caught_constant(w, "zeros");

	write_float(w, "epsilon", (double)attr_float_or(n, "epsilon", 1e-5f));
	return ones && zeros && all_are(ones, 1) && all_are(zeros, 0);
}

bool
write_groups(struct idiom_writer *w)
{
	const struct type *x = &graph_value(w->graph, w->x)->type;
	const struct type *split = caught_type(w, "split");
	const bool by_instance = caught(w, "instance") != VALUE_NONE;

	if (!are_groups(x, split) || (!by_instance && common_axis(w) != 2)
	    || !(by_instance ? take_instance(w) : take_epsilon(w)))
		return false;
	write_input(w, 0, w->x);
	write_int(w, "num_groups", split->dim[1]);
	return take_weights(w, 1, 1, 2) && take_weights(w, 2, 1, 2);
}

/* The match's only node of an operator; NULL: it has none, or several. */
static const struct node *
only_node(const struct idiom_writer *w, enum op op)
{
	const struct node *only = NULL;

	for (uint32_t i = 0; i < w->match->nnodes; i++) {
		const struct node *n = graph_node(w->graph, w->match->node[i]);

		if (n->op == op && only)
			return NULL;
		if (n->op == op)
			only = n;
	}
	return only;
}

/* What a length is at least, or what is added to it, does no more than keep it
 * off zero. A square is bounded before its root is taken. */
static bool
write_bound(struct idiom_writer *w)
{
	const struct node *clip = caught_node(w, "bound");
	const struct node *root = only_node(w, OP_SQRT);
	const struct node *most = only_node(w, OP_MAX);
	double low = 0, high = (double)INFINITY;

	if (clip && !clip_bounds(w, clip, &low, &high))
		return false;
	if (caught(w, "epsilon") != VALUE_NONE
	    && !caught_number(w, "epsilon", &low))
		return false;
	if (!(low >= 0 && low < 1e-3) || !isinf(high))
		return false;
	if (most && root && root->input[0] == most->output[0])
		low = sqrt(low);
	write_float(w, only_node(w, OP_ADD) ? "added" : "at_least", low);
	w->loses_nan = low == 0; /* of rows of zeros */
	return true;
}

/* The one dimension the node reduces and keeps; RANK_UNKNOWN: not such. */
static uint32_t
kept_axis(const struct idiom_writer *w, const struct node *n)
{
	uint32_t axis = RANK_UNKNOWN;
	bool reduced[AXES_MAX];

	if (attr_int_or(n, "keepdims", 1) == 0
	    || !axes_read(reduced, w->graph, n))
		return RANK_UNKNOWN;
	for (uint32_t k = 0; k < AXES_MAX; k++) {
		if (reduced[k] && axis != RANK_UNKNOWN)
			return RANK_UNKNOWN;
		if (reduced[k])
			axis = k;
	}
	return axis;
}

bool
write_length(struct idiom_writer *w)
{
	static const enum op lengths[] = {
	    OP_REDUCEL2, OP_REDUCESUM, OP_REDUCESUMSQUARE};
	const struct node *n = NULL;
	uint32_t axis;

	for (uint32_t i = 0; i < 3 && !n; i++)
		n = only_node(w, lengths[i]);
	axis = n ? kept_axis(w, n) : RANK_UNKNOWN;
	if (axis == RANK_UNKNOWN)
		return false;
	write_input(w, 0, w->x);
	write_int(w, "axis", axis);
	return write_bound(w);
}
