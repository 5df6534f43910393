/* OpenBLAS as the linker gives it: where it is a static library, or where who
 * packs the program looks for what it is linked with. */
#include "targets/blas/library.h"

bool
blas_find(struct openblas *out, struct err *err)
{
	(void)err;
	*out = (struct openblas){
	    .sgemm = cblas_sgemm,
	    .set_threads = openblas_set_num_threads,
	    .config = openblas_get_config,
	    .core = openblas_get_corename,
	};
	return true;
}

const char *
blas_file(void)
{
	return NULL;
}
