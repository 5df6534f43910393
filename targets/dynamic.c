#include "targets/dynamic.h"

#include "targets/integer.h"
#include "targets/need.h"

#define NEED why_need

static const struct tensor *
caught_constant(const struct match *m, const struct graph *g, const char *name)
{
	const value_id v = match_value(m, name);

	return v == VALUE_NONE ? NULL : graph_value(g, v)->constant;
}

struct dynamic_product
dynamic_read(const struct match *m, const struct graph *g)
{
	return (struct dynamic_product){
	    .product = graph_node(g, match_node(m, "product")),
	    .scale = match_value(m, "scale"),
	    .scales = caught_constant(m, g, "w_scale"),
	    .bias = caught_constant(m, g, "bias"),
	    .end = graph_node(g, m->root)->output[0],
	};
}

static bool
is_row(const struct tensor *t, size_t columns)
{
	return t->dtype == DT_FLOAT && t->count == columns
	    && (t->rank == 0 || (size_t)t->dim[t->rank - 1] == columns
	        || columns == 1);
}

bool
need_dynamic(
    const struct match_in *m, struct why *why, const struct dynamic_product *d)
{
	const struct type *y, *scale = matched_type(m, d->scale);
	const struct tensor *w;
	size_t columns;
	bool ok;

	if (!need_integer(m, why, d->product))
		return false;
	y = matched_type(m, d->product->output[0]);
	w = integer_constant(m->graph, d->product, 1);
	columns = (size_t)w->dim[1];
	ok = scale->kind == TYPE_TENSOR && scale->dtype == DT_FLOAT
	    && type_is_static(scale) && type_elements(scale, 0) == 1
	    && d->scales && d->scales->dtype == DT_FLOAT
	    && (d->scales->count == 1 || is_row(d->scales, columns))
	    && (!d->bias || is_row(d->bias, columns));
	return NEED(why, ok, "scales", "of floats, one or one a column", "%s",
	           ok ? "that" : "others")
	    && NEED(why, same_shape(y, matched_type(m, d->end)), "shape",
	        "of the product", "another");
}

int32_t
dynamic_zero(const struct zero_of_run *z, const void *const *in)
{
	const uint8_t *byte;

	if (z->port < 0)
		return z->constant;
	byte = in[z->port];
	return z->is_unsigned ? *byte : (int8_t)*byte;
}

struct zero_of_run
dynamic_read_zero(const struct dynamic_product *d, const struct graph *g,
    const struct candidate *c)
{
	const struct value *zero = node_in(g, d->product, 2);
	struct zero_of_run z = {.port = -1};

	if (!zero)
		return z;
	z.is_unsigned = zero->type.dtype == DT_UINT8;
	if (zero->constant)
		z.constant = (int32_t)integer_entry(zero->constant, 0);
	else
		z.port = candidate_input(c, d->product->input[2]);
	return z;
}
