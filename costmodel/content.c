#include "costmodel/content.h"

#include <math.h>
#include <string.h>

#include "costmodel/requantised.h"

#define CASE(op, slot) ((uint64_t)(op) << 32 | (slot))

/* Does a row of `READS` say so? */
static bool
is_told(enum op op, uint32_t slot, enum content *what)
{
	switch (CASE(op, slot)) {
#define READS(op, slot, content) \
	case CASE(OP_##op, slot): \
		*what = CONTENT_##content; \
		return true;
#include "ir/schema.def"
	default:
		return false;
	}
}

static bool
graph_loops(const struct graph *g)
{
	for (node_id id = 0; id < g->nnodes; id++)
		if (content_decides_loop(&g->node[id]))
			return true;
	return false;
}

bool
content_decides_loop(const struct node *n)
{
	const struct graph *body;

	if (n->op == OP_LOOP)
		return true;
	for (uint32_t k = 0; (body = node_body(n, k)) != NULL; k++)
		if (graph_loops(body))
			return true;
	return false;
}

/* TUNING: parameters of operators we know nothing of are shorter. */
#define CUSTOM_MAX 64

enum content
content_of(const struct node *n, uint32_t slot, const struct tensor *t)
{
	enum content told;

	if (is_told(n->op, slot, &told))
		return told;
	if (content_decides_loop(n))
		return CONTENT_READ;
	if (node_body(n, 0))
		return CONTENT_KEPT;
	if (n->op == OP_CUSTOM && t->count <= CUSTOM_MAX)
		return CONTENT_READ;
	if (n->op == OP_CUSTOM || t->count <= 1)
		return CONTENT_KEPT;
	/* Integers are indices, masks and sizes, or quantised weights: with others
	 * the scales and biases beside them would fit nothing, and sums saturate
	 * that never do in the model. So are the floats of who rounds to bytes. */
	return dtype_is_float(t->dtype) && !node_requantises(n)
	    ? CONTENT_WEIGHTS
	    : CONTENT_KEPT;
}

/* TUNING: the square root of half precision's range, and of the others' far
 * within it. */
static double
largest_ordinary(enum dtype t)
{
	return t == DT_FLOAT16 ? 0x1p8 : 0x1p40;
}

bool
content_is_ordinary(const struct tensor *t)
{
	double most = largest_ordinary(t->dtype);
	size_t n = t->kind == TENSOR_FILL && t->count ? 1 : t->count;

	if (!dtype_is_float(t->dtype) || !tensor_is_numbers(t))
		return true;
	for (size_t i = 0; i < n; i++) {
		double x = fabs(tensor_real(t, i));

		/* Written so that a NaN fails. */
		if (x != 0 && !(x <= most && x >= 1 / most))
			return false;
	}
	return true;
}

bool
content_is_zero(const struct tensor *t)
{
	if (!tensor_is_numbers(t))
		return false;
	for (size_t i = 0; i < t->count; i++)
		if (tensor_real(t, i) != 0)
			return false;
	return true;
}
