/* Every rule of the BLAS backend, in every way it offers, against the host
 * reference. */
#include "ir/halves.h"
#include "targets/narrow.h"
#include "targets/threads.h"
#include "tests/support/kind.h"
#include "tests/support/narrow.h"
#include "tests/support/quantized.h"

extern const struct target_kind target_blas;
const struct target_kind *const tested = &target_blas;

static void
test_conv(void **state)
{
	const struct attr odd[] = {
	    ATTR_OF_INTS("strides", 2, 1), ATTR_OF_INTS("pads", 0, 1, 2, 1)};
	const struct attr same[] = {
	    ATTR_OF_INTS("pads", 2, 2, 2, 2), ATTR_OF_INTS("dilations", 2, 2)};
	const struct attr grouped[] = {ATTR_OF_INT("group", 4)};
	value_id x = make_input(&m, DIMS(2, 12, 14, 13));
	value_id w = make_constant(&m, DIMS(16, 12, 3, 3), -0.2f, 0.2f);
	value_id b = make_constant(&m, DIMS(16), -1, 1);
	value_id y = MAKE_WITH(&m, CONV, odd, x, w, b), z;
	value_id w2 = make_constant(&m, DIMS(16, 16, 3, 3), -0.2f, 0.2f);
	value_id w3 = make_constant(&m, DIMS(8, 4, 1, 1), -1, 1);

	(void)state;
	y = MAKE(&m, CLIP, y, make_scalar(&m, 0), make_scalar(&m, 6));
	z = MAKE_WITH(&m, CONV, same, y, w2);
	z = MAKE(&m, RELU, MAKE(&m, ADD, z, y));
	make_output(&m, MAKE_WITH(&m, CONV, grouped, z, w3));
	check_all("blas.conv", 3);
}

/* More positions than are gathered at once. */
static void
test_large_conv(void **state)
{
	const struct attr same[] = {ATTR_OF_INTS("pads", 1, 1, 1, 1)};
	value_id x = make_input(&m, DIMS(1, 40, 41, 43));
	value_id w = make_constant(&m, DIMS(5, 40, 3, 3), -0.2f, 0.2f);

	(void)state;
	make_output(&m, MAKE_WITH(&m, CONV, same, x, w));
	assert_int_equal(check_all("blas.conv", 1), 2);
}

static void
test_products(void **state)
{
	const struct attr turned[] = {ATTR_OF_INT("transB", 1),
	    ATTR_OF_INT("transA", 1), ATTR_OF_FLOAT("alpha", 0.5f),
	    ATTR_OF_FLOAT("beta", 2)};
	value_id x = make_input(&m, DIMS(40, 3));
	value_id w = make_constant(&m, DIMS(10, 40), -1, 1);
	value_id b = make_constant(&m, DIMS(10), -1, 1);
	value_id y = make_input(&m, DIMS(2, 5, 24));
	value_id w2 = make_constant(&m, DIMS(24, 24), -1, 1);
	value_id b2 = make_constant(&m, DIMS(24), -1, 1);
	value_id p = make_input(&m, DIMS(2, 3, 5, 8));
	value_id q = make_input(&m, DIMS(2, 3, 8, 6));

	(void)state;
	make_output(&m, MAKE(&m, RELU, MAKE_WITH(&m, GEMM, turned, x, w, b)));
	make_output(
	    &m, MAKE(&m, ADD, y, MAKE(&m, ADD, b2, MAKE(&m, MATMUL, y, w2))));
	make_output(&m, MAKE(&m, MATMUL, p, q));
	check_all("blas.matmul", 3);
}

/* Large enough to be cut, in each way: positions, filters, whole groups; with what goes
 * before and behind. */
static void
test_convs_of_many(void **state)
{
	const struct attr same[] = {ATTR_OF_INTS("pads", 1, 1, 1, 1)};
	const struct attr grouped[] = {
	    ATTR_OF_INTS("pads", 1, 1, 1, 1), ATTR_OF_INT("group", 3)};
	value_id x = make_input(&m, DIMS(2, 63, 23, 19));
	value_id w = make_constant(&m, DIMS(75, 63, 1, 1), -0.2f, 0.2f);
	value_id b = make_constant(&m, DIMS(75), -1, 1);
	value_id y = make_input(&m, DIMS(1, 96, 4, 5));
	value_id v = make_constant(&m, DIMS(97, 96, 3, 3), -0.1f, 0.1f);
	value_id u = make_constant(&m, DIMS(75, 25, 3, 3), -0.1f, 0.1f);
	value_id z;

	(void)state;
	z = MAKE(&m, CONV, x, w, b);
	z = MAKE(
	    &m, RELU, MAKE(&m, ADD, MAKE_WITH(&m, CONV, grouped, z, u), z));
	make_output(&m, z);
	make_output(&m, MAKE(&m, RELU, MAKE_WITH(&m, CONV, same, y, v)));
	check_all("blas.conv", 3);
}

/* Likewise of products: rows, columns, whole matrices of an odd number. */
static void
test_products_of_many(void **state)
{
	const struct attr turned[] = {
	    ATTR_OF_INT("transB", 1), ATTR_OF_INT("transA", 1)};
	value_id x = make_input(&m, DIMS(130, 333));
	value_id w = make_constant(&m, DIMS(41, 130), -1, 1);
	value_id b = make_constant(&m, DIMS(41), -1, 1);
	value_id y = make_input(&m, DIMS(1, 7, 300));
	value_id w2 = make_constant(&m, DIMS(300, 1001), -1, 1);
	value_id b2 = make_constant(&m, DIMS(1001), -1, 1);
	value_id more = make_input(&m, DIMS(1, 7, 1001));
	value_id p = make_input(&m, DIMS(5, 1, 51, 80));
	value_id q = make_input(&m, DIMS(5, 1, 80, 66)), z;

	(void)state;
	make_output(&m, MAKE(&m, RELU, MAKE_WITH(&m, GEMM, turned, x, w, b)));
	z = MAKE(&m, ADD, b2, MAKE(&m, MATMUL, y, w2));
	make_output(&m, MAKE(&m, RELU, MAKE(&m, ADD, more, z)));
	make_output(&m, MAKE(&m, MATMUL, p, q));
	check_all("blas.matmul", 3);
}

/* Weights of few bits, more columns than are unpacked at once. */
static void
test_narrow(void **state)
{
	value_id w = make_constant(&m, DIMS(70, 1500), -1, 1), x;

	(void)state;
	x = of_halves(make_input(&m, DIMS(2, 5, 70)));
	make_output(&m, of_halves(MAKE(&m, MATMUL, x, halves(w))));
	for (int zeros = 0; zeros < 3; zeros++) {
		make_blocks(&(struct block_product){
		    4, 32, 6, 70, 1500, zeros == 1, zeros});
		make_blocks(&(struct block_product){
		    8, 32, 6, 64, 40, zeros != 1, zeros});
	}
	/* (those with halves as floats, too) */
	assert_int_equal(check_all("blas.narrow", 1), 7 + 4);
}

/* Sums that a float does not hold are taken in parts: 600 channels by 9. */
static void
test_integer_convs(void **state)
{
	const struct attr same[] = {ATTR_OF_INTS("pads", 1, 1, 1, 1)};
	value_id x = quantized(DIMS(1, 600, 7, 6), true), zero;

	(void)state;
	make_qlinearconv(&(struct qconv){DIMS(2, 6, 11, 13), DIMS(9, 6, 3, 3),
	    1, true, true, .any_zero = true});
	make_qlinearconv(&(struct qconv){DIMS(1, 6, 11, 13), DIMS(4, 3, 3, 2),
	    2, false, false, .any_zero = true});
	make_qlinearconv(&(struct qconv){DIMS(1, 6, 40, 41), DIMS(12, 1, 3, 3),
	    6, true, true, .any_zero = true});
	make_qlinearconv(&(struct qconv){DIMS(1, 5, 9, 8), DIMS(5, 1, 5, 3), 5,
	    false, true, .any_zero = true});
	x = MAKE_WITH(&m, CONVINTEGER, same, x,
	    make_int8(&m, DIMS(5, 600, 3, 3)), codes(DIMS(1)));
	make_output(&m, of_type(x, DT_INT32));
	x = quantized_now(DIMS(1, 3, 8, 8), &zero);
	x = MAKE(&m, CONVINTEGER, x, codes(DIMS(4, 3, 1, 1)), zero);
	make_output(&m, of_type(x, DT_INT32));
	assert_int_equal(check_all("blas.integer", 1), 6);
}

static void
test_integer_products(void **state)
{
	value_id zero, x = quantized_now(DIMS(3, 5, 2600), &zero), in[9];

	(void)state;
	x = MAKE(&m, MATMULINTEGER, x, make_int8(&m, DIMS(2600, 6)), zero,
	    make_int8(&m, DIMS(6)));
	make_output(&m, of_type(x, DT_INT32));
	x = quantized(DIMS(300, 9), true);
	x = MAKE(&m, MATMULINTEGER, x, codes(DIMS(9, 1000)));
	make_output(&m, of_type(x, DT_INT32));
	in[0] = quantized(DIMS(7, 40), false);
	in[1] = make_scalar(&m, 0.02f);
	in[2] = make_int8(&m, DIMS(1));
	in[3] = codes(DIMS(40, 1500));
	in[4] = make_constant(&m, DIMS(1500), 0.001f, 0.03f);
	in[5] = codes(DIMS(1500));
	in[6] = make_scalar(&m, 0.3f);
	in[7] = make_int8(&m, DIMS(1));
	in[8] = VALUE_LAST;
	x = make_node(&m, OP_QLINEARMATMUL, in, NULL, 0);
	make_output(&m, of_type(x, DT_INT8));
	assert_int_equal(check_all("blas.integer", 1), 3);
}

/* All halves, those that are not normal, infinities and NaN among them. */
static void
test_halves(void **state)
{
	static uint16_t from[65536];
	static float to[65536];

	(void)state;
	for (uint32_t i = 0; i < 65536; i++)
		from[i] = (uint16_t)i;
	halves_widen(DT_FLOAT16, from, 65536, to);
	for (uint32_t i = 0; i < 65536; i++) {
		const float want = f16_to_f32((uint16_t)i);

		if (want == want)
			assert_memory_equal(&to[i], &want, sizeof want);
		else
			assert_true(to[i] != to[i]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	    TEST(test_conv),
	    TEST(test_large_conv),
	    TEST(test_products),
	    TEST(test_convs_of_many),
	    TEST(test_products_of_many),
	    TEST(test_narrow),
	    TEST(test_integer_convs),
	    TEST(test_integer_products),
	    cmocka_unit_test(test_halves),
	};

	if (tested->lacks) {
		printf("skipped: %s\n", tested->lacks);
		return TEST_SKIPPED;
	}
	if (cmocka_run_group_tests(tests, NULL, NULL) != 0)
		return 1;
	/* and shared among the team */
	target_threads_set(3);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
