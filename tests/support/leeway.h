/* What else than the reference's numbers is right: what the model itself makes of
 * rounding, and of zeros whose sign nothing in ONNX decides. */
#ifndef TESTS_SUPPORT_LEEWAY_H
#define TESTS_SUPPORT_LEEWAY_H

#include "tests/support/check.h"

/* Fill in what the set allows and what is right as well, over its inputs; half:
 * where roundings to half precision are right. */
void leeway_give(
    struct check_set *s, const struct graph *g, bool half, struct arena *a);

#endif
