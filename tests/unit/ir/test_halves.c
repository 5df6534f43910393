/* Halves many at a time are what they are one at a time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir/halves.h"
#include "ir/tensor.h"

#define ALL 65536

static float
one(enum dtype t, uint16_t h)
{
	return t == DT_FLOAT16 ? f16_to_f32(h) : bf16_to_f32(h);
}

static uint16_t
half(enum dtype t, float x)
{
	return t == DT_FLOAT16 ? f32_to_f16(x) : f32_to_bf16(x);
}

static bool
same(float x, float y)
{
	return memcmp(&x, &y, sizeof x) == 0 || (isnan(x) && isnan(y));
}

/* All there are, there and back; they begin anywhere. */
static void
check_all(enum dtype t)
{
	static unsigned char halves[2 * ALL + 3], back[2 * ALL + 3];
	static float floats[ALL];

	for (uint32_t i = 0; i < ALL; i++)
		memcpy(halves + 1 + 2 * i, &(uint16_t){(uint16_t)i}, 2);
	halves_widen(t, halves + 1, ALL, floats);
	halves_narrow(t, floats, ALL, back + 1);
	for (uint32_t i = 0; i < ALL; i++) {
		uint16_t again;

		memcpy(&again, back + 1 + 2 * i, 2);
		assert_true(same(floats[i], one(t, (uint16_t)i)));
		assert_true(again == i || isnan(one(t, again)));
	}
}

static void
test_all(void **state)
{
	(void)state;
	check_all(DT_FLOAT16);
	check_all(DT_BFLOAT16);
}

/* Between two halves: to nearest, ties to even, overflow, what is too small. */
static void
check_rounding(enum dtype t)
{
	float from[64];
	uint16_t to[64];

	for (uint32_t bits = 0; bits < 0xffff0000u; bits += 64u * 5003u) {
		for (uint32_t i = 0; i < 64; i++)
			memcpy(&from[i], &(uint32_t){bits + i * 5003u}, 4);
		for (uint32_t i = 0; i < 64; i++)
			if (isnan(from[i]))
				from[i] = 0x1.002p0f;
		from[7] = 0x1.002p0f;
		from[9] = 0x1.ffep15f;
		from[11] = 0x1p-25f;
		from[13] = -0x1.8p-24f;
		halves_narrow(t, from, 64, to);
		for (uint32_t i = 0; i < 64; i++)
			assert_int_equal(to[i], half(t, from[i]));
	}
}

static void
test_rounding(void **state)
{
	(void)state;
	check_rounding(DT_FLOAT16);
	check_rounding(DT_BFLOAT16);
}

/* Of any length, and nothing behind it. */
static void
test_lengths(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < 70; n++)
		for (uint32_t k = 0; k < 2; k++) {
			const enum dtype t = k ? DT_BFLOAT16 : DT_FLOAT16;
			uint16_t from[70], back[71];
			float to[71];

			for (uint32_t i = 0; i < 70; i++)
				from[i] = (uint16_t)(0x3c00 + i);
			to[n] = -7;
			back[n] = 0xabcd;
			halves_widen(t, from, n, to);
			halves_narrow(t, to, n, back);
			assert_true(same(to[n], -7));
			assert_int_equal(back[n], 0xabcd);
			assert_true(n == 0 || memcmp(from, back, 2 * n) == 0);
		}
}

/* A tensor of them as floats: few are there, many where they lie; of one number, one;
 * what is none stays. */
static void
test_tensors(void **state)
{
	static uint16_t data[5000];
	const int64_t few = 100, many = 5000;
	const uint16_t one_half = 0x3800;
	const float number = 2;
	struct tensor t, w, again;
	struct arena a;

	(void)state;
	arena_init(&a);
	for (uint32_t i = 0; i < 5000; i++)
		data[i] = (uint16_t)(i % 31 ? i * 5 : 0xfc00);
	for (uint32_t k = 0; k < 2; k++) {
		t = tensor_view(DT_FLOAT16, 1, k ? &many : &few, data);
		w = tensor_widened(&t, &a);
		assert_int_equal(w.kind, k ? TENSOR_HALVES : TENSOR_VIEW);
		assert_int_equal(w.dtype, DT_FLOAT);
		assert_int_equal(w.bytes, 4 * t.count);
		assert_int_equal(tensor_held(&w), DT_FLOAT16);
		assert_true(tensor_is_numbers(&w));
		again = tensor_opened(&w, &a);
		assert_int_equal(again.kind, TENSOR_VIEW);
		for (size_t i = 0; i < t.count; i++) {
			const double x = tensor_real(&t, i);

			assert_true(x == tensor_real(&w, i) || isnan(x));
			assert_true(x == tensor_real(&again, i) || isnan(x));
		}
		assert_true(tensor_equal(&w, &w));
		assert_false(tensor_equal(&w, &t));
	}
	t = tensor_fill(DT_FLOAT16, 1, &many, &one_half);
	w = tensor_widened(&t, &a);
	assert_int_equal(w.kind, TENSOR_FILL);
	assert_true(tensor_real(&w, 4999) == 0.5);
	t = tensor_fill(DT_FLOAT, 1, &many, &number);
	w = tensor_widened(&t, &a);
	assert_true(tensor_equal(&w, &t) && tensor_held(&w) == DT_FLOAT);
	arena_release(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_all),
	    cmocka_unit_test(test_rounding),
	    cmocka_unit_test(test_lengths),
	    cmocka_unit_test(test_tensors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
