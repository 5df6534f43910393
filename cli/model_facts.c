#include "cli/model_facts.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/map.h"

static uint64_t
mul_capped(uint64_t a, uint64_t b)
{
	return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static uint64_t
add_capped(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static bool
elements(const struct value *v, uint64_t *n)
{
	*n = 1;
	if (!v || !type_is_static(&v->type))
		return false;
	for (uint32_t i = 0; i < v->type.rank; i++)
		*n = mul_capped(*n, (uint64_t)v->type.dim[i]);
	return true;
}

/* 2 x outputs x the weights each output sums over (w: [m, k...]). */
static bool
conv_flops(const struct graph *g, const struct node *n, uint64_t *flops)
{
	const struct value *w = node_in(g, n, n->op == OP_QLINEARCONV ? 3 : 1);
	uint64_t out, all;

	if (!elements(node_out(g, n, 0), &out) || !elements(w, &all)
	    || w->type.rank < 2)
		return false;
	if (w->type.dim[0])
		*flops = mul_capped(
		    2, mul_capped(out, all / (uint64_t)w->type.dim[0]));
	return true;
}

/* 2 x inputs x the weights each input is spread over (w: [c, k...]). */
static bool
transposed_flops(const struct graph *g, const struct node *n, uint64_t *flops)
{
	const struct value *w = node_in(g, n, 1);
	uint64_t in, all;

	if (!elements(node_in(g, n, 0), &in) || !elements(w, &all)
	    || w->type.rank < 2)
		return false;
	if (w->type.dim[0])
		*flops = mul_capped(
		    2, mul_capped(in, all / (uint64_t)w->type.dim[0]));
	return true;
}

/* 2 x outputs x the inner dimension. */
static bool
product_flops(const struct graph *g, const struct node *n, uint64_t *flops)
{
	const struct value *x = node_in(g, n, 0);
	uint64_t out, in;
	uint32_t inner;

	if (!elements(node_out(g, n, 0), &out) || !elements(x, &in)
	    || x->type.rank == 0)
		return false;
	inner = x->type.rank - 1;
	if (n->op == OP_GEMM && attr_int_or(n, "transA", 0))
		inner = 0;
	*flops = mul_capped(2, mul_capped(out, (uint64_t)x->type.dim[inner]));
	return true;
}

/* Windows: one operation for each element of the kernel. */
static bool
pool_flops(const struct graph *g, const struct node *n, uint64_t *flops)
{
	uint32_t rank;
	const int64_t *k = attr_ints(n, "kernel_shape", &rank);
	uint64_t out;

	if (!elements(node_out(g, n, 0), &out))
		return false;
	for (uint32_t i = 0; i < rank; i++)
		out = mul_capped(out, k[i] > 0 ? (uint64_t)k[i] : 1);
	*flops = out;
	return true;
}

/* x [t, batch, in], w [dirs, gates x hidden, in], r [.., gates x hidden,
 * hidden]: both matrices once per step. */
static bool
recurrent_flops(const struct graph *g, const struct node *n, uint64_t *flops)
{
	const struct value *x = node_in(g, n, 0);
	uint64_t in, w, r;

	if (!elements(x, &in) || !elements(node_in(g, n, 1), &w)
	    || !elements(node_in(g, n, 2), &r) || x->type.rank != 3)
		return false;
	*flops = mul_capped(2,
	    mul_capped(add_capped(w, r),
	        mul_capped(
	            (uint64_t)x->type.dim[0], (uint64_t)x->type.dim[1])));
	return true;
}

bool
node_flops(const struct graph *g, const struct node *n, uint64_t *flops)
{
	*flops = 0;
	switch (n->op) {
	case OP_CONV:
	case OP_CONVINTEGER:
	case OP_QLINEARCONV:
		return conv_flops(g, n, flops);
	case OP_CONVTRANSPOSE:
		return transposed_flops(g, n, flops);
	case OP_GEMM:
	case OP_MATMUL:
	case OP_MATMULINTEGER:
	case OP_MATMULNBITS:
	case OP_QLINEARMATMUL:
		return product_flops(g, n, flops);
	case OP_DYNAMICQUANTIZELSTM:
	case OP_LSTM:
	case OP_GRU:
	case OP_RNN:
		return recurrent_flops(g, n, flops);
	case OP_AVERAGEPOOL:
	case OP_MAXPOOL:
	case OP_LPPOOL:
		return pool_flops(g, n, flops);
	default:
		break;
	}
	switch (op_get(n->op)->fusion) {
	case FUSE_ELEMWISE:
	case FUSE_BROADCAST:
		return elements(node_out(g, n, 0), flops);
	case FUSE_REDUCTION:
		return elements(node_in(g, n, 0), flops);
	default:
		return true;
	}
}

static void
count_parameters(struct model_facts *f, const struct graph *g, struct arena *a)
{
	bool *captured = arena_new(a, bool, g->nvalues);

	for (uint32_t i = 0; i < g->ncaptures; i++)
		captured[g->capture[i].inner] = true;
	for (value_id v = 0; v < g->nvalues; v++) {
		const struct value *value = &g->value[v];
		const struct tensor *t = value->constant;

		if (t && dtype_is_float(t->dtype) && !captured[v]
		    && value->producer == NODE_NONE) {
			f->parameters += t->count;
			f->parameter_bytes += t->bytes;
		}
		f->ndynamic += !t
		    && (value->producer != NODE_NONE
		        || value->flags & VALUE_INPUT)
		    && !type_is_static(&value->type);
	}
}

static int
by_work(const void *a, const void *b)
{
	const struct op_fact *x = a, *y = b;
	int order;

	if (x->flops != y->flops)
		return x->flops > y->flops ? -1 : 1;
	order = strcmp(x->domain, y->domain);
	return order ? order : strcmp(x->type, y->type);
}

static struct op_fact *
fact_of(struct model_facts *f, struct map *seen, const struct node *n,
    struct arena *a)
{
	const char *key = arena_printf(a, "%s:%s", n->domain, n->op_type);
	uint32_t i = map_add(seen, key, strlen(key), f->nops);

	if (i == f->nops)
		f->op[f->nops++] =
		    (struct op_fact){.domain = n->domain, .type = n->op_type};
	return &f->op[i];
}

/* Of a graph and the bodies of its nodes, each counted once; recursion is as
 * deep as the importer lets sub-graphs nest. */
static void
count_graph(struct model_facts *f, struct map *seen, const struct graph *g,
    struct arena *a)
{
	const struct graph *body;

	count_parameters(f, g, a);
	f->op = arena_grow(
	    a, f->op, &f->op_cap, f->nops + g->nnodes, sizeof *f->op);
	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = &g->node[id];
		struct op_fact *op = fact_of(f, seen, n, a);
		uint64_t flops;

		op->count++;
		f->nunknown += !node_flops(g, n, &flops);
		op->flops = add_capped(op->flops, flops);
		f->flops = add_capped(f->flops, flops);
		for (uint32_t k = 0; (body = node_body(n, k)) != NULL; k++)
			count_graph(f, seen, body, a);
	}
}

void
model_facts(struct model_facts *f, const struct graph *g, struct arena *a)
{
	struct map seen;

	*f = (struct model_facts){.nops = 0};
	map_init(&seen, a);
	count_graph(f, &seen, g, a);
	if (f->nops)
		qsort(f->op, f->nops, sizeof *f->op, by_work);
}
