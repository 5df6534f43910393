/* Attention as a match has it: the operator, or what amounts to one, and where its
 * operands lie. */
#ifndef TARGETS_NATIVE_ATTENTION_READ_H
#define TARGETS_NATIVE_ATTENTION_READ_H

#include "targets/native/attention_form.h"
#include "targets/pattern.h"

/* Inputs and outputs of the operator. */
enum {
	IN_QUERIES,
	IN_KEYS,
	IN_VALUES,
	IN_MASK,
	IN_PAST_KEYS,
	IN_PAST_VALUES,
	IN_LENGTHS,
	NATTENTION_INPUTS
};
enum { OUT_RESULT, OUT_PRESENT_KEYS, OUT_PRESENT_VALUES, OUT_SCORES };

/* The operator, where its operands may be moved by nodes of the match. */
struct attention_node {
	const struct node *node; /* NULL: nothing computes the same */
	const struct graph *graph;
	const struct idiom_place *place; /* NULL: they are not */
};

struct attention_node attention_of(
    const struct match *m, const struct graph *g);

/* The value that an input lies in, VALUE_NONE where it is left out. */
value_id attention_input(const struct attention_node *n, uint32_t i);
/* And an output. */
value_id attention_output(const struct attention_node *n, uint32_t i);

/* The sizes and places of the operands; false: they do not fit. */
bool attention_read(struct attention_form *a, const struct attention_node *of);

#endif
