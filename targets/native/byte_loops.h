/* What is done to bytes that stand for numbers (targets/quant.h), without making
 * numbers of them in memory. */
#ifndef TARGETS_NATIVE_BYTE_LOOPS_H
#define TARGETS_NATIVE_BYTE_LOOPS_H

#include <stddef.h>
#include <stdint.h>

#include "targets/bytes.h"

/* to[i] = table[from[i]] */
typedef void bytes_table_run(uint8_t *restrict to, const uint8_t *restrict from,
    size_t n, const uint8_t *table);

/* Where codes follow a line: to = round((from - from_zero) 2^shift factor / 2^15)
 * + to_zero, saturated, halves upward. */
struct byte_line {
	int16_t from_zero, factor, to_zero;
	uint8_t shift; /* at most 7 */
	bool from_unsigned, to_unsigned;
};

/* So many rows of n bytes, which lie apart. */
struct table_rows {
	size_t n, rows, to_step, from_step;
	const struct byte_line *line; /* says what the table says; or NULL */
};
/* As bytes_table_run, row by row. */
typedef void bytes_table_rows_run(uint8_t *restrict to,
    const uint8_t *restrict from, const struct table_rows *r,
    const uint8_t *table);

/* to = round(from * scale + shift) + zero of each channel, saturated, and no less
 * than `least`; what is rounded is less than 2^22. */
struct byte_channels {
	const float *scale, *shift; /* [channels] */
	float zero, least;
	bool from_unsigned, to_unsigned;
};
/* Rows of all n channels, one behind the other. */
typedef void bytes_channels_run(uint8_t *restrict to,
    const uint8_t *restrict from, size_t rows, size_t n,
    const struct byte_channels *c);

enum byte_operation { BYTES_ADD, BYTES_SUB, BYTES_MUL, NBYTE_OPERATIONS };

/* Two tensors of bytes and their result. */
struct byte_pair {
	enum byte_operation operation;
	struct byte_code a, b, y;
	/* The second is read along with the first (column 1), or one byte goes
	 * with n of the first. */
	bool one;
};
typedef void bytes_pair_run(uint8_t *restrict to, const uint8_t *restrict a,
    const uint8_t *restrict b, size_t n, const struct byte_pair *p);

/* sum[k] += from[k], for each of `rows` rows of n bytes */
typedef void bytes_sum_run(int32_t *restrict sum, const uint8_t *restrict from,
    size_t rows, size_t n, bool is_unsigned);

/* The least and the greatest, with what is there; NaN is none. */
typedef void floats_range_run(
    const float *restrict x, size_t n, float *low, float *high);
/* As bytes_quantize(). */
typedef void floats_quantize_run(uint8_t *restrict to, const float *restrict x,
    size_t n, const struct byte_code *code);
/* As bytes_dequantize(). */
typedef void bytes_floats_run(float *restrict to, const uint8_t *restrict from,
    size_t n, const struct byte_code *code);
/* `instead` for NaN. */
typedef void floats_number_run(
    float *restrict to, const float *restrict x, size_t n, float instead);

#endif
