/* Codes of one scale to those of another by whole numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "targets/native/byte_line.h"
#include "targets/native/version.h"
#include "tests/support/support.h"

/* Rows of every length up to two vectors' and more, none of them beside another. */
enum { ROWS = 3, LONGEST = 150 };

static void
make_table(
    uint8_t *table, const struct byte_code *from, const struct byte_code *to)
{
	uint8_t all[256];
	float real[256];

	for (size_t i = 0; i < 256; i++)
		all[i] = (uint8_t)i;
	bytes_dequantize(real, all, 256, from);
	bytes_quantize(table, real, 256, to);
}

/* Every version does what the table says, and nothing beyond its rows. */
static void
check_versions(const struct byte_line *l, const uint8_t *table, struct rng *r)
{
	uint8_t from[ROWS * LONGEST], to[ROWS * LONGEST];
	static const char *const name[] = {"avx512", "avx2", "base", "wide"};

	for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
		const struct native_version *v = native_version_find(name[i]);
		const struct table_rows rows = {
		    1 + rng_below(r, LONGEST - 1), ROWS, LONGEST, LONGEST, l};

		if (!v)
			continue;
		for (size_t k = 0; k < sizeof from; k++) {
			from[k] = (uint8_t)rng_below(r, 256);
			to[k] = 0x5a;
		}
		v->bytes_table_rows(to, from, &rows, table);
		for (size_t k = 0; k < sizeof to; k++)
			assert_int_equal(to[k],
			    k % LONGEST < rows.n ? table[from[k]] : 0x5a);
	}
}

static struct byte_code
any_code(struct rng *r)
{
	const bool is_unsigned = rng_below(r, 2);

	return (struct byte_code){
	    .scale = 0.001f * (float)(1 + rng_below(r, 1000)),
	    .zero = (float)((int32_t)rng_below(r, 256) - 128 * !is_unsigned),
	    .is_unsigned = is_unsigned};
}

/* Nearly all scales have a line, and it says what the table says. */
static void
lines_say_what_tables_say(void **state)
{
	struct rng r = rng_seeded(1);
	uint32_t found = 0, tried = 0;

	(void)state;
	for (; tried < 3000; tried++) {
		const struct byte_code from = any_code(&r), to = any_code(&r);
		struct byte_line l;
		uint8_t table[256];

		make_table(table, &from, &to);
		if (!byte_line_find(&l, &from, &to, table))
			continue;
		found++;
		for (int i = 0; i < 256; i++)
			assert_int_equal(
			    byte_line_at(&l, (uint8_t)i), table[i]);
		check_versions(&l, table, &r);
	}
	assert_true(found > tried / 2);
}

/* Steeper than 16 bits hold, and no line at all. */
static void
others_have_none(void **state)
{
	const struct byte_code steep = {1, 3, true}, fine = {0.001f, 3, true};
	const struct byte_code one = {1, 0, true};
	struct byte_line l;
	uint8_t table[256];

	(void)state;
	make_table(table, &steep, &fine);
	assert_false(byte_line_find(&l, &steep, &fine, table));
	make_table(table, &one, &one);
	assert_true(byte_line_find(&l, &one, &one, table));
	table[77] = 1;
	assert_false(byte_line_find(&l, &one, &one, table));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_say_what_tables_say),
	    cmocka_unit_test(others_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
