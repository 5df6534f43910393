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
