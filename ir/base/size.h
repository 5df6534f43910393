/* Checked arithmetic: every size derived from a file goes through here before
 * it reaches an allocation. */
#ifndef IR_BASE_SIZE_H
#define IR_BASE_SIZE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* *out = a * b; false (and *out untouched) when it does not fit. */
static inline bool
size_mul(size_t a, size_t b, size_t *out)
{
	if (b != 0 && a > SIZE_MAX / b)
		return false;
	*out = a * b;
	return true;
}

/* *out = a + b; false (and *out untouched) when it does not fit. */
static inline bool
size_add(size_t a, size_t b, size_t *out)
{
	if (a > SIZE_MAX - b)
		return false;
	*out = a + b;
	return true;
}

/* Smallest multiple of `to` (a power of two) that is >= n; n must leave room. */
static inline size_t
size_round_up(size_t n, size_t to)
{
	return (n + to - 1) & ~(to - 1);
}

/* *out = a * b in int64; false when it does not fit. For ONNX dims. */
static inline bool
i64_mul(int64_t a, int64_t b, int64_t *out)
{
	if (a > 0 ? (b > 0 ? a > INT64_MAX / b : b < INT64_MIN / a)
	          : (b > 0 ? a < INT64_MIN / b : (a != 0 && b < INT64_MAX / a)))
		return false;
	*out = a * b;
	return true;
}

/* *out = a + b in int64; false when it does not fit. */
static inline bool
i64_add(int64_t a, int64_t b, int64_t *out)
{
	if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b)
		return false;
	*out = a + b;
	return true;
}

/* floor(size * scale), the product rounded to float: 0.7 makes 7 of 10.
 * SOURCE: ONNX's shape inference and ONNX Runtime. */
static inline double
size_scaled(int64_t size, double scale)
{
	if (scale == 1)
		return (double)size;
	return floor((double)(float)((double)size * scale));
}

#endif
