/* Folding: what it takes at any size, and what it never decides. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir/infer.h"
#include "targets/host/host.h"
#include "tests/support/build.h"

static struct arena arena;
static struct graph *g;
static struct err err;

static int
setup(void **state)
{
	(void)state;
	arena_init(&arena);
	g = graph_new(&arena, "t");
	err = (struct err){.kind = ERR_NONE};
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static value_id
constant(enum dtype dtype, int64_t n, const void *data)
{
	int64_t *dim = arena_new(&arena, int64_t, 1);
	struct tensor t;

	*dim = n;
	t = tensor_view(dtype, 1, dim, data);
	return graph_add_constant(g,
	    arena_printf(&arena, "c%u", (unsigned)g->nvalues),
	    arena_copy(&arena, &t, sizeof t));
}

static bool
run(void)
{
	const struct infer_options o = {.eval = host_eval};

	return infer(g, &o, &err);
}

static const struct tensor *
content(value_id v)
{
	return graph_value(g, v)->constant;
}

static value_id
cast(value_id x, enum dtype to)
{
	value_id y = build_node(g, OP_CAST, 19, &x, 1);

	build_int(g, "to", to);
	return y;
}

static void
moves_fold_at_any_size(void **state)
{
	const int64_t n = 3000000, half[] = {2, n / 2};
	float *x = arena_new(&arena, float, (size_t)n);
	value_id in[2], reshaped, moved;

	(void)state;
	x[1] = 5;
	in[0] = constant(DT_FLOAT, n, x);
	in[1] = constant(DT_INT64, 2, half);
	reshaped = build_node(g, OP_RESHAPE, 13, in, 2);
	moved = build_node(g, OP_TRANSPOSE, 13, &reshaped, 1);
	assert_true(run());
	assert_non_null(content(reshaped));
	assert_ptr_equal(content(reshaped)->data, x);
	assert_non_null(content(moved));
	assert_int_equal(content(moved)->dim[0], n / 2);
	assert_true(tensor_real(content(moved), 2) > 4); /* x[1] */
}

static void
zero_divisors_are_named(void **state)
{
	static const enum op op[] = {OP_DIV, OP_MOD};
	const int64_t a[] = {7, 8}, b[] = {1, 0};

	(void)state;
	for (int i = 0; i < 2; i++) {
		value_id in[2];

		g = graph_new(&arena, "t");
		err = (struct err){.kind = ERR_NONE};
		in[0] = constant(DT_INT64, 2, a);
		in[1] = constant(DT_INT64, 2, b);
		build_node(g, op[i], 13, in, 2);
		assert_false(run());
		assert_non_null(strstr(err.text, "integer division by zero"));
		assert_non_null(strstr(err.text, "#0"));
	}
}

static void
undefined_results_stay(void **state)
{
	const float odd[] = {NAN, 1e20f}, fine[] = {-3.5f, 2.5f};
	const int64_t least[] = {INT64_MIN}, minus[] = {-1};
	value_id in[2], big, small, negative, quotient;

	(void)state;
	big = cast(constant(DT_FLOAT, 2, odd), DT_INT32);
	negative = cast(constant(DT_FLOAT, 2, fine), DT_INT32);
	in[0] = constant(DT_INT64, 1, least);
	in[1] = constant(DT_INT64, 1, minus);
	quotient = build_node(g, OP_DIV, 13, in, 2);
	small = cast(constant(DT_FLOAT, 1, &fine[1]), DT_INT32);
	assert_true(run());
	assert_null(content(big));
	assert_null(content(quotient));
	assert_non_null(content(negative));
	assert_int_equal(tensor_int(content(negative), 0), -3);
	assert_int_equal(tensor_int(content(small), 0), 2);
}

/* The integer types, by bits. */
static const struct {
	enum dtype t;
	uint32_t bits;
	bool is_signed;
} integer[] = {
    {DT_INT8, 8, true},
    {DT_INT16, 16, true},
    {DT_INT32, 32, true},
    {DT_INT64, 64, true},
    {DT_UINT8, 8, false},
    {DT_UINT16, 16, false},
    {DT_UINT32, 32, false},
    {DT_UINT64, 64, false},
};
#define NINTEGERS (sizeof integer / sizeof *integer)

static uint64_t
most_of(size_t i)
{
	return UINT64_MAX >> (64 - integer[i].bits + integer[i].is_signed);
}

static uint64_t
least_of(size_t i)
{
	return integer[i].is_signed ? UINT64_C(1) << (integer[i].bits - 1) : 0;
}

/* Two elements by their low bits. */
static value_id
pair(size_t i, uint64_t x, uint64_t y)
{
	const size_t bytes = integer[i].bits / 8;
	uint8_t *data = arena_alloc(&arena, 16);

	memcpy(data, &x, bytes);
	memcpy(data + bytes, &y, bytes);
	return constant(integer[i].t, 2, data);
}

/* Was v folded, and what has it for bits at place k? */
static uint64_t
bits_at(value_id v, size_t i, size_t k)
{
	const size_t bytes = integer[i].bits / 8;
	uint64_t x = 0;

	assert_non_null(content(v));
	assert_int_equal(content(v)->kind, TENSOR_VIEW);
	memcpy(&x, (const uint8_t *)content(v)->data + k * bytes, bytes);
	return x;
}

static value_id
two(enum op op, value_id x, value_id y)
{
	const value_id in[2] = {x, y};

	return build_node(g, op, 14, in, 2);
}

/* Sums, differences and products wrap as two's complement, as they do at run
 * time: folding changes no result. */
static void
integers_wrap(void **state)
{
	(void)state;
	for (size_t i = 0; i < NINTEGERS; i++) {
		const uint64_t most = most_of(i), least = least_of(i);
		const uint64_t mask = UINT64_MAX >> (64 - integer[i].bits);
		value_id add, sub, mul, neg = 0, abs = 0, least_2;

		g = graph_new(&arena, "t");
		err = (struct err){.kind = ERR_NONE};
		add = two(OP_ADD, pair(i, most, 1), pair(i, 1, 1));
		sub = two(OP_SUB, pair(i, least, 3), pair(i, 1, 1));
		mul = two(OP_MUL, pair(i, most, 3), pair(i, 2, 2));
		least_2 = pair(i, least, 1);
		if (integer[i].is_signed) {
			neg = build_node(g, OP_NEG, 13, &least_2, 1);
			abs = build_node(g, OP_ABS, 13, &least_2, 1);
		}
		assert_true(run());
		assert_int_equal(bits_at(add, i, 0), least);
		assert_int_equal(bits_at(add, i, 1), 2);
		assert_int_equal(bits_at(sub, i, 0), most);
		assert_int_equal(bits_at(sub, i, 1), 2);
		assert_int_equal(bits_at(mul, i, 0), (most * 2) & mask);
		assert_int_equal(bits_at(mul, i, 1), 6);
		if (!integer[i].is_signed)
			continue;
		assert_int_equal(bits_at(neg, i, 0), least);
		assert_int_equal(bits_at(neg, i, 1), mask);
		assert_int_equal(bits_at(abs, i, 0), least);
	}
}

/* The least integer by -1 does not fit its type, whichever that is; one less
 * negative does. */
static void
least_by_minus_one_stays(void **state)
{
	(void)state;
	for (size_t i = 0; i < NINTEGERS; i++) {
		const uint64_t mask = UINT64_MAX >> (64 - integer[i].bits);
		value_id stays, folds;

		if (!integer[i].is_signed)
			continue;
		g = graph_new(&arena, "t");
		err = (struct err){.kind = ERR_NONE};
		stays =
		    two(OP_DIV, pair(i, least_of(i), 4), pair(i, mask, mask));
		folds = two(
		    OP_DIV, pair(i, least_of(i) + 1, 4), pair(i, mask, mask));
		assert_true(run());
		assert_null(content(stays));
		assert_int_equal(bits_at(folds, i, 0), most_of(i));
		assert_int_equal(bits_at(folds, i, 1), mask - 3);
	}
}

/* A Cast to any integer type of what it cannot hold stays. */
static void
casts_that_invent_stay(void **state)
{
	(void)state;
	for (size_t i = 0; i < NINTEGERS; i++) {
		const double span = integer[i].is_signed
		    ? ldexp(1, (int)integer[i].bits - 1)
		    : ldexp(1, (int)integer[i].bits);
		const double low = integer[i].is_signed ? -span : 0;
		double *over = arena_new(&arena, double, 2);
		double *under = arena_new(&arena, double, 2);
		double *fine = arena_new(&arena, double, 2);
		double *none = arena_new(&arena, double, 2);
		value_id a, b, c, d;

		g = graph_new(&arena, "t");
		err = (struct err){.kind = ERR_NONE};
		over[0] = span;
		under[0] = low * 2 - 1;
		fine[0] = low;
		fine[1] = 1.75;
		none[1] = (double)NAN;
		a = cast(constant(DT_DOUBLE, 2, over), integer[i].t);
		b = cast(constant(DT_DOUBLE, 2, under), integer[i].t);
		c = cast(constant(DT_DOUBLE, 2, fine), integer[i].t);
		d = cast(constant(DT_DOUBLE, 2, none), integer[i].t);
		assert_true(run());
		assert_null(content(a));
		assert_null(content(b));
		assert_null(content(d));
		assert_int_equal(bits_at(c, i, 0), least_of(i));
		assert_int_equal(bits_at(c, i, 1), 1);
	}
}

/* What makes elements folds up to what the model's constants hold. */
static void
others_fold_to_the_model(void **state)
{
	const int64_t many[] = {1000, 200}; /* more than 65,536 */

	(void)state;
	for (int large = 0; large < 2; large++) {
		float *x = arena_new(&arena, float, 400000);
		value_id in[2], column, row, sum;

		g = graph_new(&arena, "t");
		err = (struct err){.kind = ERR_NONE};
		for (int i = 0; i < 1000; i++)
			x[i] = (float)i;
		column = constant(DT_FLOAT, 1000, x);
		row = constant(DT_FLOAT, 200, x);
		in[0] = column;
		in[1] = constant(DT_INT64, 2,
		    arena_copy(&arena, (const int64_t[]){1000, 1}, 16));
		in[0] = build_node(g, OP_RESHAPE, 13, in, 2);
		in[1] = row;
		sum = build_node(g, OP_ADD, 14, in, 2);
		if (large)
			constant(DT_FLOAT, 400000, x);
		assert_true(run());
		if (!large) {
			assert_null(content(sum));
			continue;
		}
		assert_non_null(content(sum));
		assert_int_equal(content(sum)->dim[0], many[0]);
		assert_true(tensor_real(content(sum), 201) == 2); /* 1 + 1 */
	}
}

/* Every operator that only moves elements. */
static void
each_move_folds(void **state)
{
	const int64_t n = 200000;
	const int64_t start[] = {1}, end[] = {n - 1}, axis[] = {0};
	float *x = arena_new(&arena, float, (size_t)n);
	value_id v, in[4], out[7];
	uint32_t k = 0;

	(void)state;
	x[1] = 5;
	v = constant(DT_FLOAT, n, x);
	in[0] = v;
	in[1] = constant(DT_INT64, 1, axis);
	out[k++] = build_node(g, OP_UNSQUEEZE, 13, in, 2);
	in[0] = out[0];
	out[k++] = build_node(g, OP_SQUEEZE, 13, in, 2);
	out[k++] = build_node(g, OP_TRANSPOSE, 13, out, 1);
	in[0] = v;
	in[1] = constant(DT_INT64, 1, start);
	in[2] = constant(DT_INT64, 1, end);
	in[3] = constant(DT_INT64, 1, axis);
	out[k++] = build_node(g, OP_SLICE, 13, in, 4);
	in[1] = v;
	out[k++] = build_node(g, OP_CONCAT, 13, in, 2);
	build_int(g, "axis", 0);
	out[k++] = build_node(g, OP_IDENTITY, 13, in, 1);
	out[k++] = cast(v, DT_FLOAT);
	assert_true(run());
	for (uint32_t i = 0; i < k; i++) {
		if (!content(out[i]))
			fail_msg("operator %u is not folded", (unsigned)i);
		assert_true(tensor_real(content(out[i]), i == 3 ? 0 : 1) > 4);
	}
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(moves_fold_at_any_size),
	    T(zero_divisors_are_named),
	    T(undefined_results_stay),
	    T(integers_wrap),
	    T(least_by_minus_one_stays),
	    T(casts_that_invent_stay),
	    T(others_fold_to_the_model),
	    T(each_move_folds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
