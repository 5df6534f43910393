/* Convolutions of 8 bits, with their predicate: scales for each filter where zero
 * is in the middle of int8, one scale and any zero where all is uint8. */
#include <math.h>

#include "targets/integer.h"
#include "targets/need.h"
#include "targets/window.h"
#include "targets/xnnpack/op.h"

#define NEED why_need

/* Inputs of QLinearConv. */
enum { X, X_SCALE, X_ZERO, W, W_SCALE, W_ZERO, Y_SCALE, Y_ZERO, BIAS };

/* Is the scale one that the library takes, with what it is to multiply? */
static bool
is_usual(double scale, double ratio)
{
	return isnormal((float)scale) && scale > 0 && ratio < 256
	    && ratio >= 0x1p-32;
}

static bool
scales_are_usual(const struct graph *g, const struct node *n)
{
	const double in = tensor_real(integer_constant(g, n, X_SCALE), 0);
	const double out = tensor_real(integer_constant(g, n, Y_SCALE), 0);
	const struct tensor *w = integer_constant(g, n, W_SCALE);
	bool ok = is_usual(in, 1) && is_usual(out, 1);

	for (size_t i = 0; ok && i < w->count; i++)
		ok = is_usual(tensor_real(w, i), in * tensor_real(w, i) / out);
	return ok;
}

static bool
has_one(const struct graph *g, const struct node *n, uint32_t i)
{
	const struct tensor *t = integer_constant(g, n, i);

	return t && t->count == 1;
}

/* Has each filter a zero in the middle, so that they may have scales of their
 * own? What goes in and comes out is int8 then, or made that. */
static bool
is_of_filters(const struct graph *g, const struct node *n)
{
	const struct tensor *w = integer_constant(g, n, W);
	const struct tensor *scale = integer_constant(g, n, W_SCALE);
	const struct tensor *zero = integer_constant(g, n, W_ZERO);

	return w->dtype == DT_INT8 && zero->dtype == DT_INT8
	    && integers_are(zero, 0)
	    && (scale->count == 1 || (int64_t)scale->count == w->dim[0]);
}

static bool
has_one_scale(const struct graph *g, const struct node *n)
{
	return has_one(g, n, W_SCALE) && has_one(g, n, W_ZERO);
}

static bool
need_kind(const struct match_in *m, struct why *why, const struct node *n)
{
	const struct graph *g = m->graph;
	const enum dtype x = matched_type(m, n->input[X])->dtype;
	const enum dtype y = matched_type(m, n->output[0])->dtype;
	bool ok = NEED(why, x == y, "type", "the same in and out", "%s, %s",
	    dtype_name(x), dtype_name(y));

	ok = NEED(why,
	         has_one(g, n, X_SCALE) && has_one(g, n, X_ZERO)
	             && has_one(g, n, Y_SCALE) && has_one(g, n, Y_ZERO),
	         "tensor_scale", "one for a tensor", "more")
	    && ok;
	return NEED(why,
	           is_of_filters(g, n)
	               || (x == DT_UINT8 && has_one_scale(g, n)),
	           "filter_scale",
	           "filters of int8 around 0, or uint8 with one scale",
	           "others")
	    && ok;
}

bool
takes_bytes(const struct match_in *m, struct why *why)
{
	const struct node *n = match_as_node(m->match, m->graph);
	struct match_in in = *m;

	in.graph = match_graph(m->match, m->graph);
	return need_integer(&in, why, n) && need_kind(&in, why, n)
	    && NEED(why, scales_are_usual(in.graph, n), "scales",
	        "normal numbers, of a ratio from 2^-32 to 256", "others");
}

/* [K, C, kh, kw] as [K, kh, kw, C] of uint8, or of int8 as they are. */
static const void *
codes_last(const struct tensor *w, uint32_t shift, struct arena *a)
{
	const uint8_t *from = tensor_data(w, a);
	const size_t c = (size_t)w->dim[1];
	const size_t area = (size_t)(w->dim[2] * w->dim[3]);
	uint8_t *to = arena_new(a, uint8_t, w->count + 16);

	for (size_t k = 0; k < (size_t)w->dim[0]; k++)
		for (size_t i = 0; i < c; i++)
			for (size_t p = 0; p < area; p++)
				to[(k * area + p) * c + i] =
				    (uint8_t)(*from++ + shift);
	return to;
}

static int32_t
zero_in(const struct graph *g, const struct node *n, uint32_t i)
{
	return (int32_t)tensor_real(integer_constant(g, n, i), 0);
}

/* uint8 with several scales is turned into int8 and back: all is 128 less. */
static void
turn_around(struct xnn_build *b, const struct node *n)
{
	struct byte_filters *f = &b->layer->what.bytes;
	struct xnn_layer *l = b->layer;
	size_t count, out;

	tensor_size(DT_UINT8, node_in(b->graph, n, X)->type.dim, 4, &count,
	    &l->turned_in);
	tensor_size(DT_UINT8, node_out(b->graph, n, 0)->type.dim, 4, &out,
	    &l->turned_out);
	l->turned = arena_new(b->arena, uint8_t, count + 64);
	f->in_zero -= 128;
	f->out_zero -= 128;
}

static void
read_filters(struct xnn_build *b, const struct node *n, size_t filters)
{
	const struct graph *g = b->graph;
	const struct tensor *w = integer_constant(g, n, W);
	const struct tensor *bias = integer_constant(g, n, BIAS);
	struct byte_filters *f = &b->layer->what.bytes;
	const bool uint8 = node_in(g, n, X)->type.dtype == DT_UINT8;
	uint32_t shift; /* int8 as uint8: all is 128 more */

	f->is_unsigned = uint8 && has_one_scale(g, n);
	shift = f->is_unsigned && w->dtype == DT_INT8 ? 128 : 0;
	f->codes = codes_last(w, shift, b->scratch);
	f->bias = bias ? tensor_data(bias, b->scratch) : NULL;
	f->scale = integer_entries(
	    integer_constant(g, n, W_SCALE), filters, b->scratch);
	f->zero = zero_in(g, n, W_ZERO) + (int32_t)shift;
	f->in_scale = (float)tensor_real(integer_constant(g, n, X_SCALE), 0);
	f->out_scale = (float)tensor_real(integer_constant(g, n, Y_SCALE), 0);
	f->in_zero = zero_in(g, n, X_ZERO);
	f->out_zero = zero_in(g, n, Y_ZERO);
	if (uint8 && !f->is_unsigned)
		turn_around(b, n);
}

bool
build_bytes(struct xnn_build *b)
{
	const struct node *n = match_as_node(b->candidate->match, b->graph);
	struct operator* o = & b->layer->what;
	const struct type *t;
	struct window x;
	const char *fault;

	b->graph = match_graph(b->candidate->match, b->graph);
	t = &node_in(b->graph, n, W)->type;
	if (!window_resolve(&x, b->graph, n, &fault))
		return err_set(b->err, ERR_UNSUPPORTED, "%s", fault);
	read_image(b, n->input[X]);
	o->kind = OPERATOR_BYTES;
	o->window = sides_of(&x);
	o->groups = (uint32_t)attr_int_or(n, "group", 1);
	o->in = (size_t)t->dim[1];
	o->out = (size_t)t->dim[0] / o->groups;
	read_filters(b, n, (size_t)t->dim[0]);
	return create(b, "convolution of bytes");
}
