/* What every processor of the architecture has: on Arm NEON, with 32 registers, on
 * x86 SSE2, with 16; elsewhere what the compiler makes of vectors. */
#define NATIVE_WIDTH 4
#ifdef __aarch64__
#define NATIVE_GROUP 12
#define BASE_NAME "neon"
#else
#define NATIVE_GROUP 6
#define BASE_NAME "c"
#endif
#include "targets/native/vector_version.h"

static bool
is_here(void)
{
	return true;
}

extern const struct native_version native_base;
const struct native_version native_base = NATIVE_VERSION(BASE_NAME, is_here);
