/* Steps of the order search: what they allow, and what is paid for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "search/forward_step.h"
#include "search/problem_index.h"
#include "search/solve.h"
#include "tests/support/orders.h"
#include "tests/support/problems.h"

/* Two nodes in a row, and a state on the way through them. */
struct path {
	struct arena a;
	struct problem *p;
	struct stepper stepper;
	struct forward_state at;
};

static int
setup(void **state)
{
	static struct path w;

	arena_init(&w.a);
	w.p = problem_two_nodes(&w.a);
	*state = &w;
	return 0;
}

static int
teardown(void **state)
{
	struct path *w = *state;

	arena_release(&w->a);
	return 0;
}

/* From the start, with the problem as it is now. */
static bool
start(struct path *w)
{
	struct err err = {0};

	if (!problem_index(w->p, &w->a, &err))
		fail_msg("%s", err.text);
	stepper_init(&w->stepper, w->p, &w->a);
	w->at = forward_state_new(w->p, &w->a);
	return stepper_start(&w->stepper, &w->at);
}

static bool
extends(const struct path *w, uint32_t candidate)
{
	return run_can_take(w->p, &w->at, &w->p->candidate[candidate]);
}

/* Go on; what is paid then, or COST_NEVER: not allowed, and not gone. */
static cost_ns
take(struct path *w, uint32_t candidate, bool extend)
{
	struct forward_state to = forward_state_new(w->p, &w->a);

	if (!stepper_take(
	        &w->stepper, &to, &w->at, &w->p->candidate[candidate], extend))
		return COST_NEVER;
	w->at = to;
	return to.cost;
}

static void
pays_as_worked_out(void **state)
{
	struct path *w = *state;

	assert_true(start(w));
	assert_int_equal(take(w, N0_BY_A, false), 10);
	assert_int_equal(w->at.last, NO_LIMIT);
	assert_int_equal(take(w, N1_BY_A, false), 20);
	assert_true(start(w));
	take(w, N0_BY_A, false);
	assert_int_equal(take(w, N1_BY_B, false), 23);
	assert_true(start(w));
	assert_int_equal(take(w, N0_BY_B, false), 10);
	assert_int_equal(w->at.last, TARGET_B);
	assert_int_equal(take(w, N1_BY_A, false), 23);
	assert_int_equal(w->at.last, NO_LIMIT);
	assert_true(start(w));
	take(w, N0_BY_B, false);
	assert_int_equal(take(w, N1_BY_B, true), 15);
	assert_true(start(w));
	take(w, N0_BY_B, false);
	assert_int_equal(take(w, N1_BY_B, false), 20);
	assert_false(w->stepper.splits);
}

static void
knows_what_is_ready(void **state)
{
	struct path *w = *state;
	const struct problem_candidate *c = w->p->candidate;

	assert_true(start(w));
	assert_true(node_is_ready(w->p, &w->at, 0));
	assert_false(node_is_ready(w->p, &w->at, 1));
	assert_true(candidate_is_ready(w->p, &w->at, &c[N0_BY_B]));
	assert_false(candidate_is_ready(w->p, &w->at, &c[N1_BY_B]));
	take(w, N0_BY_A, false);
	assert_false(node_is_ready(w->p, &w->at, 0));
	assert_true(node_is_ready(w->p, &w->at, 1));
	assert_false(candidate_is_ready(w->p, &w->at, &c[N0_BY_B]));
	assert_true(candidate_is_ready(w->p, &w->at, &c[N1_BY_B]));
}

static void
remembers_what_is_needed(void **state)
{
	struct path *w = *state;

	assert_true(start(w));
	assert_int_equal(w->at.nlive, 1);
	assert_int_equal(w->at.live[0].value, VALUE_X);
	assert_int_equal(w->at.live[0].have, PLAIN);
	take(w, N0_BY_B, false);
	assert_int_equal(w->at.nlive, 1);
	assert_int_equal(w->at.live[0].value, VALUE_Y);
	assert_int_equal(w->at.live[0].have, PACKED);
	assert_int_equal(w->at.live[0].need, 0);
	take(w, N1_BY_B, true);
	assert_int_equal(w->at.nlive, 0);
}

static void
pays_a_format_once(void **state)
{
	struct path *w = *state;

	w->p->value[VALUE_Y].required = PACKED;
	assert_true(start(w));
	assert_int_equal(take(w, N0_BY_A, false), 13);
	assert_int_equal(w->at.live[0].need, PACKED);
	assert_int_equal(take(w, N1_BY_B, false), 23);
}

static void
refuses_what_cannot_be_had(void **state)
{
	struct path *w = *state;

	w->p->conversion[1] = COST_NEVER; /* plain to packed */
	assert_true(start(w));
	assert_int_equal(take(w, N0_BY_B, false), COST_NEVER);
	take(w, N0_BY_A, false);
	assert_int_equal(take(w, N1_BY_B, false), COST_NEVER);
	assert_int_equal(take(w, N1_BY_A, false), 20);
	w->p->value[VALUE_Z].required = PACKED;
	assert_true(start(w));
	take(w, N0_BY_A, false);
	assert_int_equal(take(w, N1_BY_A, false), COST_NEVER);
	w->p->value[VALUE_X].required = PACKED;
	assert_false(start(w));
}

static void
keeps_sizes(void **state)
{
	struct path *w = *state;

	w->p->target[TARGET_B].max_run_nodes = 2;
	assert_true(start(w));
	assert_true(w->stepper.splits);
	take(w, N0_BY_B, false);
	assert_int_equal(w->at.run_nodes, 1);
	assert_false(extends(w, N1_BY_A));
	assert_true(extends(w, N1_BY_B));
	w->p->target[TARGET_B].max_run_nodes = 1;
	assert_false(extends(w, N1_BY_B));
	assert_int_equal(take(w, N1_BY_B, false), 20);
	assert_int_equal(w->at.run_nodes, 1); /* of a new run */
}

static void
keeps_numbers(void **state)
{
	struct path *w = *state;

	w->p->target[TARGET_B].max_runs = 1;
	assert_true(start(w));
	take(w, N0_BY_B, false);
	assert_int_equal(w->at.runs[TARGET_B], 1);
	assert_int_equal(take(w, N1_BY_B, false), COST_NEVER);
	assert_int_equal(take(w, N1_BY_B, true), 15);
}

/* Runs that read only what the caller feeds, and what they make themselves. */
static void
keeps_to_what_is_fed(void **state)
{
	struct path *w = *state;

	w->p->target[TARGET_B].fed_only = true;
	assert_true(start(w));
	assert_true(w->stepper.splits);
	take(w, N0_BY_B, false);
	assert_int_equal(take(w, N1_BY_B, false), COST_NEVER);
	assert_int_equal(take(w, N1_BY_B, true), 15);
	assert_true(start(w));
	take(w, N0_BY_A, false);
	assert_int_equal(take(w, N1_BY_B, false), COST_NEVER);
}

static void
stops_at_marks(void **state)
{
	struct path *w = *state;

	w->p->value[VALUE_Y].mark = true;
	assert_true(start(w));
	assert_true(w->stepper.splits);
	take(w, N0_BY_B, false);
	assert_false(extends(w, N1_BY_B));
	assert_int_equal(take(w, N1_BY_B, false), 20);
	assert_true(start(w));
	take(w, N0_BY_B, false);
	w->at.live[0].fresh = 0; /* as if an earlier run had made it */
	assert_true(extends(w, N1_BY_B));
}

static void
keeps_capacities(void **state)
{
	struct path *w = *state;
	struct problem_target *t = w->p->target;

	for (uint32_t k = 0; k < w->p->ncandidates; k++)
		w->p->candidate[k].resource = 2;
	t[TARGET_B].capacity = 3;
	assert_true(start(w));
	take(w, N0_BY_B, false);
	assert_int_equal(w->at.used[TARGET_B], 2);
	assert_int_equal(take(w, N1_BY_B, true), COST_NEVER);
	assert_int_equal(take(w, N1_BY_A, false), 23);
	/* A part of another counts there. */
	t[TARGET_B].capacity = UINT64_MAX;
	t[TARGET_B].part_of = 1 + TARGET_A;
	t[TARGET_A].capacity = 3;
	assert_true(start(w));
	take(w, N0_BY_B, false);
	assert_int_equal(w->at.used[TARGET_A], 2);
	assert_int_equal(take(w, N1_BY_A, false), COST_NEVER);
	t[TARGET_A].capacity = 4;
	assert_int_equal(take(w, N1_BY_A, false), 23);
}

/* n1 reads x too, and packed is local to runs. */
static void
make_local(struct path *w)
{
	static const uint32_t both[] = {VALUE_X, VALUE_Y};
	static const struct problem_port plain[] = {{VALUE_X, 0}, {VALUE_Y, 0}};
	static const struct problem_port packed[] = {
	    {VALUE_X, 1}, {VALUE_Y, 1}};

	w->p->local = PACKED;
	w->p->node[1].ninputs = 2;
	w->p->node[1].input = both;
	w->p->candidate[N1_BY_A].ninputs = 2;
	w->p->candidate[N1_BY_A].input = plain;
	w->p->candidate[N1_BY_B].ninputs = 2;
	w->p->candidate[N1_BY_B].input = packed;
}

/* Brought in once for a run, and again for the next; what the run makes is there,
 * and leads out once. */
static void
brings_in_for_each_run(void **state)
{
	struct path *w = *state;

	make_local(w);
	assert_true(start(w));
	assert_false(w->stepper.splits);
	assert_int_equal(take(w, N0_BY_B, false), 2 + 5 + 3);
	assert_int_equal(w->at.live[0].inside, PACKED); /* x */
	assert_int_equal(w->at.live[1].inside, PACKED); /* y */
	assert_int_equal(take(w, N1_BY_B, true), 10 + 2 + 3);
	assert_true(start(w));
	take(w, N0_BY_B, false);
	assert_int_equal(take(w, N1_BY_B, false), 10 + 5 + 2 + 3 + (3 + 3) + 3);
	assert_true(start(w));
	take(w, N0_BY_B, false);
	assert_int_equal(take(w, N1_BY_A, false), 10 + 10 + 3);
	assert_true(start(w));
	take(w, N0_BY_A, false);
	assert_int_equal(w->at.live[0].inside, 0);
	assert_int_equal(take(w, N1_BY_B, false), 10 + 5 + 2 + 3 + 3 + 3);
}

/* What goes without saying is not in keys, so equal states have equal ones. */
static void
says_needs_shortly(void **state)
{
	struct path *w = *state;

	make_local(w);
	assert_true(start(w));
	take(w, N0_BY_A, false);
	assert_int_equal(w->at.live[0].need, 0); /* x is plain */
	assert_true(start(w));
	take(w, N0_BY_B, false);
	assert_int_equal(w->at.live[0].need, 0); /* and packed by way of that */
	assert_int_equal(w->at.live[1].need, 0); /* y is made packed */
	w->p->value[VALUE_Y].required = PLAIN;
	assert_true(start(w));
	assert_int_equal(take(w, N0_BY_B, false), 10 + 3);
	assert_int_equal(w->at.live[1].need, PLAIN);
}

static void
refuses_what_cannot_be_brought_in(void **state)
{
	struct path *w = *state;

	make_local(w);
	w->p->conversion[1] = COST_NEVER; /* plain to packed */
	assert_true(start(w));
	assert_int_equal(take(w, N0_BY_B, false), COST_NEVER);
	take(w, N0_BY_A, false);
	assert_int_equal(take(w, N1_BY_B, false), COST_NEVER);
	assert_int_equal(take(w, N1_BY_A, false), 20);
}

/* The covers of brute force, step by step: all allowed, all paid, nothing left
 * over. */
static void
pays_what_covers_cost(void **state)
{
	static const struct problem_mix mixes[] = {
	    {5, 8, 3, 3, .launches = true, .limits = true, .marks = true,
	        .taps = true, .resources = true},
	    {6, 10, 2, 4, .launches = true, .resources = true, .parts = true},
	    {6, 10, 3, 3, .launches = true, .marks = true, .local = true},
	};
	uint32_t found = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 600; seed++) {
		struct search_options o = {0};
		struct rng r = rng_seeded(seed);
		struct search_result best;
		struct stepper stepper;
		struct forward_state x;
		struct err err = {0};
		struct problem *p;
		struct arena a;

		arena_init(&a);
		p = problem_random(&r, &mixes[seed % 3], &a);
		stepper_init(&stepper, p, &a);
		x = forward_state_new(p, &a);
		assert_true(search_exhaustive(&best, p, &o, &a, &err));
		if (best.found) {
			const struct cover *c = &best.cover;

			found++;
			if (!order_replay(&stepper, &x, c, c->nsteps, &a)
			    || x.cost != c->cost || x.nlive != 0)
				fail_msg("seed %u", (unsigned)seed);
			for (uint32_t n = 0; n < p->nnodes; n++)
				assert_true(bitset_has(x.covered, n));
		}
		arena_release(&a);
	}
	assert_true(found > 200);
}

#define WITH_WAY(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    WITH_WAY(pays_as_worked_out),
	    WITH_WAY(knows_what_is_ready),
	    WITH_WAY(remembers_what_is_needed),
	    WITH_WAY(pays_a_format_once),
	    WITH_WAY(refuses_what_cannot_be_had),
	    WITH_WAY(keeps_sizes),
	    WITH_WAY(keeps_numbers),
	    WITH_WAY(keeps_to_what_is_fed),
	    WITH_WAY(stops_at_marks),
	    WITH_WAY(keeps_capacities),
	    WITH_WAY(brings_in_for_each_run),
	    WITH_WAY(says_needs_shortly),
	    WITH_WAY(refuses_what_cannot_be_brought_in),
	    cmocka_unit_test(pays_what_covers_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
