/* db: a set of keys against an array of all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "db/keyset.h"
#include "tests/support/support.h"

/* None is taken for new that was there; hardly one that is new for another. */
static void
it_knows_what_was_added(void **state)
{
	enum { KEYS = 20000 };
	int64_t *key = malloc(KEYS * sizeof *key);
	struct rng r = rng_seeded(7);
	struct keyset k = {.n = 0};
	uint32_t taken = 0;

	(void)state;
	for (int i = 0; i < KEYS; i++) {
		key[i] = i == 0 ? 0 : (int64_t)rng_next(&r);
		taken += keyset_add(&k, key[i]);
		assert_true(
		    keyset_add(&k, key[rng_below(&r, (uint32_t)i + 1)]));
	}
	for (int i = 0; i < KEYS; i++)
		assert_true(keyset_add(&k, key[i]));
	assert_in_range(taken, 0, 5);
	keyset_clear(&k);
	assert_false(keyset_add(&k, key[0]));
	keyset_clear(&k);
	free(key);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(it_knows_what_was_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
