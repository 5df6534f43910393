/* Dequantised constants that no product reads as codes (a scale of a normalisation, a
 * number to multiply by, a bias of eight bits) become the numbers that they are: libraries
 * take constants there. One that is quantised again becomes the codes that come of it. */
#include "ir/normalize/tidy.h"

#include <string.h>

/* TUNING: elements; larger ones are worth their eight bits. */
#define SETTLED_MAX 4096

/* How a value is read as codes, by whomever. */
enum {
	AS_CODES = 1,
	AS_SUMS = 2, /* added to sums: in 32 bits, or else as a number */
};

struct quantised {
	struct graph *g;
	node_eval eval;
	struct arena scratch;
	value_id *name; /* [nvalues] what it is an Identity of, or itself */
	size_t budget; /* elements that may still be quantised again */
	uint8_t *read; /* [nvalues] AS_..., behind an Identity, too */
};

/* Bodies read what is around them by place. */
static uint8_t
way_read(const struct node *n, uint32_t i)
{
	if (i >= n->ninputs || n->nimplicit)
		return AS_CODES;
	switch (n->op) {
	case OP_CONV:
	case OP_CONVTRANSPOSE:
	case OP_GEMM:
		return i == 2 ? AS_SUMS : AS_CODES;
	case OP_MATMUL:
	case OP_GATHER:
		return AS_CODES;
	default:
		return 0;
	}
}

static void
note_reads(struct quantised *s)
{
	struct graph *g = s->g;

	s->name = arena_new(&s->scratch, value_id, g->nvalues);
	s->read = arena_new(&s->scratch, uint8_t, g->nvalues);
	for (value_id v = 0; v < g->nvalues; v++)
		s->name[v] = v;
	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = graph_node(g, id);

		for (uint32_t i = 0; i < n->ninputs + n->nimplicit; i++)
			if (n->input[i] != VALUE_NONE)
				s->read[s->name[n->input[i]]] |= way_read(n, i);
		if (n->op == OP_IDENTITY && n->input[0] != VALUE_NONE)
			s->name[n->output[0]] = s->name[n->input[0]];
	}
}

static const struct tensor *
constant_of(const struct graph *g, const struct node *n, uint32_t i)
{
	const struct tensor *t = i < n->ninputs && n->input[i] != VALUE_NONE
	    ? graph_value(g, n->input[i])->constant
	    : NULL;

	return t && t->kind <= TENSOR_FILL && t->count >= 1 && !t->made_up
	    ? t
	    : NULL;
}

/* Of x with the node's scale and zero; NULL where that is not known. */
static const struct tensor *
evaluated(struct quantised *s, const struct node *n, const struct tensor *x)
{
	const struct tensor *in[] = {
	    x, constant_of(s->g, n, 1), constant_of(s->g, n, 2)};
	const struct type *type = &graph_value(s->g, n->output[0])->type;
	struct tensor *t = arena_new(&s->scratch, struct tensor, 1);
	struct err ignored = {.kind = ERR_NONE};

	if (!x || x->kind > TENSOR_FILL || !in[1]
	    || (node_in(s->g, n, 2) && !in[2]) || n->ninputs > 3
	    || !s->eval(s->g, n, in, t, &s->scratch, &ignored)
	    || t->kind > TENSOR_FILL || t->dtype != type->dtype
	    || t->rank != type->rank
	    || memcmp(t->dim, type->dim, t->rank * sizeof *t->dim) != 0)
		return NULL;
	return t;
}

/* Keep what was computed as the node's output. */
static void
settle(struct quantised *s, const struct node *n, const struct tensor *t)
{
	struct value *out = graph_value(s->g, n->output[0]);
	struct tensor *kept = arena_new(s->g->arena, struct tensor, 1);

	*kept = t->kind == TENSOR_FILL
	    ? tensor_fill(t->dtype, out->type.rank, out->type.dim, t->fill)
	    : tensor_view(t->dtype, out->type.rank, out->type.dim,
	        arena_copy(s->g->arena, t->data, t->bytes));
	out->constant = kept;
}

/* Of eight or 32 bits. */
static void
settle_dequantiser(struct quantised *s, const struct node *n)
{
	const struct tensor *codes = constant_of(s->g, n, 0), *t;
	const uint8_t read = s->read[n->output[0]];

	if (!codes || codes->count > SETTLED_MAX || (read & AS_CODES)
	    || (codes->dtype == DT_INT32 ? read != 0
	                                 : !dtype_is_byte(codes->dtype)))
		return;
	t = evaluated(s, n, codes);
	if (t && t->dtype == DT_FLOAT)
		settle(s, n, t);
}

/* What v holds, or what it is dequantised of. */
static const struct tensor *
source_of(const struct quantised *s, value_id v, const struct node **from)
{
	const struct value *value = graph_value(s->g, v);

	*from = NULL;
	if (value->constant || value->producer == NODE_NONE)
		return value->constant;
	*from = graph_producer(s->g, v);
	return (*from)->op == OP_DEQUANTIZELINEAR ? constant_of(s->g, *from, 0)
	                                          : NULL;
}

/* Exporters let layers share what they hold alike; quantised without preparation, that
 * is dequantised for one of them and quantised again for all others. */
static void
settle_quantiser(struct quantised *s, const struct node *n)
{
	const struct node *from;
	const struct tensor *x = source_of(s, s->name[n->input[0]], &from);

	if (!x || x->made_up || x->count > s->budget)
		return;
	s->budget -= x->count;
	if (from)
		x = evaluated(s, from, x);
	x = evaluated(s, n, x);
	if (x)
		settle(s, n, x);
}

/* What is read of the file: a hostile one cannot have more computed of it. */
static size_t
elements_held(const struct graph *g)
{
	size_t n = 0;

	for (value_id v = 0; v < g->nvalues; v++) {
		const struct tensor *t = graph_value(g, v)->constant;

		n += t && t->kind == TENSOR_VIEW ? t->count : 0;
	}
	return n;
}

void
settle_quantised(struct graph *g, node_eval eval)
{
	struct quantised s = {.g = g, .eval = eval, .budget = elements_held(g)};

	if (!eval)
		return;
	arena_init(&s.scratch);
	note_reads(&s);
	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = graph_node(g, id);
		const bool makes = n->op == OP_QUANTIZELINEAR;

		if ((!makes && n->op != OP_DEQUANTIZELINEAR)
		    || (graph_value(g, n->output[0])->flags & VALUE_OUTPUT))
			continue;
		if (makes)
			settle_quantiser(&s, n);
		else
			settle_dequantiser(&s, n);
	}
	arena_release(&s.scratch);
}
