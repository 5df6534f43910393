#include "targets/plugin/regions.h"

#include <assert.h>
#include <string.h>

/* TUNING: a border costs what crosses it; pieces of equal work, so that their
 * stretches are 36 at most, or 10 where compiling takes long (milliseconds); sets of one kind, the
 * largest first. */
#define BORDER_VALUES 3
#define PIECES 8
#define PIECES_SLOW 4
#define SLOW_MS 100
/* TUNING: weights are copied and packed: of ResNet-50's 102 MB compiling takes 150 to
 * 300 ms of processor time. */
#define WEIGHTS_PER_MS 1e6
#define PARTS_MAX 64

struct region_offer {
	const struct graph *graph;
	const struct uses *uses;
	struct bitset taken;
	uint32_t pieces;
	struct node_sets *out;
	struct arena *arena;
};

/* ---- sets ---- */

static bool
is_offered(const struct node_sets *s, const node_id *node, uint32_t n)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->set[i].n == n
		    && memcmp(s->set[i].node, node, n * sizeof *node) == 0)
			return true;
	return false;
}

/* Single nodes are what rules are for, but where they are all there is. */
static void
add_set(struct region_offer *o, const node_id *node, uint32_t n)
{
	struct node_sets *s = o->out;

	if ((n < 2 && n < o->graph->nnodes) || n == 0 || is_offered(s, node, n))
		return;
	s->set =
	    arena_grow(o->arena, s->set, &s->cap, s->n + 1, sizeof *s->set);
	s->set[s->n++] =
	    (struct node_set){arena_copy(o->arena, node, n * sizeof *node), n};
}

/* ---- what is taken, cut where it is not ---- */

/* How many times the longest way to a node leaves `in`: nodes of one depth are
 * convex, for a way out of them and back has left once more. */
static uint32_t *
depths(const struct region_offer *o, struct bitset in)
{
	const struct graph *g = o->graph;
	uint32_t *depth = arena_new(o->arena, uint32_t, g->nnodes);

	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = graph_node(g, id);

		for (uint32_t i = 0; i < n->ninputs + n->nimplicit; i++) {
			node_id p = n->input[i] == VALUE_NONE
			    ? NODE_NONE
			    : graph_value(g, n->input[i])->producer;
			uint32_t d;

			if (p == NODE_NONE)
				continue;
			assert(p < id);
			d = depth[p]
			    + (bitset_has(in, p) && !bitset_has(in, id));
			depth[id] = d > depth[id] ? d : depth[id];
		}
	}
	return depth;
}

static node_id
leader(node_id *of, node_id id)
{
	while (of[id] != id)
		id = of[id] = of[of[id]];
	return id;
}

/* The first node of the connected part of `in` that each node of it is in. */
static node_id *
leaders(const struct region_offer *o, struct bitset in)
{
	const struct graph *g = o->graph;
	const uint32_t *depth = depths(o, in);
	node_id *of = arena_new(o->arena, node_id, g->nnodes);

	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = graph_node(g, id);

		of[id] = id;
		for (uint32_t i = 0; i < n->ninputs + n->nimplicit; i++) {
			node_id p = n->input[i] == VALUE_NONE
			    ? NODE_NONE
			    : graph_value(g, n->input[i])->producer;

			if (p != NODE_NONE && bitset_has(in, p)
			    && bitset_has(in, id) && depth[p] == depth[id]) {
				node_id x = leader(of, p), y = leader(of, id);

				of[x > y ? x : y] = x > y ? y : x;
			}
		}
	}
	return of;
}

/* The connected convex parts of `in`. */
static void
offer_parts(struct region_offer *o, struct bitset in)
{
	const uint32_t n = o->graph->nnodes;
	node_id *of = leaders(o, in);
	uint32_t *size = arena_new(o->arena, uint32_t, n), nparts = 0;
	node_id *node = arena_new(o->arena, node_id, n);

	for (node_id id = 0; id < n; id++)
		size[leader(of, id)] += bitset_has(in, id);
	for (node_id first = 0; first < n && nparts < PARTS_MAX; first++) {
		uint32_t k = 0;

		if (size[first] < 2 && n > 1)
			continue;
		for (node_id id = first; id < n; id++)
			if (bitset_has(in, id) && leader(of, id) == first)
				node[k++] = id;
		add_set(o, node, k);
		nparts++;
	}
}

/* ---- quantised parts ---- */

static bool
is_bytes(const struct graph *g, value_id v)
{
	const struct value *value = v == VALUE_NONE ? NULL : graph_value(g, v);

	return value && !value->constant && value->type.kind == TYPE_TENSOR
	    && (dtype_is_byte(value->type.dtype)
	        || value->type.dtype == DT_INT32);
}

/* Is a node in the set that a whole number leads to, or comes from? */
static bool
shares_bytes(const struct region_offer *o, struct bitset in, node_id id)
{
	const struct node *n = graph_node(o->graph, id);

	for (uint32_t i = 0; i < n->ninputs; i++)
		if (is_bytes(o->graph, n->input[i])
		    && graph_value(o->graph, n->input[i])->producer != NODE_NONE
		    && bitset_has(
		        in, graph_value(o->graph, n->input[i])->producer))
			return true;
	for (uint32_t i = 0; i < n->noutputs; i++) {
		const value_id v = n->output[i];

		if (!is_bytes(o->graph, v))
			continue;
		for (uint32_t k = o->uses->start[v]; k < o->uses->start[v + 1];
		     k++)
			if (bitset_has(in, o->uses->user[k]))
				return true;
	}
	return false;
}

static bool
grow_by(const struct region_offer *o, struct bitset in, node_id id)
{
	if (bitset_has(in, id) || !bitset_has(o->taken, id)
	    || !shares_bytes(o, in, id))
		return false;
	bitset_add(in, id);
	return true;
}

/* Up to where values are floats again: runtimes fuse a quantiser with what is on
 * its other side. */
static void
grow_to_floats(const struct region_offer *o, struct bitset in)
{
	bool more = true;

	while (more) {
		more = false;
		for (node_id id = 0; id < o->graph->nnodes; id++)
			more |= grow_by(o, in, id);
		for (node_id id = o->graph->nnodes; id-- > 0;)
			more |= grow_by(o, in, id);
	}
}

/* ---- stretches ---- */

static double
elements(const struct graph *g, value_id v)
{
	const struct type *t;
	double n = 1;

	if (v == VALUE_NONE)
		return 0;
	t = &graph_value(g, v)->type;
	if (t->kind != TYPE_TENSOR || !type_is_static(t))
		return 0;
	for (uint32_t i = 0; i < t->rank; i++)
		n *= (double)t->dim[i];
	return n;
}

/* About what a node costs: only which cuts are even rests on it. */
static double
weight_of(const struct graph *g, const struct node *n)
{
	double made = 0, weights = 0;

	for (uint32_t i = 0; i < n->noutputs; i++)
		made += elements(g, n->output[i]);
	for (uint32_t i = 0; i < n->ninputs; i++)
		if (n->input[i] != VALUE_NONE
		    && graph_value(g, n->input[i])->constant)
			weights += elements(g, n->input[i]);
	return made + weights + made * weights / 1e6;
}

static bool
is_quantised(const struct graph *g)
{
	for (node_id id = 0; id < g->nnodes; id++)
		if (graph_node(g, id)->op == OP_DEQUANTIZELINEAR)
			return true;
	return false;
}

/* live[p]: values that cross the border before node p; more than are taken where
 * one must not. */
static uint32_t *
borders(const struct region_offer *o)
{
	const struct graph *g = o->graph;
	const bool floats_only = is_quantised(g);
	uint32_t *live = arena_new(o->arena, uint32_t, g->nnodes + 1);

	for (value_id v = 0; v < g->nvalues; v++) {
		const struct value *value = graph_value(g, v);
		node_id last = 0, first = value->producer;
		uint32_t weight = 1;

		if (value->constant)
			continue;
		for (uint32_t k = o->uses->start[v]; k < o->uses->start[v + 1];
		     k++)
			last =
			    o->uses->user[k] > last ? o->uses->user[k] : last;
		first = first == NODE_NONE ? 0 : first + 1;
		if (value->type.kind != TYPE_TENSOR
		    || !type_is_static(&value->type)
		    || (floats_only && !dtype_is_float(value->type.dtype)))
			weight = BORDER_VALUES + 1;
		for (node_id p = first; p <= last; p++)
			live[p] += weight;
	}
	return live;
}

/* The borders nearest behind each share of the work; their number. The first
 * and the last are the model's ends. */
static uint32_t
cuts(const struct region_offer *o, node_id cut[PIECES + 1])
{
	const struct graph *g = o->graph;
	const uint32_t *live = borders(o);
	double all = 0, sum = 0;
	uint32_t n = 1;

	for (node_id id = 0; id < g->nnodes; id++)
		all += weight_of(g, graph_node(g, id));
	cut[0] = 0;
	for (node_id p = 1; p < g->nnodes && n < o->pieces; p++) {
		sum += weight_of(g, graph_node(g, p - 1));
		if (sum < all * n / o->pieces || live[p] > BORDER_VALUES)
			continue;
		cut[n++] = p;
		while (n < o->pieces && sum >= all * n / o->pieces)
			n++, cut[n - 1] = p;
	}
	cut[n++] = g->nnodes;
	return n;
}

static void
offer_stretches(struct region_offer *o)
{
	node_id cut[PIECES + 1];
	const uint32_t n = cuts(o, cut);
	node_id *node = arena_new(o->arena, node_id, o->graph->nnodes);

	for (uint32_t from = 0; from < n; from++)
		for (uint32_t to = from + 1; to < n; to++) {
			uint32_t k = 0;

			for (node_id id = cut[from]; id < cut[to]; id++)
				if (bitset_has(o->taken, id))
					node[k++] = id;
			add_set(o, node, k);
		}
}

static double
weight_bytes(const struct graph *g)
{
	double sum = 0;

	for (value_id v = 0; v < g->nvalues; v++)
		if (g->value[v].constant)
			sum += (double)g->value[v].constant->bytes;
	return sum;
}

/* Into how many pieces: stretches of a large model take long to compile, too. */
static uint32_t
pieces_of(const struct regions_of *of)
{
	return of->compile_ms + weight_bytes(of->graph) / WEIGHTS_PER_MS
	        > SLOW_MS
	    ? PIECES_SLOW
	    : PIECES;
}

void
regions_offer(
    struct node_sets *out, const struct regions_of *of, struct arena *a)
{
	const struct graph *g = of->graph;
	struct region_offer o = {g, of->uses, of->taken, pieces_of(of), out, a};
	struct bitset gaps = bitset_new(a, g->nnodes);

	for (node_id id = 0; id < g->nnodes; id++)
		if (bitset_has(of->rare, id) && bitset_has(of->taken, id))
			bitset_add(gaps, id);
	offer_parts(&o, of->taken);
	offer_parts(&o, gaps);
	if (is_quantised(g)) {
		grow_to_floats(&o, gaps);
		offer_parts(&o, gaps);
	}
	offer_stretches(&o);
}
