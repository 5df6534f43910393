/* Keys: canonical, name-free and weight-free bytes of what is priced. Equal
 * bytes, equal price; the bytes of a change that changes the price differ. */
#ifndef COSTMODEL_KEY_H
#define COSTMODEL_KEY_H

#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/buf.h"
#include "targets/target.h"

/* First byte of every key; bump when bytes change.
 * 4: all operators mean one thing over all opsets but for the rows of
 *    MEANING of schema.def; inputs, lists and sizes that say what leaving them out says.
 * 3: one meaning, one form (form.h), bodies by position.
 * 2: what decides how often a loop runs, places of constant indices, lengths,
 *    whether zero points are zero; kernels tried on made-up weights. */
#define KEY_VERSION 4
#define KEY_CONVERSION_VERSION 1

/* How much of the candidate goes in. */
enum key_detail {
	KEY_FULL,
	KEY_SKELETON, /* without the sizes of dimensions */
	KEY_FAMILY, /* operators and edges only */
};

/* Keys of one graph's candidates. What a node contributes by itself is made
 * once, for most nodes are in many candidates. */
struct kept_node {
	struct string_view bytes; /* s NULL: not made yet */
	uint32_t dropped; /* mask of inputs that are parameters (form.h) */
};
struct keys {
	const struct graph *graph;
	const struct mix *mix;
	struct arena *arena;
	struct kept_node *node; /* [nnodes], filled as needed */
	struct keys *widened; /* of the graph that is shown; made as needed */
};

/* The graph must not change while keys are made of it. */
void keys_init(struct keys *k, const struct graph *g, const struct mix *m,
    struct arena *a);

/* Append a candidate's bytes. Independent of names, of the order nodes are
 * listed in, of weights, and of opsets of the same meaning. `scratch` is
 * given back. */
void key_candidate(struct keys *k, struct buf *b, const struct candidate *c,
    enum key_detail detail, struct arena *scratch);

/* Append the bytes of a whole graph: what tells models apart. */
void key_graph(struct buf *b, const struct graph *g, struct arena *scratch);

/* Append the bytes of converting a value of a type between two formats. */
void key_conversion(struct buf *b, const struct type *type, struct format from,
    struct format to, enum key_detail detail);

/* Append the bytes of a type: what tells classes of values apart. */
void key_type(struct buf *b, const struct type *type, enum key_detail detail);

/* For people: "dnnl.conv direct/nhwc Conv+Relu float32[1,64,56,56]"; in `a`. */
const char *key_summary(const struct graph *g, const struct mix *m,
    const struct candidate *c, struct arena *a);

#endif
