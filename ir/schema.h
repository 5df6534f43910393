/* What each version of each operator takes: inputs, outputs, attributes. */
#ifndef IR_SCHEMA_H
#define IR_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/graph.h"
#include "ir/op.h"

/* SOURCE: operator set versions released as of November 2026. */
#define OPSET_NEWEST 28

struct arity {
	uint32_t min_inputs, max_inputs, min_outputs, max_outputs;
};

/* Of the version in force at that opset; of the first one when the operator is
 * newer than the opset. */
struct arity schema_arity(enum op op, uint32_t opset);

/* The opset an operator came with. */
uint32_t schema_since(enum op op);
/* The opset an operator was given up in; UINT32_MAX: never. */
uint32_t schema_deprecated(enum op op);

/* How an attribute relates to an operator. */
enum attr_fit {
	ATTR_FITS,
	ATTR_UNKNOWN, /* no version has it */
	ATTR_MISTYPED, /* *kind is what it must be */
	ATTR_LATER, /* a later version has it */
	ATTR_GONE, /* earlier versions had it */
};
enum attr_fit schema_attr(
    enum op op, uint32_t opset, const struct attr *a, enum attr_kind *kind);

/* The name of a required attribute the node lacks, or NULL. */
const char *schema_missing(const struct node *n);

/* The attribute that versions without input i take in its place, or NULL. */
const char *schema_given(enum op op, uint32_t i);

/* Does a node of the default domain mean in a model of this opset what it means in
 * one of its own? */
bool schema_holds(const struct node *n, uint32_t opset);

#endif
