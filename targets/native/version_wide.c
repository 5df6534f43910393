/* Vectors as AVX-512 has them, made of what every processor has: tests run on any
 * machine what such a processor would run. Only who names it gets it. */
#define NATIVE_WIDTH 16
#define NATIVE_GROUP 12
#include "targets/native/vector_version.h"

static bool
is_here(void)
{
	return true;
}

extern const struct native_version native_wide;
const struct native_version native_wide = NATIVE_VERSION("wide", is_here);
