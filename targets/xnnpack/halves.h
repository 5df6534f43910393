/* Operators of float16 that the library gets wrong on some processors. */
#ifndef TARGETS_XNNPACK_HALVES_H
#define TARGETS_XNNPACK_HALVES_H

#include "targets/xnnpack/library.h"

/* Is the operator right here? Runs the library the first time it matters, so it
 * is for what runs kernels. */
bool halves_are_right(const struct operator* o);

#endif
