/* Products of floats with weights that stay in 8 or 4 bits, a scale for each column
 * or one: less memory is read, which is what products of few rows wait for. */
#include <math.h>

#include "targets/integer.h"
#include "targets/need.h"
#include "targets/weights.h"
#include "targets/xnnpack/op.h"

#define NEED why_need

#define SCALE_MIN 0x1p-64f /* the bias is divided by it */

/* Inputs of the weights' DequantizeLinear. */
enum { CODES, SCALE, ZERO };

struct narrow_weights {
	const struct tensor *codes, *scale;
	size_t depth, columns;
	bool by_column, four; /* by_column: [columns, depth] */
	int32_t shift; /* what makes uint4 or int8 of a code */
	int32_t zero; /* of uint4 */
};

static bool
has_scales(const struct node *n, const struct tensor *scale, uint32_t axis,
    size_t columns)
{
	int64_t along = attr_int_or(n, "axis", 1);

	along += along < 0 ? 2 : 0;
	for (size_t i = 0; i < scale->count; i++)
		if (!(integer_entry(scale, i) >= SCALE_MIN
		        && isfinite(integer_entry(scale, i))))
			return false;
	return scale->count == 1 || (along == axis && scale->count == columns);
}

/* One zero for all: in the middle of 8 bits, anywhere in 4. */
static bool
read_zero(struct narrow_weights *w, const struct tensor *zero)
{
	const int32_t x = zero ? (int32_t)tensor_real(zero, 0) : 0;

	w->four = w->codes->dtype == DT_INT4 || w->codes->dtype == DT_UINT4;
	if (w->codes->dtype == DT_INT4)
		w->shift = 8;
	else if (w->codes->dtype == DT_UINT8)
		w->shift = -128;
	else if (!w->four && w->codes->dtype != DT_INT8)
		return false;
	w->zero = x + w->shift;
	return (!zero || integers_are(zero, x)) && (w->four || w->zero == 0);
}

/* false: no such weights. */
static bool
read_weights(
    struct narrow_weights *w, const struct graph *g, const struct node *product)
{
	const struct value *right = node_in(g, product, 1);
	const struct node *n;

	*w = (struct narrow_weights){
	    .by_column = attr_int_or(product, "transB", 0) != 0};
	if (right->producer == NODE_NONE)
		return false;
	n = graph_node(g, right->producer);
	w->codes = integer_constant(g, n, CODES);
	w->scale = integer_constant(g, n, SCALE);
	if (!w->codes || !w->scale || w->codes->rank != 2)
		return false;
	w->depth = (size_t)w->codes->dim[w->by_column];
	w->columns = (size_t)w->codes->dim[!w->by_column];
	return read_zero(w, integer_constant(g, n, ZERO))
	    && has_scales(n, w->scale, !w->by_column, w->columns)
	    && (!w->four || w->depth % 2 == 0);
}

bool
takes_narrow(const struct match_in *m, struct why *why)
{
	const bool has = library_has(OPERATOR_NARROW);
	struct narrow_weights w;
	const struct node *n;
	struct fused f;
	bool ok = NEED(why, has, "library", "with weights of 8 and 4 bits",
	    "%s", has ? "it has them" : "an older one");

	ok = ok && need_all_tensors(m, why) && need_chain(m, why, &f);
	if (!ok || !f.anchor)
		return false;
	n = f.anchor;
	fused_take_bias(
	    &f, m->graph, graph_value(m->graph, f.end)->type.rank - 1);
	ok = need_rank_in(m, why, n->input[0], 2, 6)
	    && need_rank_in(m, why, n->input[1], 2, 2);
	if (!ok)
		return false;
	ok = NEED(why,
	    attr_int_or(n, "transA", 0) == 0
	        && attr_float_or(n, "alpha", 1) == 1,
	    "left_operand", "as it is", "transposed, or times alpha");
	ok = need_constant(m, why, n, 2, "bias") && ok;
	ok = need_bias_row(m, why, n) && ok;
	ok = NEED(why, read_weights(&w, m->graph, n), "weights",
	         "8 bits around the middle, or an even depth of 4, a scale or "
	         "one a column",
	         "others")
	    && ok;
	return need_clamps(why, &f, 0) && ok;
}

/* [columns, depth]; of 4 bits two in a byte, the first in the lower. */
static const void *
pack(const struct narrow_weights *w, struct arena *a)
{
	uint8_t *to = arena_new(a, uint8_t, w->depth * w->columns + 16);

	for (size_t c = 0; c < w->columns; c++)
		for (size_t k = 0; k < w->depth; k++) {
			const size_t from = w->by_column ? c * w->depth + k
			                                 : k * w->columns + c;
			const size_t at = c * w->depth + k;
			const uint32_t x =
			    (uint32_t)((int32_t)tensor_real(w->codes, from)
			        + w->shift);

			if (w->four)
				to[at / 2] |= (uint8_t)(x << at % 2 * 4);
			else
				to[at] = (uint8_t)x;
		}
	return to;
}

/* SOURCE: seen in 2024-11: the library multiplies its bias by the scales, too. */
static const float *
bias_in_codes(struct xnn_build *b, const struct product *p, const float *scale,
    size_t columns)
{
	const float *from =
	    scaled_floats(b->graph, p->bias, p->beta, b->scratch);
	float *to = arena_new(b->scratch, float, columns);

	for (size_t i = 0; i < columns; i++)
		to[i] = from[i] / scale[i];
	return to;
}

bool
build_narrow(struct xnn_build *b)
{
	struct operator* o = & b->layer->what;
	struct narrow_weights w;
	const struct type *in;
	struct product p;
	const float *scale;

	fused_product(&p, &b->fused, b->graph);
	read_weights(&w, b->graph, b->fused.anchor);
	in = &graph_value(b->graph, p.left)->type;
	operand_of(b, p.left, in->rank, &b->layer->left);
	o->kind = OPERATOR_NARROW;
	o->in = w.depth;
	o->out = w.columns;
	o->batch = type_elements(in, 0) / o->in;
	scale = integer_entries(w.scale, w.columns, b->scratch);
	o->bytes = (struct byte_filters){.codes = pack(&w, b->scratch),
	    .scale = scale,
	    .zero = w.zero,
	    .is_four = w.four};
	if (p.bias != VALUE_NONE)
		o->bias = bias_in_codes(b, &p, scale, w.columns);
	clamp_of(&b->fused, 0, &o->low, &o->high);
	return create(b, "product with narrow weights");
}
