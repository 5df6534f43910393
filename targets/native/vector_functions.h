/* exp, tanh, erf and what is made of them, a vector at a time. Each makes NaN of
 * NaN, and its limits of infinities. */
#ifndef TARGETS_NATIVE_VECTOR_FUNCTIONS_H
#define TARGETS_NATIVE_VECTOR_FUNCTIONS_H

#include <math.h>

#include "targets/native/vector.h"

/* e^x = 2^n e^r, |r| <= ln 2 / 2; the polynomial is Cephes' expf, within 2 units in
 * the last place. For what follows: from 88.37 on it is infinite, and never 0. */
ALWAYS vec
vec_exp(vec x)
{
	const vec magic = vec_all(12582912.f); /* 1.5 * 2^23: rounds */
	const bits most = x > vec_all(88.37f);
	vec n, r, p;
	bits e;

	x = vec_floor_at(x, -87.3f);
	n = x * vec_all(1.44269504f) + magic;
	e = (bits)n;
	n -= magic;
	r = x - n * vec_all(0.693359375f);
	r = r - n * vec_all(-2.12194440e-4f);
	p = r * vec_all(1.9875691500e-4f) + vec_all(1.3981999507e-3f);
	p = p * r + vec_all(8.3334519073e-3f);
	p = p * r + vec_all(4.1665795894e-2f);
	p = p * r + vec_all(1.6666665459e-1f);
	p = p * r + vec_all(5.0000001201e-1f);
	p = p * (r * r) + r + vec_all(1);
	p = p * (vec)((e - bits_all(0x4b400000 - 127)) << 23);
	return vec_choose(most, vec_all(INFINITY), p);
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
