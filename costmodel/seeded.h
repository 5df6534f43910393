/* Made-up constants. Whether a kernel is right, and how fast, belongs to a key
 * that says nothing of the weights, so it is tried on weights of the type and
 * not on those of whichever model came first: one with a NaN or an overflow
 * among them would decide for all others. */
#ifndef COSTMODEL_SEEDED_H
#define COSTMODEL_SEEDED_H

#include <stdbool.h>

#include "targets/candidates.h"

/* A graph whose constants change, and with them those of idioms' operators. */
struct seeded_graph {
	const struct graph *graph, *beside; /* graph NULL: there is none */
	const struct tensor **own; /* [nvalues] its own; NULL: in place */
};

struct seeded {
	struct seeded_graph model, widened; /* the latter as targets see it */
	struct arena arena; /* of the made-up ones */
	bool *is_weight; /* [nvalues] nobody reads its content */
};

/* Of a graph that this process alone uses, and the candidates found in it (or
 * NULL); `a` outlives it. */
void seeded_init(struct seeded *s, const struct graph *g,
    const struct candidates *c, struct arena *a);
void seeded_release(struct seeded *s);

/* Put made-up tensors in place of the constants that the nodes of c take and
 * whose content no key holds. They are the same for the same value every time
 * and stay until seeded_release() or seeded_restore(). */
void seeded_take(struct seeded *s, const struct candidate *c);

/* The model's own again; made-up ones are gone. */
void seeded_restore(struct seeded *s);

#endif
