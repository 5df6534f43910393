/* exp, tanh, erf and what is made of them, a vector at a time. Each makes NaN of
 * NaN, and its limits of infinities. */
#ifndef TARGETS_NATIVE_VECTOR_FUNCTIONS_H
#define TARGETS_NATIVE_VECTOR_FUNCTIONS_H

#include <float.h>
#include <math.h>

#include "targets/native/vector.h"

#define LOG2_E 1.44269504f
#define ROUNDS 12582912.f /* 1.5 * 2^23: what is added to it is rounded */

/* 2^n, n being the whole number that was rounded by adding `magic`, which gave x; and
 * 2^r, |r| <= 1/2, within 2^-23 of itself (SOURCE: its series). */
ALWAYS vec
vec_exp2_of(vec x, vec r)
{
	vec p = r * vec_all(1.5403530394e-4f) + vec_all(1.3333558146e-3f);

	p = p * r + vec_all(9.6181291076e-3f);
	p = p * r + vec_all(5.5504108665e-2f);
	p = p * r + vec_all(2.4022650696e-1f);
	p = p * r + vec_all(6.9314718056e-1f);
	p = p * r + vec_all(1);
	return p * (vec)(((bits)x - bits_all(0x4b400000 - 127)) << 23);
}

/* 2^x, within 2^-22 of itself: 0 far below and infinite far above, where others than
 * AVX-512 are from 127.5 on. */
ALWAYS vec
vec_exp2(vec x)
{
#if NATIVE_WIDTH == 16 && defined(__AVX512DQ__)
	/* the part above a whole number; its polynomial is ours, by least squares
	 * weighted until the largest error was least */
	const vec r = _mm512_reduce_ps(x, 1);
	vec p = r * vec_all(1.86713007e-3f) + vec_all(9.01703031e-3f);

	p = p * r + vec_all(5.57999131e-2f);
	p = p * r + vec_all(2.4016445e-1f);
	p = p * r + vec_all(6.93151312e-1f);
	return _mm512_scalef_ps(p * r + vec_all(1), x);
#else
	const vec magic = vec_all(ROUNDS);
	vec n;

	x = vec_ceil_at(vec_floor_at(x, -127), 128);
	n = x + magic;
	return vec_exp2_of(n, x - (n - magic));
#endif
}

/* e^x, within 2^-22 and |x| 2^-23 of itself. */
ALWAYS vec
vec_exp(vec x)
{
	return vec_exp2(x * vec_all(LOG2_E));
}

/* e^x within 3e-7 of itself up to |x| = 20, 1.3e-6 beyond; from -87 down 0, and finite
 * as far as floats are: one factor of 2 is left for the end. */
ALWAYS vec
vec_exp_whole(vec x)
{
	const vec magic = vec_all(ROUNDS), one = vec_all(1);
	vec n;

	x = vec_ceil_at(vec_floor_at(x, -87.33f), 88.8f);
	n = x * vec_all(LOG2_E) + magic;
	return vec_exp2_of(n - one, x * vec_all(LOG2_E) - (n - magic))
	    * vec_all(2);
}

/* The natural logarithm: of a denormal, too, that of 0. SOURCE: Cephes' logf, within 2
 * units in the last place. */
ALWAYS vec
vec_log(vec x)
{
	const bits small = x < vec_all(FLT_MIN), none = x < vec_all(0);
	const bits huge = x > vec_all(FLT_MAX), nan = x != x;
	const vec other = vec_choose(none, vec_all(NAN), vec_all(-INFINITY));
	vec m = (vec)(((bits)x & bits_all(0x7fffff)) | bits_all(0x3f000000));
	vec e = __builtin_convertvector(((bits)x >> 23) - bits_all(126), vec);
	const bits low = m < vec_all(0.70710678f);
	vec p, z;

	e -= vec_only(low, vec_all(1));
	m += vec_only(low, m) - vec_all(1);
	z = m * m;
	p = m * vec_all(7.0376836292e-2f) + vec_all(-1.1514610310e-1f);
	p = p * m + vec_all(1.1676998740e-1f);
	p = p * m + vec_all(-1.2420140846e-1f);
	p = p * m + vec_all(1.4249322787e-1f);
	p = p * m + vec_all(-1.6668057665e-1f);
	p = p * m + vec_all(2.0000714765e-1f);
	p = p * m + vec_all(-2.4999993993e-1f);
	p = p * m + vec_all(3.3333331174e-1f);
	p = p * m * z + e * vec_all(-2.12194440e-4f) - z * vec_all(0.5f);
	p = m + p + e * vec_all(0.693359375f);
	return vec_choose(small, other, vec_choose(huge | nan, x, p));
}

ALWAYS vec
vec_sqrt(vec x)
{
#if NATIVE_WIDTH == 16 && defined(__AVX512F__)
	return _mm512_sqrt_ps(x);
#elif NATIVE_WIDTH == 8 && defined(__AVX__)
	return _mm256_sqrt_ps(x);
#else
	for (size_t i = 0; i < NATIVE_WIDTH; i++)
		x[i] = __builtin_sqrtf(x[i]);
	return x;
#endif
}

/* y / (1 + e^-x): 0 at -infinity, unless y is there, too. */
ALWAYS vec
vec_gated(vec y, vec x)
{
	return y / (vec_all(1) + vec_exp(-x));
}

/* 1 - 2 / (1 + e^2|x|), and near 0, where that cancels, its series. */
ALWAYS vec
vec_tanh(vec x)
{
	const vec y = vec_abs(x), s = x * x;
	const bits sign = (bits)x & bits_all(INT32_MIN);
	vec far = vec_all(1) - vec_all(2) / (vec_all(1) + vec_exp(y + y));
	vec p = s * vec_all(-5.70498872745e-3f) + vec_all(2.06390887954e-2f);

	p = p * s + vec_all(-5.37397155531e-2f);
	p = p * s + vec_all(1.33314422036e-1f);
	p = p * s + vec_all(-3.33332819422e-1f);
	p = p * s * x + x;
	far = (vec)((bits)far | sign);
	return vec_choose(y < vec_all(0.625f), p, far);
}

/* SOURCE: Abramowitz and Stegun, 7.1.26: within 1.5e-7. */
ALWAYS vec
vec_erf(vec x)
{
	const vec y = vec_abs(x);
	const bits sign = (bits)x & bits_all(INT32_MIN);
	const vec t = vec_all(1) / (vec_all(1) + y * vec_all(0.3275911f));
	vec p = t * vec_all(1.061405429f) + vec_all(-1.453152027f);

	p = p * t + vec_all(1.421413741f);
	p = p * t + vec_all(-0.284496736f);
	p = p * t + vec_all(0.254829592f);
	p = vec_all(1) - p * t * vec_exp(-y * y);
	return (vec)((bits)p | sign);
}

#endif
