#include "targets/axes.h"

#include <string.h>

uint32_t
axes_one(const struct node *n, int64_t otherwise, uint32_t rank)
{
	const int64_t axis = attr_int_or(n, "axis", otherwise);

	return (uint32_t)(axis < 0 ? axis + rank : axis);
}

static bool
mark(bool *reduced, uint32_t rank, int64_t axis)
{
	axis += axis < 0 ? rank : 0;
	if (axis < 0 || axis >= rank)
		return false;
	reduced[axis] = true;
	return true;
}

bool
axes_read(bool reduced[AXES_MAX], const struct graph *g, const struct node *n)
{
	const struct type *t = &node_in(g, n, 0)->type;
	const struct value *in = n->ninputs > 1 && n->input[1] != VALUE_NONE
	    ? node_in(g, n, 1)
	    : NULL;
	uint32_t count = 0;
	const int64_t *axis = attr_ints(n, "axes", &count);

	memset(reduced, 0, AXES_MAX * sizeof *reduced);
	if (t->kind != TYPE_TENSOR || t->rank == RANK_UNKNOWN
	    || t->rank > AXES_MAX)
		return false;
	if (in && in->constant == NULL)
		return false;
	if (in)
		count = (uint32_t)in->constant->count;
	for (uint32_t i = 0; i < count; i++) {
		int64_t a =
		    axis ? axis[i] : (int64_t)tensor_real(in->constant, i);

		if (!mark(reduced, t->rank, a))
			return false;
	}
	if (count == 0 && attr_int_or(n, "noop_with_empty_axes", 0) == 0)
		for (uint32_t i = 0; i < t->rank; i++)
			reduced[i] = true;
	return true;
}

uint32_t
axes_first_of_last(const bool reduced[AXES_MAX], uint32_t rank)
{
	uint32_t first = rank;

	while (first > 0 && reduced[first - 1])
		first--;
	for (uint32_t i = 0; i < first; i++)
		if (reduced[i])
			return rank;
	return first;
}

bool
axes_are_images(const struct graph *g, const struct node *n)
{
	const struct type *t = &node_in(g, n, 0)->type;
	bool reduced[AXES_MAX];

	if (t->rank != 4)
		return false;
	if (n->op == OP_GLOBALAVERAGEPOOL)
		return true;
	return axes_read(reduced, g, n) && !reduced[0] && !reduced[1]
	    && reduced[2] && reduced[3];
}
