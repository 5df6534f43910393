#include "ir/graph.h"

#include <assert.h>
#include <string.h>

struct onnx_node *
origin_node(const struct onnx_nodes *table, const struct origin *o)
{
	return o->part ? &table->part[o->part - 1].node : &table->node[o->onnx];
}

struct graph *
graph_new(struct arena *a, const char *name)
{
	struct graph *g = arena_new(a, struct graph, 1);

	g->name = name;
	g->arena = a;
	g->origin_table = arena_new(a, struct onnx_nodes, 1);
	return g;
}

value_id
graph_add_value(struct graph *g, const char *name, const struct type *type)
{
	g->value = arena_grow(g->arena, g->value, &g->value_cap, g->nvalues + 1,
	    sizeof *g->value);
	g->value[g->nvalues] = (struct value){
	    .name = name,
	    .type = type ? *type : (struct type){.kind = TYPE_UNKNOWN},
	    .producer = NODE_NONE,
	};
	return g->nvalues++;
}

value_id
graph_add_constant(struct graph *g, const char *name, const struct tensor *t)
{
	struct type type = tensor_type(t);
	value_id v = graph_add_value(g, name, &type);

	g->value[v].constant = t;
	return v;
}

node_id
graph_add_node(struct graph *g, const struct node *n)
{
	node_id id = g->nnodes;

	g->node = arena_grow(
	    g->arena, g->node, &g->node_cap, id + 1, sizeof *g->node);
	g->node[id] = *n;
	g->nnodes++;
	for (uint32_t i = 0; i < n->noutputs; i++)
		if (n->output[i] != VALUE_NONE)
			graph_value(g, n->output[i])->producer = id;
	return id;
}

uint32_t
graph_symbol(struct graph *g, const char *name)
{
	for (uint32_t i = 0; i < g->nsymbols; i++)
		if (strcmp(g->symbol[i], name) == 0)
			return i;
	g->symbol = arena_grow(g->arena, g->symbol, &g->symbol_cap,
	    g->nsymbols + 1, sizeof *g->symbol);
	g->symbol[g->nsymbols] = name;
	return g->nsymbols++;
}

struct node *
graph_node(const struct graph *g, node_id id)
{
	assert(id < g->nnodes);
	return &g->node[id];
}

struct value *
graph_value(const struct graph *g, value_id id)
{
	assert(id < g->nvalues);
	return &g->value[id];
}

const char *
node_label(const struct graph *g, node_id id, struct arena *a)
{
	const struct node *n = graph_node(g, id);
	uint32_t number = id;

	if (n->name && n->name[0])
		return n->name;
	if (n->norigins)
		number = g->origin_table->node[n->origin[0].onnx].index;
	return arena_printf(a, "%s_%u", n->op_type, number);
}

/* Walks the distinct values each node reads. last[v] is 1 + the last node seen
 * to read v, so a value read twice by one node counts once, in linear time. */
static bool
is_first_use(const struct node *n, node_id id, uint32_t slot, uint32_t *last)
{
	value_id v = n->input[slot];

	if (v == VALUE_NONE || last[v] == id + 1)
		return false;
	last[v] = id + 1;
	return true;
}

struct uses
graph_uses(const struct graph *g, struct arena *a)
{
	uint32_t *start = arena_new(a, uint32_t, (size_t)g->nvalues + 2);
	uint32_t *last = arena_new(a, uint32_t, g->nvalues);
	node_id *user;

	/* start[v + 2] counts uses of v; summed up, start[v + 1] is where the
	 * users of v go, and filling moves it on to their end. */
	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = &g->node[id];

		for (uint32_t i = 0; i < n->ninputs + n->nimplicit; i++)
			if (is_first_use(n, id, i, last))
				start[n->input[i] + 2]++;
	}
	for (uint32_t v = 0; v < g->nvalues; v++)
		start[v + 2] += start[v + 1];
	user = arena_new(a, node_id, start[g->nvalues + 1]);
	memset(last, 0, g->nvalues * sizeof *last);
	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = &g->node[id];

		for (uint32_t i = 0; i < n->ninputs + n->nimplicit; i++)
			if (is_first_use(n, id, i, last))
				user[start[n->input[i] + 1]++] = id;
	}
	return (struct uses){start, user};
}

const struct attr *
node_attr(const struct node *n, const char *name)
{
	for (uint32_t i = 0; i < n->nattrs; i++)
		if (strcmp(n->attr[i].name, name) == 0)
			return &n->attr[i];
	return NULL;
}

int64_t
attr_int_or(const struct node *n, const char *name, int64_t otherwise)
{
	const struct attr *a = node_attr(n, name);

	return a && a->kind == ATTR_INT ? a->ints[0] : otherwise;
}

float
attr_float_or(const struct node *n, const char *name, float otherwise)
{
	const struct attr *a = node_attr(n, name);

	return a && a->kind == ATTR_FLOAT ? a->floats[0] : otherwise;
}

struct string_view
attr_str_or(const struct node *n, const char *name, const char *otherwise)
{
	const struct attr *a = node_attr(n, name);

	if (a && a->kind == ATTR_STRING)
		return a->strings[0];
	return (struct string_view){otherwise, strlen(otherwise)};
}

bool
attr_is(const struct node *n, const char *name, const char *otherwise,
    const char *want)
{
	return view_is(attr_str_or(n, name, otherwise), want);
}

const int64_t *
attr_ints(const struct node *n, const char *name, uint32_t *count)
{
	const struct attr *a = node_attr(n, name);

	*count = 0;
	if (!a || a->kind != ATTR_INTS)
		return NULL;
	*count = a->n;
	return a->ints;
}

const struct node *
graph_producer(const struct graph *g, value_id v)
{
	return graph_node(g, graph_value(g, v)->producer);
}

value_id
node_input(const struct node *n, uint32_t i)
{
	return i < n->ninputs ? n->input[i] : VALUE_NONE;
}

value_id
node_output(const struct node *n, uint32_t i)
{
	return i < n->noutputs ? n->output[i] : VALUE_NONE;
}

static const struct value *
value_or_null(const struct graph *g, value_id v)
{
	return v == VALUE_NONE ? NULL : graph_value(g, v);
}

const struct value *
node_in(const struct graph *g, const struct node *n, uint32_t i)
{
	return value_or_null(g, node_input(n, i));
}

const struct value *
node_out(const struct graph *g, const struct node *n, uint32_t i)
{
	return value_or_null(g, node_output(n, i));
}

/* A binary min-heap of node ids: which ready node has the smallest id. */
struct heap {
	node_id *item;
	uint32_t n;
};

static void
heap_push(struct heap *h, node_id id)
{
	uint32_t i = h->n++;

	for (; i > 0 && h->item[(i - 1) / 2] > id; i = (i - 1) / 2)
		h->item[i] = h->item[(i - 1) / 2];
	h->item[i] = id;
}

static node_id
heap_pop(struct heap *h)
{
	node_id top = h->item[0], last = h->item[--h->n];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < h->n) {
		if (child + 1 < h->n && h->item[child + 1] < h->item[child])
			child++;
		if (last <= h->item[child])
			break;
		h->item[i] = h->item[child];
		i = child;
	}
	h->item[i] = last;
	return top;
}

/* Of each node: how many of its distinct inputs are made by nodes. */
static uint32_t *
count_waits(const struct graph *g, struct arena *a)
{
	uint32_t *waits = arena_new(a, uint32_t, g->nnodes);
	uint32_t *last = arena_new(a, uint32_t, g->nvalues);

	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = &g->node[id];

		for (uint32_t i = 0; i < n->ninputs + n->nimplicit; i++)
			waits[id] += is_first_use(n, id, i, last)
			    && g->value[n->input[i]].producer != NODE_NONE;
	}
	return waits;
}

/* Producers first, smallest id first among the ready; how many were placed. */
static uint32_t
kahn(const struct graph *g, node_id *order, uint32_t *waits, struct arena *a)
{
	struct uses uses = graph_uses(g, a);
	struct heap ready = {arena_new(a, node_id, g->nnodes), 0};
	uint32_t placed = 0;

	for (node_id id = 0; id < g->nnodes; id++)
		if (waits[id] == 0)
			heap_push(&ready, id);
	while (ready.n) {
		const struct node *n;
		node_id id = heap_pop(&ready);

		order[placed++] = id;
		n = &g->node[id];
		for (uint32_t i = 0; i < n->noutputs; i++) {
			value_id v = n->output[i];

			if (v == VALUE_NONE)
				continue;
			for (uint32_t u = uses.start[v]; u < uses.start[v + 1];
			     u++)
				if (--waits[uses.user[u]] == 0)
					heap_push(&ready, uses.user[u]);
		}
	}
	return placed;
}

static void
renumber(struct graph *g, const node_id *order)
{
	struct node *sorted = arena_new(g->arena, struct node, g->nnodes);

	for (node_id id = 0; id < g->nnodes; id++) {
		sorted[id] = g->node[order[id]];
		for (uint32_t i = 0; i < sorted[id].noutputs; i++)
			if (sorted[id].output[i] != VALUE_NONE)
				g->value[sorted[id].output[i]].producer = id;
	}
	g->node = sorted;
	g->node_cap = g->nnodes;
}

struct graph *
node_body(const struct node *n, uint32_t k)
{
	for (uint32_t i = 0; i < n->nattrs; i++) {
		const struct attr *a = &n->attr[i];

		if (a->kind != ATTR_GRAPH && a->kind != ATTR_GRAPHS)
			continue;
		if (k < a->n)
			return a->graphs[k];
		k -= a->n;
	}
	return NULL;
}

bool
node_any(const struct node *n, bool (*is)(const struct node *n))
{
	const struct graph *body;

	if (is(n))
		return true;
	for (uint32_t k = 0; (body = node_body(n, k)) != NULL; k++)
		for (node_id id = 0; id < body->nnodes; id++)
			if (node_any(&body->node[id], is))
				return true;
	return false;
}

static bool
is_custom(const struct node *n)
{
	return n->op == OP_CUSTOM;
}

bool
node_is_opaque(const struct node *n)
{
	return node_any(n, is_custom);
}

bool
graph_sort(struct graph *g, struct err *err)
{
	struct arena scratch;
	uint32_t *waits, placed;
	node_id *order, stuck = 0;
	bool ok = true;

	arena_init(&scratch);
	waits = count_waits(g, &scratch);
	order = arena_new(&scratch, node_id, g->nnodes);
	placed = kahn(g, order, waits, &scratch);
	if (placed == g->nnodes) {
		renumber(g, order);
	} else {
		while (waits[stuck] == 0)
			stuck++;
		ok = err_set(err, ERR_INPUT, "node '%s' (#%u) is on a cycle",
		    node_label(g, stuck, &scratch), stuck);
	}
	arena_release(&scratch);
	return ok;
}

static void
verify_node(const struct graph *g, node_id id)
{
	const struct node *n = &g->node[id];

	assert(n->op < NOP && n->op_type && n->domain && n->name);
	for (uint32_t i = 0; i < n->ninputs + n->nimplicit; i++) {
		value_id v = n->input[i];
		node_id producer;

		if (v == VALUE_NONE)
			continue;
		assert(v < g->nvalues);
		producer = g->value[v].producer;
		assert(producer == NODE_NONE || producer < id);
	}
	for (uint32_t i = 0; i < n->noutputs; i++)
		assert(n->output[i] == VALUE_NONE
		    || graph_value(g, n->output[i])->producer == id);
	for (uint32_t i = 0; i < n->norigins; i++)
		assert(n->origin[i].onnx < g->origin_table->n
		    && n->origin[i].part <= g->origin_table->nparts);
}

static void
verify_call(const struct graph *g, const struct written_call *c)
{
	const struct node *n = &c->node;

	assert(n->op == OP_CUSTOM && n->norigins == 1);
	for (uint32_t i = 0; i < n->ninputs; i++)
		assert(n->input[i] == VALUE_NONE
		    || (n->input[i] < g->nvalues && !c->gone[i]));
	for (uint32_t i = 0; i < n->noutputs; i++)
		assert(n->output[i] == VALUE_NONE
		    || (n->output[i] < g->nvalues && !c->gone[n->ninputs + i]));
}

void
graph_verify(const struct graph *g)
{
	for (node_id id = 0; id < g->nnodes; id++)
		verify_node(g, id);
	for (value_id v = 0; v < g->nvalues; v++) {
		const struct value *value = &g->value[v];

		assert(value->name);
		assert(value->producer == NODE_NONE
		    || value->producer < g->nnodes);
	}
	for (uint32_t i = 0; i < g->ncalls; i++)
		verify_call(g, &g->call[i]);
	for (uint32_t i = 0; i < g->ninputs; i++)
		assert(g->input[i] < g->nvalues);
	for (uint32_t i = 0; i < g->noutputs; i++)
		assert(g->output[i] < g->nvalues);
}
