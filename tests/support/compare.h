/* Comparing what was computed with what was expected. */
#ifndef TESTS_SUPPORT_COMPARE_H
#define TESTS_SUPPORT_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "ir/tensor.h"

struct tolerance {
	double relative, absolute; /* of floating-point elements */
	double steps; /* of integer elements */
};

/* Same kind, dtype and shape, and every element within tolerance? What differs
 * first goes into text[n]. */
bool tensor_close(const struct tensor *got, const struct tensor *want,
    struct tolerance t, char *text, size_t n);

#endif
