/* Which region a prediction that is off is put down to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec/worst_region.h"
#include "tests/support/plans.h"

static struct arena arena;
static struct small_plan small;
static cost_ns *composite, *conversion;
static struct profile seen;

/* A run that took what was predicted. */
static int
setup(void **state)
{
	const struct plan *p = &small.plan;

	(void)state;
	arena_init(&arena);
	small_plan_init(&small, false, &arena);
	composite = arena_new(&arena, cost_ns, p->ncomposites);
	conversion = arena_new(&arena, cost_ns, p->nconversions);
	for (uint32_t i = 0; i < p->ncomposites; i++)
		composite[i] = p->composite[i].cost;
	for (uint32_t i = 0; i < p->nconversions; i++)
		conversion[i] = p->conversion[i].cost;
	seen =
	    (struct profile){.composite = composite, .conversion = conversion};
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static bool
is_real(uint32_t i)
{
	const struct plan *p = &small.plan;
	uint32_t t = plan_candidate(p, i)->target;

	return p->mix->target[t].kind->source == PRICE_MEASURED;
}

static void
the_composite_that_is_off_is_found(void **state)
{
	const struct plan *p = &small.plan;
	uint32_t tried = 0;

	(void)state;
	for (uint32_t i = 0; i < p->ncomposites; i++) {
		struct worst_region slower, faster;

		if (!is_real(i))
			continue;
		composite[i] *= 3;
		slower = worst_region_find(p, &seen);
		composite[i] /= 6;
		faster = worst_region_find(p, &seen);
		composite[i] = p->composite[i].cost;
		assert_int_equal(slower.composite, i);
		assert_int_equal(slower.region, p->composite[i].region);
		assert_true(slower.measured > slower.predicted);
		assert_int_equal(faster.composite, i);
		assert_true(faster.measured < faster.predicted);
		tried++;
	}
	assert_true(tried > 0);
}

/* The region named is off in the direction the whole is. */
static void
the_direction_is_that_of_the_whole(void **state)
{
	const struct plan *p = &small.plan;
	uint32_t first = UINT32_MAX, last = 0;
	struct worst_region m;

	(void)state;
	for (uint32_t i = 0; i < p->ncomposites; i++)
		if (is_real(i)) {
			first = first == UINT32_MAX ? i : first;
			last = i;
		}
	assert_true(first < last);
	composite[first] = 0; /* off by less than the other */
	composite[last] += 2 * p->composite[first].cost;
	m = worst_region_find(p, &seen);
	assert_int_equal(m.composite, last);
}

static void
simulated_time_is_no_miss(void **state)
{
	const struct plan *p = &small.plan;
	struct worst_region m;

	(void)state;
	for (uint32_t i = 0; i < p->ncomposites; i++)
		if (!is_real(i))
			composite[i] = 1;
	m = worst_region_find(p, &seen);
	assert_true(m.predicted == m.measured);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	    T(the_composite_that_is_off_is_found),
	    T(the_direction_is_that_of_the_whole),
	    T(simulated_time_is_no_miss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
