/* What candidates are tried on, and where their results go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/operands.h"
#include "costmodel/seed.h"
#include "ir/graph.h"

#define COUNT (2 * 3 * 4 * 5)

struct fixture {
	struct arena a;
	struct graph *g;
	struct mix mix;
	format_id nhwc;
	struct kept_operands operands;
	struct err err;
};

static int
setup(void **state)
{
	static const int64_t dim[] = {2, 3, 4, 5};
	static struct fixture f;
	const struct type type = {
	    .kind = TYPE_TENSOR, .dtype = DT_FLOAT, .rank = 4, .dim = dim};

	memset(&f, 0, sizeof f);
	arena_init(&f.a);
	f.g = graph_new(&f.a, "test");
	graph_add_value(f.g, "x", &type);
	graph_add_value(f.g, "y", &type);
	formats_init(&f.mix.formats);
	f.nhwc = format_intern(&f.mix.formats,
	    (struct format){SPACE_HOST, LAYOUT_NHWC, DT_UNDEFINED});
	operands_init(&f.operands, &f.mix);
	*state = &f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	operands_release(&f->operands);
	arena_release(&f->a);
	return 0;
}

static const float *
get(struct fixture *f, value_id v, format_id format)
{
	const struct port p = {v, format};
	const float *x = operands_get(&f->operands, f->g, &p, &f->err);

	assert_non_null(x);
	return x;
}

static void
each_is_made_once(void **state)
{
	struct fixture *f = *state;
	const float *x = get(f, 0, FORMAT_PLAIN), *moved = get(f, 0, f->nhwc);
	float seeded[COUNT];

	seed_value(f->g, 0, seeded);
	assert_memory_equal(x, seeded, sizeof seeded);
	assert_true(moved[1] == x[4 * 5]); /* the second channel */
	assert_ptr_equal(get(f, 0, FORMAT_PLAIN), x);
	assert_ptr_equal(get(f, 0, f->nhwc), moved);
	assert_ptr_not_equal(get(f, 1, FORMAT_PLAIN), x);
	operands_begin(&f->operands);
	assert_ptr_equal(get(f, 0, FORMAT_PLAIN), x);
	memset((void *)(uintptr_t)x, 0, sizeof seeded); /* somebody did */
	operands_forget(&f->operands);
	assert_memory_equal(get(f, 0, FORMAT_PLAIN), seeded, sizeof seeded);
}

/* Two of one try lie apart; the next try finds nothing of the last. */
static void
rooms_are_empty(void **state)
{
	struct fixture *f = *state;
	unsigned char *first, *second;

	operands_begin(&f->operands);
	first = operands_room(&f->operands, 1000);
	second = operands_room(&f->operands, 2000);
	assert_true(first + 1000 <= second || second + 2000 <= first);
	memset(first, 1, 1000);
	memset(second, 2, 2000);
	operands_begin(&f->operands);
	assert_ptr_equal(operands_room(&f->operands, 900), first);
	for (int i = 0; i < 900; i++)
		assert_int_equal(first[i], 0);
	second = operands_room(&f->operands, (size_t)5 << 20);
	for (size_t i = 0; i < (size_t)5 << 20; i++)
		assert_int_equal(second[i], 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(each_is_made_once, setup, teardown),
	    cmocka_unit_test_setup_teardown(rooms_are_empty, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
