/* Models written to bytes and read again, changed on the way as files are: open
 * shapes that are bound when it is read, operators of ONNX Runtime's domain in
 * place of ours, a branch around a node. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/onnx_read.h"
#include "ir/onnx_write.h"
#include "tests/fuzz/candidates/generate.h"

/* ---- com.microsoft ---- */

static const struct fused {
	enum op op;
	const char *type, *attr;
	const char *text; /* the attribute's value; NULL: a half */
} fused[] = {
    {OP_CONV, "FusedConv", "activation", "Relu"},
    {OP_CONV, "FusedConv", "activation", "Tanh"},
    {OP_CONV, "FusedConv", "activation", "Sigmoid"},
    {OP_MATMUL, "FusedMatMul", "alpha", NULL},
    {OP_GEMM, "FusedGemm", "activation", "Relu"},
    {OP_GEMM, "FusedGemm", "activation", "LeakyRelu"},
    {OP_SIGMOID, "QuickGelu", "alpha", NULL},
    {OP_RELU, "FastGelu", NULL, NULL},
    {OP_TANH, "Gelu", NULL, NULL},
};

static void
add_fused_attr(struct generator *g, struct node *n, const struct fused *f)
{
	struct attr *attr = arena_new(g->m.arena, struct attr, n->nattrs + 1);
	static const float half = .5f;

	if (!f->attr)
		return;
	if (n->nattrs)
		memcpy(attr, n->attr, n->nattrs * sizeof *attr);
	attr[n->nattrs] = (struct attr){.name = f->attr, .n = 1};
	if (f->text) {
		struct string_view *s =
		    arena_new(g->m.arena, struct string_view, 1);

		*s = (struct string_view){f->text, strlen(f->text)};
		attr[n->nattrs].kind = ATTR_STRING;
		attr[n->nattrs].strings = s;
	} else {
		attr[n->nattrs].kind = ATTR_FLOAT;
		attr[n->nattrs].floats = &half;
	}
	n->attr = attr;
	n->nattrs++;
}

static void
fuse(struct generator *g, struct node *n)
{
	const uint32_t count = sizeof fused / sizeof *fused;
	const uint32_t first = rng_below(&g->r, count);

	for (uint32_t i = 0; i < count; i++) {
		const struct fused *f = &fused[(first + i) % count];

		if (f->op != n->op)
			continue;
		add_fused_attr(g, n, f);
		n->op = OP_CUSTOM;
		n->op_type = f->type;
		n->domain = "com.microsoft";
		n->opset = 1;
		return;
	}
}

/* ---- control flow ---- */

/* A graph of one node from the outer value of that name to "y". */
static struct graph *
branch_of(struct generator *g, const struct node *like, enum op op,
    const char *name, const struct type *t)
{
	struct graph *b = graph_new(g->m.arena, "branch");
	value_id *ends = arena_new(g->m.arena, value_id, 2);
	struct node n = *like;

	ends[0] = graph_add_value(b, name, t);
	ends[1] = graph_add_value(b, "y", t);
	n.op = op;
	n.op_type = op_get(op)->type;
	n.input = ends;
	n.output = ends + 1;
	if (op != like->op)
		n.nattrs = 0;
	graph_add_node(b, &n);
	b->output = ends + 1;
	b->noutputs = 1;
	return b;
}

static bool
same_dims(const struct type *x, const struct type *y)
{
	return x->rank == y->rank
	    && (x->rank == 0
	        || memcmp(x->dim, y->dim, x->rank * sizeof *x->dim) == 0);
}

/* y = f(x) becomes y = If(c > 0) { f(x) } else { Neg(x) }. */
static void
branch(struct generator *g, node_id id)
{
	struct graph *m = g->m.graph;
	const struct node *old = graph_node(m, id);
	const struct value *x = node_in(m, old, 0);
	const struct type bit = {.kind = TYPE_TENSOR, .dtype = DT_BOOL};
	struct attr *attr = arena_new(g->m.arena, struct attr, 2);
	struct graph **of = arena_new(g->m.arena, struct graph *, 2);
	value_id c, *in = arena_new(g->m.arena, value_id, 1);
	struct node *n;

	if (old->ninputs != 1 || old->noutputs != 1 || x->constant
	    || old->op == OP_CUSTOM || x->type.dtype != DT_FLOAT
	    || g->m.opset < 11
	    || !same_dims(&x->type, &node_out(m, old, 0)->type))
		return;
	of[0] = branch_of(g, old, old->op, x->name, &x->type);
	of[1] = branch_of(g, old, OP_NEG, x->name, &x->type);
	for (uint32_t i = 0; i < 2; i++)
		attr[i] =
		    (struct attr){.name = i ? "else_branch" : "then_branch",
		        .kind = ATTR_GRAPH,
		        .n = 1,
		        .graphs = &of[i]};
	c = make_node(&g->m, OP_GREATER,
	    (const value_id[]){make_input(&g->m, (const int64_t[]){0}),
	        make_scalar(&g->m, 0), VALUE_LAST},
	    NULL, 0);
	graph_value(m, c)->type = bit;
	in[0] = c;
	n = graph_node(m, id);
	n->op = OP_IF;
	n->op_type = "If";
	n->input = in;
	n->attr = attr;
	n->nattrs = 2;
}

/* ---- open shapes ---- */

/* Dimensions of inputs get names, some of them one name where they are equal; what
 * they are is told when the model is read. */
static const struct bind_shape *
open_shapes(struct generator *g)
{
	struct graph *m = g->m.graph;
	struct bind_shape *told =
	    arena_new(g->m.arena, struct bind_shape, m->ninputs);

	for (uint32_t i = 0; i < m->ninputs; i++) {
		struct value *v = graph_value(m, m->input[i]);
		const struct type t = v->type;
		int64_t *dim = arena_new(g->m.arena, int64_t, t.rank);

		told[i] = (struct bind_shape){v->name, t.rank, t.dim};
		for (uint32_t k = 0; k < t.rank; k++)
			dim[k] = one_in(g, 2)
			    ? t.dim[k]
			    : DIM_SYMBOL((int64_t)graph_symbol(m,
			        arena_printf(
			            g->m.arena, "n%d", (int)t.dim[k])));
		v->type.dim = dim;
	}
	return told;
}

/* Shapes are for the reader to infer. */
static void
forget_types(struct graph *m)
{
	for (value_id v = 0; v < m->nvalues; v++) {
		struct value *value = graph_value(m, v);

		if (value->producer != NODE_NONE)
			value->type.rank = RANK_UNKNOWN;
	}
}

/* ---- both ways ---- */

static bool
read_again(struct generator *g, const struct bind_shape *told, uint32_t ntold)
{
	const struct onnx_opset opset[] = {
	    {"", g->m.opset}, {"com.microsoft", 1}};
	const struct onnx_out out = {
	    .graph = g->m.graph, .ir_version = 8, .nopsets = 2, .opset = opset};
	const struct onnx_options o = {.shape = told, .nshapes = ntold};
	struct err err = {.kind = ERR_NONE};
	struct model back;
	char *bytes = NULL;
	const void *kept;
	size_t n = 0;
	FILE *f = open_memstream(&bytes, &n);
	bool ok = f && onnx_write(f, &out, &err);

	ok = f && fclose(f) == 0 && ok;
	kept = ok ? arena_copy(g->m.arena, bytes, n) : NULL;
	free(bytes);
	if (!ok || !onnx_read_bytes(&back, kept, n, &o, g->m.arena, &err)) {
		printf("not read again: %s\n", err.text);
		return false;
	}
	g->m.graph = back.graph;
	return true;
}

bool
read_back(struct generator *g)
{
	const uint32_t nnodes = g->m.graph->nnodes;
	const bool opens = one_in(g, 2);
	const struct bind_shape *told;

	for (node_id id = 0; id < nnodes; id++) {
		if (one_in(g, 2))
			fuse(g, graph_node(g->m.graph, id));
		else if (one_in(g, 4))
			branch(g, id);
	}
	told = opens ? open_shapes(g) : NULL;
	forget_types(g->m.graph);
	return read_again(g, told, opens ? g->m.graph->ninputs : 0);
}
