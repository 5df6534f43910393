#include "targets/native/version.h"

#include <string.h>

extern const struct native_version native_avx512, native_avx2, native_base,
    native_wide;

/* The best first; behind what every machine has, for tests. */
static const struct native_version *const versions[] = {
#ifdef __x86_64__
    &native_avx512,
    &native_avx2,
#endif
    &native_base,
#ifdef MARQ_NATIVE_WIDE
    &native_wide,
#endif
};

const struct native_version *
native_version_find(const char *name)
{
	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
		if ((strcmp(name, "auto") == 0
		        || strcmp(name, versions[i]->name) == 0)
		    && versions[i]->is_here())
			return versions[i];
	return NULL;
}
