/* Every rule of the oneDNN backend, in every way it offers, against the host
 * reference. */
#include "targets/dnnl/accept.h"
#include "targets/dnnl/layer.h"
#include "targets/dnnl/ways.h"
#include "targets/widened.h"
#include "tests/support/kind.h"
#include "tests/support/quantized.h"

extern const struct target_kind target_dnnl;
const struct target_kind *const tested = &target_dnnl;

static void
test_conv_norm_residual_relu(void **state)
{
	const struct attr same[] = {ATTR_OF_INTS("pads", 1, 1, 1, 1)};
	value_id x = make_input(&m, DIMS(1, 32, 14, 14));
	value_id w = make_constant(&m, DIMS(32, 32, 3, 3), -0.2f, 0.2f);
	value_id b = make_constant(&m, DIMS(32), -1, 1);
	value_id r = MAKE(&m, RELU, x);
	value_id c = MAKE_WITH(&m, CONV, same, r, w, b);
	value_id s = MAKE(&m, ADD, r, batch_norm(c, 32));

	(void)state;
	make_output(&m, MAKE(&m, RELU, s));
	assert_true(check_all("dnnl.conv", 4) >= 20);
}

/* The residual is used later too, so it may not be overwritten. */
static void
test_live_residual_is_not_summed_into(void **state)
{
	value_id x = make_input(&m, DIMS(1, 16, 7, 7));
	value_id w = make_constant(&m, DIMS(16, 16, 1, 1), -0.2f, 0.2f);
	value_id r = MAKE(&m, RELU, x);
	value_id s = MAKE(&m, ADD, MAKE(&m, CONV, r, w), r);

	(void)state;
	make_output(&m, MAKE(&m, MUL, s, r));
	check_all("dnnl.conv", 2);
	for (uint32_t i = 0; i < found.n; i++)
		assert_null(
		    strstr(found.candidate[i].implementation_name, "sum"));
}

static void
test_conv_shapes(void **state)
{
	const struct attr strided[] = {
	    ATTR_OF_INTS("strides", 2, 2), ATTR_OF_INTS("pads", 3, 3, 3, 3)};
	const struct attr dilated[] = {ATTR_OF_INTS("dilations", 2, 2),
	    ATTR_OF_STRING("auto_pad", "SAME_UPPER")};
	const struct attr grouped[] = {ATTR_OF_INT("group", 4)};
	value_id x = make_input(&m, DIMS(2, 3, 23, 21));
	value_id w = make_constant(&m, DIMS(24, 3, 7, 7), -0.2f, 0.2f);
	value_id y = MAKE_WITH(&m, CONV, strided, x, w);
	value_id w2 = make_constant(&m, DIMS(24, 24, 3, 3), -0.2f, 0.2f);
	value_id z = MAKE_WITH(&m, CONV, dilated, y, w2);
	value_id w3 = make_constant(&m, DIMS(16, 6, 3, 3), -0.2f, 0.2f);

	(void)state;
	make_output(&m, MAKE_WITH(&m, CONV, grouped, z, w3));
	check_all("dnnl.conv", 1);
}

/* Weights kept as integers, with a scale for each channel. */
static void
test_conv_dequantized(void **state)
{
	const struct attr first[] = {ATTR_OF_INT("axis", 0)};
	value_id x = make_input(&m, DIMS(1, 16, 9, 9));
	value_id q = make_int8(&m, DIMS(32, 16, 3, 3));
	value_id zero = make_int8(&m, DIMS(32));
	value_id scale = make_constant(&m, DIMS(32), 0.001f, 0.01f);
	value_id w = MAKE_WITH(&m, DEQUANTIZELINEAR, first, q, scale, zero);
	value_id b = MAKE(&m, DEQUANTIZELINEAR, make_int8(&m, DIMS(32)),
	    make_scalar(&m, 0.1f));
	value_id c = MAKE(&m, CONV, x, w, b);

	(void)state;
	make_output(&m, MAKE(&m, RELU, batch_norm(c, 32)));
	check_all("dnnl.conv", 5);
}

static void
test_deconv_dequantized(void **state)
{
	(void)state;
	make_output(&m, MAKE(&m, RELU, make_integer_deconv()));
	check_all("dnnl.deconv", 4);
}

/* With a scale for each column, and a bias behind. */
static void
test_matmul_dequantized(void **state)
{
	const struct attr columns[] = {ATTR_OF_INT("axis", 1)};
	value_id w = MAKE_WITH(&m, DEQUANTIZELINEAR, columns,
	    make_int8(&m, DIMS(33, 70)),
	    make_constant(&m, DIMS(70), 0.001f, 0.03f));
	value_id y = MAKE(&m, MATMUL, make_input(&m, DIMS(2, 3, 33)), w);

	(void)state;
	make_output(&m, MAKE(&m, ADD, y, make_constant(&m, DIMS(70), -1, 1)));
	check_all("dnnl.matmul", 3);
}

static void
test_depthwise_clip(void **state)
{
	const struct attr depthwise[] = {
	    ATTR_OF_INT("group", 20), ATTR_OF_INTS("pads", 1, 1, 1, 1)};
	value_id x = make_input(&m, DIMS(1, 20, 9, 9));
	value_id w = make_constant(&m, DIMS(20, 1, 3, 3), -1, 1);
	value_id c = MAKE_WITH(&m, CONV, depthwise, x, w);

	(void)state;
	make_output(
	    &m, MAKE(&m, CLIP, c, make_scalar(&m, 0), make_scalar(&m, 0.5f)));
	check_all("dnnl.conv", 2);
}

/* A 1x1 convolution with a depthwise one behind it, as mobile networks have. */
static value_id
separable(value_id x, int64_t from, int64_t to, int64_t stride, bool swish)
{
	const struct attr depthwise[] = {ATTR_OF_INT("group", to),
	    ATTR_OF_INTS("strides", stride, stride),
	    ATTR_OF_INTS("pads", 1, 1, 1, 1)};
	value_id w = make_constant(&m, DIMS(to, from, 1, 1), -0.5f, 0.5f);
	value_id w3 = make_constant(&m, DIMS(to, 1, 3, 3), -0.5f, 0.5f);
	value_id b = make_constant(&m, DIMS(to), -1, 1);
	value_id y = MAKE(&m, CONV, x, w, b);

	if (swish)
		return MAKE_WITH(&m, CONV, depthwise,
		    MAKE(&m, MUL, y, MAKE(&m, SIGMOID, y)), w3, b);
	y = MAKE(&m, RELU, batch_norm(y, to));
	y = batch_norm(MAKE_WITH(&m, CONV, depthwise, y, w3), to);
	return MAKE(&m, CLIP, y, make_scalar(&m, 0), make_scalar(&m, 6));
}

static void
test_conv_depthwise(void **state)
{
	value_id x = make_input(&m, DIMS(2, 16, 13, 12)), y;

	(void)state;
	y = separable(x, 16, 32, 2, false);
	make_output(&m, separable(y, 32, 48, 1, true));
	check_all("dnnl.conv_depthwise", 6);
}

/* Groups of two channels, and a window of another size. */
static void
test_no_conv_depthwise(void **state)
{
	const struct attr pairs[] = {
	    ATTR_OF_INT("group", 16), ATTR_OF_INTS("pads", 1, 1, 1, 1)};
	const struct attr large[] = {
	    ATTR_OF_INT("group", 32), ATTR_OF_INTS("pads", 2, 2, 2, 2)};
	value_id x = make_input(&m, DIMS(1, 16, 9, 9));
	value_id w = make_constant(&m, DIMS(32, 16, 1, 1), -1, 1);
	value_id w2 = make_constant(&m, DIMS(32, 2, 3, 3), -1, 1);
	value_id w5 = make_constant(&m, DIMS(32, 1, 5, 5), -1, 1);

	(void)state;
	make_output(&m, MAKE_WITH(&m, CONV, pairs, MAKE(&m, CONV, x, w), w2));
	make_output(&m, MAKE_WITH(&m, CONV, large, MAKE(&m, CONV, x, w), w5));
	check_all("dnnl.conv", 1);
	for (uint32_t i = 0; i < found.n; i++)
		assert_int_equal(found.candidate[i].nnodes, 1);
}

static void
test_conv_1d_3d(void **state)
{
	value_id x = make_input(&m, DIMS(1, 4, 17));
	value_id w = make_constant(&m, DIMS(8, 4, 3), -1, 1);
	value_id x3 = make_input(&m, DIMS(1, 4, 5, 6, 7));
	value_id w3 = make_constant(&m, DIMS(8, 4, 3, 3, 3), -1, 1);

	(void)state;
	make_output(&m, MAKE(&m, CONV, x, w));
	make_output(&m, MAKE(&m, CONV, x3, w3));
	check_all("dnnl.conv", 1);
}

static void
test_gated_convs(void **state)
{
	const struct attr hard[] = {ATTR_OF_FLOAT("alpha", 1 / 6.f)};
	value_id x = make_input(&m, DIMS(1, 8, 6, 6));
	value_id w = make_constant(&m, DIMS(16, 8, 1, 1), -1, 1);
	value_id c = MAKE(&m, CONV, x, w);
	value_id swish = MAKE(&m, MUL, c, MAKE(&m, SIGMOID, c));
	value_id w2 = make_constant(&m, DIMS(16, 16, 1, 1), -1, 1);
	value_id d = MAKE(&m, CONV, swish, w2);

	(void)state;
	make_output(&m, MAKE(&m, MUL, MAKE_WITH(&m, HARDSIGMOID, hard, d), d));
	check_all("dnnl.conv_gated", 3);
}

static void
test_gemm(void **state)
{
	const struct attr turned[] = {ATTR_OF_INT("transB", 1),
	    ATTR_OF_FLOAT("alpha", 0.5f), ATTR_OF_FLOAT("beta", 2)};
	value_id x = make_input(&m, DIMS(3, 40));
	value_id w = make_constant(&m, DIMS(10, 40), -1, 1);
	value_id b = make_constant(&m, DIMS(10), -1, 1);
	value_id y = MAKE_WITH(&m, GEMM, turned, x, w, b);

	(void)state;
	make_output(&m, MAKE(&m, RELU, y));
	check_all("dnnl.gemm", 2);
}

static value_id
gelu(value_id x)
{
	value_id a = MAKE(&m, DIV, x, make_scalar(&m, 1.41421356f));
	value_id b = MAKE(&m, ADD, MAKE(&m, ERF, a), make_scalar(&m, 1));

	return MAKE(&m, MUL, MAKE(&m, MUL, x, b), make_scalar(&m, 0.5f));
}

static void
test_matmul_bias_residual_gelu(void **state)
{
	value_id x = make_input(&m, DIMS(2, 7, 24));
	value_id w = make_constant(&m, DIMS(24, 24), -0.5f, 0.5f);
	value_id b = make_constant(&m, DIMS(24), -1, 1);
	value_id r = MAKE(&m, RELU, x);
	value_id y = MAKE(&m, ADD, MAKE(&m, MATMUL, r, w), b);
	value_id z = MAKE(&m, ADD, r, y);
	value_id w2 = make_constant(&m, DIMS(24, 32), -0.5f, 0.5f);
	value_id b2 = make_constant(&m, DIMS(32), -1, 1);

	(void)state;
	make_output(&m, gelu(MAKE(&m, ADD, b2, MAKE(&m, MATMUL, z, w2))));
	check_all("dnnl.matmul_gelu", 7);
}

static void
test_matmul_of_two_inputs(void **state)
{
	value_id x = make_input(&m, DIMS(2, 3, 5, 8));
	value_id y = make_input(&m, DIMS(2, 3, 8, 6));

	(void)state;
	make_output(&m, MAKE(&m, MATMUL, x, y));
	check_all("dnnl.matmul", 1);
}

static void
test_pools(void **state)
{
	const struct attr window[] = {ATTR_OF_INTS("kernel_shape", 3, 3),
	    ATTR_OF_INTS("strides", 2, 2), ATTR_OF_INTS("pads", 1, 1, 0, 0),
	    ATTR_OF_INT("ceil_mode", 1)};
	const struct attr counted[] = {ATTR_OF_INTS("kernel_shape", 3, 3),
	    ATTR_OF_INTS("pads", 1, 1, 1, 1),
	    ATTR_OF_INT("count_include_pad", 1)};
	const struct attr image[] = {ATTR_OF_INTS("axes", -1, 2)};
	value_id x = make_input(&m, DIMS(1, 19, 12, 11));

	(void)state;
	make_output(&m, MAKE_WITH(&m, REDUCEMEAN, image, x));
	make_output(&m, MAKE_WITH(&m, MAXPOOL, window, x));
	make_output(&m, MAKE_WITH(&m, AVERAGEPOOL, window, x));
	make_output(&m, MAKE_WITH(&m, AVERAGEPOOL, counted, x));
	make_output(&m, MAKE(&m, GLOBALAVERAGEPOOL, x));
	make_output(&m, MAKE(&m, GLOBALMAXPOOL, x));
	/* three ways each, and those of the mean as a reduction */
	assert_int_equal(check_all("dnnl.pool", 1), 20);
}

static void
test_pointwise(void **state)
{
	const struct attr slope[] = {ATTR_OF_FLOAT("alpha", 0.3f)};
	value_id x = make_input(&m, DIMS(2, 18, 5, 5));
	value_id y = MAKE_WITH(&m, LEAKYRELU, slope, x);

	(void)state;
	y = MAKE(&m, TANH, MAKE_WITH(&m, ELU, slope, y));
	y = MAKE(&m, HARDSWISH, MAKE(&m, SIGMOID, y));
	y = MAKE(&m, MUL, MAKE(&m, SUB, make_scalar(&m, 3), y),
	    make_scalar(&m, 0.5f));
	y = MAKE(&m, SQRT, MAKE(&m, ABS, MAKE(&m, EXP, y)));
	y = MAKE(&m, POW, y, make_scalar(&m, 1.5f));
	make_output(&m, gelu(MAKE(&m, MUL, y, MAKE(&m, SIGMOID, y))));
	assert_true(check_all("dnnl.gelu", 5) >= 33);
}

/* oneDNN 3 gave two functions slopes that oneDNN 2 had built in: the same name
 * compiles and computes something else. */
static void
test_functions_that_gained_a_slope(void **state)
{
	value_id x = make_input(&m, DIMS(2, 18, 5, 5));
	value_id w = make_constant(&m, DIMS(24, 18, 1, 1), -0.5f, 0.5f);

	(void)state;
	make_output(&m, MAKE(&m, HARDSWISH, x));
	make_output(&m, MAKE(&m, SOFTPLUS, x));
	make_output(&m, MAKE(&m, HARDSWISH, MAKE(&m, CONV, x, w)));
	assert_true(check_all("dnnl.conv", 2) > 6);
}

/* Tensors added to convolutions that are computed by matrix products: of one
 * element an image, and below AVX2 of any. */
static void
test_conv_small_binary(void **state)
{
	const struct attr tall[] = {ATTR_OF_INTS("pads", 0, 0, 1, 0)};
	value_id x = make_input(&m, DIMS(2, 1, 1, 1));
	value_id y = make_input(&m, DIMS(1, 24, 7, 5));
	value_id w = make_constant(&m, DIMS(1, 1, 2, 1), -1, 1);
	value_id w3 = make_constant(&m, DIMS(6, 24, 3, 3), -1, 1);
	value_id w8 = make_constant(&m, DIMS(8, 24, 3, 3), -1, 1);
	value_id b = make_constant(&m, DIMS(1), -1, 1);

	(void)state;
	make_output(&m,
	    MAKE(&m, ADD, make_input(&m, DIMS(2, 1, 1, 1)),
	        MAKE_WITH(&m, CONV, tall, x, w, b)));
	make_output(&m,
	    MAKE(&m, ADD, MAKE(&m, CONV, y, w3),
	        make_input(&m, DIMS(1, 6, 5, 3))));
	make_output(&m, /* below AVX2 whole blocks only */
	    MAKE(&m, ADD, MAKE(&m, CONV, y, w8),
	        make_input(&m, DIMS(1, 8, 5, 3))));
	check_all("dnnl.conv", 2);
}

static void
test_binary(void **state)
{
	value_id x = make_input(&m, DIMS(2, 18, 5, 5));
	value_id y = make_input(&m, DIMS(2, 18, 5, 5));
	value_id per_channel = make_input(&m, DIMS(2, 18, 1, 1));
	value_id row = make_input(&m, DIMS(5));
	value_id c = make_constant(&m, DIMS(18, 1, 1), 0.5f, 2);

	(void)state;
	make_output(&m, MAKE(&m, RELU, MAKE(&m, ADD, x, y)));
	make_output(&m, MAKE(&m, MUL, per_channel, x));
	make_output(&m, MAKE(&m, SUB, x, row));
	make_output(&m, MAKE(&m, DIV, y, c));
	make_output(&m, MAKE(&m, MAX, y, x));
	check_all("dnnl.binary", 2);
}

static void
test_softmax_and_norms(void **state)
{
	const struct attr axis[] = {ATTR_OF_INT("axis", 1)};
	const struct attr size[] = {
	    ATTR_OF_INT("size", 5), ATTR_OF_FLOAT("alpha", 0.01f)};
	value_id x = make_input(&m, DIMS(2, 18, 5, 6));
	value_id scale = make_constant(&m, DIMS(6), 0.5f, 2);
	value_id shift = make_constant(&m, DIMS(6), -1, 1);

	(void)state;
	make_output(&m, MAKE(&m, SOFTMAX, x));
	make_output(&m, MAKE_WITH(&m, LOGSOFTMAX, axis, x));
	make_output(&m, MAKE(&m, LAYERNORMALIZATION, x, scale, shift));
	make_output(&m, MAKE_WITH(&m, LRN, size, x));
	make_output(&m, MAKE(&m, RELU, batch_norm(x, 18)));
	assert_true(check_all("dnnl.layer_norm", 1) >= 12);
}

static bool
is_of_rule(const struct candidate *c, const char *rule)
{
	return c->target == 0 && strcmp(tested->rule[c->rule].name, rule) == 0;
}

/* Not every version of the library normalises groups of channels. */
static void
check_group_norm(uint32_t nnodes)
{
	if (dnnl_has_groups()) {
		check_all("dnnl.group_norm", nnodes);
		return;
	}
	find(tested->name);
	for (uint32_t i = 0; i < found.n; i++)
		assert_true(
		    !is_of_rule(&found.candidate[i], "dnnl.group_norm"));
}

static void
test_group_norm(void **state)
{
	const struct attr groups[] = {
	    ATTR_OF_INT("num_groups", 3), ATTR_OF_FLOAT("epsilon", 1e-3f)};
	value_id x = make_input(&m, DIMS(2, 18, 5, 6));
	value_id y = make_input(&m, DIMS(2, 18, 7));
	value_id z = make_input(&m, DIMS(1, 18, 3, 2, 4));
	value_id scale = make_constant(&m, DIMS(18), 0.5f, 2);
	value_id shift = make_constant(&m, DIMS(18), -1, 1);

	(void)state;
	m.opset = 21;
	make_output(&m, MAKE(&m, INSTANCENORMALIZATION, x, scale, shift));
	make_output(&m, MAKE(&m, INSTANCENORMALIZATION, z, scale, shift));
	make_output(
	    &m, MAKE_WITH(&m, GROUPNORMALIZATION, groups, x, scale, shift));
	make_output(
	    &m, MAKE_WITH(&m, GROUPNORMALIZATION, groups, y, scale, shift));
	check_group_norm(1);
}

/* An image's network and a product in float16, where library and processor have
 * it: one of a rule at least, and none elsewhere. */
static void
check_halves(const char *rule, uint32_t nnodes)
{
	make_halves(&m);
	if (dnnl_has_halves()) {
		check_all(rule, nnodes);
		return;
	}
	printf("  float16: not with this library and processor\n");
	find(tested->name);
	for (uint32_t i = 0; i < found.n; i++)
		assert_true(found.candidate[i].target != 0
		    || found.candidate[i].widened);
}

static void
test_halves(void **state)
{
	const struct attr same[] = {ATTR_OF_INTS("pads", 1, 1, 1, 1)};
	const struct attr twice[] = {
	    ATTR_OF_INTS("kernel_shape", 2, 2), ATTR_OF_INTS("strides", 2, 2)};
	value_id x = make_input(&m, DIMS(1, 24, 9, 10));
	value_id w = make_constant(&m, DIMS(32, 24, 3, 3), -0.2f, 0.2f);
	value_id b = make_constant(&m, DIMS(32), -1, 1);
	value_id w2 = make_constant(&m, DIMS(32, 32, 1, 1), -0.2f, 0.2f);
	value_id y = MAKE(&m, RELU, MAKE_WITH(&m, CONV, same, x, w, b));
	value_id z = MAKE(&m, CONV, batch_norm(y, 32), w2);

	(void)state;
	z = MAKE(&m, RELU, MAKE(&m, ADD, z, y));
	z = MAKE_WITH(&m, MAXPOOL, twice, MAKE(&m, SIGMOID, z));
	z = MAKE(&m, CLIP, z, make_scalar(&m, 0.25f), make_scalar(&m, 0.5f));
	make_output(&m, MAKE(&m, GLOBALAVERAGEPOOL, z));
	check_halves("dnnl.conv", 2);
}

static void
test_products_of_halves(void **state)
{
	value_id x = make_input(&m, DIMS(3, 40));
	value_id y = make_input(&m, DIMS(2, 3, 24));
	value_id w = make_constant(&m, DIMS(40, 24), -0.2f, 0.2f);
	value_id b = make_constant(&m, DIMS(24), -1, 1);
	value_id p = MAKE(&m, TANH, MAKE(&m, GEMM, x, w, b));

	(void)state;
	p = MAKE(&m, ADD, MAKE(&m, MUL, p, b), y);
	make_output(&m, MAKE(&m, SOFTMAX, p));
	make_output(&m, MAKE(&m, MATMUL, p, make_input(&m, DIMS(2, 24, 5))));
	check_halves("dnnl.gemm", 2);
}

/* As exporters write them for opsets that have no such operator. */
static void
test_group_norm_in_parts(void **state)
{
	value_id x = make_input(&m, DIMS(2, 18, 5, 6)), y;
	value_id one = make_constant(&m, DIMS(3), 1, 1);
	value_id zero = make_constant(&m, DIMS(3), 0, 0);
	value_id scale = make_constant(&m, DIMS(18, 1, 1), 0.5f, 2);
	value_id shift = make_constant(&m, DIMS(18, 1, 1), -1, 1);

	(void)state;
	y = MAKE(&m, RESHAPE, x, make_ints(&m, INTS(0, 3, -1)));
	y = MAKE(&m, INSTANCENORMALIZATION, y, one, zero);
	y = MAKE(&m, RESHAPE, y, make_ints(&m, INTS(2, 18, 5, 6)));
	y = MAKE(&m, ADD, MAKE(&m, MUL, y, scale), shift);
	make_output(&m, y);
	check_group_norm(5);
}

static value_id
mean(value_id x)
{
	const struct attr last[] = {ATTR_OF_INTS("axes", -1)};

	return MAKE_WITH(&m, REDUCEMEAN, last, x);
}

static value_id
deviation(value_id square)
{
	value_id e = make_scalar(&m, 1e-3f);

	return MAKE(&m, SQRT, MAKE(&m, ADD, mean(square), e));
}

/* The library's reference loop, which takes seconds where others take milliseconds, is
 * never what a product of millions is given. */
static bool
is_reference_loop(const struct candidate *c)
{
	struct err err = {.kind = ERR_NONE};
	const_dnnl_primitive_desc_t pd;
	struct kernel k;
	struct arena a;
	bool is = false;

	arena_init(&a);
	if (target_compile(&mix.target[0], m.graph, c, &a, &k, &err)) {
		const struct dnnl_layer *l = k.state;

		assert_int_equal(
		    dnnl_primitive_get_primitive_desc(l->primitive, &pd),
		    dnnl_success);
		is = strncmp(implementation_info(pd), "ref", 3) == 0;
		k.release(&k);
	} else {
		assert_int_equal(err.kind, ERR_UNSUPPORTED);
		assert_non_null(strstr(err.text, "reference loop"));
	}
	arena_release(&a);
	return is;
}

static void
test_no_slow_products(void **state)
{
	uint32_t tried = 0;

	(void)state;
	make_output(&m,
	    MAKE(&m, MATMUL, make_input(&m, DIMS(9, 500)),
	        make_constant(&m, DIMS(500, 400), -1, 1)));
	find("dnnl");
	for (uint32_t i = 0; i < found.n; i++) {
		const struct candidate *c = &found.candidate[i];

		if (c->target != 0 || c->implementation & WAY_GUARDED)
			continue;
		assert_false(is_reference_loop(c));
		tried++;
	}
	assert_true(tried >= 2);
}

/* The ways exporters spell layer normalisation out. */
static void
test_layer_norm_in_parts(void **state)
{
	value_id x = make_input(&m, DIMS(2, 5, 24));
	value_id scale = make_constant(&m, DIMS(24), 0.5f, 2);
	value_id shift = make_constant(&m, DIMS(24), -1, 1);
	value_id u = mean(x), d = MAKE(&m, SUB, x, u), s, y;

	(void)state;
	s = deviation(MAKE(&m, POW, d, make_scalar(&m, 2)));
	y = MAKE(&m, DIV, MAKE(&m, SUB, x, u), s);
	y = MAKE(&m, ADD, shift, MAKE(&m, MUL, scale, y));
	u = mean(y);
	d = MAKE(&m, SUB, y, u);
	s = MAKE(&m, RECIPROCAL, deviation(MAKE(&m, MUL, d, d)));
	s = MAKE(&m, MUL, s, scale);
	d = MAKE(&m, SUB, shift, MAKE(&m, MUL, u, s));
	make_output(&m, MAKE(&m, ADD, MAKE(&m, MUL, y, s), d));
	check_all("dnnl.layer_norm", 10);
}

/* What looks like one and is none must be left alone. */
static void
test_no_layer_norm(void **state)
{
	value_id x = make_input(&m, DIMS(2, 24, 24));
	value_id y = make_input(&m, DIMS(2, 24, 24));
	value_id scale = make_constant(&m, DIMS(24, 1), 0.5f, 2);
	value_id d = MAKE(&m, SUB, x, mean(x)), s;

	(void)state;
	s = deviation(MAKE(&m, POW, d, make_scalar(&m, 2)));
	make_output(&m, MAKE(&m, MUL, MAKE(&m, DIV, d, s), scale));
	d = MAKE(&m, SUB, x, mean(x));
	s = deviation(MAKE(&m, POW, d, make_scalar(&m, 3)));
	make_output(&m, MAKE(&m, DIV, d, s));
	d = MAKE(&m, SUB, x, mean(x));
	s = deviation(MAKE(&m, MUL, d, d));
	make_output(&m, MAKE(&m, DIV, MAKE(&m, SUB, y, mean(y)), s));
	check_all("dnnl.layer_norm", 7);
	for (uint32_t i = 0; i < found.n; i++)
		assert_true(!is_of_rule(&found.candidate[i], "dnnl.layer_norm")
		    || found.candidate[i].nnodes <= 7);
}

static void
test_reductions(void **state)
{
	const struct attr inner[] = {ATTR_OF_INTS("axes", 2, 3)};
	const struct attr gone[] = {
	    ATTR_OF_INTS("axes", 1, -1), ATTR_OF_INT("keepdims", 0)};
	value_id x = make_input(&m, DIMS(2, 18, 5, 6));

	(void)state;
	make_output(&m, MAKE_WITH(&m, REDUCEMEAN, inner, x));
	make_output(&m, MAKE_WITH(&m, REDUCEMAX, gone, x));
	make_output(&m, MAKE_WITH(&m, REDUCEMIN, inner, x));
	make_output(&m, MAKE_WITH(&m, REDUCEPROD, gone, x));
	make_output(&m, MAKE_WITH(&m, REDUCEL1, inner, x));
	make_output(&m, MAKE_WITH(&m, REDUCEL2, gone, x));
	make_output(&m, MAKE(&m, REDUCESUMSQUARE, x));
	make_output(&m, MAKE(&m, REDUCESUM, x, make_ints(&m, INTS(0, 3))));
	assert_int_equal(check_all("dnnl.reduction", 1), 16);
}

/* Weights, biases and starting states of a recurrent layer over x. */
static value_id
recurrent(enum op op, value_id x, int64_t gates, int64_t directions,
    const struct attr *attr, uint32_t nattrs)
{
	const int64_t hidden = 12, in = 20, batch = 3 - directions;
	value_id w =
	    make_constant(&m, DIMS(directions, gates * hidden, in), -1, 1);
	value_id r =
	    make_constant(&m, DIMS(directions, gates * hidden, hidden), -1, 1);
	value_id b =
	    make_constant(&m, DIMS(directions, 2 * gates * hidden), -1, 1);
	value_id h = make_constant(&m, DIMS(directions, batch, hidden), -1, 1);
	const value_id inputs[] = {x, w, r, b, VALUE_NONE, h, VALUE_LAST};
	value_id y = make_node(&m, op, inputs, attr, nattrs);

	make_output(&m, y);
	make_output(&m, make_more(&m));
	if (op == OP_LSTM)
		make_output(&m, make_more(&m));
	return y;
}

static void
test_recurrent(void **state)
{
	const struct attr backwards[] = {ATTR_OF_STRING("direction", "reverse"),
	    ATTR_OF_INT("hidden_size", 12)};
	const struct attr both[] = {
	    ATTR_OF_STRING("direction", "bidirectional"),
	    ATTR_OF_INT("hidden_size", 12)};
	const struct attr apart[] = {ATTR_OF_INT("linear_before_reset", 1),
	    ATTR_OF_INT("hidden_size", 12)};
	value_id x = make_input(&m, DIMS(5, 2, 20));
	value_id one = make_input(&m, DIMS(5, 1, 20));

	(void)state;
	recurrent(OP_LSTM, x, 4, 1, backwards, 2);
	recurrent(OP_LSTM, one, 4, 2, both, 2);
	recurrent(OP_GRU, x, 3, 1, backwards, 2);
	recurrent(OP_GRU, x, 3, 1, apart, 2);
	recurrent(OP_RNN, one, 1, 2, both, 2);
	assert_int_equal(check_all("dnnl.recurrent", 1), 5);
}

static void
test_deconv(void **state)
{
	(void)state;
	make_deconvs();
	assert_true(check_all("dnnl.deconv", 2) >= 4);
}

static void
test_slopes(void **state)
{
	(void)state;
	make_slopes();
	assert_int_equal(check_all("dnnl.prelu", 1), 3);
}

static void
test_moving(void **state)
{
	const struct attr axis[] = {ATTR_OF_INT("axis", 1)};
	const struct attr order[] = {ATTR_OF_INTS("perm", 0, 2, 3, 1)};
	value_id x = make_input(&m, DIMS(1, 16, 5, 6));
	value_id y = make_input(&m, DIMS(1, 32, 5, 6));

	(void)state;
	make_output(&m, MAKE_WITH(&m, CONCAT, axis, x, y, x));
	make_output(&m, MAKE_WITH(&m, TRANSPOSE, order, y));
	assert_int_equal(check_all("dnnl.concat", 1), 4);
}

static void
test_resize(void **state)
{
	const struct attr floor_of[] = {
	    ATTR_OF_STRING("coordinate_transformation_mode", "asymmetric"),
	    ATTR_OF_STRING("nearest_mode", "floor")};
	const struct attr linear[] = {ATTR_OF_STRING("mode", "linear")};
	value_id x = make_input(&m, DIMS(1, 16, 5, 6));
	static const float scale[] = {1, 1, 2, 3};
	static const int64_t four[] = {4};
	struct tensor t = tensor_view(DT_FLOAT, 1, four, scale);
	value_id s = graph_add_constant(m.graph, "scales", &t);

	(void)state;
	make_output(&m, MAKE_WITH(&m, RESIZE, floor_of, x, VALUE_NONE, s));
	make_output(&m, MAKE_WITH(&m, RESIZE, linear, x, VALUE_NONE, s));
	check_all("dnnl.resize", 1);
}

static void
test_refusals_give_reasons(void **state)
{
	value_id x = make_input(&m, DIMS(1, 4, 8, 8));
	value_id w = make_constant(&m, DIMS(4, 4, 1, 1), -1, 1);
	value_id bias = make_input(&m, DIMS(4));

	(void)state;
	make_output(&m, MAKE(&m, CONV, x, w, bias));
	find("dnnl");
	assert_int_equal(found.nrefusals, 1);
	for (uint32_t i = 0; i < found.refusal[0].nreasons; i++)
		if (strcmp(found.refusal[0].reason[i].condition, "bias") == 0)
			assert_false(found.refusal[0].reason[i].holds);
}

/* Every way of small convolutions runs; on processors that do not sum bytes
 * there is none. */
static void
test_integer_convs(void **state)
{
	static const int64_t depthwise[] = {37, 1, 3, 3, 0};
	const struct qconv all[] = {
	    {DIMS(2, 6, 11, 13), DIMS(9, 6, 3, 3), 1, true, true,
	        .plain = false},
	    {DIMS(1, 3, 17, 9), DIMS(33, 3, 5, 2), 1, false, false,
	        .plain = false},
	    {DIMS(1, 37, 8, 7), depthwise, 37, true, true, .plain = false},
	    {DIMS(1, 37, 8, 7), depthwise, 37, false, true, .plain = true},
	    {DIMS(1, 32, 9, 5), DIMS(48, 16, 1, 1), 2, true, false,
	        .unsigned_weights = true},
	    {DIMS(1, 1, 4, 4), DIMS(1, 1, 1, 1), 1, true, false, .plain = true},
	    {DIMS(1, 64, 5, 6), DIMS(16, 64, 1, 1), 1, true, true,
	        .unsigned_weights = true, .plain = true},
	    {DIMS(1, 16, 7, 7), DIMS(32, 16, 3, 3), 1, false, true,
	        .plain = false},
	    {DIMS(1, 17, 4, 12), DIMS(34, 17, 1, 1), 1, false, true,
	        .plain = true},
	    {DIMS(1, 3, 5, 8), DIMS(8, 3, 3, 3), 1, true, true, .plain = true},
	};
	const size_t n = sizeof all / sizeof *all;
	uint32_t accepted = 0, ran;

	(void)state;
	for (size_t i = 0; i < n; i++)
		make_qlinearconv(&all[i]);
	if (!ways_sum_bytes()) {
		printf("skipped: this processor does not sum bytes\n");
		return;
	}
	ran = check_all("dnnl.integer_conv", 1);
	for (uint32_t i = 0; i < found.n; i++)
		accepted += found.candidate[i].target == 0;
	assert_int_equal(ran, accepted);
}

/* Candidates of the kind over so many nodes at least. */
static uint32_t
found_from(uint32_t nnodes)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < found.n; i++)
		n += found.candidate[i].target == 0
		    && found.candidate[i].nnodes >= nnodes;
	return n;
}

static void
test_dynamic_products(void **state)
{
	(void)state;
	make_dynamic_products();
	make_dynamic_products_around();
	if (!ways_sum_bytes()) {
		printf("skipped: this processor does not sum bytes\n");
		return;
	}
	check_all("dnnl.dynamic_product", 4);
	check_all("dnnl.dynamic_product", 5);
	assert_int_equal(
	    found_from(4), 10 + 6); /* of six also without the bias */
}

static void
test_dynamic_convs(void **state)
{
	(void)state;
	make_dynamic_convs();
	if (!ways_sum_bytes()) {
		printf("skipped: this processor does not sum bytes\n");
		return;
	}
	check_all("dnnl.dynamic_conv", 4);
	check_all("dnnl.dynamic_conv", 5);
	assert_int_equal(found_from(4), 2 * (8 + 5)); /* two ways each */
}

static void
test_byte_products(void **state)
{
	(void)state;
	make_byte_products();
	if (!ways_sum_bytes()) {
		printf("skipped: this processor does not sum bytes\n");
		return;
	}
	assert_true(check_all("dnnl.integer_product", 5) >= 7);
	check_all("dnnl.integer_product", 4);
	check_all("dnnl.integer_product", 1);
}

static void
test_byte_pools(void **state)
{
	const struct attr attr[] = {ATTR_OF_INTS("kernel_shape", 3, 2),
	    ATTR_OF_INTS("strides", 2, 1), ATTR_OF_INTS("pads", 1, 0, 1, 1),
	    ATTR_OF_INT("ceil_mode", 1)};

	(void)state;
	for (int u = 0; u < 2; u++)
		make_output(&m,
		    of_type(MAKE_WITH(&m, MAXPOOL, attr,
		                quantized(DIMS(2, 19, 8, 7), u)),
		        byte_type(u)));
	assert_int_equal(check_all("dnnl.byte_pool", 1), 2);
}

/* So large that it is packed slice by slice: in C order and turned, times a factor, one
 * number for all, and where floats lie at any address. */
static void
test_large_matrices(void **state)
{
	const struct attr turned[] = {
	    ATTR_OF_INT("transB", 1), ATTR_OF_FLOAT("alpha", 0.5f)};
	const value_id x = make_input(&m, DIMS(1, 2100));
	const value_id w = make_constant(&m, DIMS(2100, 2051), -0.1f, 0.1f);
	const value_id w2 = make_constant(&m, DIMS(2051, 2100), -0.1f, 0.1f);
	const value_id w3 = make_constant(&m, DIMS(2100, 2051), -0.1f, 0.1f);
	struct tensor fill = *graph_value(m.graph, w3)->constant;
	const float x3 = 0.03f;

	(void)state;
	fill.kind = TENSOR_FILL;
	memset(fill.fill, 0, sizeof fill.fill);
	memcpy(fill.fill, &x3, sizeof x3);
	graph_value(m.graph, w3)->constant = &fill;
	make_output(&m, MAKE(&m, MATMUL, x, w));
	make_output(&m, MAKE_WITH(&m, GEMM, turned, x, w2));
	make_output(&m, MAKE(&m, GEMM, x, w3));
	assert_true(check_all("dnnl.gemm", 1) >= 2);
}

/* Guarded with another kernel of the library for what is large, which may come first:
 * each answers as it does alone, whatever came before. */
static void
check_turns(const struct candidate *c)
{
	static const float factor[] = {0x1p40f, 0x1p41f, 1, 0x1p40f, 1};
	struct err err = {.kind = ERR_NONE};
	struct trial t[2]; /* for all in turn; anew for each */

	assert_true(trial_open(&t[0], m.graph, &mix, c, &arena, &err));
	for (size_t i = 0; i < sizeof factor / sizeof *factor; i++) {
		assert_true(trial_open(&t[1], m.graph, &mix, c, &arena, &err));
		for (size_t k = 0; k < 2; k++) {
			float *x = (float *)(uintptr_t)t[k].in[0];

			for (size_t j = 0; j < t[k].in_bytes[0] / 4; j++)
				x[j] = (float)(j % 7) * factor[i];
			spoil_outputs(&t[k]);
			trial_run(&t[k]);
		}
		assert_memory_equal(
		    t[0].out[0], t[1].out[0], t[0].out_bytes[0]);
		trial_close(&t[1]);
	}
	trial_close(&t[0]);
}

static void
test_guarded_turns(void **state)
{
	const struct candidate_options o = {.keep_nan = true};
	const struct attr same[] = {ATTR_OF_INTS("pads", 1, 1, 1, 1)};
	value_id x = make_input(&m, DIMS(1, 32, 14, 14));
	value_id w = make_constant(&m, DIMS(32, 32, 3, 3), -0.2f, 0.2f);
	struct err err = {.kind = ERR_NONE};
	uint32_t n = 0;

	(void)state;
	make_output(&m, MAKE(&m, RELU, MAKE_WITH(&m, CONV, same, x, w)));
	find("dnnl");
	assert_true(candidates_find(&found, m.graph, &mix, &o, &arena, &err));
	for (uint32_t i = 0; i < found.n; i++) {
		const struct candidate *c = &found.candidate[i];

		if (c->target != 0 || !(c->implementation & WAY_GUARDED))
			continue;
		check_turns(c);
		n++;
	}
	assert_true(n > 0);
}

/* Between quantisers, a scale for each filter; a Relu that the least code stands for. */
static void
make_byte_deconv(const int64_t *dim, bool u, bool relu)
{
	const struct attr second[] = {ATTR_OF_INT("axis", 1)};
	const struct attr twice[] = {ATTR_OF_INTS("strides", 2, 2),
	    ATTR_OF_INTS("pads", 1, 1, 1, 0),
	    ATTR_OF_INTS("output_padding", 1, 0)};
	value_id x = MAKE(&m, DEQUANTIZELINEAR, quantized(dim, u),
	    make_scalar(&m, 0.02f), byte_of(100, u));
	value_id w = MAKE_WITH(&m, DEQUANTIZELINEAR, second,
	    make_int8(&m, DIMS(dim[1], 24, 3, 3)),
	    make_constant(&m, DIMS(24), 0.001f, 0.01f));
	value_id y = MAKE_WITH(
	    &m, CONVTRANSPOSE, twice, x, w, make_constant(&m, DIMS(24), -1, 1));

	y = relu ? MAKE(&m, RELU, y) : y;
	y = MAKE(&m, QUANTIZELINEAR, y, make_scalar(&m, 0.05f),
	    byte_of(!relu ? 3
	            : u   ? 0
	                  : 128,
	        u));
	make_output(&m, of_type(y, byte_type(u)));
}

/* Without padding, bias, zero or overlap. */
static void
make_bare_byte_deconv(const int64_t *dim, bool u)
{
	const struct attr twice[] = {ATTR_OF_INTS("strides", 2, 2)};
	value_id x = MAKE(&m, DEQUANTIZELINEAR, quantized(dim, u),
	    make_scalar(&m, 0.02f), byte_of(0, u));
	value_id w = MAKE(&m, DEQUANTIZELINEAR,
	    make_int8(&m, DIMS(dim[1], 5, 2, 2)), make_scalar(&m, 0.003f));
	value_id y =
	    MAKE(&m, QUANTIZELINEAR, MAKE_WITH(&m, CONVTRANSPOSE, twice, x, w),
	        make_scalar(&m, 0.04f), byte_of(0, u));

	make_output(&m, of_type(y, byte_type(u)));
}

static void
test_byte_deconv(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		const int64_t *dim =
		    i % 2 ? DIMS(1, 16, 9, 7) : DIMS(2, 13, 5, 6);

		make_byte_deconv(dim, i % 2, i / 2);
		make_bare_byte_deconv(dim, i / 2);
	}
	if (!ways_sum_bytes()) {
		printf("skipped: this processor does not sum bytes\n");
		return;
	}
	check_all("dnnl.byte_deconv", 4);
	check_all("dnnl.byte_deconv", 5);
	assert_int_equal(found_from(4), 8);
}

/* What sums of bytes do not do. */
static void
test_refused_byte_deconv(void **state)
{
	const struct attr grouped[] = {ATTR_OF_INT("group", 2)};
	value_id x =
	    MAKE(&m, DEQUANTIZELINEAR, quantized(DIMS(1, 8, 5, 5), true),
	        make_scalar(&m, 0.02f), byte_of(0, true));
	value_id w = MAKE(&m, DEQUANTIZELINEAR, make_int8(&m, DIMS(8, 4, 2, 2)),
	    make_scalar(&m, 0.003f));
	value_id off =
	    MAKE(&m, DEQUANTIZELINEAR, make_int8(&m, DIMS(8, 4, 2, 2)),
	        make_scalar(&m, 0.003f), byte_of(3, false));
	value_id y[3] = {MAKE_WITH(&m, CONVTRANSPOSE, grouped, x, w),
	    MAKE(&m, CONVTRANSPOSE, x, off),
	    MAKE(&m, RELU, MAKE(&m, CONVTRANSPOSE, x, w))};

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		make_output(&m,
		    of_type(MAKE(&m, QUANTIZELINEAR, y[i],
		                make_scalar(&m, 0.04f), byte_of(7, true)),
		        DT_UINT8));
	find("dnnl");
	for (uint32_t i = 0; i < found.n; i++)
		assert_true(found.candidate[i].target > 0
		    || strcmp(tested->rule[found.candidate[i].rule].name,
		           "dnnl.byte_deconv")
		        != 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	    TEST(test_conv_norm_residual_relu),
	    TEST(test_live_residual_is_not_summed_into),
	    TEST(test_conv_shapes),
	    TEST(test_conv_dequantized),
	    TEST(test_deconv_dequantized),
	    TEST(test_byte_deconv),
	    TEST(test_refused_byte_deconv),
	    TEST(test_matmul_dequantized),
	    TEST(test_depthwise_clip),
	    TEST(test_conv_depthwise),
	    TEST(test_no_conv_depthwise),
	    TEST(test_conv_1d_3d),
	    TEST(test_gated_convs),
	    TEST(test_gemm),
	    TEST(test_matmul_bias_residual_gelu),
	    TEST(test_matmul_of_two_inputs),
	    TEST(test_pools),
	    TEST(test_pointwise),
	    TEST(test_functions_that_gained_a_slope),
	    TEST(test_conv_small_binary),
	    TEST(test_binary),
	    TEST(test_softmax_and_norms),
	    TEST(test_group_norm),
	    TEST(test_group_norm_in_parts),
	    TEST(test_halves),
	    TEST(test_products_of_halves),
	    TEST(test_no_slow_products),
	    TEST(test_layer_norm_in_parts),
	    TEST(test_no_layer_norm),
	    TEST(test_reductions),
	    TEST(test_recurrent),
	    TEST(test_deconv),
	    TEST(test_slopes),
	    TEST(test_moving),
	    TEST(test_resize),
	    TEST(test_refusals_give_reasons),
	    TEST(test_integer_convs),
	    TEST(test_dynamic_products),
	    TEST(test_dynamic_convs),
	    TEST(test_byte_products),
	    TEST(test_byte_pools),
	    TEST(test_large_matrices),
	    TEST(test_guarded_turns),
	};

	if (target_dnnl.lacks) {
		printf("skipped: %s\n", target_dnnl.lacks);
		return TEST_SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
