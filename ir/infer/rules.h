/* The rules: one prototype a row of schema.def (a function that serves many
 * operators is declared as often, which C allows), and what they share. Internal
 * to ir/infer. */
#ifndef IR_INFER_RULES_H
#define IR_INFER_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/infer/rule.h"

#define RULE(op, rule, how) bool rule(struct site *s);
#define VALUE(op, rule) bool rule(struct site *s);
#include "ir/schema.def"

/* Input i is one element at most (rank 0, or dimensions of 1). */
bool need_max_count(struct site *s, uint32_t i, const char *what);
/* An attribute that holds an element type; `otherwise` when absent. */
bool attr_dtype(
    struct site *s, const char *name, enum dtype otherwise, enum dtype *out);

/* Output `out` has the shape that input i holds. */
bool out_from_shape(struct site *s, uint32_t out, enum dtype dtype, uint32_t i);

#endif
