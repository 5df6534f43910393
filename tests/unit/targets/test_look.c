/* Every number at every place, beside NaN that is not looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "targets/look.h"

#define MOST 150u
#define PADDING 16u

static bool
looks(int power, enum dtype dtype, const void *data, size_t n)
{
	const bool all = look_at_all(power, dtype, data, n);

	if (dtype == DT_FLOAT)
		assert_int_equal(look_floats(power, data, n), all);
	return all;
}

/* One number of n among smaller ones, at each place and alignment. */
static void
check(int power, float x, bool want)
{
	unsigned char bytes[MOST * sizeof x + PADDING];

	for (size_t n = 1; n <= MOST; n += n < 8 ? 1 : 71)
		for (size_t at = 0; at < n; at++) {
			unsigned char *data = bytes + (n + at) % PADDING;

			memset(bytes, 0xff, sizeof bytes);
			memset(data, 0, n * sizeof x);
			memcpy(data + at * sizeof x, &x, sizeof x);
			assert_int_equal(looks(power, DT_FLOAT, data, n), want);
		}
}

static void
test_floats(void **state)
{
	static const int power[] = {-126, 0, 20, 32, 127};

	(void)state;
	for (size_t i = 0; i < sizeof power / sizeof *power; i++) {
		const float limit = ldexpf(1, power[i]);

		check(power[i], -0.f, true);
		check(power[i], nextafterf(limit, 0), true);
		check(power[i], -nextafterf(limit, 0), true);
		check(power[i], limit, false);
		check(power[i], -limit, false);
		check(power[i], INFINITY, false);
		check(power[i], -INFINITY, false);
		check(power[i], NAN, false);
		check(power[i], -NAN, false);
	}
	check(128, nextafterf(INFINITY, 0), true);
	check(128, INFINITY, false);
	check(128, NAN, false);
}

static void
test_others(void **state)
{
	static const uint16_t finite[] = {0x7bff, 0xfbff, 0},
	                      odd[] = {0, 0xfc00, 0};
	static const uint8_t bytes[] = {0xff, 0xff, 0xff, 0xff};

	(void)state;
	assert_true(looks(20, DT_FLOAT16, finite, 3));
	assert_false(looks(20, DT_FLOAT16, odd, 3));
	assert_true(looks(20, DT_FLOAT16, odd, 1));
	assert_true(looks(20, DT_UINT8, bytes, 4));
	assert_true(looks(20, DT_FLOAT, bytes, 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_floats),
	    cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
