/* The calling thread's mode of floating point: rounding, what becomes of
 * denormals, traps. */
#ifndef IR_BASE_FLOAT_MODE_H
#define IR_BASE_FLOAT_MODE_H

#include <stdint.h>

/* The bits of it by which denormals are zeros, read and written. */
#if defined(__SSE__)
#include <xmmintrin.h>

#define FLOAT_ZEROS UINT32_C(0x8040)

/* Without the flags that operations raise. */
static inline uint32_t
float_mode(void)
{
	return _mm_getcsr() & ~UINT32_C(0x3f);
}

static inline void
float_mode_set(uint32_t mode)
{
	_mm_setcsr(mode);
}
#elif defined(__aarch64__)
#define FLOAT_ZEROS (UINT32_C(1) << 24) /* FPCR.FZ */

static inline uint32_t
float_mode(void)
{
	uint64_t mode;

	__asm__ volatile("mrs %0, fpcr" : "=r"(mode));
	return (uint32_t)mode;
}

static inline void
float_mode_set(uint32_t mode)
{
	__asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)mode));
}
#else
#define FLOAT_ZEROS UINT32_C(0)

static inline uint32_t
float_mode(void)
{
	return 0;
}

static inline void
float_mode_set(uint32_t mode)
{
	(void)mode;
}
#endif

/* Denormals are zeros from now on; the mode before. */
static inline uint32_t
float_denormals_off(void)
{
	const uint32_t mode = float_mode();

	float_mode_set(mode | FLOAT_ZEROS);
	return mode;
}

#endif
