/* Operators that only move elements. The reference moves places instead of
 * values; where that is a strided copy it is written as loops, else as a table. */
#include <inttypes.h>
#include <string.h>

#include "targets/host/host.h"
#include "targets/mrvl/device_op.h"
#include "targets/mrvl/window.h"

/* TUNING: a table has four bytes for each element. */
#define MOST_PLACES ((size_t)1 << 28)

/* Element i is i + 1: 0 is none. */
static struct tensor
places_of(const struct type *t, struct arena *a)
{
	size_t n = (size_t)op_count(t);
	int64_t *place = arena_new(a, int64_t, n + 1);

	for (size_t i = 0; i < n; i++)
		place[i] = (int64_t)i + 1;
	return tensor_view(DT_INT64, t->rank, t->dim, place);
}

/* What the node does to places: of its outputs, in the scratch arena. */
static bool
move_places(struct device_op *op, struct tensor *out, struct arena *scratch)
{
	static const int64_t zero;
	const struct node *n = op->node;
	const struct tensor **in =
	    arena_new(scratch, const struct tensor *, n->ninputs + 1);
	struct tensor places = places_of(op_type_in(op, 0), scratch);
	struct tensor none = tensor_fill(DT_INT64, 0, NULL, &zero);
	struct err err = {.kind = ERR_NONE};

	in[0] = &places;
	for (uint32_t i = 1; i < n->ninputs; i++) {
		if (!op_has(op, i))
			continue;
		in[i] = node_in(op->graph, n, i)->constant;
		if (!in[i])
			return op_refuse(op,
			    "input %u must be a constant, it is computed", i);
	}
	if (n->op == OP_PAD && n->ninputs > 2 && in[2])
		in[2] = &none;
	if (!host_eval(op->graph, n, in, out, scratch, &err))
		return op_refuse(op, "%s", err.text);
	return true;
}

/* Is it base + sum of index x stride? */
static bool
is_strided(const struct tensor *t, int64_t *stride)
{
	const int64_t *place = (const int64_t *)t->data;
	size_t step = 1;

	if (t->rank > DIMS_MAX || t->count == 0)
		return false;
	for (uint32_t d = t->rank; d-- > 0; step *= (size_t)t->dim[d])
		stride[d] = t->dim[d] > 1 ? place[step] - place[0] : 0;
	for (size_t i = 0; i < t->count; i++) {
		int64_t at = place[0];
		size_t rest = i;

		for (uint32_t d = t->rank; d-- > 0;) {
			at += (int64_t)(rest % (size_t)t->dim[d]) * stride[d];
			rest /= (size_t)t->dim[d];
		}
		if (place[i] != at || at < 1)
			return false;
	}
	return true;
}

/* What fills elements that come from nowhere, as C of the element's type. */
static const char *
filling(struct device_op *op)
{
	struct padding p;

	if (op->node->op != OP_PAD || !padding_of(&p, op->graph, op->node)
	    || p.value == 0)
		return "0";
	if (op_type_in(op, 0)->dtype != DT_FLOAT)
		return NULL;
	return op_float(op, p.value);
}

static bool
write_table(struct device_op *op, uint32_t y, const struct tensor *t)
{
	const int64_t *place = (const int64_t *)t->data;
	int32_t *table = arena_new(op->arena, int32_t, t->count + 1);
	const char *none = filling(op);
	uint32_t x;

	if (!none)
		return op_refuse(op,
		    "pads with a value that is not 0 need "
		    "float32, it is %s",
		    dtype_name(op_type_in(op, 0)->dtype));
	for (size_t i = 0; i < t->count; i++)
		table[i] = (int32_t)place[i];
	x = device_reads(
	    op->builder, device_table(op->builder, table, t->count));
	buf_printf(&op->body,
	    "\tfor (long i = 0; i < %zu; i++)\n"
	    "\t\ty%u[i] = x%u[i] ? x0[x%u[i] - 1] : %s;\n",
	    t->count, y, x, x, none);
	return true;
}

static bool
write_output(struct device_op *op, uint32_t y, const struct tensor *t)
{
	int64_t to[DIMS_MAX], from[DIMS_MAX], step = 1;
	struct dims d;

	if (!is_strided(t, from))
		return write_table(op, y, t);
	d = dims_make(t->rank, t->dim);
	for (uint32_t i = t->rank; i-- > 0; step *= t->dim[i])
		to[i] = t->dim[i] == 1 ? 0 : step;
	op_loops(op, &d, "i");
	buf_printf(&op->body, "\ty%u[%s] = x0[%s];\n", y,
	    op_index(op, to, t->rank, 0),
	    op_index(op, from, t->rank, ((const int64_t *)t->data)[0] - 1));
	return true;
}

bool
device_write_move(struct device_op *op)
{
	const struct node *n = op->node;
	struct tensor *out;
	struct arena scratch;
	bool ok;
	uint32_t y = 0;

	if (op_count(op_type_in(op, 0)) > (int64_t)MOST_PLACES
	    || op_count(op_type_out(op, 0)) > (int64_t)MOST_PLACES)
		return op_refuse(op, "more than %zu elements", MOST_PLACES);
	op_reads(op, 0);
	arena_init(&scratch);
	out = arena_new(&scratch, struct tensor, n->noutputs);
	ok = move_places(op, out, &scratch);
	for (uint32_t i = 0; ok && i < n->noutputs; i++)
		if (n->output[i] != VALUE_NONE)
			ok = write_output(op, y++, &out[i]);
	arena_release(&scratch);
	return ok;
}
