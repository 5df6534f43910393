/* Operators that are more than loops over elements: windows, products, norms. */
#include <inttypes.h>
#include <string.h>

#include "targets/host/slide.h"
#include "targets/host/walk.h"
#include "targets/mrvl/device_op.h"

/* ---- windows ---- */

/* Three numbers, those that are missing of value 1 (or 0) in front. */
static void
write_three(
    struct device_op *op, const int64_t *list, uint32_t n, int64_t missing)
{
	buf_printf(&op->body, "{");
	for (uint32_t i = 0; i < 3; i++)
		buf_printf(&op->body, "%s%" PRIi64, i ? ", " : "",
		    i + n < 3 ? missing : list[i + n - 3]);
	buf_printf(&op->body, "}");
}

/* An initialiser of struct op_window. */
static bool
write_window(struct device_op *op, const int64_t *kernel)
{
	const struct type *t = op_type_in(op, 0);
	struct slide s;
	struct err err = {.kind = ERR_NONE};

	if (t->rank < 3 || t->rank > 5)
		return op_refuse(op, "rank = %u, 3 to 5 is needed", t->rank);
	if (!slide_read(&s, op->node, t->rank - 2, t->dim + 2, kernel, &err))
		return op_refuse(op, "%s", err.text);
	buf_printf(&op->body, "{");
	for (uint32_t i = 0; i < 7; i++) {
		const int64_t *const list[] = {s.in, s.out, s.kernel, s.stride,
		    s.dilation, s.before, s.after};

		if (i)
			buf_printf(&op->body, ", ");
		write_three(op, list[i], s.rank, i < 5);
	}
	buf_printf(&op->body, "}");
	return true;
}

bool
cpu_conv(struct device_op *op, const struct cpu_op *row)
{
	const struct type *x = op_type_in(op, 0), *w = op_type_in(op, 1);
	bool has_bias = op_has(op, 2);
	const char *bias = "NULL";
	uint32_t from, kernel;

	(void)row;
	if (!op_needs_float(op, 0) || !op_needs_float(op, 1)
	    || (has_bias && !op_needs_float(op, 2)))
		return false;
	from = op_reads(op, 0);
	kernel = op_reads(op, 1);
	if (has_bias)
		bias = arena_printf(op->arena, "x%u", op_reads(op, 2));
	buf_printf(&op->body, "\tstatic const struct op_conv c = {\n\t    ");
	if (!write_window(op, w->dim + 2))
		return false;
	buf_printf(&op->body,
	    ",\n\t    %" PRIi64 ", %" PRIi64 ", %" PRIi64 ", %" PRIi64
	    "};\n\n\top_conv(y0, x%u, x%u, %s, &c);\n",
	    x->dim[0], x->dim[1], w->dim[0], attr_int_or(op->node, "group", 1),
	    from, kernel, bias);
	return true;
}

bool
cpu_pool(struct device_op *op, const struct cpu_op *row)
{
	const struct type *x = op_type_in(op, 0);
	bool pads = attr_int_or(op->node, "count_include_pad", 0) != 0;

	(void)row;
	if (!op_needs_float(op, 0))
		return false;
	if (op->node->noutputs > 1 && op->node->output[1] != VALUE_NONE)
		return op_refuse(op, "its second output is read");
	op_reads(op, 0);
	buf_printf(&op->body, "\tstatic const struct op_window w = ");
	if (!write_window(op, NULL))
		return false;
	buf_printf(&op->body, ";\n\n\top_pool(y0, x0, %" PRIi64 ", &w, %s);\n",
	    x->dim[0] * x->dim[1],
	    op->node->op == OP_MAXPOOL ? "OP_POOL_MAX"
	        : pads                 ? "OP_POOL_MEAN_WITH_PADS"
	                               : "OP_POOL_MEAN");
	return true;
}

/* ---- products ---- */

/* Sizes and steps of op_matmul; `a` and `b` are steps of rows and columns. */
static void
write_product(struct device_op *op, const int64_t mnk[3], const int64_t a[2],
    const int64_t b[2], float scale)
{
	buf_printf(&op->body,
	    "\tstatic const struct op_product p = {%" PRIi64 ", %" PRIi64
	    ", %" PRIi64 ", {%" PRIi64 ", %" PRIi64 "}, {%" PRIi64 ", %" PRIi64
	    "}, %s};\n\n",
	    mnk[0], mnk[1], mnk[2], a[0], a[1], b[0], b[1],
	    op_float(op, (double)scale));
}

/* The dimensions before the last two. */
static struct type
batch_of(const struct type *t)
{
	struct type batch = *t;

	batch.rank -= 2;
	return batch;
}

/* " + <place> * <elements of a matrix>" of a batch. */
static const char *
matrix_at(struct device_op *op, const struct type *t, const struct type *to)
{
	struct type batch = batch_of(t);

	return arena_printf(op->arena, "(%s) * %" PRIi64,
	    op_index_of(op, &batch, to),
	    t->dim[t->rank - 2] * t->dim[t->rank - 1]);
}

bool
cpu_matmul(struct device_op *op, const struct cpu_op *row)
{
	const struct type *a = op_type_in(op, 0), *b = op_type_in(op, 1);
	const struct type *y = op_type_out(op, 0);
	struct type batch;
	struct dims d;
	int64_t n, k;
	uint32_t left = op_reads(op, 0), right = op_reads(op, 1);

	(void)row;
	if (!op_needs_float(op, 0) || !op_needs_float(op, 1))
		return false;
	if (a->rank < 2 || b->rank < 2)
		return op_refuse(op, "ranks %u and %u, at least 2 is needed",
		    a->rank, b->rank);
	n = b->dim[b->rank - 1];
	k = a->dim[a->rank - 1];
	write_product(op, (int64_t[]){a->dim[a->rank - 2], n, k},
	    (int64_t[]){k, 1}, (int64_t[]){n, 1}, 1);
	batch = batch_of(y);
	d = dims_of(&batch);
	op_loops(op, &d, "i");
	buf_printf(&op->body, "\top_matmul(y0 + %s, x%u + %s, x%u + %s, &p);\n",
	    matrix_at(op, y, &batch), left, matrix_at(op, a, &batch), right,
	    matrix_at(op, b, &batch));
	return true;
}

/* y += beta * c, broadcast. */
static bool
write_addend(struct device_op *op)
{
	const struct type *y = op_type_out(op, 0);
	struct dims d = dims_of(y);

	if (!op_has(op, 2))
		return true;
	if (!op_needs_float(op, 2))
		return false;
	op_loops(op, &d, "i");
	buf_printf(&op->body, "\ty0[%s] += %s * x%u[%s];\n",
	    op_index_of(op, y, y),
	    op_float(op, (double)attr_float_or(op->node, "beta", 1)),
	    op_reads(op, 2), op_index_of(op, op_type_in(op, 2), y));
	return true;
}

bool
cpu_gemm(struct device_op *op, const struct cpu_op *row)
{
	const struct type *a = op_type_in(op, 0), *b = op_type_in(op, 1);
	bool ta = attr_int_or(op->node, "transA", 0) != 0;
	bool tb = attr_int_or(op->node, "transB", 0) != 0;
	uint32_t left = op_reads(op, 0), right = op_reads(op, 1);
	int64_t m, n, k;

	(void)row;
	if (!op_needs_float(op, 0) || !op_needs_float(op, 1))
		return false;
	m = a->dim[ta];
	k = a->dim[!ta];
	n = b->dim[!tb];
	write_product(op, (int64_t[]){m, n, k},
	    (int64_t[]){ta ? 1 : k, ta ? m : 1},
	    (int64_t[]){tb ? 1 : n, tb ? k : 1},
	    attr_float_or(op->node, "alpha", 1));
	buf_printf(&op->body, "\top_matmul(y0, x%u, x%u, &p);\n", left, right);
	return write_addend(op);
}

/* ---- norms ---- */

static bool
floats(struct device_op *op)
{
	for (uint32_t i = 0; i < op->node->ninputs; i++)
		if (op_has(op, i) && !op_needs_float(op, i))
			return false;
	for (uint32_t i = 1; i < op->node->noutputs; i++)
		if (op->node->output[i] != VALUE_NONE)
			return op_refuse(op, "output %u is read", i);
	return true;
}

bool
cpu_batch_norm(struct device_op *op, const struct cpu_op *row)
{
	const struct type *t = op_type_in(op, 0);
	int64_t channels = t->rank > 1 ? t->dim[1] : 1;
	uint32_t x[5];

	(void)row;
	if (!floats(op))
		return false;
	if (attr_int_or(op->node, "training_mode", 0) != 0
	    || (op->node->opset < 9
	        && attr_int_or(op->node, "spatial", 1) == 0))
		return op_refuse(op, "training, or not spatial");
	for (uint32_t i = 0; i < 5; i++)
		x[i] = op_reads(op, i);
	buf_printf(&op->body,
	    "\tfor (long i = 0; i < %" PRIi64
	    "; i++) {\n\t\tconst long c = i / %zu %% %" PRIi64
	    ";\n\n\t\ty0[i] = (x%u[i] - x%u[c])\n\t\t        / sqrtf(x%u[c] + "
	    "%s) * x%u[c]\n\t\t    + x%u[c];\n\t}\n",
	    op_count(t), shape_count(t->dim, 2, t->rank), channels, x[0], x[3],
	    x[4],
	    op_float(op, (double)attr_float_or(op->node, "epsilon", 1e-5f)),
	    x[1], x[2]);
	return true;
}

/* `shape`: lines, elements of one, elements of one scale, scales. */
static void
write_normalise(struct device_op *op, const size_t shape[4], float epsilon)
{
	const char *side[2] = {"NULL", "NULL"};
	uint32_t x = op_reads(op, 0);

	for (uint32_t i = 0; i < 2; i++)
		if (op_has(op, 1 + i))
			side[i] =
			    arena_printf(op->arena, "x%u", op_reads(op, 1 + i));
	buf_printf(&op->body,
	    "\tstatic const struct op_norm p = {%zu, %zu, %zu, %zu, %s};\n\n"
	    "\top_normalise(y0, x%u, %s, %s, &p);\n",
	    shape[0], shape[1], shape[2], shape[3],
	    op_float(op, (double)epsilon), x, side[0], side[1]);
}

bool
cpu_instance_norm(struct device_op *op, const struct cpu_op *row)
{
	const struct type *t = op_type_in(op, 0);
	size_t plane = shape_count(t->dim, 2, t->rank);

	(void)row;
	if (!floats(op))
		return false;
	write_normalise(op,
	    (size_t[]){(size_t)(t->dim[0] * t->dim[1]), plane, plane,
	        (size_t)t->dim[1]},
	    attr_float_or(op->node, "epsilon", 1e-5f));
	return true;
}

bool
cpu_layer_norm(struct device_op *op, const struct cpu_op *row)
{
	const struct type *t = op_type_in(op, 0);
	uint32_t axis;
	size_t n;

	(void)row;
	if (!floats(op)
	    || !axis_of(
	        attr_int_or(op->node, "axis", -1), t->rank, &axis, op->err))
		return false;
	n = shape_count(t->dim, axis, t->rank);
	for (uint32_t i = 1; i < 3; i++)
		if (op_has(op, i) && (size_t)op_count(op_type_in(op, i)) != n)
			return op_refuse(op,
			    "input %u has %lld elements, %zu are needed", i,
			    (long long)op_count(op_type_in(op, i)), n);
	write_normalise(op, (size_t[]){shape_count(t->dim, 0, axis), n, 1, n},
	    attr_float_or(op->node, "epsilon", 1e-5f));
	return true;
}

bool
cpu_lrn(struct device_op *op, const struct cpu_op *row)
{
	const struct type *t = op_type_in(op, 0);
	const struct node *n = op->node;

	(void)row;
	if (!floats(op))
		return false;
	op_reads(op, 0);
	buf_printf(&op->body,
	    "\tconst long shape[3] = {%" PRIi64 ", %" PRIi64 ", %zu};\n"
	    "\tconst float p[3] = {%s, %s, %s};\n\n"
	    "\top_lrn(y0, x0, shape, %" PRIi64 ", p);\n",
	    t->dim[0], t->dim[1], shape_count(t->dim, 2, t->rank),
	    op_float(op, (double)attr_float_or(n, "alpha", 1e-4f)),
	    op_float(op, (double)attr_float_or(n, "beta", 0.75f)),
	    op_float(op, (double)attr_float_or(n, "bias", 1)),
	    attr_int_or(n, "size", 1));
	return true;
}

bool
cpu_resize(struct device_op *op, const struct cpu_op *row)
{
	struct string_view mode = attr_str_or(op->node, "mode", "nearest");

	if (!view_is(mode, "nearest"))
		return op_refuse(op, "mode = %.*s, nearest is needed",
		    (int)(mode.n < 32 ? mode.n : 32), mode.s);
	return cpu_move(op, row);
}
