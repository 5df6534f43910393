/* A plan in a process of its own: what a turn is, and how it may end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "exec/contender.h"
#include "ir/base/clock.h"
#include "ir/base/shared_memory.h"
#include "plan/search.h"
#include "tests/support/make.h"

#define LONG_NS 3000000
#define WHILE_NS 500000 /* less than threads are given to rest */
#define TURN_RUNS 4 /* of a turn of one thread: one warms up */

/* How the double runs. */
static enum {
	COLD_FIRST, /* longer where it comes a while after another */
	AS_USUAL,
	NOT_AT_ALL,
	TO_DEATH, /* in the second turn */
	NOT_IN_COMPANY, /* not where another one was compiled */
} how;
static uint32_t ncompiled, nruns;
static uint32_t *seen; /* runs in any process; NULL: nobody asks */
static uint64_t last_ns;

static void
run(struct kernel *k, const void *const *in, void *const *out)
{
	const struct timespec long_time = {.tv_nsec = LONG_NS};

	(void)k, (void)in, (void)out;
	if ((how == TO_DEATH && nruns == TURN_RUNS)
	    || (how == NOT_IN_COMPANY && ncompiled > 1))
		_Exit(1);
	if (how == COLD_FIRST && clock_ns() - last_ns > WHILE_NS)
		nanosleep(&long_time, NULL);
	last_ns = clock_ns();
	nruns++;
	if (seen)
		++*seen;
}

static bool
compile(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	(void)t, (void)g, (void)a;
	if (how == NOT_AT_ALL)
		return err_set(err, ERR_UNSUPPORTED, "not implemented");
	ncompiled++;
	*out = (struct kernel){.candidate = c, .run = run};
	return true;
}

static const struct rule rules[] = {
    {.name = "double.relu", .pattern = NODE(RELU, ANY)}};
static struct target_kind target_double = {
    .name = "double",
    .summary = "a test double",
    .rule = rules,
    .nrules = 1,
    .source = PRICE_MEASURED,
    .compile = compile,
};

static struct arena arena;
static struct maker m;
static struct target target;
static struct mix mix;
static struct candidates found;
static struct prices prices;
static struct plan plan;

static void
make_prices(void)
{
	const struct price free_of_cost = {
	    .state = PRICE_KNOWN, .when = "", .detail = ""};

	prices_init(&prices, &arena);
	prices_of_each(&prices, found.n, 1);
	prices.nclasses = 1;
	prices.nformats = MAX_FORMATS;
	prices.conversion = arena_new(
	    &arena, struct conversion_price, MAX_FORMATS * MAX_FORMATS);
	prices.value_class = arena_new(&arena, uint32_t, m.graph->nvalues);
	for (uint32_t i = 0; i < MAX_FORMATS * MAX_FORMATS; i++)
		prices.conversion[i].price = free_of_cost;
	*prices_candidate(&prices, 0) = free_of_cost;
	*prices_launch(&prices, 0) = free_of_cost;
}

/* x -> Relu -> y */
static int
setup(void **state)
{
	struct err err = {.kind = ERR_NONE};

	(void)state;
	arena_init(&arena);
	make_begin(&m, &arena);
	make_output(&m, MAKE(&m, RELU, make_input(&m, DIMS(3, 4))));
	make_end(&m);
	mix = (struct mix){.target = &target, .n = 1};
	formats_init(&mix.formats);
	target = (struct target){.kind = &target_double,
	    .text = "double",
	    .source = PRICE_MEASURED,
	    .formats = &mix.formats};
	assert_true(candidates_find(&found, m.graph, &mix, NULL, &arena, &err));
	make_prices();
	assert_true(plan_search(&plan,
	    &(struct plan_request){.graph = m.graph,
	        .mix = &mix,
	        .candidates = &found,
	        .prices = &prices,
	        .no_baselines = true},
	    &arena, &err));
	ncompiled = nruns = 0;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static struct contender
started(uint32_t threads)
{
	struct err err = {.kind = ERR_NONE};
	struct contender r;

	assert_true(contender_start(&r, &plan, threads, &err));
	return r;
}

/* Short plans are run in a loop: its first run, which finds caches cold and threads
 * asleep, says nothing. */
static void
a_turn_is_a_loop(void **state)
{
	struct err err = {.kind = ERR_NONE};
	struct contender r;
	cost_ns took, least = COST_NEVER;
	bool disturbed;

	(void)state;
	how = COLD_FIRST;
	r = started(2);
	for (uint32_t i = 0; i < 20; i++) {
		assert_true(
		    contender_run(&r, CONTENDER_TURN, &took, &disturbed, &err));
		least = took < least ? took : least;
	}
	assert_true(least < LONG_NS);
	contender_end(&r);
}

static uint32_t
runs_in(struct contender *r, enum contender_runs what, cost_ns *took)
{
	const uint32_t before = *seen;
	struct err err = {.kind = ERR_NONE};
	bool disturbed;

	assert_true(contender_run(r, what, took, &disturbed, &err));
	return *seen - before;
}

/* A loop is of more runs than a turn, so that it matters less what was before. One that goes on
 * has none to warm up. */
static void
a_loop_has_more_runs(void **state)
{
	struct contender r;
	uint32_t turn, loop;
	cost_ns first, took;

	(void)state;
	how = AS_USUAL;
	seen = shared_memory_new(sizeof *seen);
	assert_non_null(seen);
	r = started(1);
	assert_int_equal(runs_in(&r, CONTENDER_TURN, &first), 1);
	turn = runs_in(&r, CONTENDER_TURN, &took);
	assert_int_equal(turn, contender_turn_runs(first, 1));
	loop = runs_in(&r, CONTENDER_LOOP, &took);
	assert_true(loop > turn);
	assert_int_equal(runs_in(&r, CONTENDER_GO_ON, &took), loop - 1);
	contender_end(&r);
	shared_memory_end(seen, sizeof *seen);
	seen = NULL;
}

/* Each alone in its process, and both at once. */
static void
nobody_is_beside(void **state)
{
	struct err err = {.kind = ERR_NONE};
	struct contender r[2];
	bool disturbed;
	cost_ns took;

	(void)state;
	how = NOT_IN_COMPANY;
	r[0] = started(1);
	r[1] = started(1);
	for (uint32_t i = 0; i < 6; i++)
		assert_true(contender_run(
		    &r[i % 2], CONTENDER_TURN, &took, &disturbed, &err));
	assert_int_equal(ncompiled, 0);
	contender_end(&r[0]);
	contender_end(&r[1]);
}

/* Both at once: of one thread what they have in common is compiled once, in the process
 * that starts them; but for kinds that have threads all the same. */
static void
two_share_what_they_have_in_common(void **state)
{
	const struct plan *const both[] = {&plan, &plan};
	struct err err = {.kind = ERR_NONE};
	struct contender r[2];
	bool disturbed;
	cost_ns took;

	(void)state;
	how = NOT_IN_COMPANY;
	for (uint32_t i = 0; i < 3; i++) {
		target_double.translates = i == 1;
		ncompiled = 0;
		assert_true(
		    contenders_start(r, both, i == 2 ? 2 : 1, &arena, &err));
		assert_int_equal(ncompiled, i == 0);
		for (uint32_t k = 0; k < 6; k++)
			assert_true(contender_run(&r[k % 2], CONTENDER_TURN,
			    &took, &disturbed, &err));
		assert_int_equal(nruns, 0);
		contender_end(&r[0]);
		contender_end(&r[1]);
	}
	target_double.translates = false;
}

static void
what_cannot_be_compiled_says_so(void **state)
{
	const struct plan *const both[] = {&plan, &plan};
	struct err err = {.kind = ERR_NONE};
	struct contender r[2];

	(void)state;
	how = NOT_AT_ALL;
	assert_false(contender_start(&r[0], &plan, 1, &err));
	assert_non_null(strstr(err.text, "not implemented"));
	contender_end(&r[0]);
	err.kind = ERR_NONE;
	assert_false(contenders_start(r, both, 1, &arena, &err));
	assert_non_null(strstr(err.text, "not implemented"));
	contender_end(&r[0]);
	contender_end(&r[1]);
}

static void
it_may_die(void **state)
{
	struct err err = {.kind = ERR_NONE};
	struct contender r;
	bool disturbed;
	cost_ns took;

	(void)state;
	how = TO_DEATH;
	r = started(1);
	assert_true(contender_run(&r, CONTENDER_TURN, &took, &disturbed, &err));
	for (uint32_t i = 0; i < 2; i++) {
		err.kind = ERR_NONE;
		assert_false(
		    contender_run(&r, CONTENDER_TURN, &took, &disturbed, &err));
		assert_string_equal(err.text, "running it ended its process");
	}
	contender_end(&r);
	contender_end(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(a_turn_is_a_loop, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        a_loop_has_more_runs, setup, teardown),
	    cmocka_unit_test_setup_teardown(nobody_is_beside, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        two_share_what_they_have_in_common, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        what_cannot_be_compiled_says_so, setup, teardown),
	    cmocka_unit_test_setup_teardown(it_may_die, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
