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

/* One number for each output, along the axis that they have in a result: the last, or
 * that before the `spatial` ones. */
static bool
is_of_outputs(const struct tensor *t, size_t outputs, uint32_t spatial)
{
	return t->dtype == DT_FLOAT && t->count == outputs
	    && (outputs == 1
	        || (t->rank > spatial
	            && (size_t)t->dim[t->rank - 1 - spatial] == outputs));
}

bool
need_dynamic(
    const struct match_in *m, struct why *why, const struct dynamic_product *d)
{
	const bool is_conv = integer_places(d->product)->is_conv;
	const struct type *y, *scale = matched_type(m, d->scale);
	const struct tensor *w;
	uint32_t spatial;
	size_t outputs;
	bool ok;

	if (!need_integer_of(m, why, d->product, is_conv))
		return false;
	y = matched_type(m, d->product->output[0]);
	w = integer_constant(m->graph, d->product, 1);
	outputs = (size_t)w->dim[is_conv ? 0 : 1];
	spatial = is_conv ? (uint32_t)w->rank - 2 : 0;
	ok = scale->kind == TYPE_TENSOR && scale->dtype == DT_FLOAT
	    && type_is_static(scale) && type_elements(scale, 0) == 1
	    && d->scales && d->scales->dtype == DT_FLOAT
	    && (d->scales->count == 1
	        || is_of_outputs(d->scales, outputs, spatial))
	    && (!d->bias || is_of_outputs(d->bias, outputs, spatial));
	return NEED(why, ok, "scales", "of floats, one or one an output", "%s",
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
