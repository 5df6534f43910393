/* ConvInteger, MatMulInteger, QLinearConv and QLinearMatMul: which input is
 * what, and what they compile to. Only files of this folder include it. */
#ifndef TARGETS_BLAS_INTEGER_H
#define TARGETS_BLAS_INTEGER_H

#include "targets/target.h"

struct integer_places {
	uint32_t w, x_zero, w_zero; /* inputs */
	bool is_conv, requantises;
};

const struct integer_places *integer_places(const struct node *n);

/* The predicate: what is compiled must have passed it. */
bool accept_integer(const struct match_in *m, struct why *why);
bool compile_integer(const struct graph *g, const struct candidate *c,
    struct arena *a, struct kernel *out);

#endif
