#include "targets/integer.h"

#include <math.h>

#include "targets/need.h"

#define NEED why_need

const struct integer_places *
integer_places(const struct node *n)
{
	static const struct integer_places conv = {
	    .w = 1, .x_zero = 2, .w_zero = 3, .is_conv = true};
	static const struct integer_places matmul = {
	    .w = 1, .x_zero = 2, .w_zero = 3};
	static const struct integer_places qconv = {.w = 3,
	    .x_zero = 2,
	    .w_zero = 5,
	    .is_conv = true,
	    .requantises = true};
	static const struct integer_places qmatmul = {
	    .w = 3, .x_zero = 2, .w_zero = 5, .requantises = true};

	return n->op == OP_CONVINTEGER  ? &conv
	    : n->op == OP_MATMULINTEGER ? &matmul
	    : n->op == OP_QLINEARCONV   ? &qconv
	                                : &qmatmul;
}

/* TUNING: products in a sum; sums of so many, and a bias, fit into 32 bits
 * whatever the bytes are. */
#define SUM_DEPTH 16384

static bool
is_bytes(const struct type *t)
{
	return t->kind == TYPE_TENSOR && dtype_is_byte(t->dtype);
}

static bool
need_bytes(const struct match_in *m, struct why *why, value_id v)
{
	const struct type *t = matched_type(m, v);

	return NEED(why, is_bytes(t), "type", "int8 or uint8", "'%s' is %s",
	    matched_name(m, v),
	    t->kind == TYPE_TENSOR ? dtype_name(t->dtype) : "no tensor");
}

/* A constant of one number, or (many > 1) of as many. */
static bool
need_numbers(const struct match_in *m, struct why *why, const struct node *n,
    uint32_t input, size_t many)
{
	const struct value *v = node_in(m->graph, n, input);
	const struct tensor *t = v ? v->constant : NULL;

	return NEED(why, !v || (t && (t->count == 1 || t->count == many)),
	    "scales", "constants, one or one an output", "'%s' is %s",
	    v ? v->name : "", t ? "of another length" : "not a constant");
}

/* The left operand's zero may be known at run time only. */
static bool
need_zero(const struct match_in *m, struct why *why, const struct node *n,
    uint32_t input)
{
	const struct value *v = node_in(m->graph, n, input);
	size_t count = 1, bytes;

	return NEED(why,
	    !v
	        || (is_bytes(&v->type) && type_is_static(&v->type)
	            && tensor_size(v->type.dtype, v->type.dim, v->type.rank,
	                &count, &bytes)
	            && count == 1),
	    "zero_point", "one for the left operand", "'%s' has others",
	    v ? v->name : "");
}

static bool
need_scales(const struct match_in *m, struct why *why, const struct node *n,
    size_t outputs)
{
	bool ok = true;

	for (uint32_t i = 1; i < 8; i++)
		if (i != 2 && i != 3 && i != 5)
			ok = need_numbers(m, why, n, i, i == 4 ? outputs : 1)
			    && ok;
	return need_numbers(m, why, n, 8, outputs) && ok;
}

static bool
need_depth(struct why *why, const struct tensor *w, size_t outputs)
{
	const size_t depth = outputs ? w->count / outputs : 0;

	return NEED(why, depth >= 1 && depth <= SUM_DEPTH, "depth", "1..16384",
	    "%zu", depth);
}

bool
need_integer(const struct match_in *m, struct why *why, const struct node *n)
{
	const bool is_conv = integer_places(n)->is_conv;

	return need_integer_of(m, why, n, is_conv)
	    && (!is_conv || need_rank_in(m, why, n->input[0], 4, 4));
}

bool
need_integer_of(const struct match_in *m, struct why *why, const struct node *n,
    bool by_output)
{
	const struct integer_places *at = integer_places(n);
	const struct tensor *w =
	    graph_value(m->graph, n->input[at->w])->constant;
	const uint32_t least = at->is_conv ? 3 : 2, most = at->is_conv ? 4 : 12;
	const uint32_t rank =
	    at->is_conv ? matched_type(m, n->input[0])->rank : 2;
	struct window window;
	size_t outputs;
	bool ok;

	if (!need_bytes(m, why, n->input[0])
	    || !need_bytes(m, why, n->input[at->w])
	    || !need_size(m, why, n->input[0])
	    || !need_size(m, why, n->output[0])
	    || !need_rank_in(m, why, n->input[0], least, most)
	    || !need_rank_in(m, why, n->input[at->w], rank, rank)
	    || (at->is_conv && !need_window(m, why, n, &window)))
		return false;
	outputs = (size_t)w->dim[by_output ? 0 : 1];
	ok = need_depth(why, w, outputs);
	ok = need_zero(m, why, n, at->x_zero) && ok;
	ok = need_numbers(m, why, n, at->w_zero, outputs) && ok;
	return (!at->requantises || need_scales(m, why, n, outputs)) && ok;
}

bool
accept_integer(const struct match_in *m, struct why *why)
{
	struct match_in in = *m;

	in.graph = match_graph(m->match, m->graph);
	return need_integer(&in, why, match_as_node(m->match, m->graph));
}

const struct tensor *
integer_constant(const struct graph *g, const struct node *n, uint32_t input)
{
	const struct value *v = node_in(g, n, input);

	return v ? v->constant : NULL;
}

bool
integers_are(const struct tensor *t, double x)
{
	for (size_t i = 0; i < t->count; i++)
		if (tensor_real(t, i) != x)
			return false;
	return true;
}

float
integer_entry(const struct tensor *t, size_t i)
{
	return t ? (float)tensor_real(t, t->count == 1 ? 0 : i) : 0;
}

float *
integer_entries(const struct tensor *t, size_t n, struct arena *a)
{
	float *x = arena_new(a, float, n);

	for (size_t i = 0; i < n; i++)
		x[i] = integer_entry(t, i);
	return x;
}

/* TUNING: a bias beside which sums of SUM_DEPTH products fit into 32 bits. */
#define BIAS_MAX ((int64_t)1 << 30)

static bool
take_bias(struct requantising *q, const struct tensor *bias, struct arena *a)
{
	int32_t *to = arena_new(a, int32_t, bias->count);

	for (size_t i = 0; i < bias->count; i++) {
		const double x = tensor_real(bias, i);

		if (!(fabs(x) <= (double)BIAS_MAX))
			return false;
		to[i] = (int32_t)x;
	}
	q->bias = to;
	return true;
}

bool
requantising_of(struct requantising *q, const struct graph *g,
    const struct node *n, size_t outputs, struct arena *a)
{
	const struct tensor *x = integer_constant(g, n, 1);
	const struct tensor *w = node_in(g, n, 4)->constant;
	const struct tensor *y = node_in(g, n, 6)->constant;
	const struct tensor *zero = integer_constant(g, n, 7);
	const struct value *bias = node_in(g, n, 8);
	float *m = arena_new(a, float, outputs);

	for (size_t i = 0; i < outputs; i++) {
		m[i] = integer_entry(x, 0) * integer_entry(w, i)
		    / integer_entry(y, 0);
		if (!isfinite(m[i]))
			return false;
	}
	q->multiplier = m;
	q->zero = integer_entry(zero, 0);
	q->is_unsigned = node_out(g, n, 0)->type.dtype == DT_UINT8;
	return !bias || take_bias(q, bias->constant, a);
}

/* What zero is among weights that are int8 less it: so libraries have them. */
static int32_t
middle_of(const struct tensor *w)
{
	return w->dtype == DT_UINT8 ? 128 : 0;
}

bool
need_middle_zero(
    const struct match_in *m, struct why *why, const struct node *n)
{
	const struct integer_places *at = integer_places(n);
	const struct tensor *w = integer_constant(m->graph, n, at->w);
	const struct tensor *zero = integer_constant(m->graph, n, at->w_zero);
	const int32_t middle = middle_of(w);
	const bool ok = zero ? integers_are(zero, middle)
	                     : middle == 0 && !node_in(m->graph, n, at->w_zero);

	return NEED(why, ok, "weights", "int8 around 0 or uint8 around 128",
	    "%s", ok ? "that" : "another zero point");
}

int8_t *
integer_steps(const struct tensor *w, struct arena *a)
{
	int8_t *steps = arena_new(a, int8_t, w->count);

	for (size_t i = 0; i < w->count; i++)
		steps[i] = (int8_t)((int32_t)tensor_real(w, i) - middle_of(w));
	return steps;
}

int32_t *
integer_zeros(const struct graph *g, const struct node *n, size_t outputs,
    struct arena *a)
{
	const struct integer_places *at = integer_places(n);
	const struct tensor *zero = integer_constant(g, n, at->w_zero);
	const int32_t middle = middle_of(integer_constant(g, n, at->w));
	int32_t *x = arena_new(a, int32_t, outputs);

	for (size_t i = 0; i < outputs; i++)
		x[i] = (int32_t)integer_entry(zero, i) - middle;
	return x;
}
