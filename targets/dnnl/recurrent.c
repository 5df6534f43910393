/* LSTM, GRU and plain recurrent layers over whole sequences. */
#include <string.h>

#include "targets/dnnl/accept.h"
#include "targets/dnnl/layer.h"
#include "targets/need.h"
#include "targets/recurrent.h"

#define NEED why_need
#define GATES_MAX 4

/* Gates in the library's order, as indices of ONNX's. */
struct cell {
	enum op op;
	uint32_t gates, order[GATES_MAX];
};

static const struct cell cells[] = {
    {OP_LSTM, 4, {0, 2, 3, 1}}, /* input, forget, candidate, output */
    {OP_GRU, 3, {0, 1, 2}}, /* update, reset, output */
    {OP_RNN, 1, {0}},
};

static const struct cell *
cell_of(const struct node *n)
{
	const struct cell *c = cells;

	while (c->op != n->op)
		c++;
	return c;
}

/* ---- what is taken ---- */

/* SOURCE: seen in 3.7.2 with AVX-512, hidden sizes 1 to 66: a GRU of 1 is wrong
 * in a batch, unless its reset gate comes behind the product. */
static bool
need_hidden(const struct match_in *m, struct why *why, const struct node *n,
    int64_t batch)
{
	const int64_t hidden = matched_type(m, n->input[2])->dim[2];
	const bool exposed = library_scales && n->op == OP_GRU && batch > 1
	    && attr_int_or(n, "linear_before_reset", 0) == 0;

	return NEED(why, hidden > 1 || !exposed, "hidden size",
	    "2 or more in a batch through a GRU of oneDNN 3", "%d",
	    (int)hidden);
}

/* Both directions of several sequences lie apart in ONNX, side by side here. */
bool
accept_recurrent(const struct match_in *m, struct why *why)
{
	const struct node *n = matched_root(m);
	int64_t directions, batch;
	bool ok = true;

	for (uint32_t i = 0; i < 3; i++)
		ok = need_tensor(m, why, n->input[i])
		    && need_size(m, why, n->input[i]) && ok;
	if (!ok)
		return false;
	directions = matched_type(m, n->input[1])->dim[0];
	batch = matched_type(m, n->input[0])->dim[1];
	ok = need_plain_recurrent(m, why, n);
	ok = need_hidden(m, why, n, batch) && ok;
	return NEED(why, directions == 1 || batch == 1, "directions",
	           "1, or a single sequence", "%d of %d sequences",
	           (int)directions, (int)batch)
	    && ok;
}

/* ---- how it is made ---- */

struct recurrent {
	const struct node *node;
	const struct cell *cell;
	bool apart; /* GRU whose reset gate comes behind the product */
	int64_t directions, in, hidden;
	dnnl_rnn_direction_t direction;
	struct md src, dst, state; /* state: of h and c */
	struct md weights[2], bias;
	const float *weight_data[2], *bias_data;
};

static dnnl_rnn_direction_t
direction_of(const struct node *n)
{
	if (attr_is(n, "direction", "forward", "reverse"))
		return dnnl_unidirectional_right2left;
	if (attr_is(n, "direction", "forward", "bidirectional"))
		return dnnl_bidirectional_concat;
	return dnnl_unidirectional_left2right;
}

/* [D, G * H, per] with the gates in the library's order. */
static const float *
order_gates(
    struct build *b, const struct recurrent *r, const float *from, int64_t per)
{
	const size_t block = (size_t)(r->hidden * per);
	const size_t n = (size_t)r->directions * r->cell->gates;
	float *to = arena_new(b->scratch, float, n *block);

	for (size_t i = 0; i < n; i++) {
		size_t gate = i % r->cell->gates;
		const float *x =
		    from + (i - gate + r->cell->order[gate]) * block;

		for (size_t k = 0; k < block; k++)
			to[i * block + k] = x[k];
	}
	return to;
}

/* Biases of both products add up, but for the gate that is kept apart: it has
 * a fourth for itself. From [D, 2 * G * H]. */
static const float *
add_biases(struct build *b, const struct recurrent *r, const float *from)
{
	const size_t h = (size_t)r->hidden, gates = r->cell->gates;
	const size_t all = gates + r->apart;
	float *to = arena_new(b->scratch, float, (size_t)r->directions *all *h);

	for (size_t d = 0; d < (size_t)r->directions; d++)
		for (size_t i = 0; i < all * h; i++) {
			size_t gate = i / h, of = r->cell->order[gate % gates];
			const float *x = from + d * 2 * gates * h;
			float own = 0, other = 0;

			if (gate < gates)
				own = x[of * h + i % h];
			else
				of = gates - 1;
			if (!r->apart || gate != gates - 1)
				other = x[(gates + of) * h + i % h];
			to[d * all * h + i] = own + other;
		}
	return to;
}

/* [D, G * H, I] as the library numbers it: layer, direction, in, gate, out. */
static struct md
weights_of(const struct recurrent *r, int64_t in)
{
	const int64_t gates = r->cell->gates, h = r->hidden;
	const dnnl_dims_t dims = {1, r->directions, in, gates, h};
	const dnnl_dims_t strides = {
	    r->directions * gates * h * in, gates * h * in, 1, h * in, in};

	return md_by_strides(5, dims, strides);
}

static void
read_node(struct build *b, struct recurrent *r)
{
	const struct node *n = graph_node(b->graph, b->candidate->node[0]);
	const struct type *x = &node_in(b->graph, n, 0)->type;
	const struct type *w = &node_in(b->graph, n, 2)->type;

	r->node = n;
	r->cell = cell_of(n);
	r->apart =
	    n->op == OP_GRU && attr_int_or(n, "linear_before_reset", 0) != 0;
	r->direction = direction_of(n);
	r->directions = w->dim[0];
	r->hidden = w->dim[2];
	r->in = x->dim[2];
	desc_plain(&r->src, 3, x->dim);
	desc_plain(&r->dst, 3,
	    (int64_t[]){x->dim[0], x->dim[1], r->directions * r->hidden});
	desc_plain(
	    &r->state, 4, (int64_t[]){1, r->directions, x->dim[1], r->hidden});
	desc_plain(&r->bias, 4,
	    (int64_t[]){
	        1, r->directions, r->cell->gates + r->apart, r->hidden});
	r->weight_data[0] =
	    order_gates(b, r, constant_floats(b, n->input[1]), r->in);
	r->weight_data[1] =
	    order_gates(b, r, constant_floats(b, n->input[2]), r->hidden);
	/* The library has no layer without one, so it is zero where not given. */
	r->bias_data = n->ninputs > 3 && n->input[3] != VALUE_NONE
	    ? add_biases(b, r, constant_floats(b, n->input[3]))
	    : arena_new(b->scratch, float, md_size(&r->bias) / sizeof(float));
	r->weights[0] = weights_of(r, r->in);
	r->weights[1] = weights_of(r, r->hidden);
}

/* States go in and out together, or not at all. */
static bool
has_start(const struct recurrent *r)
{
	return node_input(r->node, 5) != VALUE_NONE
	    || node_input(r->node, 6) != VALUE_NONE;
}

static bool
has_end(const struct recurrent *r)
{
	return node_output(r->node, 1) != VALUE_NONE
	    || node_output(r->node, 2) != VALUE_NONE;
}

static struct operation
operation_of(const struct recurrent *r)
{
	struct operation op = {
	    .kind = dnnl_rnn,
	    .alg = r->cell->op == OP_LSTM ? dnnl_vanilla_lstm
	        : r->apart                ? dnnl_lbr_gru
	        : r->cell->op == OP_GRU   ? dnnl_vanilla_gru
	                                  : dnnl_vanilla_rnn,
	    .direction = r->direction,
	    .md = {[ROLE_SRC] = r->src,
	        [ROLE_WEIGHTS] = md_any(&r->weights[0]),
	        [ROLE_WEIGHTS_ITER] = md_any(&r->weights[1]),
	        [ROLE_BIAS] = r->bias,
	        [ROLE_DST] = r->dst},
	};

	if (has_start(r))
		op.md[ROLE_SRC_ITER] = op.md[ROLE_SRC_ITER_C] = r->state;
	if (has_end(r))
		op.md[ROLE_DST_ITER] = op.md[ROLE_DST_ITER_C] = r->state;
	return op;
}

/* A state that is not given is zero. */
static bool
bind_start(struct build *b, const struct recurrent *r, int arg, uint32_t input)
{
	const value_id v = node_input(r->node, input);
	const size_t n = md_size(&r->state) / sizeof(float);

	if (v != VALUE_NONE)
		return bind_operand(b, arg, v, &r->state);
	return bind_constant(
	    b, arg, arena_new(b->scratch, float, n), &r->state, &r->state);
}

static bool
bind_states(struct build *b, const struct recurrent *r)
{
	const bool cell = r->cell->op == OP_LSTM;

	if (has_start(r)
	    && (!bind_start(b, r, DNNL_ARG_SRC_ITER, 5)
	        || (cell && !bind_start(b, r, DNNL_ARG_SRC_ITER_C, 6))))
		return false;
	return !has_end(r)
	    || (bind_wanted(
	            b, DNNL_ARG_DST_ITER, node_output(r->node, 1), &r->state)
	        && (!cell
	            || bind_wanted(b, DNNL_ARG_DST_ITER_C,
	                node_output(r->node, 2), &r->state)));
}

static bool
bind(struct build *b, const struct recurrent *r, dnnl_primitive_desc_t pd)
{
	return bind_value(b, DNNL_ARG_SRC_LAYER, r->node->input[0], &r->src)
	    && bind_constant(b, DNNL_ARG_WEIGHTS_LAYER, r->weight_data[0],
	        &r->weights[0], wanted(b, pd, dnnl_query_weights_md, 0))
	    && bind_constant(b, DNNL_ARG_WEIGHTS_ITER, r->weight_data[1],
	        &r->weights[1], wanted(b, pd, dnnl_query_weights_md, 1))
	    && bind_constant(b, DNNL_ARG_BIAS, r->bias_data, &r->bias, &r->bias)
	    && bind_wanted(
	        b, DNNL_ARG_DST_LAYER, node_output(r->node, 0), &r->dst)
	    && bind_states(b, r);
}

bool
build_recurrent(struct build *b)
{
	struct recurrent r = {0};
	struct operation op;
	dnnl_primitive_desc_t pd;
	bool ok;

	read_node(b, &r);
	op = operation_of(&r);
	if (!make_primitive(b, &op, 0, &pd))
		return false;
	ok = bind(b, &r, pd);
	dnnl_primitive_desc_destroy(pd);
	return ok;
}
