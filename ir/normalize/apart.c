/* A dequantiser for each reader: what lies between quantisers is read as one
 * operator over bytes (targets/native, oneDNN), which a dequantiser shared with
 * others would end. So would weights that several layers have in common (heads of
 * detectors at several scales, tied embeddings). */
#include <assert.h>
#include <string.h>

#include "ir/base/map.h"
#include "ir/normalize/tidy.h"

struct parting {
	struct graph *g;
	uint32_t nvalues; /* before any was made */
	uint32_t *readers; /* [nvalues] nodes that read a value */
	bool *whole; /* [nvalues] the caller or a body reads it as well */
	uint32_t *given; /* [nvalues] of those have theirs */
	struct node *node; /* the nodes to be */
	uint32_t n;
	struct map names; /* of values, once any is made */
};

static bool
reads_before(const struct node *n, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (n->input[k] == n->input[i])
			return true;
	return false;
}

static void
count_readers(struct parting *p)
{
	const struct graph *g = p->g;

	for (value_id v = 0; v < g->nvalues; v++)
		p->whole[v] = (g->value[v].flags & VALUE_OUTPUT) != 0;
	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = &g->node[id];

		for (uint32_t i = 0; i < n->ninputs + n->nimplicit; i++) {
			const value_id v = n->input[i];

			if (v == VALUE_NONE || reads_before(n, i))
				continue;
			if (i < n->ninputs)
				p->readers[v]++;
			else
				p->whole[v] = true;
		}
	}
}

static bool
is_shared(const struct parting *p, const struct node *n)
{
	return n->op == OP_DEQUANTIZELINEAR && n->noutputs == 1
	    && n->output[0] != VALUE_NONE
	    && p->readers[n->output[0]] + p->whole[n->output[0]] > 1;
}

/* "name/k", or behind that whatever no other value is called. */
static const char *
name_of_copy(struct parting *p, const char *name, uint32_t k)
{
	const char *own = arena_printf(p->g->arena, "%s/%u", name, (unsigned)k);

	while (map_find(&p->names, own, strlen(own)) != MAP_NONE)
		own = arena_printf(p->g->arena, "%s_", own);
	map_add(&p->names, own, strlen(own), 0);
	return own;
}

/* Another dequantiser of the same bytes, the k-th; its result. */
static value_id
copy_of(struct parting *p, const struct node *n, uint32_t k)
{
	struct arena *a = p->g->arena;
	const struct value *y = &p->g->value[n->output[0]];
	const struct type type = y->type;
	const char *name = name_of_copy(p, y->name, k);
	struct node *copy = &p->node[p->n++];
	const value_id v = graph_add_value(p->g, name, &type);

	*copy = *n;
	copy->input = arena_copy(
	    a, n->input, (n->ninputs + n->nimplicit) * sizeof *n->input);
	copy->output = (value_id *)arena_copy(a, &v, sizeof v);
	return v;
}

/* Each reader but the first reads a copy, in all its places; where the caller or a
 * body reads the result, too, that one is theirs. Made values are nobody else's. */
static void
part_inputs(struct parting *p, struct node *n, value_id *const *copy)
{
	for (uint32_t i = 0; i < n->ninputs; i++) {
		const value_id v = n->input[i];
		value_id own;

		if (v == VALUE_NONE || v >= p->nvalues || !copy[v]
		    || reads_before(n, i))
			continue;
		assert(p->given[v] < p->readers[v]);
		own = copy[v][p->given[v]++];
		for (uint32_t k = i; k < n->ninputs; k++)
			if (n->input[k] == v)
				n->input[k] = own;
	}
}

static value_id *
copies_of(struct parting *p, const struct node *n)
{
	const value_id v = n->output[0];
	const uint32_t readers = p->readers[v];
	value_id *own = arena_new(p->g->arena, value_id, readers);

	for (uint32_t k = 0; k < readers; k++)
		own[k] = k == 0 && !p->whole[v] ? v : copy_of(p, n, k);
	return own;
}

void
settle_producers(struct graph *g)
{
	for (node_id id = 0; id < g->nnodes; id++)
		for (uint32_t i = 0; i < g->node[id].noutputs; i++)
			if (g->node[id].output[i] != VALUE_NONE)
				g->value[g->node[id].output[i]].producer = id;
}

static void
place_nodes(struct parting *p, uint32_t most, struct arena *scratch)
{
	struct graph *g = p->g;
	value_id **copy = arena_new(scratch, value_id *, g->nvalues);

	p->node = arena_new(g->arena, struct node, most);
	for (node_id id = 0; id < g->nnodes; id++) {
		struct node *n = &p->node[p->n++];

		*n = g->node[id];
		part_inputs(p, n, copy);
		if (is_shared(p, n))
			copy[n->output[0]] = copies_of(p, n);
	}
	g->node = p->node;
	g->nnodes = p->n;
	g->node_cap = most;
	settle_producers(g);
}

void
part_dequantisers(struct graph *g)
{
	struct arena scratch;
	struct parting p = {.g = g, .nvalues = g->nvalues};
	uint32_t most = g->nnodes;

	arena_init(&scratch);
	p.readers = arena_new(&scratch, uint32_t, g->nvalues);
	p.whole = arena_new(&scratch, bool, g->nvalues);
	p.given = arena_new(&scratch, uint32_t, g->nvalues);
	count_readers(&p);
	for (node_id id = 0; id < g->nnodes; id++)
		if (is_shared(&p, &g->node[id]))
			most += p.readers[g->node[id].output[0]];
	if (most > g->nnodes) {
		map_init(&p.names, &scratch);
		for (value_id v = 0; v < g->nvalues; v++)
			map_add(&p.names, g->value[v].name,
			    strlen(g->value[v].name), 0);
		place_nodes(&p, most, &scratch);
	}
	arena_release(&scratch);
}
