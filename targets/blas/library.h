/* What OpenBLAS has beside the BLAS. */
#ifndef TARGETS_BLAS_LIBRARY_H
#define TARGETS_BLAS_LIBRARY_H

#include <stdint.h>

#include "ir/base/buf.h"

/* Products take so many threads from now on. */
void library_threads(uint32_t n);

/* Facts that prices depend on, "key=value" a line. */
void library_facts(struct buf *b);

#endif
