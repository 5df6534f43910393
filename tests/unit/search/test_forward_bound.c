/* Bounds of the order search: they hold, and say something. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "search/bound.h"
#include "search/forward_bound.h"
#include "search/problem_index.h"
#include "search/relaxation.h"
#include "search/solve.h"
#include "tests/support/orders.h"
#include "tests/support/problems.h"

/* A problem, its prices, and what goes on from a state of it. */
struct bounded {
	struct arena a;
	struct problem *p, priced;
	struct converter_memo memo;
	struct dual dual;
	struct stepper stepper;
	struct forward_bound bound;
};

static void
bounded_init(
    struct bounded *b, struct problem *p, uint32_t rounds, cost_ns goal)
{
	b->p = p;
	relax_sizes(&b->priced, p, &b->a);
	convert_init(&b->memo, &b->priced, &b->a);
	assert_true(dual_init(&b->dual, &b->priced, &b->memo, &b->a));
	dual_improve(&b->dual, goal, rounds, &(struct budget){0});
	stepper_init(&b->stepper, p, &b->a);
	b->bound = (struct forward_bound){
	    p, &b->dual, &b->stepper.memo, COST_NEVER, least_shares(p, &b->a)};
}

static void
two_nodes(struct bounded *b)
{
	struct err err = {0};
	struct problem *p;

	arena_init(&b->a);
	p = problem_two_nodes(&b->a);
	assert_true(problem_index(p, &b->a, &err));
	bounded_init(b, p, 100, 15);
}

static void
take(
    struct bounded *b, struct forward_state *x, uint32_t candidate, bool extend)
{
	struct forward_state from = forward_state_new(b->p, &b->a);

	forward_state_copy(&from, x);
	assert_true(stepper_take(
	    &b->stepper, x, &from, &b->p->candidate[candidate], extend));
}

static void
sums_what_is_not_covered(void **state)
{
	static const cost_ns each[] = {7, 30};
	struct forward_state x;
	struct bounded b;

	(void)state;
	two_nodes(&b);
	b.bound.dual = NULL;
	x = forward_state_new(b.p, &b.a);
	assert_true(stepper_start(&b.stepper, &x));
	assert_int_equal(forward_sum_uncovered(b.p, &x, each), 37);
	assert_int_equal(forward_bound_rest(&b.bound, &x), 4);
	take(&b, &x, N0_BY_A, false);
	assert_int_equal(forward_sum_uncovered(b.p, &x, each), 30);
	assert_int_equal(forward_bound_rest(&b.bound, &x), 2);
	take(&b, &x, N1_BY_A, false);
	assert_int_equal(forward_sum_uncovered(b.p, &x, each), 0);
	assert_int_equal(forward_bound_rest(&b.bound, &x), 0);
	arena_release(&b.a);
}

/* Between what shares say and what is true, which README.md has. */
static void
prices_say_more(void **state)
{
	struct forward_state x;
	struct bounded b;
	cost_ns rest;

	(void)state;
	two_nodes(&b);
	x = forward_state_new(b.p, &b.a);
	assert_true(stepper_start(&b.stepper, &x));
	rest = forward_bound_rest(&b.bound, &x);
	assert_in_range(rest, 5, 15);
	b.bound.upper = 4; /* shares do */
	assert_int_equal(forward_bound_rest(&b.bound, &x), 4);
	b.bound.upper = 5;
	assert_int_equal(forward_bound_rest(&b.bound, &x), rest);
	take(&b, &x, N0_BY_B, false);
	assert_in_range(forward_bound_rest(&b.bound, &x), 2, 5);
	take(&b, &x, N1_BY_B, true);
	assert_int_equal(forward_bound_rest(&b.bound, &x), 0);
	arena_release(&b.a);
}

/* A launch counts until it is paid, by the run that goes on. */
static void
knows_what_is_launched(void **state)
{
	struct forward_state x;
	struct err err = {0};
	struct bounded b;
	struct problem *p;

	(void)state;
	arena_init(&b.a);
	p = problem_two_nodes(&b.a);
	p->candidate[N0_BY_A].banned = true;
	p->candidate[N1_BY_A].banned = true;
	assert_true(problem_index(p, &b.a, &err));
	bounded_init(&b, p, 100, 15);
	x = forward_state_new(p, &b.a);
	assert_true(stepper_start(&b.stepper, &x));
	assert_in_range(forward_bound_rest(&b.bound, &x), 11, 15);
	take(&b, &x, N0_BY_B, false);
	assert_in_range(forward_bound_rest(&b.bound, &x), 3, 5);
	arena_release(&b.a);
}

static void
knows_dead_ends(void **state)
{
	struct forward_state x;
	struct err err = {0};
	struct problem *p;
	struct bounded b;

	(void)state;
	arena_init(&b.a);
	p = problem_two_nodes(&b.a);
	p->candidate[N1_BY_A].cost = COST_NEVER;
	p->candidate[N1_BY_B].banned = true;
	assert_true(problem_index(p, &b.a, &err));
	bounded_init(&b, p, 0, 15);
	x = forward_state_new(p, &b.a);
	assert_true(stepper_start(&b.stepper, &x));
	assert_int_equal(forward_bound_rest(&b.bound, &x), COST_NEVER);
	take(&b, &x, N0_BY_A, false);
	assert_int_equal(forward_bound_rest(&b.bound, &x), COST_NEVER);
	arena_release(&b.a);
}

enum { FED, WAY, OTHER_WAY, LOCAL, FORMATS }; /* formats of the next problem */

/* n0 reads x in a local format, and n1 in one of the two it is entered from, both
 * of which cost the same. */
static struct problem *
two_ways_in(struct arena *a)
{
	static const uint32_t both[] = {VALUE_X, VALUE_Y};
	static const struct problem_port n0_reads[] = {{VALUE_X, LOCAL}};
	static const struct problem_port n1_reads[] = {
	    {VALUE_X, OTHER_WAY}, {VALUE_Y, TARGET_B}};
	struct problem *p = problem_two_nodes(a);

	p->local = 1u << LOCAL;
	p->nformats = FORMATS;
	p->conversion = arena_new(a, cost_ns, FORMATS * FORMATS);
	for (uint32_t i = 0; i < FORMATS * FORMATS; i++)
		p->conversion[i] = COST_NEVER;
	for (uint32_t f = WAY; f <= OTHER_WAY; f++) {
		p->conversion[FED * FORMATS + f] = 3;
		p->conversion[f * FORMATS + LOCAL] = 4;
	}
	p->node[1].ninputs = 2;
	p->node[1].input = both;
	p->candidate[N0_BY_A].banned = p->candidate[N1_BY_B].banned = true;
	p->candidate[N0_BY_B].input = n0_reads;
	for (uint32_t k = N1_BY_A; k <= N1_BY_B; k++) {
		p->candidate[k].ninputs = 2;
		p->candidate[k].input = n1_reads;
	}
	return p;
}

/* What was brought in came over one of the ways in: which is open, and the run's
 * part of it is paid, also when the run is over. */
static void
knows_ways_in(void **state)
{
	struct forward_state x;
	struct err err = {0};
	struct problem *p;
	struct bounded b;

	(void)state;
	arena_init(&b.a);
	p = two_ways_in(&b.a);
	assert_true(problem_index(p, &b.a, &err));
	bounded_init(&b, p, 100, 5 + 2 + 3 + 4 + 10);
	x = forward_state_new(p, &b.a);
	assert_true(stepper_start(&b.stepper, &x));
	assert_in_range(forward_bound_rest(&b.bound, &x), 23, 24);
	take(&b, &x, N0_BY_B, false);
	assert_int_equal(x.cost, 14);
	assert_int_equal(x.live[0].need, 1u << LOCAL);
	assert_int_equal(x.live[0].inside, 1u << LOCAL);
	assert_in_range(forward_bound_rest(&b.bound, &x), 9, 10);
	x.live[0].inside = 0; /* as if another run went on */
	assert_in_range(forward_bound_rest(&b.bound, &x), 9, 10);
	take(&b, &x, N1_BY_A, false);
	assert_int_equal(x.cost, 24);
	arena_release(&b.a);
}

/* Everywhere on the way to the cover, and no more than what it still pays. */
static bool
never_above(struct bounded *b, const struct cover *c)
{
	for (uint32_t n = 0; n <= c->nsteps; n++) {
		struct forward_state x = forward_state_new(b->p, &b->a);

		if (!order_replay(&b->stepper, &x, c, n, &b->a)
		    || cost_add(x.cost, forward_bound_rest(&b->bound, &x))
		        > c->cost)
			return false;
	}
	return true;
}

static void
never_above_optimum(void **state)
{
	static const struct problem_mix mixes[] = {
	    {5, 8, 3, 3, .launches = true, .limits = true, .marks = true,
	        .taps = true, .resources = true},
	    {6, 10, 3, 3, .launches = true},
	    {6, 10, 3, 3, .launches = true, .marks = true, .local = true},
	    {7, 12, 5, 2, .launches = true, .local = true},
	};
	uint32_t found = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 600; seed++) {
		struct search_options o = {0};
		struct rng r = rng_seeded(seed);
		struct search_result best;
		struct err err = {0};
		struct bounded b;
		struct problem *p;

		arena_init(&b.a);
		p = problem_random(&r, &mixes[seed % 4], &b.a);
		assert_true(search_exhaustive(&best, p, &o, &b.a, &err));
		if (best.found) {
			found++;
			bounded_init(
			    &b, p, (uint32_t)(seed % 40), best.cover.cost);
			if (!never_above(&b, &best.cover))
				fail_msg("seed %u", (unsigned)seed);
		}
		arena_release(&b.a);
	}
	assert_true(found > 200);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sums_what_is_not_covered),
	    cmocka_unit_test(prices_say_more),
	    cmocka_unit_test(knows_what_is_launched),
	    cmocka_unit_test(knows_dead_ends),
	    cmocka_unit_test(knows_ways_in),
	    cmocka_unit_test(never_above_optimum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
