/* The 8- and 4-bit float formats, by their parameters. */
#include <assert.h>
#include <math.h>

#include "ir/dtype.h"

/* A format: exponent and mantissa bits, bias, and what its top codes mean.
 * SOURCE: the ONNX documents on float8 and float4 ("Float stored in 8 bits");
 * OCP Microscaling formats 1.0 for E2M1 and E8M0. */
struct layout {
	int exponent_bits, mantissa_bits, bias;
	bool has_infinity; /* top exponent, mantissa 0 */
	bool has_negative_zero; /* else 0x80 is the only NaN (FNUZ) */
	double largest;
};

static const struct layout *
layout_of(enum dtype t)
{
	static const struct layout e4m3fn = {4, 3, 7, false, true, 448};
	static const struct layout e4m3fnuz = {4, 3, 8, false, false, 240};
	static const struct layout e5m2 = {5, 2, 15, true, true, 57344};
	static const struct layout e5m2fnuz = {5, 2, 16, false, false, 57344};
	static const struct layout e2m1 = {2, 1, 1, false, true, 6};

	switch (t) {
	case DT_FLOAT8E4M3FN:
		return &e4m3fn;
	case DT_FLOAT8E4M3FNUZ:
		return &e4m3fnuz;
	case DT_FLOAT8E5M2:
		return &e5m2;
	case DT_FLOAT8E5M2FNUZ:
		return &e5m2fnuz;
	default:
		assert(t == DT_FLOAT4E2M1);
		return &e2m1;
	}
}

/* E8M0: a power of two, 2^(code - 127); 255 is NaN. */
static double
scale_value(uint8_t code)
{
	return code == 255 ? (double)NAN : ldexp(1.0, code - 127);
}

static bool
code_is_nan(enum dtype t, uint8_t code)
{
	switch (t) {
	case DT_FLOAT8E4M3FN:
		return (code & 0x7f) == 0x7f;
	case DT_FLOAT8E5M2:
		return (code & 0x7f) > 0x7c;
	case DT_FLOAT8E4M3FNUZ:
	case DT_FLOAT8E5M2FNUZ:
		return code == 0x80;
	default:
		return false;
	}
}

double
small_float_value(enum dtype t, uint8_t code)
{
	const struct layout *l;
	int width, exponent, mantissa;
	double x;

	if (t == DT_FLOAT8E8M0)
		return scale_value(code);
	if (code_is_nan(t, code))
		return (double)NAN;
	l = layout_of(t);
	width = l->exponent_bits + l->mantissa_bits;
	exponent = code >> l->mantissa_bits & ((1 << l->exponent_bits) - 1);
	mantissa = code & ((1 << l->mantissa_bits) - 1);
	if (l->has_infinity && exponent == (1 << l->exponent_bits) - 1)
		x = (double)INFINITY;
	else if (exponent == 0)
		x = ldexp(mantissa, 1 - l->bias - l->mantissa_bits);
	else
		x = ldexp(mantissa + (1 << l->mantissa_bits),
		    exponent - l->bias - l->mantissa_bits);
	return code >> width & 1 ? -x : x;
}

static uint8_t
nan_code(enum dtype t)
{
	switch (t) {
	case DT_FLOAT8E4M3FN:
	case DT_FLOAT8E5M2:
		return 0x7f;
	case DT_FLOAT8E4M3FNUZ:
	case DT_FLOAT8E5M2FNUZ:
		return 0x80;
	case DT_FLOAT8E8M0:
		return 0xff;
	default:
		return 0; /* E2M1 has none */
	}
}

/* Beyond the largest value. */
static uint8_t
overflow_code(enum dtype t, bool infinite, bool saturate)
{
	switch (t) {
	case DT_FLOAT8E4M3FN:
		return saturate ? 0x7e : 0x7f;
	case DT_FLOAT8E5M2:
		return saturate ? 0x7b : 0x7c;
	case DT_FLOAT8E4M3FNUZ:
	case DT_FLOAT8E5M2FNUZ:
		return saturate ? 0x7f : 0x80;
	default:
		(void)infinite;
		return 0x07; /* E2M1 saturates always */
	}
}

/* The power of two that is not below x: scales are rounded up, so that what
 * they scale does not overflow (round_mode "up", the default). */
static uint8_t
scale_code(double x)
{
	int e;
	double m = frexp(fabs(x), &e); /* x = m * 2^e, m in [0.5, 1) */

	if (m == 0)
		return 0;
	e += m > 0.5 ? 0 : -1;
	if (e < -127)
		return 0;
	return e > 127 ? 254 : (uint8_t)(e + 127);
}

uint8_t
small_float_code(enum dtype t, double x, bool saturate)
{
	const struct layout *l;
	int e, least;
	double units;
	uint8_t sign, code;

	if (isnan(x))
		return nan_code(t);
	if (t == DT_FLOAT8E8M0)
		return isinf(x) ? (saturate ? 254 : 255) : scale_code(x);
	l = layout_of(t);
	sign = (uint8_t)(signbit(x) ? 1 << (l->exponent_bits + l->mantissa_bits)
	                            : 0);
	x = fabs(x);
	if (isinf(x)) {
		code = overflow_code(t, true, saturate);
		return code == 0x80 ? code : (uint8_t)(code | sign);
	}
	if (x == 0)
		return l->has_negative_zero ? sign : 0;
	frexp(x, &e);
	least = 1 - l->bias; /* exponent of the smallest normal number */
	e = e - 1 < least ? least : e - 1;
	units = rint(ldexp(x, l->mantissa_bits - e)); /* to nearest even */
	if (ldexp(units, e - l->mantissa_bits) > l->largest) {
		code = overflow_code(t, false, saturate);
		return code == 0x80 ? code : (uint8_t)(code | sign);
	}
	/* units carries the hidden bit, so it also carries into the exponent */
	code = (uint8_t)((e - least) * (1 << l->mantissa_bits) + (int)units);
	if (code == 0 && !l->has_negative_zero)
		return 0;
	return (uint8_t)(code | sign);
}
