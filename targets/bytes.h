/* 8-bit values in bulk, float by float what the operators' text says: real =
 * scale * (byte - zero). */
#ifndef TARGETS_BYTES_H
#define TARGETS_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What n bytes mean. */
struct byte_code {
	float scale, zero;
	bool is_unsigned;
};

struct byte_limits {
	float low, high;
};

static inline struct byte_limits
byte_limits(bool is_unsigned)
{
	return is_unsigned ? (struct byte_limits){0, 255}
	                   : (struct byte_limits){-128, 127};
}

/* Of n of them. Inlined, so that it is made for the caller's vectors. */
static inline __attribute__((always_inline)) int32_t
byte_total(const void *bytes, size_t n, bool is_unsigned)
{
	const uint8_t *u = bytes;
	const int8_t *s = bytes;
	int32_t sum = 0;

	if (is_unsigned)
		for (size_t i = 0; i < n; i++)
			sum += u[i];
	else
		for (size_t i = 0; i < n; i++)
			sum += s[i];
	return sum;
}

static inline float
byte_between(float x, float low, float high)
{
	x = x < low ? low : x;
	return x > high ? high : x;
}

#define BYTE_FAR 1024.0f /* further than any two bytes are apart */
/* Adding and taking away 1.5 * 2^23 rounds to whole numbers, ties to even. */
#define BYTE_ROUNDER 12582912.0f

/* round(y) + zero, ties to even, saturated. */
static inline float
byte_near(float y, float zero, struct byte_limits l)
{
	y = byte_between(y, -BYTE_FAR, BYTE_FAR);
	y = (y + BYTE_ROUNDER) - BYTE_ROUNDER + zero;
	return byte_between(y, l.low, l.high);
}

/* round(x / scale) + zero, ties to even, saturated; NaN is 0. scale: positive
 * and finite. */
void bytes_quantize(void *restrict to, const float *restrict x, size_t n,
    const struct byte_code *code);
void bytes_dequantize(
    float *to, const void *from, size_t n, const struct byte_code *code);
/* Every step-th byte, less the zero. */
void bytes_widen(float *to, const void *from, size_t n, size_t step,
    const struct byte_code *code);

/* The least and the greatest of them and of what is there; NaN is none. */
void floats_range(const float *x, size_t n, float *low, float *high);

/* A window over a plane: what it does in either dimension. */
struct byte_pool {
	size_t in[2], out[2];
	int64_t kernel[2], stride[2], dilation[2], before[2];
	bool is_unsigned;
};

/* The greatest under each window; the least value where it sees no element.
 * row: room for in[1] bytes. */
void bytes_max_pool(
    uint8_t *to, const uint8_t *from, uint8_t *row, const struct byte_pool *p);

#endif
