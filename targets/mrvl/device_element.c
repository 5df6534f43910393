/* Operators that are loops over elements, and those that only move them. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "targets/host/call.h"
#include "targets/host/reduce.h"
#include "targets/host/walk.h"
#include "targets/mrvl/device_op.h"

/* ---- element by element ---- */

bool
cpu_one(struct device_op *op, const struct cpu_op *row)
{
	if (!op_needs_float(op, 0))
		return false;
	op_reads(op, 0);
	for (uint32_t i = 0; i < 2; i++)
		if (row->name[i])
			buf_printf(&op->body, "\tconst float %c = %s;\n",
			    "AB"[i],
			    op_float(op,
			        (double)attr_float_or(op->node, row->name[i],
			            row->otherwise[i])));
	buf_printf(&op->body,
	    "\tfor (long i = 0; i < %" PRIi64
	    "; i++) {\n\t\tconst float v = x0[i];\n\n\t\ty0[i] = %s;\n\t}\n",
	    op_count(op_type_out(op, 0)), row->text);
	return true;
}

/* Operators of two forms: which of them the text is of. */
static bool
has_plain_form(struct device_op *op)
{
	if (op->node->op == OP_PRELU || op->node->opset >= 7)
		return true;
	return attr_int_or(op->node, "broadcast", 0) == 0
	    || op_refuse(op, "opset %u's broadcast, 7 or later is needed",
	        op->node->opset);
}

static bool
takes_numbers(struct device_op *op, bool integers)
{
	enum dtype t = op_type_in(op, 0)->dtype;

	if (t == DT_FLOAT || (integers && (t == DT_INT32 || t == DT_INT64)))
		return true;
	return op_refuse(op, "input 0 must be float32%s, it is %s",
	    integers ? ", int32 or int64" : "", dtype_name(t));
}

/* y = a ? b; the first of several has x0 as its left operand, others y0. */
static void
write_pair(struct device_op *op, const char *text, uint32_t i)
{
	const struct type *out = op_type_out(op, 0);
	const char *type = device_ctype(op_type_in(op, 0)->dtype);
	struct dims d = dims_of(out);
	const char *to = op_index_of(op, out, out);
	uint32_t a, b;

	a = op_reads(op, 0);
	b = op_reads(op, i);
	op_loops(op, &d, "i");
	buf_printf(&op->body, "\t{\n\t\tconst %s a = ", type);
	if (i == 1)
		buf_printf(&op->body, "x%u[%s]", a,
		    op_index_of(op, op_type_in(op, 0), out));
	else
		buf_printf(&op->body, "y0[%s]", to);
	buf_printf(&op->body, ", b = x%u[%s];\n\n\t\ty0[%s] = %s;\n\t}\n", b,
	    op_index_of(op, op_type_in(op, i), out), to, text);
}

bool
cpu_two(struct device_op *op, const struct cpu_op *row)
{
	if (!takes_numbers(op, row->integers) || !has_plain_form(op))
		return false;
	for (uint32_t i = 1; i < op->node->ninputs; i++)
		if (op_type_in(op, i)->dtype != op_type_in(op, 0)->dtype)
			return op_refuse(op, "inputs of one type are needed");
	if (op->node->ninputs == 1)
		buf_printf(&op->body,
		    "\tmemcpy(y0, x%u, %" PRIi64 " * sizeof *y0);\n",
		    op_reads(op, 0), op_count(op_type_out(op, 0)));
	for (uint32_t i = 1; i < op->node->ninputs; i++)
		write_pair(op, row->text, i);
	return true;
}

bool
cpu_compare(struct device_op *op, const struct cpu_op *row)
{
	return takes_numbers(op, true) && has_plain_form(op)
	    && (write_pair(op, row->text, 1), true);
}

bool
cpu_where(struct device_op *op, const struct cpu_op *row)
{
	const struct type *out = op_type_out(op, 0);
	struct dims d = dims_of(out);
	uint32_t c = op_reads(op, 0), a = op_reads(op, 1), b = op_reads(op, 2);

	(void)row;
	op_loops(op, &d, "i");
	buf_printf(&op->body, "\ty0[%s] = x%u[%s] ? x%u[%s] : x%u[%s];\n",
	    op_index_of(op, out, out), c,
	    op_index_of(op, op_type_in(op, 0), out), a,
	    op_index_of(op, op_type_in(op, 1), out), b,
	    op_index_of(op, op_type_in(op, 2), out));
	return true;
}

bool
cpu_cast(struct device_op *op, const struct cpu_op *row)
{
	enum dtype from = op_type_in(op, 0)->dtype;
	enum dtype to = op_type_out(op, 0)->dtype;

	(void)row;
	if (dtype_is_half(from) || dtype_is_half(to)
	    || (dtype_is_float(from) && !dtype_is_float(to) && to != DT_BOOL))
		return op_refuse(op,
		    "%s to %s is not written, integers and float32 are",
		    dtype_name(from), dtype_name(to));
	op_reads(op, 0);
	buf_printf(&op->body,
	    "\tfor (long i = 0; i < %" PRIi64
	    "; i++)\n\t\ty0[i] = (%s)%sx0[i];\n",
	    op_count(op_type_out(op, 0)), device_ctype(to),
	    to == DT_BOOL ? "!!" : "");
	return true;
}

/* A bound: attribute before opset 11, constant input since. */
static bool
bound_of(struct device_op *op, uint32_t i, const char *name, double *x)
{
	const struct tensor *t;

	if (op->node->opset < 11) {
		*x = (double)attr_float_or(op->node, name, (float)*x);
		return true;
	}
	if (!op_has(op, i))
		return true;
	t = node_in(op->graph, op->node, i)->constant;
	if (!t || t->count != 1)
		return op_refuse(op, "%s must be a constant", name);
	*x = tensor_real(t, 0);
	return true;
}

bool
cpu_clip(struct device_op *op, const struct cpu_op *row)
{
	double low = -(double)INFINITY, high = (double)INFINITY;

	(void)row;
	if (!op_needs_float(op, 0) || !bound_of(op, 1, "min", &low)
	    || !bound_of(op, 2, "max", &high))
		return false;
	op_reads(op, 0);
	buf_printf(&op->body,
	    "\tfor (long i = 0; i < %" PRIi64
	    "; i++) {\n\t\tconst float v = x0[i] < %s ? %s : x0[i];\n\n"
	    "\t\ty0[i] = v > %s ? %s : v;\n\t}\n",
	    op_count(op_type_out(op, 0)), op_float(op, low), op_float(op, low),
	    op_float(op, high), op_float(op, high));
	return true;
}

bool
cpu_gelu(struct device_op *op, const struct cpu_op *row)
{
	struct cpu_op form = *row;

	form.text = attr_is(op->node, "approximate", "none", "tanh")
	    ? "0.5f * v * (1 + tanhf(0x1.988454p-1f * (v + 0.044715f * v * v "
	      "* v)))"
	    : "0.5f * v * (1 + erff(v * 0x1.6a09e6p-1f))";
	return cpu_one(op, &form);
}

/* ---- quantised ---- */

/* "const float s = ..., z = ...;" of element i: one for all, or for each of an
 * axis; the loop is open. */
static bool
open_quantised(struct device_op *op)
{
	const struct type *t = op_type_in(op, 0), *s = op_type_in(op, 1);
	uint32_t axis = 0, x = op_reads(op, 0), scale = op_reads(op, 1);
	const char *zero = "0";
	size_t inner = 1;

	if (s->dtype != DT_FLOAT || s->rank > 1)
		return op_refuse(op,
		    "scales must be float32 of rank 0 or 1, they are %s of "
		    "rank %u",
		    dtype_name(s->dtype), s->rank);
	if (op_count(s) > 1) {
		if (!axis_of(attr_int_or(op->node, "axis", 1), t->rank, &axis,
		        op->err))
			return false;
		inner = shape_count(t->dim, axis + 1, t->rank);
	}
	if (op_has(op, 2))
		zero =
		    arena_printf(op->arena, "(float)x%u[c]", op_reads(op, 2));
	buf_printf(&op->body,
	    "\tfor (long i = 0; i < %" PRIi64
	    "; i++) {\n\t\tconst long c = i / %zu %% %" PRIi64
	    ";\n\t\tconst float s = x%u[c], z = %s, v = (float)x%u[i];\n\n",
	    op_count(t), inner, op_count(s), scale, zero, x);
	return true;
}

bool
cpu_quantize(struct device_op *op, const struct cpu_op *row)
{
	enum dtype to = op_type_out(op, 0)->dtype;
	bool is_signed = to == DT_INT8;

	(void)row;
	if (!op_needs_float(op, 0))
		return false;
	if (!is_signed && to != DT_UINT8)
		return op_refuse(
		    op, "to %s, int8 or uint8 is needed", dtype_name(to));
	if (!open_quantised(op))
		return false;
	buf_printf(&op->body,
	    "\t\ty0[i] = (%s)fminf(%d, fmaxf(%d, rintf(v / s) + z));\n\t}\n",
	    device_ctype(to), is_signed ? 127 : 255, is_signed ? -128 : 0);
	return true;
}

bool
cpu_dequantize(struct device_op *op, const struct cpu_op *row)
{
	enum dtype from = op_type_in(op, 0)->dtype;

	(void)row;
	if (from != DT_INT8 && from != DT_UINT8 && from != DT_INT32)
		return op_refuse(op, "of %s, int8, uint8 or int32 is needed",
		    dtype_name(from));
	if (!open_quantised(op))
		return false;
	buf_printf(&op->body, "\t\ty0[i] = (v - z) * s;\n\t}\n");
	return true;
}

/* ---- in order, joined ---- */

bool
cpu_copy(struct device_op *op, const struct cpu_op *row)
{
	(void)row;
	if (op->node->noutputs > 1 && op->node->output[1] != VALUE_NONE)
		return op_refuse(op, "its second output is read");
	buf_printf(&op->body, "\tmemcpy(y0, x%u, %" PRIi64 " * sizeof *y0);\n",
	    op_reads(op, 0), op_count(op_type_out(op, 0)));
	return true;
}

bool
cpu_concat(struct device_op *op, const struct cpu_op *row)
{
	const struct type *out = op_type_out(op, 0);
	uint32_t axis;
	int64_t outer, to, at = 0;

	(void)row;
	if (!axis_of(
	        attr_int_or(op->node, "axis", 1), out->rank, &axis, op->err))
		return false;
	outer = (int64_t)shape_count(out->dim, 0, axis);
	to = (int64_t)shape_count(out->dim, axis, out->rank);
	for (uint32_t i = 0; i < op->node->ninputs; i++) {
		const struct type *t = op_type_in(op, i);
		int64_t n = (int64_t)shape_count(t->dim, axis, t->rank);

		buf_printf(&op->body,
		    "\tfor (long o = 0; o < %" PRIi64
		    "; o++)\n\t\tmemcpy(y0 + o * %" PRIi64 " + %" PRIi64
		    ", x%u + o * %" PRIi64 ", %" PRIi64 " * sizeof *y0);\n",
		    outer, to, at, op_reads(op, i), n, n);
		at += n;
	}
	return true;
}

/* Indices that are computed: checked as they are read. */
bool
cpu_gather(struct device_op *op, const struct cpu_op *row)
{
	const struct type *t = op_type_in(op, 0);
	uint32_t axis, x, at;
	size_t n, inner;

	if (node_in(op->graph, op->node, 1)->constant)
		return cpu_move(op, row);
	if (!axis_of(attr_int_or(op->node, "axis", 0), t->rank, &axis, op->err))
		return false;
	x = op_reads(op, 0);
	at = op_reads(op, 1);
	n = (size_t)op_count(op_type_in(op, 1));
	inner = shape_count(t->dim, axis + 1, t->rank);
	buf_printf(&op->body,
	    "\tfor (long i = 0; i < %zu; i++) {\n"
	    "\t\tconst long n = %" PRIi64 ", given = (long)x%u[i %% %zu];\n"
	    "\t\tconst long k = given < 0 ? given + n : given;\n\n"
	    "\t\tif (k < 0 || k >= n)\n"
	    "\t\t\treturn op_fail(\"an index is out of range\");\n"
	    "\t\tmemcpy(y0 + i * %zu, x%u + (i / %zu * n + k) * %zu,\n"
	    "\t\t    %zu * sizeof *y0);\n\t}\n",
	    shape_count(t->dim, 0, axis) * n, t->dim[axis], at, n, inner, x, n,
	    inner, inner);
	return true;
}

bool
cpu_move(struct device_op *op, const struct cpu_op *row)
{
	(void)row;
	return device_write_move(op);
}

/* ---- along axes ---- */

bool
cpu_softmax(struct device_op *op, const struct cpu_op *row)
{
	const struct type *t = op_type_in(op, 0);
	bool flat = op->node->opset < 13;
	int64_t given = attr_int_or(op->node, "axis", flat ? 1 : -1);
	uint32_t axis, end;

	(void)row;
	if (!op_needs_float(op, 0) || !axis_of(given, t->rank, &axis, op->err))
		return false;
	op_reads(op, 0);
	end = flat ? t->rank : axis + 1;
	buf_printf(&op->body,
	    "\tconst long size[3] = {%zu, %zu, %zu};\n\n"
	    "\top_softmax(y0, x0, size, %d);\n",
	    shape_count(t->dim, 0, axis), shape_count(t->dim, axis, end),
	    shape_count(t->dim, end, t->rank), op->node->op == OP_LOGSOFTMAX);
	return true;
}

/* Which axes are reduced: what a global pool does, too. */
static bool
reduced_axes(struct device_op *op, bool *reduced)
{
	const struct type *t = op_type_in(op, 0);
	struct call c = op_call(op);
	bool pool = op->node->op == OP_GLOBALAVERAGEPOOL
	    || op->node->op == OP_GLOBALMAXPOOL;
	const int64_t *axes;
	uint32_t n;

	for (uint32_t i = 0; i < t->rank; i++)
		reduced[i] = pool && i >= 2;
	if (pool)
		return true;
	if (!op_needs_constants(op, 1))
		return false;
	axes = reduction_axes(&c, &n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t axis;

		if (!axis_of(axes[i], t->rank, &axis, op->err))
			return false;
		reduced[axis] = true;
	}
	return true;
}

/* The outer loops and the sum's beginning; the inner ones. */
static void
write_fold_loops(struct device_op *op, const bool *reduced, const char *first)
{
	const struct type *t = op_type_in(op, 0);
	struct dims keep = dims_of(t), fold = keep;

	for (uint32_t i = 0; i < t->rank; i++)
		(reduced[i] ? &keep : &fold)->dim[i] = 1;
	op_loops(op, &keep, "i");
	buf_printf(&op->body, "\t{\n\tfloat s = %s;\n\n", first);
	op_loops(op, &fold, "i");
}

bool
cpu_fold(struct device_op *op, const struct cpu_op *row)
{
	const struct type *t = op_type_in(op, 0);
	bool reduced[RANK_MAX];
	int64_t n = 1;

	if (!op_needs_float(op, 0) || !reduced_axes(op, reduced))
		return false;
	op_reads(op, 0);
	for (uint32_t i = 0; i < t->rank; i++)
		n *= reduced[i] ? t->dim[i] : 1;
	buf_printf(&op->body, "\tfloat *to = y0;\n");
	if (strchr(row->last, 'N'))
		buf_printf(&op->body, "\tconst float N = %" PRIi64 ";\n", n);
	buf_printf(&op->body, "\n");
	write_fold_loops(op, reduced, row->first);
	buf_printf(&op->body,
	    "\t{\n\t\tconst float v = x0[%s];\n\n\t\ts = %s;\n\t}\n"
	    "\t*to++ = %s;\n\t}\n",
	    op_index_of(op, t, t), row->text, row->last);
	return true;
}
