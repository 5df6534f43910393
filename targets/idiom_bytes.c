/* Operators between quantisers, as operators over bytes. */
#include <math.h>
#include <string.h>

#include "targets/idiom_write.h"
#include "targets/integer.h"

/* A (de)quantiser's scale and zero: inputs 1 and 2. */
struct codes {
	value_id scale, zero; /* zero: VALUE_NONE where it is left out */
	const struct tensor *scales, *zeros; /* zeros: NULL then */
	enum dtype dtype; /* of the codes */
};

static const struct tensor *
constant_of(const struct idiom_writer *w, value_id v)
{
	const struct tensor *t =
	    v == VALUE_NONE ? NULL : graph_value(w->graph, v)->constant;

	return t && t->kind <= TENSOR_FILL && dtype_bits(t->dtype) >= 8 ? t
	                                                                : NULL;
}

static bool
read_codes(const struct idiom_writer *w, const struct node *n, struct codes *c)
{
	const value_id codes =
	    n->op == OP_QUANTIZELINEAR ? n->output[0] : n->input[0];

	*c = (struct codes){n->input[1],
	    n->ninputs > 2 ? n->input[2] : VALUE_NONE, .dtype = DT_UNDEFINED};
	c->scales = constant_of(w, c->scale);
	c->zeros = constant_of(w, c->zero);
	c->dtype = graph_value(w->graph, codes)->type.dtype;
	return c->scales && c->scales->dtype == DT_FLOAT
	    && (c->zero == VALUE_NONE || c->zeros)
	    && attr_int_or(n, "block_size", 0) == 0;
}

/* Of a value: 8 bits, one scale, positive. */
static bool
is_plain(const struct codes *c)
{
	return dtype_is_byte(c->dtype) && c->scales->count == 1
	    && tensor_real(c->scales, 0) > 0
	    && isfinite(tensor_real(c->scales, 0))
	    && (!c->zeros || c->zeros->count == 1);
}

/* Of filters: one scale, or one for each of them. */
static bool
is_of_filters(const struct node *n, const struct codes *c, const struct type *t)
{
	return dtype_is_byte(c->dtype) && t->rank >= 3
	    && (!c->zeros || c->zeros->count == 1
	        || c->zeros->count == c->scales->count)
	    && (c->scales->count == 1
	        || (attr_int_or(n, "axis", 1) == 0
	            && c->scales->count == (size_t)t->dim[0]));
}

/* TUNING: what a product of two scales was rounded by. */
#define SCALE_ERROR 1e-5

/* Whole numbers of the sums' own scale, around 0. */
static bool
is_of_sums(const struct idiom_writer *w, const struct node *n,
    const struct codes *x, const struct codes *k)
{
	const struct tensor *bias = constant_of(w, n->input[0]);
	struct codes b;

	if (!bias || bias->dtype != DT_INT32 || !read_codes(w, n, &b)
	    || (b.scales->count != 1 && b.scales->count != bias->count))
		return false;
	if (b.zeros && !integers_are(b.zeros, 0))
		return false;
	for (size_t i = 0; i < bias->count; i++) {
		const double want = tensor_real(x->scales, 0)
		    * (double)integer_entry(k->scales, i);

		if (!(fabs((double)integer_entry(b.scales, i) - want)
		        <= SCALE_ERROR * fabs(want)))
			return false;
	}
	return true;
}

/* The zero that was left out. */
static value_id
zero_given(struct idiom_writer *w, const struct codes *c)
{
	static const uint8_t none[16];

	return c->zero != VALUE_NONE
	    ? c->zero
	    : write_constant(w, tensor_fill(c->dtype, 0, NULL, none));
}

/* All attributes of a node. */
static bool
keep_attributes(struct idiom_writer *w, const struct node *n)
{
	if (n->nattrs > IDIOM_ATTRS)
		return false;
	if (n->nattrs)
		memcpy(w->attr, n->attr, n->nattrs * sizeof *n->attr);
	w->nattrs = n->nattrs;
	return true;
}

static bool
write_conv(struct idiom_writer *w, const struct node *conv,
    const struct codes *x, const struct codes *y)
{
	const struct node *weights = caught_node(w, "weights");
	const struct node *bias = caught_node(w, "bias");
	struct codes k;

	if (!read_codes(w, weights, &k)
	    || !is_of_filters(
	        weights, &k, &graph_value(w->graph, weights->input[0])->type)
	    || (bias && !is_of_sums(w, bias, x, &k))
	    || !keep_attributes(w, conv))
		return false;
	write_input(w, 0, w->x);
	write_input(w, 1, x->scale);
	write_input(w, 2, zero_given(w, x));
	write_input(w, 3, weights->input[0]);
	write_input(w, 4, k.scale);
	write_input(w, 5, zero_given(w, &k));
	write_input(w, 6, y->scale);
	write_input(w, 7, zero_given(w, y));
	if (bias)
		write_input(w, 8, bias->input[0]);
	return true;
}

/* Does a rectifier before the quantiser change nothing: is the least code 0? */
static bool
bounds_below(const struct codes *y)
{
	return integer_entry(y->zeros, 0) == (y->dtype == DT_UINT8 ? 0 : -128);
}

bool
write_quantised(struct idiom_writer *w)
{
	const struct node *to = graph_node(w->graph, w->match->root);
	const struct node *from = caught_node(w, "from");
	const struct node *inner = caught_node(w, "inner");
	const bool is_rectified = to->input[0] != inner->output[0];
	struct codes x, y;

	if (!read_codes(w, from, &x) || !read_codes(w, to, &y) || !is_plain(&x)
	    || !is_plain(&y) || (is_rectified && !bounds_below(&y)))
		return false;
	if (w->kind == IDIOM_QLINEAR_CONV)
		return write_conv(w, inner, &x, &y);
	write_input(w, 0, w->x);
	return x.dtype == y.dtype
	    && integer_entry(x.zeros, 0) == integer_entry(y.zeros, 0)
	    && tensor_real(x.scales, 0) == tensor_real(y.scales, 0)
	    && inner->noutputs == 1 && keep_attributes(w, inner);
}
