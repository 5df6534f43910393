/* exp, tanh, erf and what is made of them, a vector at a time. Each makes NaN of
 * NaN, and its limits of infinities. */
#ifndef TARGETS_NATIVE_VECTOR_FUNCTIONS_H
#define TARGETS_NATIVE_VECTOR_FUNCTIONS_H

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

/* e^x, within 3e-7 of itself up to |x| = 20 and 1.3e-6 where it is any number. From
 * 88.8 on it is infinite. */
#if NATIVE_WIDTH == 16 && defined(__AVX512F__)
/* 2^n 2^r, n whole and 0 <= r < 1, within 8e-8; infinities have no r. */
ALWAYS vec
vec_exp(vec x)
{
	const vec log = vec_all(LOG2_E);
	const vec n = _mm512_roundscale_ps(
	    x * log, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
	const vec r = _mm512_max_ps(_mm512_fmsub_ps(x, log, n), vec_all(-1));
	vec p = r * vec_all(1.8775766645e-3f) + vec_all(8.9893401164e-3f);

	p = p * r + vec_all(5.5826318032e-2f);
	p = p * r + vec_all(2.4015361705e-1f);
	p = p * r + vec_all(6.9315307320e-1f);
	p = p * r + vec_all(9.9999992506e-1f);
	return _mm512_scalef_ps(p, n);
}
#else
ALWAYS vec
vec_exp(vec x)
{
	const vec magic = vec_all(ROUNDS);
	vec n;

	x = vec_ceil_at(vec_floor_at(x, -87.33f), 88.8f);
	n = x * vec_all(LOG2_E) + magic;
	return vec_exp2_of(n, x * vec_all(LOG2_E) - (n - magic));
}
#endif

/* 2^x of no more than 0 or hardly, which from -127 down is 0; NaN of NaN. */
ALWAYS vec
vec_exp2_part(vec x)
{
	const vec magic = vec_all(ROUNDS);
	vec n;

	x = vec_floor_at(x, -127);
	n = x + magic;
	return vec_exp2_of(n, x - (n - magic));
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
