/* Address space for OpenBLAS, which asks for ever where there is none: whether there is
 * any is asked before. */
#ifndef TARGETS_BLAS_ROOM_H
#define TARGETS_BLAS_ROOM_H

#include <stdbool.h>
#include <stddef.h>

#include "ir/base/err.h"

bool room_for(size_t bytes);

/* For what the library takes when it is loaded; ERR_TARGET where there is less. */
bool room_for_loading(struct err *err);

#endif
