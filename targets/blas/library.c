#include "targets/blas/library.h"

#include <cblas.h>

void
library_threads(uint32_t n)
{
	openblas_set_num_threads((int)n);
}

void
library_facts(struct buf *b)
{
	buf_printf(b, "openblas=%s\nopenblas_core=%s\n", openblas_get_config(),
	    openblas_get_corename());
}
