/* Softmax and LogSoftmax over lines of a tensor. */
#ifndef TARGETS_NATIVE_SOFTMAX_FORM_H
#define TARGETS_NATIVE_SOFTMAX_FORM_H

#include <stdbool.h>
#include <stddef.h>

/* [outer][n][inner]: over n. */
struct softmax_form {
	size_t outer, n, inner;
	bool log;
};

/* How many units of work there are, of a vector's lines each. */
typedef size_t softmax_units_of(const struct softmax_form *s);
/* Units [first, last) of y are computed. */
typedef void softmax_run(const struct softmax_form *s, const float *x, float *y,
    size_t first, size_t last);

#endif
