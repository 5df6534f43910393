/* Processors with AVX-512: 32 registers of 16 floats. */
#define NATIVE_WIDTH 16
#define NATIVE_GROUP 12
#include "targets/native/vector_version.h"

static bool
is_here(void)
{
	return __builtin_cpu_supports("avx512f")
	    && __builtin_cpu_supports("avx512bw")
	    && __builtin_cpu_supports("avx512dq")
	    && __builtin_cpu_supports("avx512vl");
}

extern const struct native_version native_avx512;
const struct native_version native_avx512 = NATIVE_VERSION("avx512", is_here);
