#include "ir/dtype.h"

#include <string.h>

#include "ir/base/size.h"

static const struct {
	const char *name;
	uint32_t bits;
} info[NDTYPE] = {
#define DTYPE(name, number, bits, words) [number] = {words, bits},
#include "ir/dtype.def"
#undef DTYPE
};

uint32_t
dtype_bits(enum dtype t)
{
	return (unsigned)t < NDTYPE ? info[t].bits : 0;
}

const char *
dtype_name(enum dtype t)
{
	return (unsigned)t < NDTYPE ? info[t].name : "?";
}

enum dtype
dtype_find(const char *name)
{
	for (unsigned t = 0; t < NDTYPE; t++)
		if (strcmp(info[t].name, name) == 0)
			return (enum dtype)t;
	return DT_UNDEFINED;
}

bool
dtype_is_half(enum dtype t)
{
	return t == DT_FLOAT16 || t == DT_BFLOAT16;
}

bool
dtype_is_float(enum dtype t)
{
	switch (t) {
	case DT_FLOAT:
	case DT_DOUBLE:
	case DT_FLOAT16:
	case DT_BFLOAT16:
	case DT_FLOAT8E4M3FN:
	case DT_FLOAT8E4M3FNUZ:
	case DT_FLOAT8E5M2:
	case DT_FLOAT8E5M2FNUZ:
	case DT_FLOAT4E2M1:
	case DT_FLOAT8E8M0:
		return true;
	default:
		return false;
	}
}

bool
dtype_is_signed(enum dtype t)
{
	return t == DT_INT8 || t == DT_INT16 || t == DT_INT32 || t == DT_INT64
	    || t == DT_INT4 || t == DT_INT2;
}

bool
dtype_is_integer(enum dtype t)
{
	return dtype_is_signed(t) || t == DT_UINT8 || t == DT_UINT16
	    || t == DT_UINT32 || t == DT_UINT64 || t == DT_UINT4
	    || t == DT_UINT2;
}

bool
dtype_is_byte(enum dtype t)
{
	return t == DT_INT8 || t == DT_UINT8;
}

bool
dtype_bytes(enum dtype t, size_t n, size_t *bytes)
{
	size_t bits;

	if (dtype_bits(t) == 0 || !size_mul(n, dtype_bits(t), &bits)
	    || bits > SIZE_MAX - 7)
		return false;
	*bytes = (bits + 7) / 8;
	return true;
}

static float
bits_to_float(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof f);
	return f;
}

static uint32_t
float_to_bits(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof bits);
	return bits;
}

float
f16_to_f32(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = h & 0x7fffu;

	if (rest >= 0x7c00) /* infinity or NaN */
		return bits_to_float(sign | 0x7f800000 | (rest & 0x3ff) << 13);
	if (rest >= 0x0400) /* normal: rebias the exponent by 127 - 15 */
		return bits_to_float(sign | ((rest << 13) + 0x38000000));
	/* subnormal: rest * 2^-24 is exact in float */
	return bits_to_float(sign | float_to_bits((float)rest * 0x1p-24f));
}

uint16_t
f32_to_f16(float f)
{
	uint32_t bits = float_to_bits(f), rest = bits & 0x7fffffff, half;
	uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);

	if (rest > 0x7f800000) /* NaN stays NaN, quiet */
		return (uint16_t)(sign | 0x7e00 | (rest >> 13 & 0x1ff));
	if (rest >= 0x477ff000) /* rounds to 65536 or more */
		return sign | 0x7c00;
	if (rest < 0x38800000) { /* below 2^-14: let the FPU round at 2^-24 */
		float scaled = bits_to_float(rest) + 0x1p-1f;

		return (uint16_t)(sign
		    | (uint16_t)(float_to_bits(scaled) - 0x3f000000));
	}
	half = rest - 0x38000000;
	half += 0xfff + (half >> 13 & 1); /* to nearest, ties to even */
	return (uint16_t)(sign | (uint16_t)(half >> 13));
}

float
bf16_to_f32(uint16_t h)
{
	return bits_to_float((uint32_t)h << 16);
}

uint16_t
f32_to_bf16(float f)
{
	uint32_t bits = float_to_bits(f);

	if ((bits & 0x7fffffff) > 0x7f800000)
		return (uint16_t)(bits >> 16 | 0x40);
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
