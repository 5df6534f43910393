#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/base/clock.h"
#include "search/problem_index.h"
#include "search/solve.h"
#include "tests/support/problems.h"

/* A target may hold a quarter of what there is; costs are small, so that half of
 * the gap at which the runs near the bound begin is nothing. */
static struct problem *
small_and_tight(uint64_t seed, struct arena *a)
{
	static const struct problem_mix mix = {
	    45, 90, 4, 4, .resources = true, .taps = true};
	struct rng r = rng_seeded(seed);
	struct problem *p = problem_random(&r, &mix, a);
	struct err err = {.kind = ERR_NONE};

	for (uint32_t t = 0; t < p->ntargets; t++)
		p->target[t].capacity = t ? UINT64_MAX : p->nnodes / 4;
	if (!problem_index(p, a, &err))
		fail_msg("%s", err.text);
	return p;
}

static void
runs_end_where_bounds_are_small(void **state)
{
	static const uint64_t seeds[] = {13, 57, 65, 112, 133};

	(void)state;
	for (uint32_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
		struct err err = {.kind = ERR_NONE};
		struct search_result r;
		struct search_options o = {
		    .deadline_ns = clock_ns() + UINT64_C(60000000000)};
		struct arena a;

		arena_init(&a);
		assert_true(search_exact(
		    &r, small_and_tight(seeds[i], &a), &o, &a, &err));
		assert_true(r.proven);
		arena_release(&a);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(runs_end_where_bounds_are_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
