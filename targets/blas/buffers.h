/* OpenBLAS's buffers: one a thread, which it keeps. Where it is given none it asks
 * for ever, so whether there is room is asked before. */
#ifndef TARGETS_BLAS_BUFFERS_H
#define TARGETS_BLAS_BUFFERS_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/err.h"

/* Products may run in `threads` of the team at once from now on, each with one thread;
 * they have their buffers when this returns. */
bool buffers_take(uint32_t threads, struct err *err);

#endif
