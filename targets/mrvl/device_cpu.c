/* Nodes of the CPU, and what lies between them and the device, as functions of
 * cpu.c. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "targets/mrvl/device_op.h"

#define ONE(op, text, a, x, b, y) \
	[OP_##op] = {cpu_one, NULL, text, NULL, {a, b}, {x, y}, false},
#define TWO(op, text, integers) \
	[OP_##op] = {cpu_two, NULL, text, NULL, {0}, {0}, integers},
#define COMPARE(op, text) \
	[OP_##op] = {cpu_compare, NULL, text, NULL, {0}, {0}, true},
#define FOLD(op, first, text, last) \
	[OP_##op] = {cpu_fold, first, text, last, {0}, {0}, false},
#define COPY(op) [OP_##op] = {.write = cpu_copy},
#define MOVE(op) [OP_##op] = {.write = cpu_move},
#define OWN(op, function) [OP_##op] = {.write = function},
static const struct cpu_op rows[NOP] = {
#include "targets/mrvl/device_ops.def"
};

/* "12_HardSwish" as part of an identifier. */
static const char *
function_name(struct device_builder *b, uint32_t number, const char *operation)
{
	char *name =
	    arena_printf(b->arena, "marq_cpu_%u_%s", number, operation);

	for (char *s = name; *s; s++)
		*s = (char)(isalnum((unsigned char)*s) ? tolower(*s) : '_');
	return name;
}

/* A name as it may stand in a comment of C. */
static const char *
comment(struct arena *a, const char *text)
{
	char *copy = arena_printf(a, "%s", text);

	for (char *s = copy; *s; s++)
		if (*s == '*' || *s == '/' || *s == '\\' || *s == '?'
		    || (unsigned char)*s < ' ')
			*s = *s == '/' ? '.' : '_';
	return copy;
}

/* The function around a body: arguments as pointers of C. */
static void
write_function(struct device_builder *b, const struct device_function *f,
    const char *about, const struct buf *body)
{
	struct buf *out = &b->device->code;
	uint32_t nargs = f->ninputs + f->noutputs;

	buf_printf(out, "/* %s */\nFUNCTION(%s)\n{\n\tTAKES(\"%s\", %u);\n",
	    comment(b->arena, about), f->name, f->name, nargs);
	for (uint32_t i = 0; i < nargs; i++) {
		bool in = i < f->ninputs;
		const struct device_type *t = in
		    ? device_type(b->device, f->input[i])
		    : &f->output[i - f->ninputs].type;
		const char *type = device_ctype(t->dtype);

		buf_printf(out, "\t%s%s *%s%u = (%s%s *)op_data(args, %u);\n",
		    in ? "const " : "", type, in ? "x" : "y",
		    in ? i : i - f->ninputs, in ? "const " : "", type, i);
	}
	buf_str(out, "\n");
	buf_add(out, body->data, body->n);
	buf_printf(out, "\treturn 0;\n}\n\n");
}

static bool
has_types_of_c(struct device_op *op)
{
	const struct device *d = op->builder->device;

	for (uint32_t i = 0; i < op->builder->ninputs; i++) {
		enum dtype t = device_type(d, op->builder->input[i])->dtype;

		if (!device_ctype(t))
			return op_refuse(op, "element type %s", dtype_name(t));
	}
	return true;
}

/* Its outputs that somebody reads. */
static bool
set_outputs(struct device_op *op, const char *name)
{
	const struct node *n = op->node;
	struct device_builder *b = op->builder;
	struct device_function *f;
	uint32_t at = b->device->nfunctions, wanted = 0;

	for (uint32_t i = 0; i < n->noutputs; i++)
		wanted += n->output[i] != VALUE_NONE;
	f = device_add_function(b, name, wanted);
	f->operation = n->op_type;
	f->nnodes = 1;
	f->node = (const node_id *)arena_copy(b->arena, &op->id, sizeof op->id);
	for (uint32_t i = 0, k = 0; i < n->noutputs; i++) {
		value_id v = n->output[i];

		if (v == VALUE_NONE)
			continue;
		if (!device_type_of(&f->output[k].type, op->graph, v, op->err))
			return false;
		if (!device_ctype(f->output[k].type.dtype))
			return op_refuse(op, "element type %s",
			    dtype_name(f->output[k].type.dtype));
		b->place[v] = (struct device_ref){DEVICE_FUNCTION, at, k++};
		b->placed[v] = true;
	}
	return true;
}

static bool
check_node(struct device_op *op)
{
	struct device_type t;

	if (!rows[op->node->op].write)
		return op_refuse(op,
		    "a package's C has no such operator (targets/mrvl/"
		    "device_ops.def lists them)");
	for (uint32_t i = 0; i < op->node->ninputs; i++)
		if (op_has(op, i)
		    && !device_type_of(
		        &t, op->graph, op->node->input[i], op->err))
			return err_in(op->err, "%s", op->node->op_type);
	return true;
}

static bool
write_node(struct device_op *op)
{
	const struct cpu_op *row = &rows[op->node->op];
	struct device_builder *b = op->builder;
	const char *name =
	    function_name(b, b->device->nfunctions, op->node->op_type);

	if (!row->write(op, row) || !has_types_of_c(op)
	    || !set_outputs(op, name))
		return false;
	write_function(b, &b->device->function[b->device->nfunctions - 1],
	    arena_printf(b->arena, "%s '%s'", op->node->op_type,
	        node_label(op->graph, op->id, b->arena)),
	    &op->body);
	return true;
}

bool
device_add_node(struct device_builder *b, node_id id, struct err *err)
{
	struct device_op op = {.builder = b,
	    .graph = b->graph,
	    .node = graph_node(b->graph, id),
	    .id = id,
	    .arena = b->arena,
	    .err = err};
	bool ok;

	buf_init(&op.body);
	ok = check_node(&op) && write_node(&op);
	buf_release(&op.body);
	return ok;
}

/* A function of ours with one input and one output of type `t`. */
static void
add_own(struct device_builder *b, struct device_ref from,
    const struct device_type *t, const char *operation, const char *body)
{
	uint32_t at = b->device->nfunctions;
	struct device_function *f;
	struct buf text;

	b->input[b->ninputs++] = from;
	f = device_add_function(b, function_name(b, at, operation), 1);
	f->operation = operation;
	f->output[0].type = *t;
	buf_init(&text);
	buf_str(&text, body);
	write_function(b, f, operation, &text);
	buf_release(&text);
}

void
device_add_copy(struct device_builder *b, struct device_ref from)
{
	struct device_type t = *device_type(b->device, from);

	add_own(b, from, &t, "copy",
	    arena_printf(
	        b->arena, "\tmemcpy(y0, x0, %zu);\n", device_bytes(&t)));
}

void
device_add_permuted(struct device_builder *b, struct device_ref from,
    value_id v, const uint32_t *perm)
{
	struct device_type t = *device_type(b->device, from);
	struct device_op op = {.builder = b, .arena = b->arena};
	int64_t step[4], to[4], read[4], n = 1, m = 1;

	for (uint32_t i = 4; i-- > 0; n *= t.dims.dim[i])
		step[i] = n;
	t.dims = dims_permuted(&t.dims, perm);
	for (uint32_t i = 4; i-- > 0; m *= t.dims.dim[i]) {
		bool one = t.dims.dim[i] == 1;

		to[i] = one ? 0 : m;
		read[i] = one ? 0 : step[perm[i]];
	}
	buf_init(&op.body);
	op_loops(&op, &t.dims, "i");
	buf_printf(&op.body, "\ty0[%s] = x0[%s];\n", op_index(&op, to, 4, 0),
	    op_index(&op, read, 4, 0));
	add_own(b, from, &t, "layout_transform", op.body.data);
	buf_release(&op.body);
	b->place[v] =
	    (struct device_ref){DEVICE_FUNCTION, b->device->nfunctions - 1, 0};
}
