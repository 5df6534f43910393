#include "costmodel/reference.h"

#include <assert.h>

#include "costmodel/seed.h"
#include "ir/base/bitset.h"

/* TUNING: reference results kept at once, bytes. */
#define REFERENCE_BYTES ((size_t)1 << 30)

void
reference_init(struct reference *r, const struct graph *g, node_eval eval)
{
	*r = (struct reference){.graph = g, .eval = eval};
	arena_init(&r->arena);
	map_init(&r->map, &r->arena);
}

void
reference_release(struct reference *r)
{
	arena_release(&r->arena);
}

static void
reference_trim(struct reference *r)
{
	const struct graph *g = r->graph;
	node_eval eval = r->eval;

	if (r->arena.bytes < REFERENCE_BYTES)
		return;
	reference_release(r);
	reference_init(r, g, eval);
}

/* The nodes of a candidate evaluated so far. */
struct evaluation {
	struct reference *reference;
	const struct candidate *candidate;
	const struct tensor **result; /* [nnodes] outputs of each */
	node_id *closure; /* [nnodes] what the current node rests on */
	struct err *err;
};

static uint32_t
position_of(const struct candidate *c, node_id n)
{
	for (uint32_t i = 0; i < c->nnodes; i++)
		if (c->node[i] == n)
			return i;
	return UINT32_MAX;
}

/* Nodes of the candidate that node i rests on, itself included, ascending. */
static uint32_t
find_closure(struct evaluation *e, uint32_t i)
{
	const struct graph *g = e->reference->graph;
	const struct candidate *c = e->candidate;
	uint32_t n = 0;
	struct arena scratch;
	struct bitset in;

	arena_init(&scratch);
	in = bitset_new(&scratch, c->nnodes);
	bitset_add(in, i);
	for (uint32_t k = i + 1; k-- > 0;) {
		const struct node *node = graph_node(g, c->node[k]);

		if (!bitset_has(in, k))
			continue;
		for (uint32_t j = 0; j < node->ninputs + node->nimplicit; j++) {
			uint32_t p = node->input[j] == VALUE_NONE
			    ? UINT32_MAX
			    : position_of(
			        c, graph_value(g, node->input[j])->producer);

			if (p != UINT32_MAX)
				bitset_add(in, p);
		}
	}
	assert(c->node[i] != NODE_NONE && bitset_has(in, i));
	for (uint32_t k = 0; k <= i; k++)
		if (bitset_has(in, k))
			e->closure[n++] = c->node[k];
	arena_release(&scratch);
	return n;
}

static struct tensor *
seeded(struct reference *r, value_id v)
{
	struct tensor *t = arena_new(&r->arena, struct tensor, 1);

	seed_tensor(t, r->graph, v, 0, &r->arena);
	return t;
}

static const struct tensor *
operand(struct evaluation *e, value_id v)
{
	const struct graph *g = e->reference->graph;
	const struct value *value;
	uint32_t p;

	if (v == VALUE_NONE)
		return NULL;
	value = graph_value(g, v);
	if (value->constant)
		return value->constant;
	p = position_of(e->candidate, value->producer);
	if (p == UINT32_MAX)
		return seeded(e->reference, v);
	for (uint32_t o = 0; o < graph_node(g, value->producer)->noutputs; o++)
		if (graph_node(g, value->producer)->output[o] == v)
			return &e->result[p][o];
	return NULL;
}

static bool
evaluate_node(struct evaluation *e, uint32_t i)
{
	struct reference *r = e->reference;
	const struct node *n = graph_node(r->graph, e->candidate->node[i]);
	uint32_t nin = n->ninputs + n->nimplicit, have;
	uint32_t nclosure = find_closure(e, i);
	size_t key_bytes = nclosure * sizeof *e->closure;
	const struct tensor **in;
	struct tensor *out;

	assert(nclosure > 0 && nclosure <= i + 1);
	assert(e->closure[nclosure - 1] == e->candidate->node[i]);
	have = map_find(&r->map, e->closure, key_bytes);
	if (have != MAP_NONE) {
		e->result[i] = r->result[have];
		return true;
	}
	in = arena_new(&r->arena, const struct tensor *, nin);
	out = arena_new(&r->arena, struct tensor, n->noutputs);
	for (uint32_t k = 0; k < nin; k++)
		in[k] = operand(e, n->input[k]);
	if (!r->eval(r->graph, n, in, out, &r->arena, e->err))
		return e->err->kind != ERR_NONE
		    ? err_in(e->err, "reference")
		    : err_set(e->err, ERR_UNSUPPORTED,
		        "the reference does not know %s", n->op_type);
	r->result = arena_grow(
	    &r->arena, r->result, &r->cap, r->nresults + 1, sizeof *r->result);
	r->result[r->nresults] = e->result[i] = out;
	map_add(&r->map, arena_copy(&r->arena, e->closure, key_bytes),
	    key_bytes, r->nresults++);
	return true;
}

const struct tensor **
reference_outputs(struct reference *r, const struct candidate *c,
    struct arena *a, struct err *err)
{
	const struct tensor **out =
	    arena_new(a, const struct tensor *, c->noutputs);
	struct evaluation e = {r, c, NULL, NULL, err};

	reference_trim(r);
	e.result = arena_new(a, const struct tensor *, c->nnodes);
	e.closure = arena_new(a, node_id, c->nnodes);
	for (uint32_t i = 0; i < c->nnodes; i++)
		if (!evaluate_node(&e, i))
			return NULL;
	for (uint32_t o = 0; o < c->noutputs; o++)
		out[o] = operand(&e, c->output[o].value);
	return out;
}
