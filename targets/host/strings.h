/* What kernels of strings share. */
#ifndef TARGETS_HOST_STRINGS_H
#define TARGETS_HOST_STRINGS_H

#include "ir/tensor.h"

/* < 0, 0, > 0: x before, the same as, behind y, by bytes. */
int string_order(struct string_view x, struct string_view y);

#endif
