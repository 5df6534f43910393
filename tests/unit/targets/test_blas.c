/* Every rule of the BLAS backend, in every way it offers, against the host
 * reference. */
#include "tests/support/kind.h"

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	    TEST(test_conv),
	    TEST(test_large_conv),
	    TEST(test_products),
	};

	if (tested->lacks) {
		printf("skipped: %s\n", tested->lacks);
		return TEST_SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
