/* Looking at numbers: is each finite and below a power of two? */
#ifndef TARGETS_LOOK_H
#define TARGETS_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/dtype.h"

/* Is |x| below 2^power for all n floats, at any alignment? -126 <= power <= 128. */
bool look_floats(int power, const void *data, size_t n);

/* Floats; halves, which need only be finite (2^power is beyond them); anything else,
 * which is always small. By the whole team. */
bool look_at_all(int power, enum dtype dtype, const void *data, size_t n);

#endif
