/* Every idiom as exporters spell it: it is found, with all nodes, the operator
 * that stands for it computes what the nodes do, and what is a little different
 * is not found. */
#include <math.h>

#include "tests/support/kind.h"
#include "tests/support/quantized.h"
#include "tests/support/spell.h"

extern const struct target_kind target_host;
const struct target_kind *const tested = &target_host;

static const struct spelled {
	const char *what;
	uint32_t opset;
	enum idiom kind;
	const char *text;
	enum { ALL_OF_IT, PART_OF_IT, NONE_OF_IT } found;
} spelled[] = {
#undef SPELLED /* the pattern */
#define SPELLED(exporter, opset, kind, text) \
	{exporter, opset, IDIOM_##kind, text, ALL_OF_IT},
#define PARTLY(what, opset, kind, text) \
	{what, opset, IDIOM_##kind, text, PART_OF_IT},
#define UNLIKE(what, opset, kind, text) \
	{what, opset, IDIOM_##kind, text, NONE_OF_IT},
#include "tests/unit/targets/idioms.def"
};
#define NSPELLED (sizeof spelled / sizeof *spelled)

static void
make(const struct spelled *s)
{
	make_begin(&m, &arena);
	m.opset = s->opset;
	make_output(&m, spell(&m, s->text));
}

/* The idiom of that kind that is all of the graph. */
static const struct idiom_match *
whole(enum idiom kind)
{
	const struct idioms *all = found.idioms;

	for (uint32_t i = 0; i < all->n; i++)
		if (all->match[i].kind == kind
		    && all->match[i].nnodes == m.graph->nnodes)
			return &all->match[i];
	return NULL;
}

static bool
any(enum idiom kind)
{
	for (uint32_t i = 0; i < found.idioms->n; i++)
		if (found.idioms->match[i].kind == kind)
			return true;
	return false;
}

static void
test_found_and_computed(void **state)
{
	uint32_t nrun = 0;

	(void)state;
	for (size_t i = 0; i < NSPELLED; i++) {
		const struct spelled *s = &spelled[i];
		const struct idiom_match *it;

		if (s->found != ALL_OF_IT)
			continue;
		make(s);
		find("host");
		it = whole(s->kind);
		if (!it)
			fail_msg("%s of %s is not found: %s",
			    idiom_name(s->kind), s->what, s->text);
		if (it->as) {
			make(s);
			check_all("host.idiom", m.graph->nnodes);
			nrun++;
		}
	}
	assert_true(nrun >= 50);
}

static void
test_unlike(void **state)
{
	(void)state;
	for (size_t i = 0; i < NSPELLED; i++) {
		const struct spelled *s = &spelled[i];

		if (s->found == ALL_OF_IT)
			continue;
		make(s);
		find("host");
		if (whole(s->kind) || any(s->kind) != (s->found == PART_OF_IT))
			fail_msg("%s, %s: not what is said of %s",
			    idiom_name(s->kind), s->what, s->text);
	}
}

/* ---- over bytes, which the texts have not ---- */

static value_id
real_weights(const int64_t *dim, float scale)
{
	return MAKE(&m, DEQUANTIZELINEAR, make_int8(&m, dim),
	    make_scalar(&m, scale), byte_of(0, false));
}

static value_id
real_image(value_id zero)
{
	value_id x =
	    of_type(MAKE(&m, QUANTIZELINEAR, make_input(&m, DIMS(1, 3, 7, 5)),
	                make_scalar(&m, 0.01f), zero),
	        DT_UINT8);

	return MAKE(&m, DEQUANTIZELINEAR, x, make_scalar(&m, 0.02f), zero);
}

static void
end_in_bytes(value_id y, float scale, value_id zero)
{
	make_output(&m,
	    of_type(MAKE(&m, QUANTIZELINEAR, y, make_scalar(&m, scale), zero),
	        DT_UINT8));
}

struct conv_case {
	float bias_scale; /* 0: no bias; less: of -bias_scale, all zeros */
	bool rectified;
	uint8_t zero; /* of the result */
	bool is_it;
	uint32_t nnodes;
};

static value_id
whole_zeros(void)
{
	static const int32_t zeros[9];
	static const int64_t dim[] = {9};
	const struct tensor t = tensor_view(DT_INT32, 1, dim, zeros);

	return graph_add_constant(
	    m.graph, "zeros", arena_copy(&arena, &t, sizeof t));
}

static void
make_conv_between(const struct conv_case *b)
{
	value_id y, bias;

	y = real_image(byte_of(100, true));
	if (b->bias_scale != 0) {
		bias = MAKE(&m, DEQUANTIZELINEAR,
		    b->bias_scale > 0 ? whole_numbers(DIMS(9)) : whole_zeros(),
		    make_scalar(&m, fabsf(b->bias_scale)));
		y = MAKE(
		    &m, CONV, y, real_weights(DIMS(9, 3, 3, 3), 0.01f), bias);
	} else {
		y = MAKE(&m, CONV, y, real_weights(DIMS(9, 3, 3, 3), 0.01f));
	}
	y = b->rectified ? MAKE(&m, RELU, y) : y;
	end_in_bytes(y, 0.3f, byte_of(b->zero, true));
}

static void
test_convs_between(void **state)
{
	const struct conv_case all[] = {
	    {0.02f * 0.01f, false, 17, true, 5}, {0, false, 128, true, 4},
	    {0.02f * 0.01f, true, 0, true, 6},
	    {0.02f * 0.0101f, false, 17, false, 0}, /* not the sums' scale */
	    {-0.5f, false, 17, true, 5}, /* zeros are so on any */
	    {0.02f * 0.01f, true, 17, false, 0}, /* bounded above the least */
	};

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		make_begin(&m, &arena);
		make_conv_between(&all[i]);
		if (all[i].is_it) {
			check_all("host.idiom", all[i].nnodes);
			continue;
		}
		find("host");
		assert_false(any(IDIOM_QLINEAR_CONV));
	}
}

/* The codes of what comes out decide. */
static void
test_pools_between(void **state)
{
	const struct attr attr[] = {ATTR_OF_INTS("kernel_shape", 2, 3)};

	(void)state;
	for (int same = 0; same < 2; same++) {
		make_begin(&m, &arena);
		end_in_bytes(MAKE_WITH(&m, MAXPOOL, attr,
		                 real_image(byte_of(100, true))),
		    0.02f, byte_of(same ? 100 : 99, true));
		find("host");
		assert_int_equal(any(IDIOM_BYTE_POOL), same);
		if (same)
			run_seeded("host.idiom", 3,
			    run_all("host.idiom", 3, &(bool){false}));
	}
}

/* Three spellings each at least, but for what only one exporter spells out and
 * what is above. */
static void
test_spellings(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < NIDIOMS; k++) {
		uint32_t n = 0;

		if (k == IDIOM_QLINEAR_CONV || k == IDIOM_BYTE_POOL)
			continue;
		for (size_t i = 0; i < NSPELLED; i++)
			n += spelled[i].found == ALL_OF_IT
			    && spelled[i].kind == k;
		if (n < (k == IDIOM_SOFTPLUS ? 1 : 3))
			fail_msg("%s: %u spellings", idiom_name((enum idiom)k),
			    (unsigned)n);
	}
}

static void
test_names(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < NIDIOMS; k++) {
		const char *name = idiom_name((enum idiom)k);

		assert_int_equal(idiom_named(name, strlen(name)), k);
	}
	assert_int_equal(idiom_named("geluu", 5), NIDIOMS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
	        test_found_and_computed, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_unlike, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        test_convs_between, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        test_pools_between, setup, teardown),
	    cmocka_unit_test(test_spellings),
	    cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
