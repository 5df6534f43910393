#include "costmodel/key_order.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/hash.h"

/* The walk goes from the sinks (nodes nothing in the set reads) to producers,
 * inputs in slot order, so a set with one sink is ordered by its structure
 * alone. Several sinks are sorted by a label that gathers what is above and
 * below each node. Sinks that tie look alike from everywhere two steps of
 * gathering can see; ids break the tie, and the worst that follows is a key
 * that is not shared. */
struct order_work {
	const struct graph *graph;
	struct node_order *order;
	uint64_t *label; /* [n] */
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

static uint64_t
hash_type(const struct type *t)
{
	uint64_t h = mix((uint64_t)t->kind, (uint64_t)t->dtype);

	if (t->kind == TYPE_TENSOR && t->rank != RANK_UNKNOWN)
		for (uint32_t i = 0; i < t->rank; i++)
			h = mix(h, t->dim[i] < 0 ? 1 : (uint64_t)t->dim[i]);
	return h;
}

static uint64_t
hash_attrs(const struct node *n)
{
	uint64_t h = 0;

	/* A sum, so the order attributes are written in does not matter. */
	for (uint32_t i = 0; i < n->nattrs; i++) {
		const struct attr *a = &n->attr[i];
		uint64_t one = hash64(a->name, strlen(a->name), a->n);

		if (a->kind == ATTR_INT || a->kind == ATTR_INTS)
			one = hash64(a->ints, a->n * sizeof *a->ints, one);
		h += one;
	}
	return h;
}

/* What a node computes, given the labels of its producers. */
static uint64_t
label_up(const struct order_work *w, const struct node *n)
{
	uint64_t h = hash64(n->op_type, strlen(n->op_type), 0);

	h = mix(h, hash_attrs(n));
	for (uint32_t i = 0; i < n->ninputs + n->nimplicit; i++) {
		uint32_t p = producer_inside(w, n, i);

		if (p != NODE_NONE)
			h = mix(h, w->label[p]);
		else if (n->input[i] == VALUE_NONE)
			h = mix(h, 2);
		else
			h = mix(h,
			    hash_type(
			        &graph_value(w->graph, n->input[i])->type));
	}
	for (uint32_t i = 0; i < n->noutputs; i++)
		if (n->output[i] != VALUE_NONE)
			h = mix(h,
			    hash_type(
			        &graph_value(w->graph, n->output[i])->type));
	return h;
}

/* Labels from what is above, then from what is below, then from above again:
 * sinks come to know about each other through what they share. */
static void
make_labels(struct order_work *w, struct arena *a)
{
	uint32_t n = w->order->n;
	uint64_t *below = arena_new(a, uint64_t, n);

	for (uint32_t i = 0; i < n; i++)
		w->label[i] =
		    label_up(w, graph_node(w->graph, w->order->node[i]));
	for (uint32_t i = n; i-- > 0;) {
		const struct node *x = graph_node(w->graph, w->order->node[i]);
		uint64_t whole = mix(w->label[i], below[i]);

		for (uint32_t s = 0; s < x->ninputs + x->nimplicit; s++) {
			uint32_t p = producer_inside(w, x, s);

			if (p != NODE_NONE)
				below[p] += mix(whole, s);
		}
	}
	for (uint32_t i = 0; i < n; i++)
		w->label[i] = mix(w->label[i], below[i]);
	for (uint32_t i = 0; i < n; i++) {
		const struct node *x = graph_node(w->graph, w->order->node[i]);

		for (uint32_t s = 0; s < x->ninputs + x->nimplicit; s++) {
			uint32_t p = producer_inside(w, x, s);

			if (p != NODE_NONE)
				w->label[i] = mix(w->label[i], w->label[p]);
		}
	}
}

struct sink {
	uint64_t label;
	uint32_t at;
};

static int
compare_sinks(const void *a, const void *b)
{
	const struct sink *x = a, *y = b;

	if (x->label != y->label)
		return x->label < y->label ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static uint32_t
find_sinks(struct order_work *w, struct sink *sink, struct arena *a)
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
			sink[nsinks++].at = i;
	if (nsinks < 2)
		return nsinks;
	w->label = arena_new(a, uint64_t, n);
	make_labels(w, a);
	for (uint32_t i = 0; i < nsinks; i++)
		sink[i].label = w->label[sink[i].at];
	qsort(sink, nsinks, sizeof *sink, compare_sinks);
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

struct node_order
node_order_new(
    const struct graph *g, const node_id *node, uint32_t n, struct arena *a)
{
	struct node_order o = {.node = node, .n = n};
	struct order_work w = {
	    .graph = g,
	    .order = &o,
	    .readers = arena_new(a, uint32_t, n),
	    .sequence = arena_new(a, node_id, n),
	    .position = arena_new(a, uint32_t, n),
	};
	struct sink *sink = arena_new(a, struct sink, n);
	uint32_t *stack = arena_new(a, uint32_t, n);
	uint32_t *next = arena_new(a, uint32_t, n), nsinks;

	memset(w.position, 0xff, n * sizeof *w.position);
	nsinks = find_sinks(&w, sink, a);
	for (uint32_t i = 0; i < nsinks; i++)
		place_above(&w, sink[i].at, stack, next);
	o.sequence = w.sequence;
	o.position = w.position;
	return o;
}
