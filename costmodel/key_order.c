#include "costmodel/key_order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/hash.h"
#include "ir/base/order.h"
#include "ir/base/verify.h"

/* The walk goes from the sinks (nodes nothing in the set reads) to producers,
 * inputs in slot order, so a set with one sink is ordered by its structure
 * alone. Several sinks are sorted by labels that gather, over a few rounds,
 * what is above and below each node and each outside value. Sinks that tie
 * after that look alike from everywhere those rounds can see; ids break the
 * tie, and the worst that follows is a key that is not shared. */
struct order_work {
	const struct graph *graph;
	struct node_order *order;
	uint64_t *label, *below; /* [n] */
	uint32_t *told; /* [n] masks of inputs that do not count */
	value_id *outside; /* [noutside] ascending: values from elsewhere */
	uint64_t *outside_label, *outside_below; /* [noutside] */
	uint32_t noutside;
	uint32_t *readers; /* [n] uses inside the set */
	node_id *sequence;
	uint32_t *position;
	uint32_t placed;
};

uint32_t
node_order_find(const struct node_order *o, node_id id)
{
	uint32_t low = 0, high = o->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (o->node[mid] < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low < o->n && o->node[low] == id ? low : NODE_NONE;
}

/* The index in the set of what makes input `slot`, or NODE_NONE. */
static uint32_t
producer_inside(const struct order_work *w, const struct node *n, uint32_t slot)
{
	value_id v = n->input[slot];
	node_id producer;

	if (v == VALUE_NONE)
		return NODE_NONE;
	producer = graph_value(w->graph, v)->producer;
	return producer == NODE_NONE ? NODE_NONE
	                             : node_order_find(w->order, producer);
}

static uint64_t
mix(uint64_t a, uint64_t b)
{
	uint64_t pair[2] = {a, b};

	return hash64(pair, sizeof pair, 0);
}

/* Is input `slot` of the i-th node one that counts? */
static bool
counts(
    const struct order_work *w, uint32_t i, const struct node *n, uint32_t slot)
{
	return n->input[slot] != VALUE_NONE
	    && (slot >= n->ninputs || slot >= 32 || !(w->told[i] >> slot & 1));
}

/* Where among the outside values v is; it is one. */
static uint32_t
outside_find(const struct order_work *w, value_id v)
{
	const value_id *at =
	    bsearch(&v, w->outside, w->noutside, sizeof *w->outside, by_u32);

	assert(at);
	return (uint32_t)(at - w->outside);
}

static void
list_outside(struct order_work *w, struct arena *a)
{
	uint32_t cap = 0, n = 0;

	for (uint32_t i = 0; i < w->order->n; i++) {
		const struct node *x = graph_node(w->graph, w->order->node[i]);

		for (uint32_t s = 0; s < x->ninputs + x->nimplicit; s++) {
			if (!counts(w, i, x, s)
			    || producer_inside(w, x, s) != NODE_NONE)
				continue;
			w->outside = arena_grow(
			    a, w->outside, &cap, n + 1, sizeof *w->outside);
			w->outside[n++] = x->input[s];
		}
	}
	if (n > 1)
		qsort(w->outside, n, sizeof *w->outside, by_u32);
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || w->outside[i] != w->outside[i - 1])
			w->outside[w->noutside++] = w->outside[i];
}

/* Each node comes to know what its inputs are made from. */
static void
gather_from_above(struct order_work *w)
{
	for (uint32_t i = 0; i < w->order->n; i++) {
		const struct node *x = graph_node(w->graph, w->order->node[i]);
		uint64_t h = w->label[i];

		for (uint32_t s = 0; s < x->ninputs + x->nimplicit; s++) {
			uint32_t p = producer_inside(w, x, s);

			if (!counts(w, i, x, s))
				continue;
			h = mix(mix(h, s),
			    p != NODE_NONE ? w->label[p]
			                   : w->outside_label[outside_find(
			                       w, x->input[s])]);
		}
		w->label[i] = h;
	}
}

/* Each node and outside value comes to know what is made from it; a sum, for
 * its readers have no order. */
static void
gather_from_below(struct order_work *w)
{
	uint32_t n = w->order->n;

	memset(w->below, 0, n * sizeof *w->below);
	memset(w->outside_below, 0, w->noutside * sizeof *w->outside_below);
	for (uint32_t i = n; i-- > 0;) {
		const struct node *x = graph_node(w->graph, w->order->node[i]);
		uint64_t whole = mix(w->label[i], w->below[i]);

		for (uint32_t s = 0; s < x->ninputs + x->nimplicit; s++) {
			uint32_t p = producer_inside(w, x, s);

			if (p != NODE_NONE)
				w->below[p] += mix(whole, s);
			else if (counts(w, i, x, s))
				w->outside_below[outside_find(
				    w, x->input[s])] += mix(whole, s);
		}
	}
	for (uint32_t i = 0; i < n; i++)
		w->label[i] = mix(w->label[i], w->below[i]);
	for (uint32_t i = 0; i < w->noutside; i++)
		w->outside_label[i] =
		    mix(w->outside_label[i], w->outside_below[i]);
}

/* TUNING: each round spreads over the whole set, up and down; three tell apart
 * all but contrived sets. */
#define ROUNDS 3

static void
make_labels(
    struct order_work *w, const struct order_labels *labels, struct arena *a)
{
	uint32_t n = w->order->n;

	w->told = arena_new(a, uint32_t, n);
	for (uint32_t i = 0; i < n; i++)
		w->told[i] = labels->told(labels->context, w->order->node[i]);
	list_outside(w, a);
	w->label = arena_new(a, uint64_t, n);
	w->below = arena_new(a, uint64_t, n);
	w->outside_label = arena_new(a, uint64_t, w->noutside);
	w->outside_below = arena_new(a, uint64_t, w->noutside);
	for (uint32_t i = 0; i < n; i++)
		w->label[i] = labels->node(labels->context, w->order->node[i]);
	for (uint32_t i = 0; i < w->noutside; i++)
		w->outside_label[i] =
		    labels->outside(labels->context, w->outside[i]);
	for (int round = 0; round < ROUNDS; round++) {
		gather_from_above(w);
		gather_from_below(w);
	}
}

static uint32_t
find_sinks(struct order_work *w, struct ranked *sink,
    const struct order_labels *labels, struct arena *a)
{
	uint32_t n = w->order->n, nsinks = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct node *x = graph_node(w->graph, w->order->node[i]);

		for (uint32_t s = 0; s < x->ninputs + x->nimplicit; s++) {
			uint32_t p = producer_inside(w, x, s);

			if (p != NODE_NONE)
				w->readers[p]++;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		if (w->readers[i] == 0)
			sink[nsinks++].id = i;
	if (nsinks < 2)
		return nsinks;
	make_labels(w, labels, a);
	for (uint32_t i = 0; i < nsinks; i++)
		sink[i].by = w->label[sink[i].id];
	qsort(sink, nsinks, sizeof *sink, by_rank);
	return nsinks;
}

/* Depth first without recursion: next[i] is the slot node i goes on with. */
static void
place_above(
    struct order_work *w, uint32_t from, uint32_t *stack, uint32_t *next)
{
	uint32_t depth = 0;

	stack[depth++] = from;
	while (depth) {
		uint32_t at = stack[depth - 1], p;
		const struct node *n = graph_node(w->graph, w->order->node[at]);

		if (next[at] == n->ninputs + n->nimplicit) {
			w->position[at] = w->placed;
			w->sequence[w->placed++] = w->order->node[at];
			depth--;
			continue;
		}
		p = producer_inside(w, n, next[at]++);
		if (p != NODE_NONE && w->position[p] == UINT32_MAX)
			stack[depth++] = p;
	}
}

static void
order_set(
    struct order_work *w, const struct order_labels *labels, struct arena *a)
{
	uint32_t n = w->order->n, nsinks;
	struct ranked *sink = arena_new(a, struct ranked, n);
	uint32_t *stack = arena_new(a, uint32_t, n);
	uint32_t *next = arena_new(a, uint32_t, n);

	w->readers = arena_new(a, uint32_t, n);
	w->sequence = arena_new(a, node_id, n);
	w->position = arena_new(a, uint32_t, n);
	memset(w->position, 0xff, n * sizeof *w->position);
	nsinks = find_sinks(w, sink, labels, a);
	for (uint32_t i = 0; i < nsinks; i++)
		place_above(w, sink[i].id, stack, next);
}

/* (K1) The set ascends; (K2) the sequence is the set in another order, and positions
 * say where each is; (K3) producers come first. */
static void
node_order_verify(const struct order_work *w)
{
	const struct node_order *o = w->order;

	assert(w->placed == o->n); /* (K2) */
	for (uint32_t i = 0; i < o->n; i++) {
		const struct node *x = graph_node(w->graph, o->node[i]);

		assert(i == 0 || o->node[i - 1] < o->node[i]); /* (K1) */
		assert(w->position[i] < o->n);
		assert(w->sequence[w->position[i]] == o->node[i]); /* (K2) */
		for (uint32_t s = 0; s < x->ninputs + x->nimplicit; s++) {
			uint32_t p = producer_inside(w, x, s);

			assert(p == NODE_NONE
			    || w->position[p] < w->position[i]); /* (K3) */
		}
	}
}

struct node_order
node_order_new(const struct graph *g, const node_id *node, uint32_t n,
    const struct order_labels *labels, struct arena *a)
{
	static const uint32_t zero;
	struct node_order o = {
	    .node = node,
	    .n = n,
	    .sequence = node,
	    .position = &zero,
	};
	struct order_work w = {.graph = g, .order = &o};

	if (n <= 1)
		return o;
	order_set(&w, labels, a);
	VERIFY(node_order_verify(&w));
	o.sequence = w.sequence;
	o.position = w.position;
	return o;
}
