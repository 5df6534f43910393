/* Scratch that kernels share: given only when it is wanted, one place for all, as large as
 * the most that was asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir/base/common_scratch.h"
#include "ir/base/sanitized.h"

#define MIB ((size_t)1 << 20)

static void
none_unless_shared(void **state)
{
	struct common_scratch s;

	(void)state;
	assert_null(common_scratch_new(MIB));
	common_scratch_begin();
	s = common_scratch_end();
	assert_null(s.at); /* nobody asked */
	common_scratch_free(&s);
	assert_null(common_scratch_new(MIB));
}

/* Where none is shared, or not so much, it is the caller's. */
static void
memory_of_ones_own(void **state)
{
	struct common_scratch s;
	struct arena a;
	void *common;

	(void)state;
	arena_init(&a);
	assert_non_null(common_scratch_or(MIB, &a));
	assert_int_equal(a.bytes, MIB);
	common_scratch_begin();
	common = common_scratch_or(MIB, &a);
	assert_int_equal(a.bytes, SANITIZED ? 2 * MIB : MIB);
	assert_true(SANITIZED || common == common_scratch_new(1));
	s = common_scratch_end();
	common_scratch_free(&s);
	arena_release(&a);
}

static void
one_place_for_all(void **state)
{
	struct common_scratch s;
	void *first, *second;

	(void)state;
	common_scratch_begin();
	first = common_scratch_new(MIB);
	second = common_scratch_new(5 * MIB);
	assert_ptr_equal(common_scratch_new(1), first);
	assert_null(common_scratch_new(SIZE_MAX));
	s = common_scratch_end();
	assert_ptr_equal(first, second);
	assert_ptr_equal(s.at, SANITIZED ? NULL : first);
	if (s.at) {
		assert_true(s.bytes >= 5 * MIB && s.bytes < 8 * MIB);
		memset(s.at, 7, s.bytes);
	}
	common_scratch_free(&s);
	assert_null(s.at);
}

/* Those of two plans are two. */
static void
plans_have_their_own(void **state)
{
	struct common_scratch s[2];

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		common_scratch_begin();
		(void)common_scratch_new(MIB);
		s[i] = common_scratch_end();
	}
	assert_true(SANITIZED || s[0].at != s[1].at);
	common_scratch_free(&s[0]);
	common_scratch_free(&s[1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(none_unless_shared),
	    cmocka_unit_test(memory_of_ones_own),
	    cmocka_unit_test(one_place_for_all),
	    cmocka_unit_test(plans_have_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
