/* Every rule of the XNNPACK backend, in every way it offers, against the host
 * reference. */
#include "targets/threads.h"
#include "tests/support/kind.h"
#include "tests/support/quantized.h"

extern const struct target_kind target_xnnpack;
const struct target_kind *const tested = &target_xnnpack;

static void
test_conv(void **state)
{
	const struct attr odd[] = {
	    ATTR_OF_INTS("strides", 2, 1), ATTR_OF_INTS("pads", 0, 1, 2, 1)};
	const struct attr grouped[] = {ATTR_OF_INT("group", 4)};
	const struct attr depthwise[] = {
	    ATTR_OF_INT("group", 16), ATTR_OF_INTS("dilations", 2, 2)};
	value_id x = make_input(&m, DIMS(2, 12, 14, 13));
	value_id w = make_constant(&m, DIMS(16, 12, 3, 3), -0.2f, 0.2f);
	value_id b = make_constant(&m, DIMS(16), -1, 1);
	value_id y = MAKE_WITH(&m, CONV, odd, x, w, b);
	value_id w2 = make_constant(&m, DIMS(16, 1, 3, 3), -1, 1);
	value_id w3 = make_constant(&m, DIMS(8, 4, 1, 1), -1, 1);

	(void)state;
	y = MAKE(&m, CLIP, batch_norm(y, 16), make_scalar(&m, 0),
	    make_scalar(&m, 6));
	y = MAKE(&m, RELU, MAKE_WITH(&m, CONV, depthwise, y, w2));
	make_output(&m, MAKE_WITH(&m, CONV, grouped, y, w3));
	check_all("xnnpack.conv", 3);
}

static void
test_dense(void **state)
{
	const struct attr turned[] = {ATTR_OF_INT("transB", 1),
	    ATTR_OF_FLOAT("alpha", 0.5f), ATTR_OF_FLOAT("beta", 2)};
	value_id x = make_input(&m, DIMS(3, 40));
	value_id w = make_constant(&m, DIMS(10, 40), -1, 1);
	value_id b = make_constant(&m, DIMS(10), -1, 1);
	value_id y = make_input(&m, DIMS(2, 5, 24));
	value_id w2 = make_constant(&m, DIMS(24, 7), -1, 1);
	value_id b2 = make_constant(&m, DIMS(7), -1, 1);

	(void)state;
	make_output(&m, MAKE(&m, RELU, MAKE_WITH(&m, GEMM, turned, x, w, b)));
	make_output(&m, MAKE(&m, ADD, b2, MAKE(&m, MATMUL, y, w2)));
	check_all("xnnpack.matmul", 2);
}

/* So large that it becomes several operators: in C order and turned, with a bias and a
 * clamp, of more rows than one. */
static void
test_large_matrices(void **state)
{
	const struct attr turned[] = {
	    ATTR_OF_INT("transB", 1), ATTR_OF_FLOAT("alpha", 0.5f)};
	const value_id x = make_input(&m, DIMS(3, 1030));
	const value_id w = make_constant(&m, DIMS(1030, 8301), -0.1f, 0.1f);
	const value_id w2 = make_constant(&m, DIMS(8301, 1030), -0.1f, 0.1f);
	const value_id bias = make_constant(&m, DIMS(8301), -1, 1);

	(void)state;
	make_output(
	    &m, MAKE(&m, RELU, MAKE_WITH(&m, GEMM, turned, x, w2, bias)));
	make_output(&m, MAKE(&m, ADD, MAKE(&m, MATMUL, x, w), bias));
	assert_true(check_all("xnnpack.gemm", 1) >= 2);
}

/* Of weights, which the library packs. */
static void
test_no_copies(void **state)
{
	const struct attr turned[] = {ATTR_OF_INT("transB", 1)};
	value_id x = make_input(&m, DIMS(1, 12, 14, 13));
	value_id w = make_constant(&m, DIMS(16, 12, 3, 3), -1, 1);
	value_id y = make_input(&m, DIMS(2, 48));
	value_id w2 = make_constant(&m, DIMS(48, 57), -1, 1);
	value_id w3 = make_constant(&m, DIMS(57, 48), -1, 1);

	(void)state;
	make_output(&m, MAKE(&m, CONV, x, w));
	make_output(&m, MAKE(&m, MATMUL, y, w2));
	make_output(&m, MAKE_WITH(&m, GEMM, turned, y, w3));
	check_no_copies("xnnpack");
}

static void
test_pools(void **state)
{
	const struct attr window[] = {ATTR_OF_INTS("kernel_shape", 3, 3),
	    ATTR_OF_INTS("strides", 2, 2), ATTR_OF_INTS("pads", 1, 1, 1, 1)};
	const struct attr image[] = {ATTR_OF_INTS("axes", -1, 2)};
	const struct attr row[] = {ATTR_OF_INTS("axes", 3)};
	const struct attr gone[] = {
	    ATTR_OF_INTS("axes", 2, 3), ATTR_OF_INT("keepdims", 0)};
	value_id x = make_input(&m, DIMS(1, 19, 12, 11));

	(void)state;
	make_output(&m, MAKE_WITH(&m, REDUCEMEAN, image, x));
	make_output(&m, MAKE_WITH(&m, REDUCEMEAN, row, x)); /* no pools */
	make_output(&m, MAKE_WITH(&m, REDUCEMEAN, gone, x));
	make_output(&m, MAKE_WITH(&m, MAXPOOL, window, x));
	make_output(&m, MAKE_WITH(&m, AVERAGEPOOL, window, x));
	make_output(&m, MAKE(&m, GLOBALAVERAGEPOOL, x));
	assert_int_equal(check_all("xnnpack.pool", 1), 4);
}

static void
test_pointwise(void **state)
{
	const struct attr slope[] = {ATTR_OF_FLOAT("alpha", 0.3f)};
	value_id x = make_input(&m, DIMS(2, 18, 5, 5));
	value_id y = make_input(&m, DIMS(2, 18, 1, 1));
	value_id c = make_constant(&m, DIMS(18, 1, 1), 0.5f, 2);
	value_id z = MAKE_WITH(&m, LEAKYRELU, slope, x);

	(void)state;
	z = MAKE(&m, HARDSWISH, MAKE_WITH(&m, ELU, slope, z));
	z = MAKE(&m, SQRT, MAKE(&m, ABS, MAKE(&m, SIGMOID, z)));
	z = MAKE(&m, RELU, MAKE(&m, MUL, y, z));
	z = MAKE(&m, SUB, c, MAKE(&m, DIV, z, c));
	make_output(&m, MAKE(&m, MAX, z, x));
	make_output(&m, MAKE(&m, SOFTMAX, z));
	/* (a clamp goes with a pair in some versions only) */
	assert_true(check_all("xnnpack.binary", 1) >= 18);
}

static void
test_deconv(void **state)
{
	(void)state;
	make_deconvs();
	assert_true(check_all("xnnpack.deconv", 2) >= 2);
}

static void
test_deconv_dequantized(void **state)
{
	(void)state;
	make_output(&m, make_integer_deconv());
	check_all("xnnpack.deconv", 3);
}

static void
test_slopes(void **state)
{
	(void)state;
	make_slopes();
	assert_int_equal(check_all("xnnpack.prelu", 1), 1);
}

static void
test_pad(void **state)
{
	value_id x = make_input(&m, DIMS(2, 3, 4, 5));
	value_id y = make_input(&m, DIMS(4, 6));

	(void)state;
	make_output(&m,
	    MAKE(&m, PAD, x, make_ints(&m, INTS(0, 1, 2, 0, 1, 0, 3, 4)),
	        make_scalar(&m, 0.5f)));
	make_output(&m, MAKE(&m, PAD, y, make_ints(&m, INTS(1, 0, 0, 2))));
	assert_int_equal(check_all("xnnpack.pad", 1), 3);
}

/* A factor that the sizes cannot express must be left to others. */
static void
test_resize(void **state)
{
	const struct attr centres[] = {ATTR_OF_STRING("mode", "linear")};
	const struct attr corners[] = {ATTR_OF_STRING("mode", "linear"),
	    ATTR_OF_STRING("coordinate_transformation_mode", "align_corners")};
	const struct attr plain[] = {ATTR_OF_STRING("mode", "linear"),
	    ATTR_OF_STRING("coordinate_transformation_mode", "asymmetric")};
	static const float twice[] = {1, 1, 2, 3}, odd[] = {1, 1, 1.3f, 2};
	static const int64_t four[] = {4};
	struct tensor t = tensor_view(DT_FLOAT, 1, four, twice);
	struct tensor u = tensor_view(DT_FLOAT, 1, four, odd);
	value_id x = make_input(&m, DIMS(1, 6, 5, 7));
	value_id s = graph_add_constant(m.graph, "scales", &t);
	value_id o = graph_add_constant(m.graph, "odd", &u);

	(void)state;
	make_output(&m, MAKE_WITH(&m, RESIZE, centres, x, VALUE_NONE, s));
	make_output(&m, MAKE_WITH(&m, RESIZE, corners, x, VALUE_NONE, s));
	make_output(&m, MAKE_WITH(&m, RESIZE, plain, x, VALUE_NONE, s));
	make_output(&m, MAKE_WITH(&m, RESIZE, centres, x, VALUE_NONE, o));
	assert_int_equal(check_all("xnnpack.resize", 1), 3);
}

/* What only newer versions have: run, or refused for the version alone. */

static void
check_refused(const char *rule, const char *condition, uint32_t n)
{
	uint32_t refused = 0;

	for (uint32_t i = 0; i < found.nrefusals; i++) {
		const struct refusal *r = &found.refusal[i];

		if (r->target != 0 || strcmp(tested->rule[r->rule].name, rule))
			continue;
		for (uint32_t k = 0; k < r->nreasons; k++)
			if (!r->reason[k].holds)
				assert_string_equal(
				    r->reason[k].condition, condition);
		refused++;
	}
	printf("  %s: not in this version\n", rule);
	assert_int_equal(refused, n);
}

static void
check_where_there(const char *rule, const char *condition, uint32_t n)
{
	uint32_t ran;
	bool seen;

	find(tested->name);
	ran = run_all(rule, 1, &seen);
	if (!seen) {
		check_refused(rule, condition, n);
		return;
	}
	assert_int_equal(ran, n);
	run_seeded(rule, 1, n);
}

static void
test_pools_apart(void **state)
{
	const struct attr apart[] = {
	    ATTR_OF_INTS("kernel_shape", 2, 1), ATTR_OF_INTS("strides", 3, 1)};

	(void)state;
	make_output(&m,
	    MAKE_WITH(&m, MAXPOOL, apart, make_input(&m, DIMS(1, 19, 12, 11))));
	check_where_there("xnnpack.pool", "strides", 1);
}

/* One of a rule at least, as some processors and versions have less. */
static void
test_halves(void **state)
{
	const struct attr same[] = {ATTR_OF_INTS("pads", 1, 1, 1, 1)};
	const struct attr twice[] = {
	    ATTR_OF_INTS("kernel_shape", 2, 2), ATTR_OF_INTS("strides", 2, 2)};
	value_id x = make_input(&m, DIMS(1, 24, 9, 10));
	value_id w = make_constant(&m, DIMS(32, 24, 3, 3), -0.2f, 0.2f);
	value_id b = make_constant(&m, DIMS(32), -1, 1);
	value_id w2 = make_constant(&m, DIMS(32, 1, 1, 1), -0.2f, 0.2f);
	value_id c = make_constant(&m, DIMS(32, 9, 10), -1, 1);
	const struct attr depthwise[] = {ATTR_OF_INT("group", 32)};
	value_id y = MAKE(&m, RELU, MAKE_WITH(&m, CONV, same, x, w, b));

	(void)state;
	y = MAKE_WITH(&m, CONV, depthwise, batch_norm(y, 32), w2);
	x = MAKE(&m, SIGMOID, MAKE(&m, MUL, MAKE(&m, ADD, y, c), y));
	y = MAKE(&m, MUL, MAKE(&m, TANH, x), MAKE(&m, ABS, y));
	y = MAKE(&m, CLIP, y, make_scalar(&m, -0.25f), make_scalar(&m, 0.5f));
	make_output(&m, MAKE_WITH(&m, AVERAGEPOOL, twice, y));
	y = MAKE_WITH(&m, MAXPOOL, twice, y);
	make_output(&m, MAKE(&m, GLOBALAVERAGEPOOL, y));
	make_halves(&m);
	assert_true(check_all("xnnpack.conv", 2) >= 4);
}

static void
test_products_of_halves(void **state)
{
	value_id x = make_input(&m, DIMS(3, 40));
	value_id w = make_constant(&m, DIMS(40, 24), -0.2f, 0.2f);
	value_id b = make_constant(&m, DIMS(24), -1, 1);
	value_id y = MAKE(&m, RELU, MAKE(&m, GEMM, x, w, b));
	value_id w2 = make_constant(&m, DIMS(24, 130), -0.2f, 0.2f);

	(void)state;
	make_output(&m, MAKE(&m, SOFTMAX, y));
	make_output(&m, MAKE(&m, MATMUL, y, w2)); /* some do that wrong */
	make_output(&m, MAKE(&m, MATMUL, y, make_input(&m, DIMS(24, 5))));
	make_halves(&m);
	check_all("xnnpack.gemm", 2);
}

/* Any bytes, or zeros. */
static value_id
bytes(const int64_t *dim, bool is_unsigned, bool zeros)
{
	static const uint8_t nothing[64];
	value_id v = make_int8(&m, dim);
	struct tensor *t = arena_new(&arena, struct tensor, 1);

	*t = *graph_value(m.graph, v)->constant;
	t->dtype = is_unsigned ? DT_UINT8 : DT_INT8;
	if (zeros)
		*t = tensor_view(t->dtype, t->rank, t->dim, nothing);
	return graph_add_constant(
	    m.graph, arena_printf(&arena, "b%u", (unsigned)v), t);
}

/* Filters over a quantised image and back; a scale for all or for each. */
static void
make_convolution_of_bytes(const int64_t *kernel, int64_t group,
    bool is_unsigned, bool is_filter_unsigned, bool by_filter)
{
	const struct attr attr[] = {ATTR_OF_INT("group", group),
	    ATTR_OF_INTS("strides", 2, 1), ATTR_OF_INTS("pads", 1, 0, 2, 1),
	    ATTR_OF_INTS("dilations", 1, 2)};
	value_id x = make_input(&m, DIMS(2, kernel[1] * group, 11, 13));
	value_id s = make_scalar(&m, 0.02f), s2 = make_scalar(&m, 0.3f);
	value_id z = bytes(DIMS(1), is_unsigned, false), y;
	value_id z2 = bytes(DIMS(1), is_unsigned, false);

	x = MAKE(&m, QUANTIZELINEAR, x, s, z);
	y = make_node(&m, OP_QLINEARCONV,
	    (const value_id[]){x, s, z,
	        bytes(kernel, is_filter_unsigned, false),
	        by_filter ? make_constant(&m, DIMS(kernel[0]), 0.001f, 0.03f)
	                  : make_scalar(&m, 0.004f),
	        bytes(DIMS(1), is_filter_unsigned, !is_filter_unsigned), s2, z2,
	        VALUE_LAST},
	    attr, 4);
	make_output(&m, MAKE(&m, DEQUANTIZELINEAR, y, s2, z2));
}

static void
test_bytes(void **state)
{
	(void)state;
	make_convolution_of_bytes(DIMS(9, 6, 3, 3), 1, false, false, true);
	make_convolution_of_bytes(DIMS(72, 3, 3, 2), 2, false, false, false);
	make_convolution_of_bytes(DIMS(12, 1, 3, 3), 12, false, false, true);
	make_convolution_of_bytes(DIMS(9, 6, 3, 3), 1, true, true, false);
	make_convolution_of_bytes(DIMS(72, 64, 1, 1), 1, true, false, false);
	make_convolution_of_bytes(DIMS(5, 1, 5, 3), 5, true, true, false);
	make_convolution_of_bytes(DIMS(72, 6, 3, 3), 1, true, false, true);
	/* several scales, and no zero in the middle */
	make_convolution_of_bytes(DIMS(9, 6, 3, 3), 1, true, true, true);
	assert_int_equal(check_all("xnnpack.bytes", 1), 7);
}

/* The same spelled out in floats between quantisers, of two forms. */
static void
make_convolution_between(bool is_unsigned, int64_t filters)
{
	const struct attr first[] = {ATTR_OF_INT("axis", 0)};
	const bool by_filter = filters > 9;
	value_id s = make_scalar(&m, 0.02f);
	value_id z = bytes(DIMS(1), is_unsigned, false);
	value_id x = make_input(&m, DIMS(2, 6, 11, 13));
	value_id w = make_int8(&m, DIMS(filters, 6, 3, 3)), y;

	x = MAKE(&m, QUANTIZELINEAR, x, s, z);
	w = by_filter ? MAKE_WITH(&m, DEQUANTIZELINEAR, first, w,
	        make_constant(&m, DIMS(filters), 0.001f, 0.03f))
	              : MAKE(&m, DEQUANTIZELINEAR, w, make_scalar(&m, 0.004f));
	y = MAKE(&m, CONV, MAKE(&m, DEQUANTIZELINEAR, x, s, z), w);
	s = make_scalar(&m, 0.3f);
	y = MAKE(&m, QUANTIZELINEAR, y, s, z);
	make_output(&m, MAKE(&m, DEQUANTIZELINEAR, y, s, z));
}

static void
test_bytes_between(void **state)
{
	(void)state;
	make_convolution_between(false, 9);
	make_convolution_between(true, 9);
	make_convolution_between(false, 70);
	make_convolution_between(true, 70);
	/* and the convolutions by themselves, in floats */
	assert_int_equal(check_all("xnnpack.bytes", 4), 8);
}

/* With a bias (5 nodes) and without (4). */
static void
test_dynamic_products(void **state)
{
	uint32_t ran;
	bool seen;

	(void)state;
	make_dynamic_products();
	find("xnnpack");
	ran = run_all("xnnpack.dynamic_product", 5, &seen);
	if (!seen) {
		check_refused("xnnpack.dynamic_product", "library", 7);
		return;
	}
	assert_true(ran >= 7);
	run_seeded("xnnpack.dynamic_product", 5, ran);
	run_seeded("xnnpack.dynamic_product", 4, ran);
}

/* A constant of 4 bits: what `bytes` of 8 hold is read as two of them. */
static value_id
of_four(const int64_t *dim, bool is_unsigned)
{
	struct tensor *t = arena_new(&arena, struct tensor, 1);
	const size_t n = (size_t)(dim[0] * dim[1]);
	uint8_t *data = arena_new(&arena, uint8_t, n);

	for (size_t i = 0; i < n; i++)
		data[i] = (uint8_t)(i * 73 + i / 7);
	*t = tensor_view(is_unsigned ? DT_UINT4 : DT_INT4, 2, dim, data);
	return graph_add_constant(m.graph,
	    arena_printf(&arena, "f%u", (unsigned)m.graph->nvalues), t);
}

/* A product with dequantised weights, and a bias behind. */
static void
make_narrow(value_id codes, int64_t depth, int64_t columns, bool by_column)
{
	const struct attr to_columns[] = {ATTR_OF_INT("axis", 1)};
	value_id w = MAKE_WITH(&m, DEQUANTIZELINEAR, to_columns, codes,
	    by_column ? make_constant(&m, DIMS(columns), 0.001f, 0.03f)
	              : make_scalar(&m, 0.02f));
	value_id y = MAKE(&m, MATMUL, make_input(&m, DIMS(2, 3, depth)), w);

	make_output(&m,
	    MAKE(&m, RELU,
	        MAKE(&m, ADD, y, make_constant(&m, DIMS(columns), -1, 1))));
}

static void
test_narrow(void **state)
{
	const struct attr turned[] = {ATTR_OF_INT("transB", 1)};
	const struct attr first[] = {ATTR_OF_INT("axis", 0)};
	uint32_t ran;
	value_id w;
	bool seen;

	(void)state;
	m.opset = 21;
	make_narrow(make_int8(&m, DIMS(33, 70)), 33, 70, true);
	make_narrow(make_int8(&m, DIMS(8, 5)), 8, 5, false);
	make_narrow(of_four(DIMS(34, 70), false), 34, 70, true);
	make_narrow(of_four(DIMS(16, 9), true), 16, 9, false);
	w = MAKE_WITH(&m, DEQUANTIZELINEAR, first, make_int8(&m, DIMS(7, 12)),
	    make_constant(&m, DIMS(7), 0.001f, 0.03f));
	make_output(
	    &m, MAKE_WITH(&m, GEMM, turned, make_input(&m, DIMS(5, 12)), w));
	find("xnnpack");
	ran = run_all("xnnpack.narrow", 4, &seen);
	if (!seen) {
		check_refused("xnnpack.narrow", "library", 13);
		return;
	}
	run_seeded("xnnpack.narrow", 4, ran);
	run_seeded("xnnpack.narrow", 2, ran);
}

static void
test_product(void **state)
{
	value_id a = make_input(&m, DIMS(2, 3, 5, 7));
	value_id b = make_input(&m, DIMS(2, 3, 7, 9));
	value_id c = make_input(&m, DIMS(9, 4));
	value_id d = make_input(&m, DIMS(6, 9));

	(void)state;
	make_output(&m, MAKE(&m, MATMUL, a, b));
	make_output(&m, MAKE(&m, MATMUL, d, c));
	check_where_there("xnnpack.product", "library", 2);
}

static void
test_transpose(void **state)
{
	const struct attr heads[] = {ATTR_OF_INTS("perm", 0, 2, 1, 3)};
	const struct attr turned[] = {ATTR_OF_INTS("perm", 3, 4, 0, 2, 1)};
	value_id x = make_input(&m, DIMS(2, 5, 3, 7));
	value_id y = make_input(&m, DIMS(4, 3, 2, 5, 6));
	value_id z = make_input(&m, DIMS(11, 17));

	(void)state;
	make_output(&m, MAKE_WITH(&m, TRANSPOSE, heads, x));
	make_output(&m, MAKE_WITH(&m, TRANSPOSE, turned, y));
	make_output(&m, MAKE(&m, TRANSPOSE, z));
	check_where_there("xnnpack.transpose", "library", 3);
}

static void
test_functions(void **state)
{
	value_id x = make_input(&m, DIMS(3, 70));

	(void)state;
	make_output(&m, MAKE(&m, TANH, x));
	make_output(&m, MAKE(&m, EXP, x));
	make_output(&m, MAKE(&m, GELU, x));
	check_where_there("xnnpack.unary", "function", 3);
}

static void
test_rounding(void **state)
{
	(void)state;
	make_output(&m, MAKE(&m, ROUND, make_input(&m, DIMS(3, 70))));
	assert_int_equal(check_all("xnnpack.unary", 1), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	    TEST(test_conv),
	    TEST(test_dense),
	    TEST(test_large_matrices),
	    TEST(test_no_copies),
	    TEST(test_pools),
	    TEST(test_pointwise),
	    TEST(test_deconv),
	    TEST(test_deconv_dequantized),
	    TEST(test_slopes),
	    TEST(test_pad),
	    TEST(test_resize),
	    TEST(test_pools_apart),
	    TEST(test_halves),
	    TEST(test_products_of_halves),
	    TEST(test_bytes),
	    TEST(test_bytes_between),
	    TEST(test_dynamic_products),
	    TEST(test_narrow),
	    TEST(test_product),
	    TEST(test_transpose),
	    TEST(test_functions),
	    TEST(test_rounding),
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
