/* Rows of large matrices are what the tensor holds, wherever and as what it holds it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir/halves.h"
#include "targets/matrix_rows.h"
#include "tests/support/support.h"

enum { ROWS = 2050, ROW = 2051, AT_ONCE = 100 };
#define COUNT ((size_t)ROWS * ROW)

static const int64_t dim[] = {ROWS, ROW};
static float floats[COUNT + 1];
static unsigned char halves[2 * COUNT + 1];

static void
check(const struct tensor *t, float factor, const float *want, size_t step)
{
	struct matrix_rows m;
	float part[7];
	struct arena a;

	arena_init(&a);
	assert_true(matrix_is_large(t));
	matrix_rows_open(&m, t, factor, ROW, AT_ONCE, &a);
	for (size_t i = 0, n; i < ROWS; i += n) {
		const float *rows;

		n = ROWS - i < AT_ONCE ? ROWS - i : AT_ONCE;
		rows = matrix_rows_read(&m, i, n);
		for (size_t k = 0; k < n * ROW; k++)
			if (rows[k] != factor * want[(i * ROW + k) * step])
				fail_msg("row %zu, number %zu", i, k);
		matrix_part_read(&m, i, ROW - 7, 7, part);
		for (size_t k = 0; k < 7; k++)
			assert_true(part[k]
			    == factor * want[((i + 1) * ROW - 7 + k) * step]);
		matrix_rows_let_go(&m, i, n);
	}
	arena_release(&a);
}

static void
reads_floats(void **state)
{
	struct tensor t = tensor_view(DT_FLOAT, 2, dim, floats);
	unsigned char *unaligned = (unsigned char *)floats + 1;
	struct arena a;

	(void)state;
	for (size_t i = 0; i < COUNT; i++)
		floats[i] = (float)(i % 1021) - 300;
	check(&t, 1, floats, 1);
	check(&t, 0.5f, floats, 1);
	memmove(unaligned, floats, COUNT * sizeof *floats);
	t.data = unaligned;
	arena_init(&a);
	check(&t, 1, arena_copy(&a, unaligned, COUNT * sizeof *floats), 1);
	arena_release(&a);
}

static void
reads_halves(void **state)
{
	struct tensor t = tensor_view(DT_FLOAT, 2, dim, halves + 1);

	(void)state;
	t.kind = TENSOR_HALVES;
	t.held = DT_FLOAT16;
	for (size_t i = 0; i < COUNT; i++)
		floats[i] = (float)(i % 1021) - 300;
	halves_narrow(DT_FLOAT16, floats, COUNT, halves + 1);
	check(&t, 1, floats, 1);
	check(&t, 0.5f, floats, 1);
}

static void
reads_one_number_for_all(void **state)
{
	const float x = 0.75f;
	struct tensor t = tensor_fill(DT_FLOAT, 2, dim, &x);

	(void)state;
	check(&t, 2, &x, 0);
}

static void
leaves_others(void **state)
{
	static const int64_t few[] = {30, 40};
	struct tensor t = tensor_view(DT_FLOAT, 2, few, floats);

	(void)state;
	assert_false(matrix_is_large(NULL));
	assert_false(matrix_is_large(&t));
	t = tensor_view(DT_FLOAT16, 2, dim, halves + 1);
	assert_false(matrix_is_large(&t));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reads_floats),
	    cmocka_unit_test(reads_halves),
	    cmocka_unit_test(reads_one_number_for_all),
	    cmocka_unit_test(leaves_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
