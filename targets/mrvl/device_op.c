/* What writing a node of the CPU is made of. */
#include "targets/mrvl/device_op.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "targets/host/call.h"
#include "targets/host/walk.h"

bool
op_refuse(struct device_op *op, const char *fmt, ...)
{
	char words[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words, sizeof words, fmt, ap);
	va_end(ap);
	return err_set(op->err, ERR_UNSUPPORTED, "%s '%s': %s",
	    op->node->op_type, node_label(op->graph, op->id, op->arena), words);
}

uint32_t
op_reads(struct device_op *op, uint32_t i)
{
	return device_reads(
	    op->builder, device_place(op->builder, op->node->input[i]));
}

bool
op_has(const struct device_op *op, uint32_t i)
{
	return i < op->node->ninputs && op->node->input[i] != VALUE_NONE;
}

const struct type *
op_type_in(const struct device_op *op, uint32_t i)
{
	return &node_in(op->graph, op->node, i)->type;
}

const struct type *
op_type_out(const struct device_op *op, uint32_t i)
{
	return &node_out(op->graph, op->node, i)->type;
}

bool
op_needs_float(struct device_op *op, uint32_t i)
{
	enum dtype t = op_type_in(op, i)->dtype;

	return t == DT_FLOAT
	    || op_refuse(
	        op, "input %u must be float32, it is %s", i, dtype_name(t));
}

int64_t
op_count(const struct type *t)
{
	return (int64_t)shape_count(t->dim, 0, t->rank);
}

const char *
op_float(const struct device_op *op, double x)
{
	if (isnan(x))
		return "NAN";
	if (isinf(x))
		return x < 0 ? "-INFINITY" : "INFINITY";
	return arena_printf(op->arena, "%af", (double)(float)x);
}

void
op_loops(struct device_op *op, const struct dims *d, const char *letter)
{
	for (uint32_t i = 0; i < d->rank; i++)
		if (d->dim[i] != 1)
			buf_printf(&op->body,
			    "\tfor (long %s%u = 0; %s%u < %" PRIi64
			    "; %s%u++)\n",
			    letter, i, letter, i, d->dim[i], letter, i);
}

const char *
op_index(const struct device_op *op, const int64_t *stride, uint32_t rank,
    int64_t base)
{
	const char *text =
	    base ? arena_printf(op->arena, "%" PRIi64, base) : "";

	for (uint32_t i = 0; i < rank; i++) {
		const char *plus = *text ? " + " : "";

		if (stride[i] == 1)
			text =
			    arena_printf(op->arena, "%s%si%u", text, plus, i);
		else if (stride[i])
			text = arena_printf(op->arena, "%s%si%u * %" PRIi64,
			    text, plus, i, stride[i]);
	}
	return *text ? text : "0";
}

const char *
device_ctype(enum dtype t)
{
	switch (t) {
	case DT_FLOAT:
		return "float";
	case DT_DOUBLE:
		return "double";
	case DT_BOOL:
	case DT_UINT8:
		return "uint8_t";
	case DT_INT8:
		return "int8_t";
	case DT_UINT16:
		return "uint16_t";
	case DT_INT16:
		return "int16_t";
	case DT_INT32:
		return "int32_t";
	case DT_UINT32:
		return "uint32_t";
	case DT_INT64:
		return "int64_t";
	case DT_UINT64:
		return "uint64_t";
	case DT_FLOAT16:
	case DT_BFLOAT16:
		return "uint16_t"; /* may be moved */
	default:
		return NULL;
	}
}

const char *
op_index_of(
    const struct device_op *op, const struct type *t, const struct type *to)
{
	ptrdiff_t wide[RANK_MAX];
	int64_t stride[RANK_MAX];

	broadcast_strides(t->rank, t->dim, to->rank, to->dim, wide);
	for (uint32_t i = 0; i < to->rank; i++)
		stride[i] = to->dim[i] == 1 ? 0 : wide[i];
	return op_index(op, stride, to->rank, 0);
}

struct call
op_call(struct device_op *op)
{
	const struct node *n = op->node;
	const struct tensor **in =
	    arena_new(op->arena, const struct tensor *, n->ninputs + 1);

	struct tensor *first = arena_new(op->arena, struct tensor, 1);

	*first = (struct tensor){
	    .rank = op_type_in(op, 0)->rank, .dim = op_type_in(op, 0)->dim};
	in[0] = first;
	for (uint32_t i = 1; i < n->ninputs; i++)
		in[i] =
		    op_has(op, i) ? node_in(op->graph, n, i)->constant : NULL;
	return (struct call){.graph = op->graph,
	    .node = n,
	    .in = in,
	    .arena = op->arena,
	    .scratch = op->arena};
}

bool
op_needs_constants(struct device_op *op, uint32_t i)
{
	for (; i < op->node->ninputs; i++)
		if (op_has(op, i) && !node_in(op->graph, op->node, i)->constant)
			return op_refuse(op,
			    "input %u must be a constant, it is computed", i);
	return true;
}
