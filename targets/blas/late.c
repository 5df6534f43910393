/* OpenBLAS as a shared library that is loaded when something of it is to run. */
#define _GNU_SOURCE /* RTLD_DEEPBIND */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/sanitized.h"
#include "targets/blas/library.h"
#include "targets/blas/room.h"

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

/* Of its 16,000 symbols most are its own: it looks for them in itself first, and for
 * those of functions when they are called. Sanitizers want to be first. */
#if defined(RTLD_DEEPBIND) && !SANITIZED
#define HOW (RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND)
#else
#define HOW (RTLD_LAZY | RTLD_LOCAL)
#endif

/* The file that marq was built with, else who has its name now. Its threads, which
 * take a buffer each, begin when products want them. */
static void *
load(void)
{
	static const char threads[] = "OPENBLAS_NUM_THREADS";
	void *library;

	setenv(threads, "1", 1);
	library = dlopen(MARQ_BLAS_FILE, HOW);
	if (!library)
		library = dlopen(MARQ_BLAS_NAME, HOW);
	unsetenv(threads);
	return library;
}

/* (A name alone is looked for where the loader knows, not in this folder.) */
const char *
blas_file(void)
{
	return MARQ_BLAS_FILE[0] == '/' ? MARQ_BLAS_FILE : NULL;
}

bool
blas_find(struct openblas *out, struct err *err)
{
	struct openblas found;
	void *library;

	if (!room_for_loading(err))
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
