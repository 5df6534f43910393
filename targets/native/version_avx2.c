/* Processors with AVX2 and FMA: 16 registers of 8 floats. */
#define NATIVE_WIDTH 8
#define NATIVE_GROUP 6
#include "targets/native/vector_version.h"

static bool
is_here(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

extern const struct native_version native_avx2;
const struct native_version native_avx2 = NATIVE_VERSION("avx2", is_here);
