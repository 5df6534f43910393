/* What inference is given by its caller. */
#ifndef IR_INFER_OPTIONS_H
#define IR_INFER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/base/notes.h"
#include "ir/graph.h"

/* Compute a node from constant inputs (in[i] is NULL where left out). Outputs
 * go to out[noutputs], content in `a`. false: the evaluator does not do this
 * one (err untouched or set: either way it is just not folded). */
typedef bool (*node_eval)(const struct graph *g, const struct node *n,
    const struct tensor *const *in, struct tensor *out, struct arena *a,
    struct err *err);

struct infer_options {
	node_eval eval; /* NULL: fold nothing */
	uint32_t max_fold; /* elements per folded tensor, unless it only moves
			    * elements; 0: 65536, or what the model's constants
			    * hold. FILL tensors count as one */
	bool keep_going; /* report every fault into faults, then fail */
	struct notes *faults; /* NULL: into notes */
	struct notes *notes;
};

#endif
