/* The 8-bit simulator of the Marvell backend, against sums done by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "targets/candidates.h"
#include "targets/quant.h"
#include "tests/support/make.h"

static struct arena arena;
static struct maker m;
static struct quant *quant;

static int
setup(void **state)
{
	(void)state;
	arena_init(&arena);
	make_begin(&m, &arena);
	quant = arena_new(&arena, struct quant, 64);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

/* A constant of these numbers. */
static value_id
numbers(const int64_t *dim, const float *x)
{
	value_id v = make_constant(&m, dim, 0, 1);
	struct value *value = graph_value(m.graph, v);
	struct tensor *t =
	    arena_copy(&arena, value->constant, sizeof *value->constant);

	*t = tensor_view(t->dtype, t->rank, t->dim,
	    arena_copy(&arena, x, t->count * sizeof *x));
	value->constant = t;
	return v;
}
#define NUMBERS(dims, ...) numbers(dims, (const float[]){__VA_ARGS__})

static void
means(value_id v, float scale, int32_t zero)
{
	quant[v] = (struct quant){.scale = scale, .zero = zero};
}

/* Run the candidate over `nnodes` nodes that makes the graph's output; inputs in
 * the order of their values. */
static void
run(uint32_t nnodes, const int8_t *x, const int8_t *y, int8_t *out)
{
	const char *const text[] = {"mrvl:quantize=int8"};
	struct err err = {.kind = ERR_NONE};
	struct candidates found;
	struct kernel k;
	struct mix mix;

	make_end(&m);
	assert_true(mix_open(&mix, text, 1, &arena, &err));
	mix.formats.quant = quant;
	assert_true(candidates_find(&found, m.graph, &mix, NULL, &arena, &err));
	for (uint32_t i = 0; i < found.n; i++) {
		const struct candidate *c = &found.candidate[i];
		const void *in[] = {x, y};
		void *to[] = {out};

		if (c->target != 0 || c->nnodes != nnodes
		    || c->output[0].value != m.graph->output[0])
			continue;
		assert_true(mix.target[0].kind->compile(
		    &mix.target[0], m.graph, c, &arena, &k, &err));
		k.run(&k, in, to);
		return;
	}
	fail_msg("no candidate of %u nodes", (unsigned)nnodes);
}

/* weights 1.27, -0.64: scale 0.01, integers 127, -64; bias 0.05 in steps of 0.5 *
 * 0.01: 10; multiplier 0.5 * 0.01 / 0.25 = 0.02. */
static value_id
small_conv(void)
{
	value_id x = make_input(&m, DIMS(1, 2, 1, 3));
	value_id w = NUMBERS(DIMS(1, 2, 1, 1), 1.27f, -0.64f);

	means(x, 0.5f, 1);
	return MAKE(&m, CONV, x, w, NUMBERS(DIMS(1), 0.05f));
}

static void
test_conv(void **state)
{
	/* pixels of two channels: (3, -5), (127, -128), (-128, 127) */
	const int8_t x[] = {3, -5, 127, -128, -128, 127};
	value_id y = small_conv();
	int8_t out[3];

	(void)state;
	means(y, 0.25f, -10);
	make_output(&m, y);
	run(1, x, NULL, out);
	/* 2 * 127 + 6 * 64 + 10 = 648; 12.96 -> 13 */
	assert_int_equal(out[0], 3);
	assert_int_equal(out[1], 127); /* 485 above zero */
	assert_int_equal(out[2], -128); /* 489 below */
}

static void
test_relu_ends_at_the_zero_point(void **state)
{
	const int8_t x[] = {3, -5, 127, -128, -128, 127};
	value_id c = small_conv(), y = MAKE(&m, RELU, c);
	int8_t out[3];

	(void)state;
	means(c, 1, 0);
	means(y, 0.25f, -10);
	make_output(&m, y);
	run(2, x, NULL, out);
	assert_int_equal(out[0], 3);
	assert_int_equal(out[1], 127);
	assert_int_equal(out[2], -10);
}

/* Folded: weight 0.5 * 2 / sqrt(3.99999 + 1e-5) = 0.5, bias 1 - 0.25 = 0.75. */
static void
test_norm_is_folded_first(void **state)
{
	const int8_t x[] = {40};
	value_id in = make_input(&m, DIMS(1, 1, 1, 1));
	value_id w = NUMBERS(DIMS(1, 1, 1, 1), 0.5f);
	value_id c = MAKE(&m, CONV, in, w);
	value_id gamma = NUMBERS(DIMS(1), 2), beta = NUMBERS(DIMS(1), 1);
	value_id mean = NUMBERS(DIMS(1), 0.25f);
	value_id var = NUMBERS(DIMS(1), 3.99999f);
	value_id y = MAKE(&m, BATCHNORMALIZATION, c, gamma, beta, mean, var);
	int8_t out[1];

	(void)state;
	means(in, 0.1f, 0);
	means(c, 1, 0);
	means(y, 0.05f, 0);
	make_output(&m, y);
	run(2, x, NULL, out);
	/* 40 * 127 + 1905 = 6985; times 0.1 * 0.5 / 127 / 0.05 = 55 */
	assert_int_equal(out[0], 55);
}

static void
test_sum_of_two_scales(void **state)
{
	const int8_t a[] = {3, -100}, b[] = {13, -128};
	value_id x = make_input(&m, DIMS(1, 2, 1, 1));
	value_id y = make_input(&m, DIMS(1, 2, 1, 1));
	value_id z = MAKE(&m, ADD, x, y);
	int8_t out[2];

	(void)state;
	means(x, 0.5f, 0);
	means(y, 0.25f, 10);
	means(z, 0.5f, -5);
	make_output(&m, z);
	run(1, a, b, out);
	assert_int_equal(out[0], -1); /* 3 + 1.5 = 4.5 -> 4 */
	assert_int_equal(out[1], -128); /* -100 - 69 */
}

static void
test_average(void **state)
{
	const int8_t x[] = {1, 2, 3, 5};
	value_id in = make_input(&m, DIMS(1, 1, 2, 2));
	value_id y = MAKE(&m, GLOBALAVERAGEPOOL, in);
	int8_t out[1];

	(void)state;
	means(in, 0.5f, 0);
	means(y, 0.5f, 7);
	make_output(&m, y);
	run(1, x, NULL, out);
	assert_int_equal(out[0], 10); /* 11 / 4 -> 3 */
}

/* Columns of the weights are C,H,W; the accelerator holds H,W,C. */
static void
test_product_behind_flatten(void **state)
{
	const int8_t x[] = {1, 2, 3, 4}; /* pixel 0: 1, 2; pixel 1: 3, 4 */
	value_id in = make_input(&m, DIMS(1, 2, 1, 2));
	value_id f = MAKE(&m, FLATTEN, in);
	value_id w = NUMBERS(DIMS(4, 1), 1.27f, 0.1f, 0.2f, 0.3f);
	value_id y = MAKE(&m, MATMUL, f, w);
	int8_t out[1];

	(void)state;
	means(in, 1, 0);
	means(f, 1, 0);
	means(y, 0.1f, 0);
	make_output(&m, y);
	run(2, x, NULL, out);
	/* 127 * 1 + 10 * 3 + 20 * 2 + 30 * 4 = 317 hundredths */
	assert_int_equal(out[0], 32);
}

static void
test_without_scales_nothing_is_taken(void **state)
{
	const char *const text[] = {"mrvl:quantize=int8"};
	struct err err = {.kind = ERR_NONE};
	struct candidates found;
	struct mix mix;

	(void)state;
	make_output(&m, small_conv());
	make_end(&m);
	assert_true(mix_open(&mix, text, 1, &arena, &err));
	assert_true(candidates_find(&found, m.graph, &mix, NULL, &arena, &err));
	for (uint32_t i = 0; i < found.n; i++)
		assert_int_not_equal(found.candidate[i].target, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_conv),
	    TEST(test_relu_ends_at_the_zero_point),
	    TEST(test_norm_is_folded_first),
	    TEST(test_sum_of_two_scales),
	    TEST(test_average),
	    TEST(test_product_behind_flatten),
	    TEST(test_without_scales_nothing_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
