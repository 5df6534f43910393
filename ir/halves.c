#include "ir/halves.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

/* Loops over so many become SIMD. */
#define LANES 16

/* ---- float16, by the processor's own instructions; how many ---- */

#ifdef __x86_64__
#define WITH_HALVES __attribute__((target("avx,f16c")))

static bool
ask_processor(void)
{
	unsigned a, b, c = 0, d;

	return __builtin_cpu_supports("avx2") && __get_cpuid(1, &a, &b, &c, &d)
	    && (c & bit_F16C);
}

/* Asked for once, 1 yes, 2 no: a virtual machine's host answers, which takes as long as
 * widening tens of thousands of numbers. */
static bool
has_halves(void)
{
	static atomic_uint known;
	unsigned answer = atomic_load_explicit(&known, memory_order_relaxed);

	if (!answer) {
		answer = ask_processor() ? 1 : 2;
		atomic_store_explicit(&known, answer, memory_order_relaxed);
	}
	return answer == 1;
}

WITH_HALVES static void
widen_many(const unsigned char *from, size_t n, float *to)
{
	for (size_t i = 0; i < n; i += 8)
		_mm256_storeu_ps(to + i,
		    _mm256_cvtph_ps(_mm_loadu_si128(
		        (const __m128i_u *)(const void *)(from + 2 * i))));
}

WITH_HALVES static void
narrow_many(const float *from, size_t n, unsigned char *to)
{
	for (size_t i = 0; i < n; i += 8)
		_mm_storeu_si128((__m128i_u *)(void *)(to + 2 * i),
		    _mm256_cvtps_ph(_mm256_loadu_ps(from + i),
		        _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#elif defined __aarch64__
static bool
has_halves(void)
{
	return true;
}

static void
widen_many(const unsigned char *from, size_t n, float *to)
{
	for (size_t i = 0; i < n; i += LANES) {
		__fp16 x[LANES];

		memcpy(x, from + 2 * i, sizeof x);
		for (size_t k = 0; k < LANES; k++)
			to[i + k] = (float)x[k];
	}
}

static void
narrow_many(const float *from, size_t n, unsigned char *to)
{
	for (size_t i = 0; i < n; i += LANES) {
		__fp16 x[LANES];

		for (size_t k = 0; k < LANES; k++)
			x[k] = (__fp16)from[i + k];
		memcpy(to + 2 * i, x, sizeof x);
	}
}
#else
static bool
has_halves(void)
{
	return false;
}

static void
widen_many(const unsigned char *from, size_t n, float *to)
{
	(void)from, (void)n, (void)to;
}

static void
narrow_many(const float *from, size_t n, unsigned char *to)
{
	(void)from, (void)n, (void)to;
}
#endif

/* ---- both, wherever we are ---- */

static float
as_float(enum dtype held, uint16_t h)
{
	return held == DT_FLOAT16 ? f16_to_f32(h) : bf16_to_f32(h);
}

static void
widen_bfloats(const unsigned char *from, size_t n, float *to)
{
	for (size_t i = 0; i < n; i += LANES) {
		uint16_t x[LANES];
		uint32_t bits[LANES];

		memcpy(x, from + 2 * i, sizeof x);
		for (size_t k = 0; k < LANES; k++)
			bits[k] = (uint32_t)x[k] << 16;
		memcpy(to + i, bits, sizeof bits);
	}
}

static void
narrow_bfloats(const float *from, size_t n, unsigned char *to)
{
	for (size_t i = 0; i < n; i += LANES) {
		uint16_t x[LANES];
		uint32_t b[LANES];

		memcpy(b, from + i, sizeof b);
		for (size_t k = 0; k < LANES; k++) {
			uint32_t nan = (b[k] & 0x7fffffff) > 0x7f800000;
			uint32_t near = b[k] + 0x7fff + (b[k] >> 16 & 1);

			x[k] = (uint16_t)(nan ? b[k] >> 16 | 0x40 : near >> 16);
		}
		memcpy(to + 2 * i, x, sizeof x);
	}
}

/* Of so many the first are done many at a time. */
static size_t
whole_lanes(enum dtype held, size_t n)
{
	assert(dtype_is_half(held));
	return held == DT_BFLOAT16 || has_halves() ? n - n % LANES : 0;
}

void
halves_widen(enum dtype held, const void *from, size_t n, float *to)
{
	const unsigned char *at = from;
	const size_t many = n < LANES ? 0 : whole_lanes(held, n);

	if (held == DT_BFLOAT16)
		widen_bfloats(at, many, to);
	else
		widen_many(at, many, to);
	for (size_t i = many; i < n; i++) {
		uint16_t h;

		memcpy(&h, at + 2 * i, sizeof h);
		to[i] = as_float(held, h);
	}
}

void
halves_narrow(enum dtype held, const float *from, size_t n, void *to)
{
	unsigned char *at = to;
	const size_t many = n < LANES ? 0 : whole_lanes(held, n);

	if (held == DT_BFLOAT16)
		narrow_bfloats(from, many, at);
	else
		narrow_many(from, many, at);
	for (size_t i = many; i < n; i++) {
		const uint16_t h = held == DT_FLOAT16 ? f32_to_f16(from[i])
		                                      : f32_to_bf16(from[i]);

		memcpy(at + 2 * i, &h, sizeof h);
	}
}
