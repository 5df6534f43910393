/* Every attribute value and every optional output of the operators that kernel
 * libraries have patterns for, in some model. */
#ifndef TESTS_FUZZ_CANDIDATES_WALK_H
#define TESTS_FUZZ_CANDIDATES_WALK_H

#include "ir/base/arena.h"

/* The name of an attribute that an operator some kind's pattern names has, and
 * no row of values.def; NULL: there is none. */
const char *attribute_without_values(struct arena *a);

/* Seeds of models ([*n], in `a`) in which each value of values.def and each output
 * beyond the first occurs, the latter read. Prints what occurs in none, counted
 * in *missing. */
const uint32_t *walk_seeds(uint32_t *n, uint32_t *missing, struct arena *a);

#endif
