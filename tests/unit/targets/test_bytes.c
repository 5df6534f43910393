/* Loops over bytes against what the operators' text says, one by one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/support.h"
#include "targets/bytes.h"

#define N 1027 /* vectors and a rest */

static uint8_t
quantized(float x, const struct byte_code *c)
{
	const double low = c->is_unsigned ? 0 : -128;
	const double high = c->is_unsigned ? 255 : 127;
	double y = rint((double)(x / c->scale)) + (double)c->zero;

	if (isnan(y))
		return 0;
	y = y < low ? low : y > high ? high : y;
	return (uint8_t)(int32_t)y;
}

static float
any_float(struct rng *r, uint32_t i)
{
	static const float odd[] = {0, 0.5f, -0.5f, 1.5f, 2.5f, 1e30f, -1e30f,
	    1e-40f, 4194303.5f, 8388608, -8388609};

	if (i % 13 == 0)
		return (float)NAN;
	if (i % 17 == 0)
		return i % 2 ? (float)INFINITY : -(float)INFINITY;
	if (i % 3 == 0)
		return odd[i % (sizeof odd / sizeof *odd)];
	return (float)((double)rng_below(r, 100000) / 100 - 500);
}

static void
test_quantize(void **state)
{
	static const float scale[] = {1, 0.5f, 0.0123f, 3, 1e-30f, 1e30f};
	struct rng r = rng_seeded(1);
	float x[N];
	uint8_t got[N];

	(void)state;
	for (uint32_t k = 0; k < 24; k++) {
		const struct byte_code c = {scale[k % 6],
		    k % 2 ? (float)rng_below(&r, 256)
		          : (float)rng_below(&r, 256) - 128,
		    k % 2};

		for (uint32_t i = 0; i < N; i++)
			x[i] = any_float(&r, i);
		bytes_quantize(got, x, N, &c);
		for (uint32_t i = 0; i < N; i++)
			assert_int_equal(got[i], quantized(x[i], &c));
	}
}

static void
test_back(void **state)
{
	uint8_t byte[256];
	float got[256], wide[86];

	(void)state;
	for (uint32_t i = 0; i < 256; i++)
		byte[i] = (uint8_t)i;
	for (uint32_t k = 0; k < 2; k++) {
		const struct byte_code c = {0.037f, k ? 131 : -7, k};

		bytes_dequantize(got, byte, 256, &c);
		bytes_widen(wide, byte, 86, 3, &c);
		for (uint32_t i = 0; i < 256; i++) {
			const int32_t b = k ? (int32_t)i : (int8_t)i;
			const double steps = (double)b - (double)c.zero;

			assert_true(got[i] == (float)(steps * (double)c.scale));
			if (i % 3 == 0)
				assert_true((double)wide[i / 3] == steps);
		}
	}
}

static void
test_range(void **state)
{
	struct rng r = rng_seeded(2);
	float x[N];

	(void)state;
	for (size_t n = 0; n < 40; n++) {
		float low = 0, high = 0, got_low = 0, got_high = 0;

		for (uint32_t i = 0; i < n; i++) {
			x[i] = any_float(&r, i + (uint32_t)n);
			low = fminf(low, x[i]);
			high = fmaxf(high, x[i]);
		}
		floats_range(x, n, &got_low, &got_high);
		assert_true(low == got_low && high == got_high);
	}
}

/* The greatest under one window. */
static uint8_t
greatest(const uint8_t *x, size_t oy, size_t ox, const struct byte_pool *p)
{
	int32_t best = p->is_unsigned ? 0 : -128;

	for (int64_t i = 0; i < p->kernel[0]; i++)
		for (int64_t j = 0; j < p->kernel[1]; j++) {
			const int64_t y = (int64_t)oy * p->stride[0]
			    - p->before[0] + i * p->dilation[0];
			const int64_t z = (int64_t)ox * p->stride[1]
			    - p->before[1] + j * p->dilation[1];
			uint8_t b;

			if (y < 0 || z < 0 || y >= (int64_t)p->in[0]
			    || z >= (int64_t)p->in[1])
				continue;
			b = x[(size_t)y * p->in[1] + (size_t)z];
			if ((p->is_unsigned ? b : (int8_t)b) > best)
				best = p->is_unsigned ? b : (int8_t)b;
		}
	return (uint8_t)best;
}

static void
test_max_pool(void **state)
{
	struct rng r = rng_seeded(3);
	uint8_t x[31 * 37], row[37], got[40 * 40];

	(void)state;
	for (uint32_t i = 0; i < sizeof x; i++)
		x[i] = (uint8_t)rng_below(&r, 256);
	for (uint32_t k = 0; k < 300; k++) {
		struct byte_pool p = {.is_unsigned = k % 2};

		for (uint32_t d = 0; d < 2; d++) {
			p.in[d] = 1 + rng_below(&r, d ? 37 : 31);
			p.kernel[d] = 1 + (int64_t)rng_below(&r, 4);
			p.stride[d] = 1 + (int64_t)rng_below(&r, 3);
			p.dilation[d] = 1 + (int64_t)rng_below(&r, 3);
			p.before[d] = (int64_t)rng_below(&r, 4);
			p.out[d] = 1 + rng_below(&r, 40);
		}
		bytes_max_pool(got, x, row, &p);
		for (size_t i = 0; i < p.out[0] * p.out[1]; i++)
			assert_int_equal(got[i],
			    greatest(x, i / p.out[1], i % p.out[1], &p));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_quantize),
	    cmocka_unit_test(test_back),
	    cmocka_unit_test(test_range),
	    cmocka_unit_test(test_max_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
