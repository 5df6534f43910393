#include "costmodel/code_sweep.h"

/* 4,096 different steps, each with a branch that depends on the data: about
 * 100 KB of code run once from end to end. */
#define STEP(k) \
	x = (x & 1) ? x * 3 + (k) : (x >> 1) ^ (k); \
	if (x & UINT64_C(0x10)) \
		y += x ^ (k);
#define STEPS4(k) STEP(k) STEP((k) + 1) STEP((k) + 2) STEP((k) + 3)
#define STEPS16(k) STEPS4(k) STEPS4((k) + 4) STEPS4((k) + 8) STEPS4((k) + 12)
#define STEPS64(k) \
	STEPS16(k) STEPS16((k) + 16) STEPS16((k) + 32) STEPS16((k) + 48)
#define STEPS256(k) \
	STEPS64(k) STEPS64((k) + 64) STEPS64((k) + 128) STEPS64((k) + 192)
#define STEPS1024(k) \
	STEPS256(k) STEPS256((k) + 256) STEPS256((k) + 512) STEPS256((k) + 768)

uint64_t
code_sweep(uint64_t x)
{
	uint64_t y = 0;

	STEPS1024(UINT64_C(0))
	STEPS1024(UINT64_C(1024))
	STEPS1024(UINT64_C(2048))
	STEPS1024(UINT64_C(3072))
	return x + y;
}
