#include "targets/mask_rows.h"

#include <string.h>

#include "targets/axes.h"
#include "targets/host/walk.h"

static uint16_t
half_at(const unsigned char *data, size_t i)
{
	uint16_t x;

	memcpy(&x, data + i * sizeof x, sizeof x);
	return x;
}

static uint32_t
word_at(const unsigned char *data, size_t i)
{
	uint32_t x;

	memcpy(&x, data + i * sizeof x, sizeof x);
	return x;
}

struct mask_rows
mask_rows_of(const struct graph *g, const struct candidate *c)
{
	const struct node *n = graph_node(g, c->node[0]);
	const bool flat = n->opset < 13;
	const struct type *t;
	uint32_t at, end;

	if (c->nnodes > 1 || (n->op != OP_SOFTMAX && n->op != OP_LOGSOFTMAX)
	    || c->input[0].format != FORMAT_PLAIN)
		return (struct mask_rows){0};
	t = &graph_value(g, n->input[0])->type;
	at = axes_one(n, flat ? 1 : -1, t->rank);
	end = flat ? t->rank : at + 1;
	return (struct mask_rows){t->dtype, shape_count(t->dim, 0, at),
	    shape_count(t->dim, at, end), shape_count(t->dim, end, t->rank)};
}

static bool
none_but_masks(const struct mask_rows *r, const unsigned char *data)
{
	const size_t n = r->outer * r->n * r->inner;
	bool ok = true;

	for (size_t i = 0; r->dtype == DT_FLOAT && i < n; i++) {
		const uint32_t x = word_at(data, i);

		ok &= (x != 0x7f800000) & ((x & INT32_MAX) <= 0x7f800000);
	}
	for (size_t i = 0; r->dtype != DT_FLOAT && i < n; i++) {
		const uint16_t x = half_at(data, i);

		ok &= (x != 0x7c00) & ((x & INT16_MAX) <= 0x7c00);
	}
	return ok;
}

static bool
has_finite(const struct mask_rows *r, const unsigned char *data, size_t first)
{
	const bool is_float = r->dtype == DT_FLOAT;
	bool found = false;

	for (size_t i = 0; !found && i < r->n; i++) {
		const size_t at = first + i * r->inner;

		found = is_float ? (word_at(data, at) & INT32_MAX) < 0x7f800000
		                 : (half_at(data, at) & INT16_MAX) < 0x7c00;
	}
	return found;
}

bool
mask_rows_suffice(const struct mask_rows *r, const void *data)
{
	const size_t row = r->n * r->inner;

	if (row == 0 || !none_but_masks(r, data))
		return false;
	for (size_t i = 0; i < r->outer; i++)
		for (size_t k = 0; k < r->inner; k++)
			if (!has_finite(r, data, i * row + k))
				return false;
	return true;
}
