#include "costmodel/icache_flush.h"

/* 4,608 different steps, each with a branch that depends on the data: about
 * 210 KB of code run once from end to end. Step k is
 *	x = x odd ? x * 3 + k : (x / 2) ^ k;
 *	if (x & 16) y += x ^ k;
 * The assembler repeats it where we know its words: a compiler takes 40 s to
 * optimise so many, and a loop in C would fill no cache. */
#if defined(__GNUC__) && defined(__x86_64__)
uint64_t
icache_flush(uint64_t x)
{
	uint64_t y = 0, t;

	__asm__(".set icache_flush_k, 0\n"
	        ".rept 4608\n"
	        "	test $1, %b0\n"
	        "	je 1f\n"
	        "	lea icache_flush_k(%0, %0, 2), %0\n"
	        "	jmp 2f\n"
	        "1:	shr %0\n"
	        "	xor $icache_flush_k, %0\n"
	        "2:	mov %0, %2\n"
	        "	xor $icache_flush_k, %2\n"
	        "	add %1, %2\n"
	        "	test $16, %b0\n"
	        "	cmovne %2, %1\n"
	        "	.set icache_flush_k, icache_flush_k + 1\n"
	        ".endr"
	        : "+q"(x), "+r"(y), "=&r"(t)
	        :
	        : "cc");
	return x + y;
}
#elif defined(__GNUC__) && defined(__aarch64__)
uint64_t
icache_flush(uint64_t x)
{
	uint64_t y = 0, t;

	__asm__(".set icache_flush_k, 0\n"
	        ".rept 4608\n"
	        "	movz %2, #icache_flush_k\n"
	        "	tbz %0, #0, 1f\n"
	        "	add %0, %0, %0, lsl #1\n"
	        "	add %0, %0, %2\n"
	        "	b 2f\n"
	        "1:	eor %0, %2, %0, lsr #1\n"
	        "2:	eor %2, %0, %2\n"
	        "	add %2, %1, %2\n"
	        "	tst %0, #16\n"
	        "	csel %1, %2, %1, ne\n"
	        "	.set icache_flush_k, icache_flush_k + 1\n"
	        ".endr"
	        : "+r"(x), "+r"(y), "=&r"(t)
	        :
	        : "cc");
	return x + y;
}
#else
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
icache_flush(uint64_t x)
{
	uint64_t y = 0;

	STEPS1024(UINT64_C(0))
	STEPS1024(UINT64_C(1024))
	STEPS1024(UINT64_C(2048))
	STEPS1024(UINT64_C(3072))
	STEPS256(UINT64_C(4096))
	STEPS256(UINT64_C(4352))
	return x + y;
}
#endif
