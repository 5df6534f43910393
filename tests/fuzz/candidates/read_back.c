/* Models written to bytes and read again, changed on the way as files are: open
 * shapes that are bound when it is read, operators of ONNX Runtime's domain in
 * place of ours, branches and loops around nodes. */
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
		g->has[FORM_FUSED] = true;
		n->op = OP_CUSTOM;
		n->op_type = f->type;
		n->domain = "com.microsoft";
		n->opset = 1;
		return;
	}
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

		told[i] = (struct bind_shape){
		    .value = v->name, .rank = t.rank, .dim = t.dim};
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
		if (one_in(g, 2))
			put_in_graph(g, id);
	}
	g->has[FORM_OPEN] = opens;
	told = opens ? open_shapes(g) : NULL;
	forget_types(g->m.graph);
	return read_again(g, told, opens ? g->m.graph->ninputs : 0);
}
