/* Products of bytes quantised in each run (qd8): the library scales each row by
 * itself; here all have the tensor's scale and zero, which are told in each run. */
#include <math.h>

#include "targets/integer.h"
#include "targets/need.h"
#include "targets/xnnpack/op.h"

#define NEED why_need

static bool
are_normal(const struct tensor *scales)
{
	for (size_t i = 0; i < scales->count; i++)
		if (!isnormal(integer_entry(scales, i))
		    || integer_entry(scales, i) < 0)
			return false;
	return true;
}

bool
takes_dynamic(const struct match_in *m, struct why *why)
{
	const struct dynamic_product d = dynamic_read(m->match, m->graph);
	const bool has = library_has(OPERATOR_DYNAMIC);

	return NEED(why, has, "library", "with products of dynamic 8 bits",
	           "%s", has ? "it has them" : "an older one")
	    && need_dynamic(m, why, &d) && need_middle_zero(m, why, d.product)
	    && NEED(why, are_normal(d.scales), "scales", "normal numbers",
	        "others");
}

/* [depth, columns] as [columns, depth]. */
static const int8_t *
columns_first(const int8_t *from, size_t depth, size_t columns, struct arena *a)
{
	int8_t *to = arena_new(a, int8_t, depth * columns + 16);

	for (size_t k = 0; k < depth; k++)
		for (size_t i = 0; i < columns; i++)
			to[i * depth + k] = from[k * columns + i];
	return to;
}

/* What runs tell: the code of all rows, of int8. */
static void
take_rows(
    struct xnn_build *b, const struct dynamic_product *d, const struct type *x)
{
	struct xnn_layer *l = b->layer;
	size_t count;

	tensor_size(x->dtype, x->dim, x->rank, &count, &l->turned_in);
	l->rows =
	    arena_new(b->arena, struct row_code, l->what.batch + ROWS_BEYOND);
	l->what.rows = l->rows;
	l->zero = dynamic_read_zero(d, b->graph, b->candidate);
	l->by = candidate_input(b->candidate, d->scale);
	if (x->dtype == DT_UINT8)
		l->turned = arena_new(b->arena, uint8_t, count + 64);
}

bool
build_dynamic_product(struct xnn_build *b)
{
	const struct dynamic_product d =
	    dynamic_read(b->candidate->match, b->graph);
	const struct tensor *w = integer_constant(b->graph, d.product, 1);
	const struct type *x = &node_in(b->graph, d.product, 0)->type;
	struct operator* o = & b->layer->what;

	operand_of(b, d.product->input[0], x->rank, &b->layer->left);
	o->kind = OPERATOR_DYNAMIC;
	o->in = (size_t)w->dim[0];
	o->out = (size_t)w->dim[1];
	o->batch = type_elements(x, 0) / o->in;
	o->bytes.codes = columns_first(
	    integer_steps(w, b->scratch), o->in, o->out, b->scratch);
	o->bytes.scale = integer_entries(d.scales, o->out, b->scratch);
	o->bias = d.bias ? integer_entries(d.bias, o->out, b->scratch) : NULL;
	o->low = -INFINITY;
	o->high = INFINITY;
	take_rows(b, &d, x);
	return create(b, "product of dynamic 8 bits");
}
