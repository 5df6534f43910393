/* The largest of a constant's numbers and of its sums, against adding them up. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "targets/magnitude.h"
#include "tests/support/support.h"

#define MOST (67 * 129 * 2)

static float number[MOST];

/* Sums of |x| by index / step % count. */
static double
largest_sum(size_t n, size_t step, size_t count)
{
	double sum[129] = {0}, most = 0;

	for (size_t i = 0; i < n; i++)
		sum[i / step % count] += fabs((double)number[i]);
	for (size_t i = 0; i < count; i++)
		most = fmax(most, sum[i]);
	return most;
}

static void
assert_just_above(double got, double want)
{
	assert_true(got >= want && got <= want * 1.0011 + 1e-37);
}

static void
check(const int64_t *dim, uint32_t rank)
{
	const struct tensor t = tensor_view(DT_FLOAT, rank, dim, number);
	struct value v = {.constant = &t};
	const size_t rows = (size_t)dim[0], columns = (size_t)dim[rank - 1];
	double most = 0;

	for (size_t i = 0; i < t.count; i++)
		most = fmax(most, fabs((double)number[i]));
	for (int again = 0; again < 4; again++) {
		if (again == 2)
			v.magnitude = (struct magnitude){0};
		if (again != 2) /* else found by the way */
			assert_just_above(magnitude_most(&v), most);
		assert_just_above(magnitude_rows(&v),
		    largest_sum(t.count, t.count / rows, rows));
		assert_just_above(
		    magnitude_columns(&v), largest_sum(t.count, 1, columns));
	}
}

static void
test_sums(void **state)
{
	static const int64_t dim[][3] = {
	    {1, 1, 1}, {2, 67, 129}, {67, 2, 129}, {129, 67, 1}, {3, 1, 17}};
	struct rng r = {0};

	(void)state;
	for (size_t i = 0; i < MOST; i++)
		number[i] = (float)rng_below(&r, 2001) / 1000 - 1;
	for (size_t i = 0; i < sizeof dim / sizeof *dim; i++) {
		check(dim[i], 3);
		check(dim[i], 1);
	}
	memset(number, 0, sizeof number);
	check(dim[1], 3);
}

/* Whichever is the least; NaN, and what is not positive, say nothing of a least. */
static void
test_least(void **state)
{
	static const float odd[] = {-1, 0, NAN, -INFINITY};
	static const int64_t dim[] = {61};
	struct rng r = {0};

	(void)state;
	for (size_t i = 0; i < 61; i++)
		number[i] = 2 + (float)rng_below(&r, 1000);
	for (size_t i = 0; i < 61; i++) {
		const struct tensor t = tensor_view(DT_FLOAT, 1, dim, number);
		const float before = number[i];
		struct value v = {.constant = &t}, w = v;

		number[i] = 1.5f;
		for (int turn = 0; turn < 2; turn++) {
			assert_true(magnitude_least(&v) <= 1.5);
			assert_true(magnitude_least(&v) > 1.4999);
		}
		number[i] = odd[i % 4];
		assert_true(magnitude_least(&w) == -(double)INFINITY);
		number[i] = before;
	}
}

/* What is not finite has no largest, wherever it is. */
static void
test_odd(void **state)
{
	static const float odd[] = {INFINITY, -INFINITY, NAN};
	static const int64_t dim[] = {67, 129};

	(void)state;
	for (size_t i = 0; i < 67 * 129; i += 31) {
		const struct tensor t = tensor_view(DT_FLOAT, 2, dim, number);
		struct value v = {.constant = &t};

		number[i] = odd[i % 3];
		assert_true(isinf(magnitude_rows(&v)));
		assert_true(isinf(magnitude_most(&v)));
		assert_true(isinf(magnitude_columns(&v)));
		v.magnitude = (struct magnitude){0};
		assert_true(isinf(magnitude_columns(&v)));
		assert_true(isinf(magnitude_most(&v)));
		number[i] = 0;
	}
}

static void
test_halves(void **state)
{
	static const uint16_t half[] = {0x3c00, 0xc000, 0}; /* 1, -2, 0 */
	static const uint16_t infinite[] = {0, 0xfc00, 0};
	static const int64_t dim[] = {1, 3};
	struct tensor t = tensor_view(DT_FLOAT16, 2, dim, half);
	struct value v = {.constant = &t};

	(void)state;
	assert_just_above(magnitude_most(&v), 2);
	assert_just_above(magnitude_rows(&v), 6); /* as if all were 2 */
	t = tensor_view(DT_FLOAT16, 2, dim, infinite);
	v = (struct value){.constant = &t};
	assert_true(isinf(magnitude_most(&v)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sums),
	    cmocka_unit_test(test_odd),
	    cmocka_unit_test(test_least),
	    cmocka_unit_test(test_halves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
