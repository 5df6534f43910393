/* The pass over one graph and, through control flow, its bodies. Internal to
 * ir/infer. */
#ifndef IR_INFER_PASS_H
#define IR_INFER_PASS_H

#include <stdbool.h>

#include "ir/infer/rule.h"

/* A pass over `g`, its constants known; `outer` is the pass that owns the node
 * whose body g is, or NULL for the main graph. */
void pass_init(struct pass *p, struct graph *g, const struct pass *outer);

/* What is known of a value before its producer is inferred. */
void pass_value(struct pass *p, value_id v);

/* Infer and fold one node; its inputs are dealt with. */
bool pass_node(struct pass *p, node_id id, struct err *err);

/* Infer and fold every node, in order. */
bool pass_run(struct pass *p, struct err *err);

/* Refuse element types the operator does not take at its opset. */
bool check_dtypes(struct site *s);

/* Fold a node whose inputs are all constant: fills s->out_content. */
bool fold_node(struct site *s, const struct op_rule *rule);

/* Merge what was inferred (s->out) into what the model states, and keep small
 * values and content. Faults on a tensor too large to exist. */
bool settle_outputs(struct site *s);

#endif
