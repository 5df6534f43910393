/* The repeated block against the step it repeats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "costmodel/icache_flush.h"
#include "tests/support/support.h"

/* What icache_flush.c says that it computes. */
static uint64_t
obvious(uint64_t x)
{
	uint64_t y = 0;

	for (uint64_t k = 0; k < 4608; k++) {
		x = x & 1 ? x * 3 + k : (x >> 1) ^ k;
		if (x & 16)
			y += x ^ k;
	}
	return x + y;
}

static void
computes_its_steps(void **state)
{
	struct rng r = rng_seeded(1);

	(void)state;
	for (int i = 0; i < 1000; i++) {
		uint64_t x = rng_next(&r);

		assert_int_equal(icache_flush(x), obvious(x));
	}
	assert_int_equal(icache_flush(0), obvious(0));
	assert_int_equal(icache_flush(UINT64_MAX), obvious(UINT64_MAX));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(computes_its_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
