/* What can be said about a model without running it: operators, work,
 * parameters, what is dynamic. */
#ifndef CLI_MODEL_FACTS_H
#define CLI_MODEL_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/graph.h"

struct op_fact {
	const char *domain, *type;
	uint32_t count;
	uint64_t flops;
};

struct model_facts {
	uint32_t nops, op_cap;
	struct op_fact *op; /* [nops], most work first, then by name; nodes in
			     * bodies of control flow count once */
	uint64_t flops; /* of one run, bodies taken once; a multiply-add is
			 * two */
	uint32_t nunknown; /* nodes whose work depends on dynamic dims */
	uint64_t parameters, parameter_bytes; /* floating-point constants */
	uint32_t ndynamic; /* values without a static shape */
};

void model_facts(struct model_facts *f, const struct graph *g, struct arena *a);

/* Floating-point operations of one node on whole tensors, a multiply-add being
 * two; false when dynamic dimensions hide it. Data movement is none, and so is
 * what is not known (other domains, control flow). */
bool node_flops(const struct graph *g, const struct node *n, uint64_t *flops);

#endif
