#include "targets/blas/library.h"

#include <string.h>

#include "targets/loaded.h"

struct openblas openblas;

bool
blas_ready(struct err *err)
{
	return openblas.sgemm || blas_find(&openblas, err);
}

void
library_threads(uint32_t n)
{
	openblas.set_threads((int)n);
}

void
library_facts(struct buf *b)
{
	struct err none = {.kind = ERR_NONE};
	const char *config; /* "OpenBLAS 0.3.21 NO_LAPACKE ..." */
	size_t word, version; /* a patch level is a version's */

	if (!blas_ready(&none)) {
		buf_printf(b, "openblas=%s\n", none.text);
		return;
	}
	config = openblas.config();
	word = strcspn(config, " ");
	config += word + (config[word] == ' ');
	version = strcspn(config, " ");
	buf_printf(b, "openblas=%.*s\nopenblas_config=%s\nopenblas_core=%s\n",
	    (int)version, config, config + version + (config[version] == ' '),
	    openblas.core());
	loaded_build(b, "openblas_build", "libopenblas");
}
