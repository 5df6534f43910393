/* Huge pages: what was written stays where it is and as it is, whether the system has
 * such pages or not; the rest of a mapping, and mappings too small, are left alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/base/arena.h"
#include "ir/base/huge_pages.h"

#define LARGE ((size_t)9 << 20)
#define SMALL ((size_t)3 << 18)

static void
fill(uint32_t *at, size_t bytes, uint32_t from)
{
	for (size_t i = 0; i < bytes / sizeof *at; i++)
		at[i] = from + (uint32_t)i;
}

static void
check(const uint32_t *at, size_t bytes, uint32_t from)
{
	for (size_t i = 0; i < bytes / sizeof *at; i++)
		assert_int_equal(at[i], from + (uint32_t)i);
}

static void
what_is_there_stays(void **state)
{
	struct arena a;
	uint32_t *large, *small;

	(void)state;
	arena_init(&a);
	large = arena_alloc(&a, LARGE);
	small = arena_alloc(&a, SMALL);
	fill(large, LARGE, 7);
	fill(small, SMALL, 90);
	for (uint32_t i = 0; i < 3; i++) {
		huge_pages_take();
		check(large, LARGE, 7 + i);
		check(small, SMALL, 90 + i);
		fill(large, LARGE, 8 + i);
		fill(small, SMALL, 91 + i);
	}
	arena_release(&a);
	huge_pages_take();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_there_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
