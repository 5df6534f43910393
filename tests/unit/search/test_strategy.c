#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/base/clock.h"
#include "search/budget.h"
#include "search/lagrangian/model.h"
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

/* Multipliers that one dual ended with bound another as well from its first step on;
 * those that bound it far worse than the aim are not taken. */
static void
multipliers_begin_where_others_ended(void **state)
{
	static const struct problem_mix mix = {40, 80, 4, 4, .taps = true};
	struct budget none = {0};
	struct converter_memo memo;
	struct dual first, next;
	struct problem *p;
	struct rng r = rng_seeded(7);
	struct arena a;
	cost_ns aim;

	(void)state;
	arena_init(&a);
	p = problem_random(&r, &mix, &a);
	convert_init(&memo, p, &a);
	assert_true(dual_init(&first, p, &memo, &a));
	dual_improve(&first, UINT64_C(1) << 40, DUAL_ROUNDS, &none);
	aim = dual_bound(&first);
	assert_true(aim > 0);
	assert_true(dual_init(&next, p, &memo, &a));
	dual_begin(&next, first.account, aim);
	dual_improve(&next, aim, 0, &none);
	assert_int_equal(dual_bound(&next), aim);
	assert_true(dual_init(&next, p, &memo, &a));
	dual_begin(&next, first.account, 2 * aim);
	assert_true(next.bound == INT64_MIN);
	arena_release(&a);
}

/* A search leaves what the next one begins with. */
static void
hints_are_left(void **state)
{
	static const struct problem_mix mix = {40, 80, 4, 4, .taps = true};
	struct err err = {.kind = ERR_NONE};
	struct search_hints hints;
	struct search_options o = {.hints = &hints};
	struct search_result plain, hinted;
	struct problem *p;
	struct rng r = rng_seeded(7);
	struct arena a;

	(void)state;
	arena_init(&a);
	p = problem_random(&r, &mix, &a);
	hints = (struct search_hints){.arena = &a};
	assert_true(search_exact(&plain, p, &o, &a, &err));
	assert_int_equal(hints.nnodes, p->nnodes);
	hints.is_wide = true;
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(search_exact(&hinted, p, &o, &a, &err));
		assert_true(hints.naccount > p->nnodes);
		assert_true(hinted.proven);
		assert_int_equal(hinted.cover.cost, plain.cover.cost);
	}
	arena_release(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(runs_end_where_bounds_are_small),
	    cmocka_unit_test(multipliers_begin_where_others_ended),
	    cmocka_unit_test(hints_are_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
