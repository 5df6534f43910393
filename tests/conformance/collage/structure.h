/* Kernels by structure: what a measurement of one is a measurement of. */
#ifndef TESTS_CONFORMANCE_COLLAGE_STRUCTURE_H
#define TESTS_CONFORMANCE_COLLAGE_STRUCTURE_H

#include "tests/conformance/collage/dag.h"

/* Same operators with the same attributes, joined alike, over values of the
 * same types, giving out the same results; names do not matter. */
bool sets_are_alike(const struct dag *d, set a, set b);

#endif
