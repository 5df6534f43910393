#include "targets/view.h"

#include <string.h>

bool
view_of(struct view *v, const struct type *t)
{
	int64_t step = 1;

	if (t->kind != TYPE_TENSOR || !type_is_static(t) || t->rank > VIEW_RANK)
		return false;
	*v = (struct view){.rank = t->rank};
	for (uint32_t i = t->rank; i-- > 0;) {
		if (t->dim[i] < 1)
			return false;
		v->dim[i] = t->dim[i];
		v->step[i] = step;
		step *= t->dim[i];
	}
	return true;
}

bool
view_moves(enum op op)
{
	return op == OP_RESHAPE || op == OP_TRANSPOSE || op == OP_SQUEEZE
	    || op == OP_UNSQUEEZE || op == OP_FLATTEN || op == OP_IDENTITY
	    || op == OP_SLICE || op == OP_SPLIT;
}

/* Dimensions of 1 say nothing; neighbours that lie as one are one. */
static void
join_dims(struct view *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->rank; i++) {
		if (v->dim[i] == 1)
			continue;
		if (n && v->step[n - 1] == v->dim[i] * v->step[i]) {
			v->dim[n - 1] *= v->dim[i];
			v->step[n - 1] = v->step[i];
			continue;
		}
		v->dim[n] = v->dim[i];
		v->step[n++] = v->step[i];
	}
	v->rank = n;
}

/* The same elements, in order, with the dimensions of t: each of v's, joined as far
 * as they can be, is divided among as many as it takes. */
static bool
divide_dims(struct view *v, const struct type *t)
{
	struct view out = {.rank = t->rank, .offset = v->offset};
	uint32_t from;
	int64_t left;

	if (!type_is_static(t) || t->rank > VIEW_RANK)
		return false;
	join_dims(v);
	from = v->rank;
	left = 1;
	for (uint32_t i = t->rank; i-- > 0;) {
		out.dim[i] = t->dim[i];
		out.step[i] = 1;
		if (t->dim[i] == 1)
			continue;
		if (left == 1 && from-- > 0)
			left = v->dim[from];
		if (t->dim[i] < 1 || left % t->dim[i] != 0)
			return false;
		out.step[i] = v->step[from] * (v->dim[from] / left);
		left /= t->dim[i];
	}
	*v = out;
	return left == 1;
}

static bool
turn_dims(struct view *v, const struct node *n, bool back)
{
	const struct view from = *v;
	uint32_t count;
	const int64_t *perm = attr_ints(n, "perm", &count);

	if (perm && count != v->rank)
		return false;
	for (uint32_t i = 0; i < v->rank; i++) {
		const uint32_t k = perm ? (uint32_t)perm[i] : v->rank - 1 - i;
		const uint32_t in = back ? i : k, out = back ? k : i;

		if (k >= v->rank)
			return false;
		v->dim[out] = from.dim[in];
		v->step[out] = from.step[in];
	}
	return true;
}

/* Parameter i of a Slice, all known: its values, or NULL where there is none. */
static bool
slice_list(const struct graph *g, const struct node *n, uint32_t i,
    int64_t value[VIEW_RANK], uint32_t *count)
{
	static const char *const name[] = {"", "starts", "ends", "axes"};
	const int64_t *list = NULL;
	const struct tensor *t;

	*count = 0;
	if (n->opset < 10) {
		if (i < 4)
			list = attr_ints(n, name[i], count);
		if (*count > VIEW_RANK)
			return false;
		if (list)
			memcpy(value, list, *count * sizeof *value);
		return true;
	}
	if (i >= n->ninputs || n->input[i] == VALUE_NONE)
		return true;
	t = node_in(g, n, i)->constant;
	if (!t || t->count > VIEW_RANK || t->made_up || t->kind > TENSOR_FILL)
		return false;
	*count = (uint32_t)t->count;
	for (uint32_t k = 0; k < *count; k++)
		value[k] = tensor_int(t, k);
	return true;
}

/* Some of the elements of some dimensions, forwards: as many as the result says. */
static bool
cut_dims(struct view *v, const struct graph *g, const struct node *n)
{
	const struct type *t = &node_out(g, n, 0)->type;
	int64_t start[VIEW_RANK], axis[VIEW_RANK], by[VIEW_RANK];
	uint32_t nstart, naxis, nby;

	if (!slice_list(g, n, 1, start, &nstart) || nstart == 0
	    || !slice_list(g, n, 3, axis, &naxis) || (naxis && naxis != nstart)
	    || !slice_list(g, n, 4, by, &nby) || (nby && nby != nstart))
		return false;
	for (uint32_t i = 0; i < nstart; i++) {
		int64_t at = naxis ? axis[i] : i, from = start[i];

		at += at < 0 ? v->rank : 0;
		if (at < 0 || at >= v->rank || (nby && by[i] < 1))
			return false;
		from += from < 0 ? v->dim[at] : 0;
		from = from < 0 ? 0 : from;
		v->offset += from * v->step[at];
		v->step[at] *= nby ? by[i] : 1;
		v->dim[at] = t->dim[at];
	}
	return true;
}

/* Output `out` of a Split lies behind those before it. */
static bool
part_dims(
    struct view *v, const struct graph *g, const struct node *n, uint32_t out)
{
	const int64_t axis = attr_int_or(n, "axis", 0);
	const int64_t at = axis + (axis < 0 ? v->rank : 0);
	int64_t before = 0;

	if (at < 0 || at >= v->rank)
		return false;
	for (uint32_t i = 0; i <= out; i++) {
		const struct value *part = node_out(g, n, i);

		if (!part || !type_is_static(&part->type)
		    || part->type.rank != v->rank)
			return false;
		v->dim[at] = part->type.dim[at];
		before += i < out ? v->dim[at] : 0;
	}
	v->offset += before * v->step[at];
	return true;
}

bool
view_through(
    struct view *v, const struct graph *g, const struct node *n, uint32_t out)
{
	const struct value *y = node_out(g, n, out);

	if (!y || !type_is_static(&y->type) || y->type.rank > VIEW_RANK)
		return false;
	for (uint32_t i = 0; i < y->type.rank; i++)
		if (y->type.dim[i] < 1)
			return false;
	switch ((int)n->op) {
	case OP_TRANSPOSE:
		return turn_dims(v, n, false);
	case OP_SLICE:
		return cut_dims(v, g, n);
	case OP_SPLIT:
		return part_dims(v, g, n, out);
	default:
		return view_moves(n->op) && divide_dims(v, &y->type);
	}
}

bool
view_back(struct view *v, const struct graph *g, const struct node *n)
{
	switch ((int)n->op) {
	case OP_TRANSPOSE:
		return turn_dims(v, n, true);
	case OP_SLICE:
	case OP_SPLIT:
		return false;
	default:
		return view_moves(n->op)
		    && divide_dims(v, &node_in(g, n, 0)->type);
	}
}
