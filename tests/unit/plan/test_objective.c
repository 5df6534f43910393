/* The terms of the objective: they add up, and bounds of prices bound their sum. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plan/objective.h"
#include "tests/support/support.h"

static struct paid
any(struct rng *r)
{
	return (struct paid){.price = rng_next(r) % 1000000,
	    .ncomposites = (uint32_t)rng_next(r) % 4,
	    .nnodes = (uint32_t)rng_next(r) % 9};
}

static void
test_bounds(void **state)
{
	struct rng r = rng_seeded(1);

	(void)state;
	for (uint32_t i = 0; i < 3000; i++) {
		enum plan_part part = (enum plan_part)(i % NPARTS);
		struct paid low = any(&r), high = low;

		high.price += rng_next(&r) % 1000;
		assert_true(
		    objective_cost(part, &low) <= objective_cost(part, &high));
		assert_true(objective_cost(part, &low) >= low.price);
		high.price = COST_NEVER;
		assert_true(objective_cost(part, &high) == COST_NEVER);
	}
}

/* Also of a part that is charged something else: a share of a unit's price. */
static void
test_split(void **state)
{
	struct rng r = rng_seeded(2);
	cost_ns sum[NTERMS] = {0}, total = 0, added = 0;

	(void)state;
	for (uint32_t i = 0; i < 3000; i++) {
		enum plan_part part = (enum plan_part)(i % NPARTS);
		struct paid paid = any(&r);
		cost_ns cost = objective_cost(part, &paid) + rng_next(&r) % 100;

		objective_split(sum, part, cost, &paid);
		total += cost;
	}
	for (uint32_t t = 0; t < NTERMS; t++)
		added += sum[t];
	assert_true(added == total);
}

/* A composite made of two costs what the two cost. */
static void
test_units(void **state)
{
	struct rng r = rng_seeded(3);

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		struct paid a = any(&r), b = any(&r);
		struct paid both = {a.price + b.price,
		    a.ncomposites + b.ncomposites, a.nnodes + b.nnodes};

		assert_true(objective_cost(PART_COMPOSITE, &a)
		        + objective_cost(PART_COMPOSITE, &b)
		    == objective_cost(PART_COMPOSITE, &both));
	}
}

static void
test_words(void **state)
{
	(void)state;
	for (uint32_t t = 0; t < NTERMS; t++) {
		size_t n = strlen(term_words(t));

		assert_int_equal(strncmp(term_key(t), term_words(t), n), 0);
		assert_string_equal(term_key(t) + n, "_ns");
		for (uint32_t u = 0; u < t; u++)
			assert_string_not_equal(term_key(t), term_key(u));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_bounds),
	    cmocka_unit_test(test_split),
	    cmocka_unit_test(test_units),
	    cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
