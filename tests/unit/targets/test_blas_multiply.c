/* Products cut among the team: the blocks make up the whole, and what they hold is what an
 * uncut product holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#if MARQ_HAVE_BLAS
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "targets/blas/buffers.h"
#include "targets/blas/multiply.h"
#include "targets/threads.h"

/* ---- cutting ---- */

static void
check_whole(const struct cutting *c)
{
	uint8_t *times = calloc(c->rows * c->columns + 1, 1);

	assert_non_null(times);
	for (size_t i = 0; i < c->down * c->across; i++) {
		const struct result_block b = cut_block(c, i);

		assert_true(b.rows > 0 && b.columns > 0);
		assert_true(b.row + b.rows <= c->rows);
		assert_true(b.column + b.columns <= c->columns);
		for (size_t r = b.row; r < b.row + b.rows; r++)
			for (size_t k = 0; k < b.columns; k++)
				times[r * c->columns + b.column + k]++;
	}
	for (size_t i = 0; i < c->rows * c->columns; i++)
		assert_int_equal(times[i], 1);
	free(times);
}

static const size_t some[] = {1, 2, 3, 5, 16, 17, 31, 97, 128, 257};
#define NSOME (sizeof some / sizeof *some)

static void
blocks_make_up_the_whole(void **state)
{
	(void)state;
	for (uint32_t threads = 1; threads <= 6; threads++)
		for (size_t i = 0; i < NSOME * NSOME; i++) {
			const size_t rows = some[i / NSOME];
			const size_t columns = some[i % NSOME];
			struct cutting c;

			target_threads_set(threads);
			c = cut_of(rows, 4096, columns, 1);
			assert_true(c.down * c.across <= threads);
			check_whole(&c);
			cut_smaller(&c, (rows + 4) / 5, (columns + 2) / 3);
			check_whole(&c);
		}
	target_threads_set(1);
}

static void
check_one(size_t rows, size_t inner, size_t columns, size_t times)
{
	const struct cutting c = cut_of(rows, inner, columns, times);

	assert_true(c.down * c.across <= 1);
	assert_int_equal(c.lanes, 1);
}

/* Narrow ones wake nobody; many of them are shared whole. */
static void
small_ones_stay_whole(void **state)
{
	struct cutting c;

	(void)state;
	target_threads_set(2);
	check_one(64, 64, 64, 1);
	check_one(1, 64, 1000, 1);
	check_one(1, 1, 1, 1);
	check_one(0, 10, 10, 1);
	check_one(10, 0, 10, 3);
	check_one(10, 10, 10, 0);
	c = cut_of(64, 64, 64, 12);
	assert_int_equal(c.down * c.across, 1);
	assert_int_equal(c.lanes, 2);
	c = cut_of(128, 128, 128, 3);
	assert_int_equal(c.down * c.across, 2);
	target_threads_set(1);
	check_one(1000, 1000, 1000, 1);
}

/* Along the longer side, whose parts have less to pack in common. */
static void
longer_sides_are_cut(void **state)
{
	struct cutting c;

	(void)state;
	target_threads_set(2);
	c = cut_of(3000, 64, 64, 1);
	assert_int_equal(c.down, 2);
	assert_int_equal(c.block.columns, 64);
	c = cut_of(49, 512, 2048, 1);
	assert_int_equal(c.across, 2);
	assert_int_equal(c.block.columns, 1024);
	c = cut_of(1, 2048, 1000, 1);
	assert_int_equal(c.across, 2);
	target_threads_set(4);
	c = cut_of(512, 512, 512, 1);
	assert_int_equal(c.down, 2);
	assert_int_equal(c.across, 2);
	target_threads_set(1);
}

/* ---- multiplying ---- */

#define SPACE ((size_t)1 << 20)
static float left[SPACE], right[SPACE], to[SPACE], want[SPACE];

static void
fill(float *x, size_t n, uint32_t seed)
{
	for (size_t i = 0; i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		x[i] = (float)(seed >> 8) / (1 << 24) - 0.5f;
	}
}

static void
multiply_plainly(const struct multiplication *m)
{
	for (size_t r = 0; r < m->rows; r++)
		for (size_t c = 0; c < m->columns; c++) {
			double sum = 0;
			float *at = want + r * m->to_stride + c;

			for (size_t k = 0; k < m->inner; k++)
				sum += (double)m->left[m->turn_left
				               ? k * m->left_stride + r
				               : r * m->left_stride + k]
				    * (double)m->right[m->turn_right
				            ? c * m->right_stride + k
				            : k * m->right_stride + c];
			*at = (float)((double)m->alpha * sum
			    + (double)m->beta * (double)*at);
		}
}

/* Beyond its rows and columns a result is left alone. */
static void
check_product(struct multiplication *m)
{
	m->left = left;
	m->right = right;
	m->to = to;
	m->left_stride = (m->turn_left ? m->rows : m->inner) + 3;
	m->right_stride = (m->turn_right ? m->inner : m->columns) + 1;
	m->to_stride = m->columns + 5;
	fill(to, (m->rows + 1) * m->to_stride, 7);
	memcpy(want, to, (m->rows + 1) * m->to_stride * sizeof *to);
	multiply(m);
	multiply_plainly(m);
	for (size_t i = 0; i < (m->rows + 1) * m->to_stride; i++)
		if (fabsf(to[i] - want[i]) > 1e-3f)
			fail_msg("%zu x %zu x %zu, turned %d %d: %g for %g at "
			         "%zu",
			    m->rows, m->inner, m->columns, m->turn_left,
			    m->turn_right, (double)to[i], (double)want[i], i);
}

static void
cut_products_are_those_that_are_not(void **state)
{
	static const size_t size[][3] = {{1, 1009, 997}, {997, 1009, 1},
	    {127, 61, 131}, {2, 2000, 211}, {63, 1, 65}, {1, 1, 1},
	    {31, 512, 33}, {500, 17, 100}, {3, 700, 1021}, {128, 128, 128}};
	const uint32_t nsizes = sizeof size / sizeof *size;
	struct err err = {.kind = ERR_NONE};

	(void)state;
	fill(left, SPACE, 1);
	fill(right, SPACE, 2);
	for (uint32_t threads = 1; threads <= 4; threads++) {
		target_threads_set(threads);
		assert_true(buffers_take(threads, &err));
		for (uint32_t i = 0; i < nsizes * 4; i++)
			check_product(&(struct multiplication){
			    .turn_left = i & 1,
			    .turn_right = i >> 1 & 1,
			    .rows = size[i / 4][0],
			    .inner = size[i / 4][1],
			    .columns = size[i / 4][2],
			    .alpha = i & 1 ? 0.5f : 1,
			    .beta = i & 2 ? 1 : 0.25f,
			});
	}
	target_threads_set(1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(blocks_make_up_the_whole),
	    cmocka_unit_test(small_ones_stay_whole),
	    cmocka_unit_test(longer_sides_are_cut),
	    cmocka_unit_test(cut_products_are_those_that_are_not),
	};

	dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int
main(void)
{
	puts("skipped: OpenBLAS is not built in");
	return 77;
}
#endif
