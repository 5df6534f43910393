/* Which constants let a guard suffice: read in one pass, at any alignment. */
#include "tests/support/found.h"

#include <math.h>

#include "targets/guarded.h"

#define MOST 67u
#define PADDING 16u

static bool
suffices_with(value_id w, const struct tensor *t)
{
	struct match match = {.root = 0, .node = (node_id[]){0}, .nnodes = 1};
	const struct match_in in = {.graph = m.graph, .match = &match};
	struct value *v = graph_value(m.graph, w);

	v->constant = t;
	v->magnitude = (struct magnitude){0};
	return guard_suffices(&in);
}

static value_id
sum_with_constant(void)
{
	value_id w = make_constant(&m, DIMS(1), -1, 1);

	make_output(&m, MAKE(&m, ADD, make_input(&m, DIMS(1)), w));
	make_end(&m);
	return w;
}

/* One number of n among smaller ones, at each place and alignment. */
static void
check_float(value_id w, float x, bool want)
{
	_Alignas(16) unsigned char bytes[MOST * sizeof x + PADDING];

	for (size_t n = 1; n <= MOST; n += n < 8 ? 1 : 7)
		for (size_t at = 0; at < n; at++) {
			const int64_t dim = (int64_t)n;
			unsigned char *data = bytes + (n + at) % PADDING;
			const struct tensor t =
			    tensor_view(DT_FLOAT, 1, &dim, data);

			memset(bytes, 0xff, sizeof bytes); /* NaN around it */
			memset(data, 0, n * sizeof x);
			memcpy(data + at * sizeof x, &x, sizeof x);
			assert_int_equal(suffices_with(w, &t), want);
		}
}

static void
test_floats(void **state)
{
	const value_id w = sum_with_constant();

	(void)state;
	check_float(w, 1, true);
	check_float(w, -0.f, true);
	check_float(w, nextafterf(0x1p32f, 0), true);
	check_float(w, -nextafterf(0x1p32f, 0), true);
	check_float(w, 0x1p32f, false);
	check_float(w, -0x1p32f, false);
	check_float(w, INFINITY, false);
	check_float(w, -INFINITY, false);
	check_float(w, NAN, false);
	check_float(w, -NAN, false);
}

static void
test_halves(void **state)
{
	static const struct {
		uint16_t x;
		bool want;
	} row[] = {{0, true}, {0x7bff, true}, {0xfbff, true}, {0x7c00, false},
	    {0xfc00, false}, {0x7e00, false}, {0xfe00, false}};
	const value_id w = sum_with_constant();
	const int64_t dim = 9;
	unsigned char bytes[9 * 2 + 1] = {0};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		const struct tensor t =
		    tensor_view(DT_FLOAT16, 1, &dim, bytes + 1);

		memcpy(bytes + 1 + 2 * i, &row[i].x, sizeof row[i].x);
		assert_int_equal(suffices_with(w, &t), row[i].want);
		memset(bytes, 0, sizeof bytes);
	}
}

/* One element stands for all. */
static void
test_fill(void **state)
{
	static const float small = 1, large = 0x1p40f;
	const value_id w = sum_with_constant();
	const int64_t dim = INT64_C(1) << 40;
	struct tensor t = {.kind = TENSOR_FILL,
	    .dtype = DT_FLOAT,
	    .rank = 1,
	    .dim = &dim,
	    .count = (size_t)dim};

	(void)state;
	memcpy(t.fill, &small, sizeof small);
	assert_true(suffices_with(w, &t));
	memcpy(t.fill, &large, sizeof large);
	assert_false(suffices_with(w, &t));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_floats, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_halves, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_fill, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
