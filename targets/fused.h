/* What a composite computes, read off its nodes: an anchor operator, an
 * optional BatchNormalization on its output, then pointwise steps. Libraries
 * with post-operations share this reading; decomposed activations (swish,
 * hard-swish, gelu, mish) are recognised as one step. */
#ifndef TARGETS_FUSED_H
#define TARGETS_FUSED_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/graph.h"
#include "targets/pattern.h"
#include "targets/step.h"

#define STEPS_MAX 8

struct fused {
	const struct node *anchor; /* NULL: only steps, over `start` */
	const struct node *norm; /* BatchNormalization, or NULL */
	value_id start; /* what the steps begin with when there is no anchor */
	value_id end; /* what comes out */
	value_id bias; /* see fused_take_bias(); else VALUE_NONE */
	uint32_t nsteps;
	struct step step[STEPS_MAX];
};

/* Read a match; false when its nodes do not form such a chain, with a few
 * words in *fault. */
bool fused_read(struct fused *f, const struct graph *g, const struct match *m,
    const char **fault);

/* Two chains, the second of which begins with what comes out of the first, each with an
 * anchor of operator `op`. */
bool fused_read_two(struct fused f[2], const struct graph *g,
    const struct match *m, enum op op, const char **fault);

/* Does nothing but the chain's own first input come from inside the match, of which it may
 * be a part? */
bool fused_is_fed(
    const struct fused *f, const struct graph *g, const struct match *m);

/* When the first step adds a constant that varies along dimension `axis` of the
 * result only, take it out of the steps and put it into f->bias. */
void fused_take_bias(struct fused *f, const struct graph *g, uint32_t axis);

#endif
