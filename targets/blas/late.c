/* OpenBLAS as a shared library that is loaded when it is first asked for. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "targets/blas/buffers.h"
#include "targets/blas/library.h"

static const struct {
	const char *name;
	size_t at; /* in struct openblas */
} wanted[] = {
    {"cblas_sgemm", offsetof(struct openblas, sgemm)},
    {"openblas_set_num_threads", offsetof(struct openblas, set_threads)},
    {"openblas_get_config", offsetof(struct openblas, config)},
    {"openblas_get_corename", offsetof(struct openblas, core)},
};

static bool
find_functions(struct openblas *out, void *library, struct err *err)
{
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		void *function = dlsym(library, wanted[i].name);

		if (!function)
			return err_set(err, ERR_TARGET,
			    "OpenBLAS cannot be used: %s", dlerror());
		memcpy((char *)out + wanted[i].at, &function, sizeof function);
	}
	return true;
}

/* The file that marq was built with, else who has its name now. Its threads, which
 * take a buffer each, begin when products want them. */
static void *
load(void)
{
	static const char threads[] = "OPENBLAS_NUM_THREADS";
	void *library;

	setenv(threads, "1", 1);
	library = dlopen(MARQ_BLAS_FILE, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		library = dlopen(MARQ_BLAS_NAME, RTLD_NOW | RTLD_LOCAL);
	unsetenv(threads);
	return library;
}

bool
blas_find(struct openblas *out, struct err *err)
{
	struct openblas found;
	void *library;

	if (!buffers_fit_loading(err))
		return false;
	library = load();
	if (!library)
		return err_set(err, ERR_TARGET, "OpenBLAS cannot be loaded: %s",
		    dlerror());
	if (!find_functions(&found, library, err))
		return false;
	*out = found;
	return true;
}
