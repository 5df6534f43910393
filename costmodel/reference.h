/* What a candidate should compute, by the evaluator that was lent. */
#ifndef COSTMODEL_REFERENCE_H
#define COSTMODEL_REFERENCE_H

#include "ir/base/map.h"
#include "ir/infer.h"
#include "targets/target.h"

/* Reference results, kept per node so that candidates that share nodes (a
 * convolution alone, with bias, with its activation, in six layouts) pay for
 * the slow evaluation once. */
struct reference {
	const struct graph *graph;
	node_eval eval;
	struct arena arena; /* everything below lives there */
	struct map map; /* nodes up to and with this one -> result */
	const struct tensor **result; /* outputs of that node */
	uint32_t nresults, cap;
};

void reference_init(struct reference *r, const struct graph *g, node_eval eval);
void reference_release(struct reference *r);

/* The candidate's outputs ([noutputs], whole array in `a`, content until the
 * next call) over inputs from seed_value(); NULL with err set when the
 * evaluator does not know a node. */
const struct tensor **reference_outputs(struct reference *r,
    const struct candidate *c, struct arena *a, struct err *err);

#endif
