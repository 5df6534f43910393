/* What is known of values before a run, operator by operator. */
#include "tests/support/found.h"

#include <math.h>

#include "targets/known.h"

#define CHANNELS 4
#define LAYERS 36

static struct value *
value(value_id v)
{
	return graph_value(m.graph, v);
}

static value_id
constant(float low, float high)
{
	return make_constant(&m, DIMS(CHANNELS), low, high);
}

static value_id
conv(value_id x, float least, float most)
{
	const struct attr a[] = {ATTR_OF_INTS("pads", 1, 1, 1, 1)};

	return MAKE_WITH(&m, CONV, a, x,
	    make_constant(&m, DIMS(CHANNELS, CHANNELS, 3, 3), least, most));
}

static value_id
pooled(value_id x, int64_t pad)
{
	const struct attr a[] = {ATTR_OF_INTS("kernel_shape", 2, 2),
	    ATTR_OF_INTS("pads", pad, pad, pad, pad)};

	return MAKE_WITH(&m, MAXPOOL, a, x);
}

static value_id
spread_pool(value_id x)
{
	const struct attr a[] = {ATTR_OF_INTS("kernel_shape", 2, 2),
	    ATTR_OF_INTS("pads", 1, 1, 1, 1), ATTR_OF_INTS("dilations", 2, 2)};

	return MAKE_WITH(&m, MAXPOOL, a, x);
}

static value_id
normed(value_id x, float scale, bool trains)
{
	const struct attr a[] = {ATTR_OF_INT("training_mode", trains)};

	return MAKE_WITH(&m, BATCHNORMALIZATION, a, x, constant(scale, scale),
	    constant(1, 1), constant(0, 0), constant(1, 1));
}

static value_id
clipped(value_id x, float low, float high)
{
	return MAKE(&m, CLIP, x, make_scalar(&m, low), make_scalar(&m, high));
}

static value_id
slanted(value_id x, float alpha)
{
	const struct attr a[] = {ATTR_OF_FLOAT("alpha", alpha)};

	return MAKE_WITH(&m, HARDSIGMOID, a, x);
}

static value_id
sum_with(value_id x, float most)
{
	return MAKE(&m, ADD, x, make_scalar(&m, most));
}

/* Inputs are below 2^32. */
enum what {
	RELU_OF,
	SUM_OF,
	SQUARE_OF,
	SIGMOID_OF,
	CLIP_6,
	CLIP_BELOW,
	CLIP_NAN,
	CONV_OF,
	LARGE_CONV,
	POOL_OF,
	WIDE_POOL,
	SPREAD_POOL,
	NORM_OF,
	INFINITE_NORM,
	TRAINED_NORM,
	QUOTIENT,
	HALF_OF,
	EXP_OF,
	RELU_OF_EXP,
	SLANT,
	NAN_SLANT,
	LARGE_SUM,
	SOFTMAX_OF,
};

static value_id
made(enum what what, value_id x)
{
	switch (what) {
	case RELU_OF:
		return MAKE(&m, RELU, x);
	case SUM_OF:
		return MAKE(&m, ADD, x, x);
	case SQUARE_OF:
		return MAKE(&m, MUL, x, x);
	case SIGMOID_OF:
		return MAKE(&m, SIGMOID, x);
	case CLIP_6:
		return clipped(x, 0, 6);
	case CLIP_BELOW:
		return clipped(x, 0, INFINITY);
	case CLIP_NAN:
		return clipped(x, 0, NAN);
	case CONV_OF:
		return conv(x, 1, 1);
	case LARGE_CONV:
		return conv(x, 1e25f, 1e25f);
	case POOL_OF:
		return pooled(x, 1);
	case WIDE_POOL:
		return pooled(x, 2);
	case SPREAD_POOL:
		return spread_pool(x);
	case NORM_OF:
		return normed(x, 1, false);
	case INFINITE_NORM:
		return normed(x, INFINITY, false);
	case TRAINED_NORM:
		return normed(x, 1, true);
	case QUOTIENT:
		return MAKE(&m, DIV, x, x);
	case HALF_OF:
		return MAKE(&m, DIV, x, make_scalar(&m, 2));
	case EXP_OF:
		return MAKE(&m, EXP, x);
	case RELU_OF_EXP:
		return MAKE(&m, RELU, MAKE(&m, EXP, x));
	case SLANT:
		return slanted(x, .2f);
	case NAN_SLANT:
		return slanted(x, NAN);
	case LARGE_SUM:
		return sum_with(x, 1e10f);
	case SOFTMAX_OF:
		return MAKE(&m, SOFTMAX, x);
	}
	return x;
}

#define IN ((double)KNOWN_POWER)

static const struct {
	enum what what;
	double below; /* 0: nobody knows */
} row[] = {
    {RELU_OF, IN},
    {SUM_OF, IN + 1},
    {SQUARE_OF, 2 * IN},
    {SIGMOID_OF, 1},
    {CLIP_6, 2.58},
    {CLIP_BELOW, IN},
    {CLIP_NAN, 0},
    {CONV_OF, IN + 5.17}, /* 36 weights of 1 */
    {LARGE_CONV, 0},
    {POOL_OF, IN},
    {WIDE_POOL, 0},
    {SPREAD_POOL, 0},
    {NORM_OF, IN},
    {INFINITE_NORM, 0},
    {TRAINED_NORM, 0},
    {QUOTIENT, 0},
    {HALF_OF, IN},
    {EXP_OF, 0},
    {RELU_OF_EXP, 0},
    {SLANT, 1},
    {NAN_SLANT, 0},
    {LARGE_SUM, 33.22},
    {SOFTMAX_OF, 0},
};

static void
test_bounds(void **state)
{
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		value_id x, y;

		x = make_input(&m, DIMS(1, CHANNELS, 6, 6));
		y = made(row[i].what, x);
		make_output(&m, y);
		make_end(&m);
		known_find(m.graph);
		assert_true(value(x)->looked_at);
		if (fabs((double)value(y)->below - row[i].below) > 0.01)
			fail_msg("row %zu: below 2^%g, not 2^%g", i,
			    (double)value(y)->below, row[i].below);
		teardown(state);
		setup(state);
	}
}

/* How large may be what one operator reads? */
static void
test_power(void **state)
{
	static const struct {
		enum what what;
		int power;
	} rows[] = {{RELU_OF, 96}, {SUM_OF, 95}, {SQUARE_OF, 48},
	    {SIGMOID_OF, 96}, {CLIP_6, 96}, {CONV_OF, 90}, {LARGE_CONV, 7},
	    {NORM_OF, 96}, {INFINITE_NORM, 0}, {QUOTIENT, 0}, {HALF_OF, 96},
	    {LARGE_SUM, 96}, {SOFTMAX_OF, 0}};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		node_id node;
		value_id y;

		y = made(rows[i].what, make_input(&m, DIMS(1, CHANNELS, 6, 6)));
		make_output(&m, y);
		make_end(&m);
		node = value(y)->producer;
		assert_int_equal(
		    known_power(m.graph,
		        &(struct match){
		            .root = node, .nnodes = 1, .node = &node}),
		    rows[i].power);
		teardown(state);
		setup(state);
	}
}

/* What lies between a match's nodes is bounded, too; constants are what they are. */
static void
test_power_of_chain(void **state)
{
	const value_id x = make_input(&m, DIMS(1, CHANNELS, 6, 6));
	const value_id y = conv(conv(x, -1, -1), 1, 1);
	const value_id z = clipped(MAKE(&m, ADD, y, x), 0, 6);
	const node_id node[] = {value(y)->producer - 1, value(y)->producer,
	    value(y)->producer + 1, value(z)->producer};

	(void)state;
	make_output(&m, z);
	make_end(&m);
	assert_int_equal(
	    known_power(
	        m.graph, &(struct match){.root = 3, .nnodes = 4, .node = node}),
	    85);
	assert_false(value(y)->looked_at);
	assert_true(value(y)->below == 0);
}

/* What goes into a convolution is looked at where nothing is known of it, or where
 * its sums could get too large; no sooner. */
static void
test_looks(void **state)
{
	value_id x = make_input(&m, DIMS(1, CHANNELS, 6, 6)), odd, y[LAYERS];
	uint32_t looks = 0;

	(void)state;
	odd = MAKE(&m, EXP, x);
	y[0] = conv(odd, -1, 1);
	for (uint32_t i = 1; i < LAYERS; i++)
		y[i] = conv(y[i - 1], -1, 1);
	make_output(&m, y[LAYERS - 1]);
	make_end(&m);
	known_find(m.graph);
	assert_true(value(odd)->looked_at);
	assert_false(value(y[0])->looked_at);
	for (uint32_t i = 0; i < LAYERS; i++) {
		assert_true(
		    value(y[i])->below >= 1 && value(y[i])->below <= 96);
		looks += value(y[i])->looked_at;
	}
	assert_in_range(looks, 2, 6);
}

/* A value rests on what was looked at last, on every way to it. */
static void
test_needs(void **state)
{
	value_id x = make_input(&m, DIMS(1, CHANNELS, 6, 6));
	value_id other = make_input(&m, DIMS(1, CHANNELS, 6, 6));
	value_id odd = MAKE(&m, EXP, x), y = conv(odd, -1, 1);
	value_id z = MAKE(&m, ADD, y, MAKE(&m, RELU, other));
	struct bitset needed;

	(void)state;
	make_output(&m, z);
	make_end(&m);
	known_find(m.graph);
	needed = bitset_new(&arena, m.graph->nvalues);
	bitset_add(needed, y);
	known_needs(m.graph, needed);
	assert_true(bitset_has(needed, odd));
	assert_false(bitset_has(needed, x));
	assert_false(bitset_has(needed, other));
	bitset_add(needed, z);
	known_needs(m.graph, needed);
	assert_true(bitset_has(needed, other));
	assert_false(bitset_has(needed, x));
}

int
main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
	    TEST(test_bounds),
	    TEST(test_power),
	    TEST(test_power_of_chain),
	    TEST(test_looks),
	    TEST(test_needs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
