/* An order of a node set that depends on what the nodes compute and how they
 * are connected, not on the ids they happen to have. */
#ifndef COSTMODEL_KEY_ORDER_H
#define COSTMODEL_KEY_ORDER_H

#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/graph.h"

struct node_order {
	const node_id *node; /* [n] ascending: the set */
	const node_id *sequence; /* [n] in canonical order, producers first */
	const uint32_t *position; /* [n] of node[i] in sequence */
	uint32_t n;
};

/* What tells nodes and outside values apart by themselves: hashes that depend
 * on no id and no name. Asked for only where a set has several sinks. */
struct order_labels {
	uint64_t (*node)(void *context, node_id id);
	uint64_t (*outside)(void *context, value_id v);
	/* A mask of a node's inputs that are told by its hash already. */
	uint32_t (*told)(void *context, node_id id);
	void *context;
};

struct node_order node_order_new(const struct graph *g, const node_id *node,
    uint32_t n, const struct order_labels *labels, struct arena *a);

/* Where in the set a node is, or NODE_NONE. */
uint32_t node_order_find(const struct node_order *o, node_id id);

#endif
