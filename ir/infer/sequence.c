/* Sequences and optionals: the type of the elements is carried. */
#include "ir/infer/rules.h"

#include <inttypes.h>

#include "ir/infer/bodies.h"

static void
out_wrapped(
    struct site *s, uint32_t i, enum type_kind kind, const struct type *elem)
{
	struct type *copy = arena_new(s->g->arena, struct type, 1);

	*copy = *elem;
	if (i < s->n->noutputs)
		s->out[i] = (struct type){.kind = kind, .elem = copy};
}

/* Element type of input i; NULL when it is no sequence (or not known). */
static bool
elem_of(
    struct site *s, uint32_t i, enum type_kind kind, const struct type **elem)
{
	const struct type *t = in_type(s, i);

	*elem = NULL;
	if (!t || t->kind == TYPE_UNKNOWN)
		return true;
	if (t->kind != kind)
		return fault(s, "input %" PRIu32 " is %s, a sequence is needed",
		    i, type_text(t, s->g->symbol, s->pass->scratch));
	*elem = t->elem;
	return true;
}

bool
rule_sequenceempty(struct site *s)
{
	struct type elem = {.kind = TYPE_TENSOR, .rank = RANK_UNKNOWN};

	if (!attr_dtype(s, "dtype", DT_FLOAT, &elem.dtype))
		return false;
	out_wrapped(s, 0, TYPE_SEQUENCE, &elem);
	return true;
}

bool
rule_sequenceconstruct(struct site *s)
{
	struct type elem = {.kind = TYPE_UNKNOWN};

	for (uint32_t i = 0; i < s->n->ninputs; i++) {
		bool same;

		if (in_type(s, i)
		    && !type_join(
		        s->g->arena, in_type(s, i), &elem, &elem, &same))
			return fault(s,
			    "input %" PRIu32
			    " has another type than those before",
			    i);
	}
	out_wrapped(s, 0, TYPE_SEQUENCE, &elem);
	return true;
}

bool
rule_sequenceinsert(struct site *s)
{
	const struct type *elem, *t = in_type(s, 1);
	struct type joined;
	bool same;

	if (!elem_of(s, 0, TYPE_SEQUENCE, &elem))
		return false;
	if (!elem || !t)
		return true;
	if (!type_join(s->g->arena, elem, t, &joined, &same))
		return fault(s, "an element of %s goes into a sequence of %s",
		    type_text(t, s->g->symbol, s->pass->scratch),
		    type_text(elem, s->g->symbol, s->pass->scratch));
	out_wrapped(s, 0, TYPE_SEQUENCE, &joined);
	return true;
}

bool
rule_sequenceat(struct site *s)
{
	const struct type *elem;

	if (!elem_of(s, 0, TYPE_SEQUENCE, &elem))
		return false;
	out_type(s, 0, elem);
	return true;
}

bool
rule_sequenceerase(struct site *s)
{
	const struct type *elem;

	if (!elem_of(s, 0, TYPE_SEQUENCE, &elem))
		return false;
	out_type(s, 0, in_type(s, 0));
	return true;
}

bool
rule_sequencelength(struct site *s)
{
	const struct type *elem;

	if (!elem_of(s, 0, TYPE_SEQUENCE, &elem))
		return false;
	out_tensor(s, 0, DT_INT64, 0, NULL);
	return true;
}

/* The size every piece has, when there is one. */
static bool
piece_size(struct site *s, int64_t whole, int64_t *out)
{
	struct small split = in_small(s, 1);
	bool scalar = in_ranked(s, 1) && in_type(s, 1)->rank == 0;
	int64_t sum = 0;

	*out = DIM_UNKNOWN;
	if (!split.e)
		return true;
	for (uint32_t i = 0; i < split.n; i++) {
		if (!split.e[i].known)
			return true;
		if (split.e[i].v < (scalar ? 1 : 0))
			return fault(s, "split is %" PRId64, split.e[i].v);
		if (split.e[i].v != split.e[0].v)
			*out = DIM_SYMBOL(0);
		if (split.e[i].v > INT64_MAX - sum)
			return fault(s, "split sizes overflow");
		sum += split.e[i].v;
	}
	if (!scalar && whole >= 0 && sum != whole)
		return fault(s,
		    "split sizes sum to %" PRId64 " but the axis has %" PRId64,
		    sum, whole);
	if (*out == DIM_UNKNOWN && split.n > 0
	    && (!scalar || (whole >= 0 && whole % split.e[0].v == 0)))
		*out = split.e[0].v;
	else
		*out = DIM_UNKNOWN;
	return true;
}

bool
rule_splittosequence(struct site *s)
{
	const struct type *x = in_type(s, 0);
	struct type elem = {.kind = TYPE_TENSOR, .rank = RANK_UNKNOWN};
	int64_t *dim, size = 1;
	uint32_t axis, n = 0;
	bool keep = in_type(s, 1) || attr_int_or(s->n, "keepdims", 1) != 0;

	elem.dtype = in_dtype(s, 0);
	if (in_ranked(s, 0)) {
		if (!attr_axis(s, "axis", 0, x->rank, &axis)
		    || (in_type(s, 1) && !piece_size(s, x->dim[axis], &size)))
			return false;
		dim = dims_new(s, x->rank);
		for (uint32_t i = 0; i < x->rank; i++)
			if (i != axis)
				dim[n++] = x->dim[i];
			else if (keep)
				dim[n++] = size;
		elem.rank = n;
		elem.dim = dim;
	}
	out_wrapped(s, 0, TYPE_SEQUENCE, &elem);
	return true;
}

bool
rule_concatfromsequence(struct site *s)
{
	bool stack = attr_int_or(s->n, "new_axis", 0) != 0;
	const struct type *elem;
	int64_t *dim;
	uint32_t axis, rank, from = 0;

	if (!elem_of(s, 0, TYPE_SEQUENCE, &elem))
		return false;
	if (!elem || elem->kind != TYPE_TENSOR)
		return true;
	out_unranked(s, 0, elem->dtype);
	if (elem->rank == RANK_UNKNOWN)
		return true;
	rank = elem->rank + stack;
	if (!node_attr(s->n, "axis"))
		return fault(s, "attribute axis is missing");
	if (!attr_axis(s, "axis", 0, rank, &axis))
		return false;
	dim = dims_new(s, rank);
	for (uint32_t i = 0; i < rank; i++) {
		dim[i] = i == axis ? DIM_UNKNOWN : elem->dim[from];
		from += i != axis || !stack;
	}
	out_tensor(s, 0, elem->dtype, rank, dim);
	return true;
}

bool
rule_optional(struct site *s)
{
	const struct attr *a = node_attr(s->n, "type");

	if (in_type(s, 0))
		out_wrapped(s, 0, TYPE_OPTIONAL, in_type(s, 0));
	else if (a && a->kind == ATTR_TYPE)
		out_wrapped(s, 0, TYPE_OPTIONAL, a->types);
	else
		return fault(s, "neither an input nor attribute type");
	return true;
}

/* From opset 18 the input may be no optional at all. */
bool
rule_optionalgetelement(struct site *s)
{
	const struct type *t = in_type(s, 0);

	if (t && t->kind == TYPE_OPTIONAL && t->elem)
		out_type(s, 0, t->elem);
	else if (t && t->kind != TYPE_OPTIONAL)
		out_type(s, 0, t);
	return true;
}

/* What is no optional has its element, what is left out has none. */
bool
rule_optionalhaselement(struct site *s)
{
	const struct type *t = in_type(s, 0);
	struct num *known = small_new(s, 1);

	out_tensor(s, 0, DT_BOOL, 0, NULL);
	if (!t || t->kind == TYPE_TENSOR || t->kind == TYPE_SEQUENCE) {
		*known = num_int(t != NULL);
		out_small(s, 0, known, 1);
	}
	return true;
}
