/* float16 and bfloat16 to floats and back, many at a time. */
#ifndef IR_HALVES_H
#define IR_HALVES_H

#include <stddef.h>

#include "ir/dtype.h"

/* n halves of type `held`, at any alignment, as floats. */
void halves_widen(enum dtype held, const void *from, size_t n, float *to);
/* Back, to nearest even: what is beyond float16 becomes infinite. */
void halves_narrow(enum dtype held, const float *from, size_t n, void *to);

#endif
