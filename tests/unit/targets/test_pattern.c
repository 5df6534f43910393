/* Pattern texts, formats and reasons. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "targets/format.h"
#include "targets/mrvl/space.h"
#include "targets/pattern.h"
#include "targets/why.h"

static struct arena arena;

static int
setup(void **state)
{
	(void)state;
	arena_init(&arena);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static void
test_text_is_inverse(void **state)
{
	static const char *const text[] = {
	    "Relu?(Add?(Conv(*, const), const))",
	    "conv:Conv(var, const, (const | absent))",
	    "Concat(...)",
	    "op",
	    "out:Relu(op)",
	    "Constant()",
	    "Concat(*, each(Relu((var | const))))",
	};
	const struct pattern *p;
	struct err err = {.kind = ERR_NONE};

	(void)state;
	for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
		p = pattern_parse(text[i], &arena, &err);
		assert_non_null(p);
		assert_string_equal(pattern_print(p, &arena), text[i]);
	}
	p = MAYBE(RELU, AS("sum", NODE(ADD, ANY, CONSTANT)));
	assert_string_equal(
	    pattern_print(p, &arena), "Relu?(sum:Add(*, const))");
}

/* What doubled with each step would be, written out, 2^30 products. */
static void
test_shared_parts_are_told_once(void **state)
{
	const struct pattern *p = NODE(RELU, ANY);

	(void)state;
	for (int i = 0; i < 30; i++) {
		struct pattern *twice = arena_new(&arena, struct pattern, 1);

		*twice = *NODE(MUL, p, p);
		p = twice;
	}
	assert_true(strlen(pattern_print(p, &arena)) < 1000);
	p = NODE(RELU, NODE(ADD, ANY, CONSTANT));
	assert_string_equal(pattern_print(NODE(MUL, p, NODE(TANH, p)), &arena),
	    "Mul([1], Tanh([1])) where [1] is Relu(Add(*, const))");
	p = NODE(RELU, ANY);
	assert_string_equal(
	    pattern_print(NODE(MUL, p, p), &arena), "Mul(Relu(*), Relu(*))");
}

static void
test_faults_have_a_column(void **state)
{
	static const struct {
		const char *text, *column;
	} bad[] = {
	    {"", "column 1"},
	    {"Relu(*", "column 7"},
	    {"Nosuch(*)", "column 1"},
	    {"Relu(*) x", "column 9"},
	    {"Relu(*,*,*,*,*,*,*)", "column 18"},
	    {"...", "column 4"},
	    {"x:...", "column 6"},
	    {"each(*)", "column 8"},
	    {"x:each(*)", "column 10"},
	    {"Concat(each(*), *)", "column 15"},
	    {"Concat(each(...))", "column 16"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct err err = {.kind = ERR_NONE};

		assert_null(pattern_parse(bad[i].text, &arena, &err));
		assert_int_equal(err.kind, ERR_INPUT);
		if (!strstr(err.text, bad[i].column))
			fail_msg("'%s': %s", bad[i].text, err.text);
	}
}

static void
test_formats(void **state)
{
	static const int64_t dim[] = {2, 3, 5, 7};
	struct type t = {
	    .kind = TYPE_TENSOR, .dtype = DT_FLOAT, .rank = 4, .dim = dim};
	struct format half = {SPACE_MRVL, LAYOUT_NHWC, DT_FLOAT16};
	struct format blocked = {SPACE_HOST, LAYOUT_BLK16, DT_UNDEFINED};
	struct formats f;

	(void)state;
	formats_init(&f);
	assert_int_equal(f.n, 1);
	assert_int_equal(format_intern(&f, half), 1);
	assert_int_equal(format_intern(&f, blocked), 2);
	assert_int_equal(format_intern(&f, half), 1);
	assert_int_equal(format_intern(&f, f.format[0]), FORMAT_PLAIN);
	assert_string_equal(format_text(half, &arena), "mrvl/nhwc/float16");
	assert_string_equal(format_text(f.format[0], &arena), "host/plain");
	assert_int_equal(format_bytes(f.format[0], &t), 2 * 3 * 5 * 7 * 4);
	assert_int_equal(format_bytes(half, &t), 2 * 3 * 5 * 7 * 2);
	assert_int_equal(format_bytes(blocked, &t), 2 * 16 * 5 * 7 * 4);
}

static void
test_every_reason_is_kept(void **state)
{
	const struct assumption assume[] = {{"rank", 1u << 1}, {"batch", 1u}};
	struct why why, quiet;

	(void)state;
	why_init(&why, &arena);
	assert_false(why_need(&why, false, "batch", "1..8", "batch = %d", 9));
	assert_true(why_need(&why, true, "layout", "NHWC", "NHWC"));
	assert_false(why_need(&why, false, "rank", "4", "rank = %d", 3));
	assert_int_equal(why.n, 3);
	assert_int_equal(why.nfailed, 2);
	assert_string_equal(why.reason[0].actual, "batch = 9");
	why_init(&quiet, NULL);
	quiet.assume = assume;
	quiet.nassume = 2; /* rank: of another target's rules */
	assert_true(why_need(&quiet, false, "batch", "1..8", "%d", 9));
	assert_false(why_need(&quiet, false, "rank", "4", "%d", 3));
	assert_int_equal(quiet.n, 0);
	assert_int_equal(quiet.nfailed, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_text_is_inverse),
	    cmocka_unit_test(test_shared_parts_are_told_once),
	    cmocka_unit_test(test_faults_have_a_column),
	    cmocka_unit_test(test_formats),
	    cmocka_unit_test(test_every_reason_is_kept),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
