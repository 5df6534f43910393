#include "targets/bytes.h"

#include <string.h>

#define LANES 8 /* of least and greatest, found side by side */

void
bytes_quantize(void *restrict to, const float *restrict x, size_t n,
    const struct byte_code *code)
{
	const struct byte_limits l = byte_limits(code->is_unsigned);
	const float scale = code->scale, zero = code->zero;
	uint8_t *restrict byte = to;

	for (size_t i = 0; i < n; i++) {
		const float y = x[i] / scale;
		const float near = byte_near(y, zero, l);

		/* NaN is nothing's equal */
		byte[i] = (uint8_t)(int32_t)(y == y ? near : 0);
	}
}

void
bytes_dequantize(
    float *to, const void *from, size_t n, const struct byte_code *code)
{
	const float scale = code->scale, zero = code->zero;
	const uint8_t *u = from;
	const int8_t *s = from;

	if (code->is_unsigned)
		for (size_t i = 0; i < n; i++)
			to[i] = ((float)u[i] - zero) * scale;
	else
		for (size_t i = 0; i < n; i++)
			to[i] = ((float)s[i] - zero) * scale;
}

void
bytes_widen(float *to, const void *from, size_t n, size_t step,
    const struct byte_code *code)
{
	const float zero = code->zero;
	const uint8_t *u = from;
	const int8_t *s = from;

	if (step == 1 && code->is_unsigned)
		for (size_t i = 0; i < n; i++)
			to[i] = (float)u[i] - zero;
	else if (step == 1)
		for (size_t i = 0; i < n; i++)
			to[i] = (float)s[i] - zero;
	else
		for (size_t i = 0; i < n; i++)
			to[i] = (code->is_unsigned ? (float)u[i * step]
			                           : (float)s[i * step])
			    - zero;
}

void
floats_range(const float *x, size_t n, float *low, float *high)
{
	float l[LANES], h[LANES];

	for (size_t k = 0; k < LANES; k++) {
		l[k] = *low;
		h[k] = *high;
	}
	for (; n >= LANES; n -= LANES, x += LANES)
		for (size_t k = 0; k < LANES; k++) {
			l[k] = x[k] < l[k] ? x[k] : l[k];
			h[k] = x[k] > h[k] ? x[k] : h[k];
		}
	for (size_t k = 0; k < LANES; k++) {
		const float one = k < n ? x[k] : 0;

		l[k] = k < n && one < l[k] ? one : l[k];
		h[k] = k < n && one > h[k] ? one : h[k];
		*low = l[k] < *low ? l[k] : *low;
		*high = h[k] > *high ? h[k] : *high;
	}
}

/* ---- pooling ---- */

/* The greatest of the rows under a window, column by column; with the sign bit
 * flipped where bytes are signed, so that they compare as unsigned ones. */
static void
rows_max(uint8_t *row, const uint8_t *from, size_t y, uint8_t flip,
    const struct byte_pool *p)
{
	const size_t width = p->in[1];

	memset(row, 0, width);
	for (int64_t k = 0; k < p->kernel[0]; k++) {
		const int64_t at = (int64_t)y * p->stride[0] - p->before[0]
		    + k * p->dilation[0];
		const uint8_t *x;

		if (at < 0 || at >= (int64_t)p->in[0])
			continue;
		x = from + (size_t)at * width;
		for (size_t i = 0; i < width; i++) {
			const uint8_t b = x[i] ^ flip;

			row[i] = b > row[i] ? b : row[i];
		}
	}
}

void
bytes_max_pool(
    uint8_t *to, const uint8_t *from, uint8_t *row, const struct byte_pool *p)
{
	const uint8_t flip = p->is_unsigned ? 0 : 0x80;

	for (size_t y = 0; y < p->out[0]; y++) {
		rows_max(row, from, y, flip, p);
		for (size_t x = 0; x < p->out[1]; x++) {
			int64_t at = (int64_t)x * p->stride[1] - p->before[1];
			uint8_t best = 0;

			for (int64_t k = 0; k < p->kernel[1];
			     k++, at += p->dilation[1])
				if (at >= 0 && at < (int64_t)p->in[1]
				    && row[at] > best)
					best = row[at];
			*to++ = best ^ flip;
		}
	}
}
