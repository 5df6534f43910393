#include "targets/blas/library.h"

#include <string.h>

#include "targets/loaded.h"
#include "targets/threads.h"

struct openblas openblas;

bool
blas_ready(struct err *err)
{
	return openblas.sgemm || blas_find(&openblas, err);
}

/* (A library that was built for OpenMP sets the runtime's number, too.) */
void
library_single(void)
{
	openblas.set_threads(1);
	target_threads_apply();
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
