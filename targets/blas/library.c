#include "targets/blas/library.h"

#include <cblas.h>
#include <string.h>

#include "targets/loaded.h"

void
library_threads(uint32_t n)
{
	openblas_set_num_threads((int)n);
}

void
library_facts(struct buf *b)
{
	/* "OpenBLAS 0.3.21 NO_LAPACKE ...": a patch level is a version's. */
	const char *config = openblas_get_config();
	size_t word = strcspn(config, " "), version;

	config += word + (config[word] == ' ');
	version = strcspn(config, " ");
	buf_printf(b, "openblas=%.*s\nopenblas_config=%s\nopenblas_core=%s\n",
	    (int)version, config, config + version + (config[version] == ' '),
	    openblas_get_corename());
	loaded_build(b, "openblas_build", "libopenblas");
}
