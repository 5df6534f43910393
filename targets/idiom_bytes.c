/* Operators between quantisers, as operators over bytes. */
#include <string.h>

#include "targets/idiom_write.h"
#include "targets/integer.h"
#include "targets/quantiser.h"

/* The zero that was left out. */
static value_id
zero_given(struct idiom_writer *w, const struct quantiser *c)
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

/* Of filters: one scale, or one for each of them. */
static bool
is_of_filters(
    const struct node *n, const struct quantiser *q, const struct type *t)
{
	return t->rank >= 3 && quantiser_is_of_axis(q, n, t, 0);
}

static bool
write_conv(struct idiom_writer *w, const struct node *conv,
    const struct quantiser *x, const struct quantiser *y)
{
	const struct node *weights = caught_node(w, "weights");
	const struct node *bias = caught_node(w, "bias");
	struct quantiser k;

	if (!quantiser_read(&k, w->graph, weights)
	    || !is_of_filters(
	        weights, &k, &graph_value(w->graph, weights->input[0])->type)
	    || (bias && !quantiser_is_of_sums(w->graph, bias, x, &k))
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

bool
write_quantised(struct idiom_writer *w)
{
	const struct node *to = graph_node(w->graph, w->match->root);
	const struct node *from = caught_node(w, "from");
	const struct node *inner = caught_node(w, "inner");
	const bool is_rectified = to->input[0] != inner->output[0];
	struct quantiser x, y;

	if (!quantiser_read(&x, w->graph, from)
	    || !quantiser_read(&y, w->graph, to) || !quantiser_is_plain(&x)
	    || !quantiser_is_plain(&y)
	    || (is_rectified && !quantiser_bounds_below(&y)))
		return false;
	if (w->kind == IDIOM_QLINEAR_CONV)
		return write_conv(w, inner, &x, &y);
	write_input(w, 0, w->x);
	return x.dtype == y.dtype
	    && integer_entry(x.zeros, 0) == integer_entry(y.zeros, 0)
	    && tensor_real(x.scales, 0) == tensor_real(y.scales, 0)
	    && inner->noutputs == 1 && keep_attributes(w, inner);
}
