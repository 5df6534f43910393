/* Large blocks: given only when they are wanted, of zeros, apart from each other, and as they
 * were whatever happens to their neighbours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ir/base/huge_blocks.h"
#include "ir/base/sanitized.h"

#define MIB ((size_t)1 << 20)
#define N 60

static void
none_unless_given(void **state)
{
	void *own = malloc(MIB);

	(void)state;
	assert_null(huge_block_new(MIB));
	huge_blocks_give(true);
	assert_null(huge_block_new(0));
	assert_null(huge_block_new(4096));
	assert_null(huge_block_new(SIZE_MAX));
	huge_blocks_give(false);
	assert_null(huge_block_new(MIB));
	assert_false(huge_block_free(NULL));
	assert_false(huge_block_free(own));
	free(own);
}

static size_t
bytes_of(uint32_t i)
{
	return MIB / 2 + i * 100003;
}

static void
fill(uint8_t *at, uint32_t i)
{
	for (size_t k = 0; k < bytes_of(i); k++) {
		assert_int_equal(at[k], 0);
		at[k] = (uint8_t)(i + k);
	}
}

static void
check(const uint8_t *at, uint32_t i)
{
	for (size_t k = 0; k < bytes_of(i); k++)
		assert_int_equal(at[k], (uint8_t)(i + k));
}

/* Twice: stretches are made, given back and made again. */
static void
they_stay_apart(void **state)
{
	uint8_t *block[N];

	(void)state;
	for (uint32_t times = 0; times < 2 && !SANITIZED; times++) {
		huge_blocks_give(true);
		for (uint32_t i = 0; i < N; i++) {
			block[i] = huge_block_new(bytes_of(i));
			assert_non_null(block[i]);
			assert_int_equal((uintptr_t)block[i] % 64, 0);
			fill(block[i], i);
		}
		huge_blocks_give(false);
		for (uint32_t i = 0; i < N; i += 2)
			assert_true(huge_block_free(block[i]));
		for (uint32_t i = 1; i < N; i += 2) {
			check(block[i], i);
			assert_true(huge_block_free(block[i]));
		}
		assert_false(huge_block_free(block[0]));
	}
}

/* Larger than what several lie in. */
static void
one_by_itself(void **state)
{
	uint8_t *large;

	(void)state;
	huge_blocks_give(true);
	large = huge_block_new(200 * MIB);
	huge_blocks_give(false);
	if (SANITIZED)
		return;
	assert_non_null(large);
	large[0] = large[200 * MIB - 1] = 1;
	assert_true(huge_block_free(large));
}

/* What no block was cut from lies behind each stretch's last one, to its end. */
static void
what_is_left_of_a_stretch_is_known(void **state)
{
	uintptr_t from, end;
	void *small, *large;

	(void)state;
	assert_false(huge_blocks_uncut(0, &from, &end));
	if (SANITIZED)
		skip();
	huge_blocks_give(true);
	small = huge_block_new(MIB / 2);
	large = huge_block_new(100 * MIB);
	huge_blocks_give(false);
	assert_true(huge_blocks_uncut(0, &from, &end));
	assert_in_range(from - (uintptr_t)small, MIB / 2, MIB / 2 + (64 << 10));
	assert_in_range(end - from, 60 * MIB, 64 * MIB);
	assert_true(huge_blocks_uncut(1, &from, &end));
	assert_in_range(from - (uintptr_t)large, 100 * MIB, 102 * MIB);
	assert_in_range(end - from, 0, HUGE_PAGE);
	assert_false(huge_blocks_uncut(2, &from, &end));
	assert_true(huge_block_free(small));
	assert_true(huge_blocks_uncut(0, &from, &end));
	assert_true(huge_block_free(large));
	assert_false(huge_blocks_uncut(0, &from, &end));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(none_unless_given),
	    cmocka_unit_test(they_stay_apart),
	    cmocka_unit_test(what_is_left_of_a_stretch_is_known),
	    cmocka_unit_test(one_by_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
