/* The functional simulator of the Marvell backend, every rule, against the host
 * reference (within what float16 allows). */
#include "tests/support/kind.h"

extern const struct target_kind target_mrvl;
const struct target_kind *const tested = &target_mrvl;

static void
test_conv_bias_add_norm_relu(void **state)
{
	const struct attr shape[] = {
	    ATTR_OF_INTS("pads", 1, 0, 2, 1), ATTR_OF_INTS("strides", 2, 1)};
	value_id x = make_input(&m, DIMS(2, 5, 11, 9));
	value_id w = make_constant(&m, DIMS(19, 5, 3, 3), -0.3f, 0.3f);
	value_id b = make_constant(&m, DIMS(19), -1, 1);
	value_id c = MAKE_WITH(&m, CONV, shape, x, w, b);
	value_id more = make_constant(&m, DIMS(1, 19, 1, 1), -1, 1);
	/* the constant first: matched either way */
	value_id s = MAKE(&m, ADD, more, c);

	(void)state;
	make_output(&m, MAKE(&m, RELU, batch_norm(s, 19)));
	assert_true(check_all("mrvl.conv2d_nhwc2nhwc", 4) >= 4);
}

static void
test_conv_dilated_same(void **state)
{
	const struct attr shape[] = {ATTR_OF_INTS("dilations", 2, 3),
	    ATTR_OF_STRING("auto_pad", "SAME_LOWER")};
	value_id x = make_input(&m, DIMS(1, 4, 12, 13));
	value_id w = make_constant(&m, DIMS(6, 4, 2, 2), -0.5f, 0.5f);

	(void)state;
	make_output(&m, MAKE_WITH(&m, CONV, shape, x, w));
	check_all("mrvl.conv2d_nhwc2nhwc", 1);
}

static void
test_depthwise(void **state)
{
	const struct attr shape[] = {
	    ATTR_OF_INT("group", 20), ATTR_OF_INTS("pads", 1, 1, 1, 1)};
	value_id x = make_input(&m, DIMS(1, 20, 9, 9));
	value_id w = make_constant(&m, DIMS(20, 1, 3, 3), -1, 1);

	(void)state;
	make_output(&m, MAKE(&m, RELU, MAKE_WITH(&m, CONV, shape, x, w)));
	check_all("mrvl.conv2d_nhwc2nhwc", 2);
}

static void
test_gemm_scaled(void **state)
{
	const struct attr shape[] = {
	    ATTR_OF_FLOAT("alpha", 0.5f), ATTR_OF_FLOAT("beta", 2)};
	value_id x = make_input(&m, DIMS(3, 40));
	value_id w = make_constant(&m, DIMS(40, 10), -0.5f, 0.5f);
	value_id c = make_constant(&m, DIMS(10), -1, 1);

	(void)state;
	make_output(&m, MAKE(&m, RELU, MAKE_WITH(&m, GEMM, shape, x, w, c)));
	check_all("mrvl.fc_ni2no", 2);
}

/* Columns of the kernel are C,H,W; the accelerator reads H,W,C. */
static void
test_flatten_matmul_bias(void **state)
{
	value_id x = make_input(&m, DIMS(2, 3, 4, 5));
	value_id w = make_constant(&m, DIMS(60, 7), -0.5f, 0.5f);
	value_id b = make_constant(&m, DIMS(7), -1, 1);
	value_id f = MAKE(&m, FLATTEN, MAKE(&m, RELU, x));

	(void)state;
	make_output(&m, MAKE(&m, ADD, MAKE(&m, MATMUL, f, w), b));
	check_all("mrvl.fc_ni2no", 3);
}

static void
test_pools(void **state)
{
	const struct attr max[] = {ATTR_OF_INTS("kernel_shape", 3, 2),
	    ATTR_OF_INTS("strides", 2, 2), ATTR_OF_INTS("pads", 1, 0, 1, 1),
	    ATTR_OF_INT("ceil_mode", 1)};
	const struct attr avg[] = {ATTR_OF_INTS("kernel_shape", 3, 3),
	    ATTR_OF_INTS("strides", 1, 2), ATTR_OF_INTS("pads", 1, 1, 1, 1)};
	const struct attr all[] = {ATTR_OF_INTS("kernel_shape", 2, 2),
	    ATTR_OF_INTS("pads", 1, 1, 0, 0),
	    ATTR_OF_INT("count_include_pad", 1)};
	value_id x = make_input(&m, DIMS(1, 6, 17, 14));
	value_id y = MAKE_WITH(&m, MAXPOOL, max, x);
	value_id z = MAKE_WITH(&m, AVERAGEPOOL, avg, y);

	(void)state;
	make_output(&m, MAKE_WITH(&m, AVERAGEPOOL, all, z));
	assert_int_equal(check_all("mrvl.maxpool2d_nhwc2nhwc", 1), 3);
}

static void
test_global_pools(void **state)
{
	value_id x = make_input(&m, DIMS(1, 6, 7, 5));

	(void)state;
	make_output(&m, MAKE(&m, GLOBALAVERAGEPOOL, x));
	make_output(&m, MAKE(&m, GLOBALMAXPOOL, x));
	assert_int_equal(check_all("mrvl.globalmaxpool2d_nhwc2nhwc", 1), 2);
}

static void
test_sum_and_concat(void **state)
{
	value_id x = make_input(&m, DIMS(1, 3, 4, 5));
	value_id y = make_input(&m, DIMS(1, 3, 4, 5));
	value_id s = MAKE(&m, RELU, MAKE(&m, ADD, y, x));
	const struct attr axis[] = {ATTR_OF_INT("axis", 1)};

	(void)state;
	make_output(&m, MAKE_WITH(&m, CONCAT, axis, s, x, y));
	assert_int_equal(check_all("mrvl.sum", 2), 3);
}

static void
test_shapes_and_transpose(void **state)
{
	const struct attr perm[] = {ATTR_OF_INTS("perm", 0, 2, 3, 1)};
	value_id x = make_input(&m, DIMS(2, 3, 4, 5));
	value_id t = MAKE_WITH(&m, TRANSPOSE, perm, x);

	(void)state;
	make_output(&m, MAKE(&m, FLATTEN, t));
	make_output(&m, MAKE(&m, FLATTEN, x));
	assert_int_equal(check_all("mrvl.layout_transform_nchw2nhwc", 1), 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	    TEST(test_conv_bias_add_norm_relu),
	    TEST(test_conv_dilated_same),
	    TEST(test_depthwise),
	    TEST(test_gemm_scaled),
	    TEST(test_flatten_matmul_bias),
	    TEST(test_pools),
	    TEST(test_global_pools),
	    TEST(test_sum_and_concat),
	    TEST(test_shapes_and_transpose),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
