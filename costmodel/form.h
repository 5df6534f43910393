/* One meaning, one form: what a node does, whichever of the ways to write it
 * the model's exporter and opset chose. The graph stays as it was written, for
 * that is what is emitted and run; keys are made of the form. */
#ifndef COSTMODEL_FORM_H
#define COSTMODEL_FORM_H

#include <stdint.h>

#include "costmodel/form_list.h"
#include "ir/graph.h"

struct form {
	/* Parameters sorted by name: attributes, those given as constant
	 * inputs, defaults; axes counted from the front and padding in numbers.
	 * What the types of the outputs tell anyway is left out. */
	const struct attr *attr;
	uint32_t nattrs;
	uint32_t dropped; /* mask over inputs that are parameters above */
	uint32_t version; /* the latest at which the meaning changed */
};

/* Lives in `a`. Bodies are the node's own. */
struct form node_form(
    const struct graph *g, const struct node *n, struct arena *a);

#endif
