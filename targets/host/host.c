#include "targets/host/host.h"

#include <assert.h>
#include <string.h>

#include "targets/host/eval.h"
#include "targets/host/kernels.h"

/* Sets of dtypes, as schema.def names them. */
#define B(t) DTYPE_BIT(DT_##t)
#define F8 \
	(B(FLOAT8E4M3FN) | B(FLOAT8E4M3FNUZ) | B(FLOAT8E5M2) \
	    | B(FLOAT8E5M2FNUZ) | B(FLOAT8E8M0))
#define TINY (B(UINT4) | B(INT4) | B(FLOAT4E2M1) | B(UINT2) | B(INT2))
#define REALS (B(FLOAT) | B(DOUBLE) | B(FLOAT16) | B(BFLOAT16))
#define INTS \
	(B(UINT8) | B(INT8) | B(UINT16) | B(INT16) | B(INT32) | B(INT64) \
	    | B(UINT32) | B(UINT64))
#define SHORT_INTS (INTS & ~(B(INT64) | B(UINT64))) /* exact in double */
#define BOOLS B(BOOL)
#define NUMBERS (REALS | INTS)
#define PLAIN (NUMBERS | BOOLS) /* what has an ordinary C type */
#define CODES (PLAIN | F8 | TINY) /* all but strings and complex */
#define MOVED (PLAIN | F8 | B(STRING)) /* elements that are only moved */

static const struct {
	kernel_run *run;
	dtype_set takes;
} table[NOP] = {
#define HOST(op, function, takes) [OP_##op] = {function, takes},
#include "ir/schema.def"
};

/* The dtype of a sequence or optional is that of the tensors inside. */
static enum dtype
inner_dtype(const struct type *t)
{
	while (
	    t->elem && (t->kind == TYPE_SEQUENCE || t->kind == TYPE_OPTIONAL))
		t = t->elem;
	return t->kind == TYPE_TENSOR ? t->dtype : DT_UNDEFINED;
}

/* The dtype a refusal names: of the first input, else of the first output. */
static enum dtype
main_dtype(const struct graph *g, const struct node *n)
{
	const struct value *v = n->ninputs ? node_in(g, n, 0) : NULL;

	if (!v && n->noutputs)
		v = node_out(g, n, 0);
	return v ? inner_dtype(&v->type) : DT_UNDEFINED;
}

static bool
dtype_taken(enum op op, enum dtype t, struct err *err)
{
	if (t == DT_UNDEFINED || table[op].takes & DTYPE_BIT(t))
		return true;
	return refuse(err, "the host has no kernel for %s", dtype_name(t));
}

/* Operator, version and dtype before what went wrong. */
static bool
in_node(const struct graph *g, const struct node *n, struct err *err)
{
	return err_in(err, "%s%s%s (opset %u, %s)", n->domain,
	    n->domain[0] ? "." : "", n->op_type, n->opset,
	    dtype_name(main_dtype(g, n)));
}

/* The dtype a Cast names must be one the host can store. */
static bool
cast_ok(const struct node *n, struct err *err)
{
	enum dtype to = (enum dtype)attr_int_or(n, "to", DT_FLOAT);

	if (n->op != OP_CAST
	    || ((unsigned)to < NDTYPE && CODES & DTYPE_BIT(to)))
		return true;
	return refuse(err, "a cast to %s", dtype_name(to));
}

static bool
takes(const struct graph *g, const struct node *n, struct err *err)
{
	if (n->op == OP_CUSTOM)
		return refuse(err, "the host does not know this operator");
	if (!table[n->op].run)
		return refuse(err, "the host has no kernel for it");
	for (uint32_t i = 0; i < n->ninputs; i++) {
		const struct value *v = node_in(g, n, i);

		if (v && !dtype_taken(n->op, inner_dtype(&v->type), err))
			return false;
	}
	return cast_ok(n, err);
}

bool
host_takes(const struct graph *g, const struct node *n, struct err *err)
{
	return takes(g, n, err) || in_node(g, n, err);
}

/* Operators that take sequences and optionals. */
static bool
takes_any_kind(enum op op)
{
	switch (op) {
	case OP_IDENTITY:
	case OP_IF:
	case OP_LOOP:
	case OP_SCAN:
	case OP_OPTIONAL:
	case OP_OPTIONALHASELEMENT:
	case OP_OPTIONALGETELEMENT:
	case OP_CONCATFROMSEQUENCE:
	case OP_SEQUENCEAT:
	case OP_SEQUENCECONSTRUCT:
	case OP_SEQUENCEERASE:
	case OP_SEQUENCEINSERT:
	case OP_SEQUENCELENGTH:
	case OP_SEQUENCEMAP:
		return true;
	default:
		return false;
	}
}

/* Where an operator moves strings, which inputs may be the moved ones? */
static bool
may_be_strings(enum op op, uint32_t i)
{
	if (op == OP_WHERE)
		return i > 0;
	return i == 0 || op == OP_CONCAT || op == OP_EQUAL
	    || op == OP_STRINGCONCAT || takes_any_kind(op);
}

/* Must input i be there? Beyond the schema's minimum only the parts of a
 * variadic input must. */
static bool
is_required(enum op op, uint32_t i)
{
	const struct op_info *o = op_get(op);

	return i < o->min_inputs
	    || (o->max_inputs == OP_MANY && op != OP_LOOP && op != OP_SCAN);
}

static bool
input_ok(enum op op, uint32_t i, const struct tensor *t, struct err *err)
{
	if (!t)
		return !is_required(op, i)
		    || err_set(err, ERR_INPUT, "input %u is left out", i);
	if (t->kind > TENSOR_STRINGS)
		return takes_any_kind(op)
		    || err_set(err, ERR_INPUT, "input %u is no tensor", i);
	if (t->kind == TENSOR_STRINGS && !may_be_strings(op, i))
		return err_set(err, ERR_INPUT, "input %u is of strings", i);
	return host_dims_ok(t->rank, t->dim, err)
	    && dtype_taken(op, t->dtype, err);
}

/* What values turned out to be, where inference did not know. */
static bool
inputs_ok(const struct call *c, struct err *err)
{
	const struct op_info *o = op_get(c->node->op);

	if (c->node->ninputs < o->min_inputs)
		return err_set(err, ERR_INPUT, "%u inputs of %u",
		    c->node->ninputs, o->min_inputs);
	for (uint32_t i = 0; i < c->node->ninputs; i++)
		if (!input_ok(c->node->op, i, c->in[i], err))
			return false;
	return true;
}

/* An output somebody wants that the kernel did not make (those of training,
 * say). */
static bool
outputs_ok(const struct call *c, struct err *err)
{
	for (uint32_t i = 0; i < c->node->noutputs; i++)
		if (call_wants(c, i) && c->out[i].kind == TENSOR_VIEW
		    && c->out[i].dtype == DT_UNDEFINED)
			return refuse(err, "output %u is not computed", i);
	return true;
}

/* Halves that stand for floats become those, for who did not see to that. */
static void
open_inputs(struct call *c)
{
	const uint32_t n = c->node->ninputs + c->node->nimplicit;
	const struct tensor **in;
	bool any = false;

	for (uint32_t i = 0; i < n; i++)
		any |= c->in[i] && c->in[i]->kind == TENSOR_HALVES;
	if (!any)
		return;
	in = arena_copy(c->scratch, c->in, n * sizeof *in);
	for (uint32_t i = 0; i < n; i++)
		if (in[i] && in[i]->kind == TENSOR_HALVES) {
			struct tensor *t =
			    arena_new(c->scratch, struct tensor, 1);

			*t = tensor_opened(in[i], c->scratch);
			in[i] = t;
		}
	c->in = in;
}

bool
host_call(struct call *c, struct err *err)
{
	assert(err->kind == ERR_NONE);
	open_inputs(c);
	memset(c->out, 0, c->node->noutputs * sizeof *c->out);
	if (takes(c->graph, c->node, err) && inputs_ok(c, err)
	    && table[c->node->op].run(c, err) && outputs_ok(c, err))
		return true;
	return in_node(c->graph, c->node, err);
}

bool
host_eval(const struct graph *g, const struct node *n,
    const struct tensor *const *in, struct tensor *out, struct arena *a,
    struct err *err)
{
	struct arena scratch;
	struct call c = {.graph = g,
	    .node = n,
	    .in = in,
	    .out = out,
	    .arena = a,
	    .scratch = &scratch};
	bool done;

	arena_init(&scratch);
	done = host_call(&c, err);
	arena_release(&scratch);
	return done;
}
