/* Which jobs are measured again, and which of their figures counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "costmodel/revisit.h"

#define NJOBS 5

static const struct measure_job job[NJOBS] = {{.seen_ns = 100000},
    {.seen_ns = 100000}, {.seen_ns = 0}, {.seen_ns = 5000},
    {.seen_ns = 100000}};
static struct sample told[NJOBS];
static uint32_t ntold[NJOBS];
static struct arena arena;

static void
tell(void *context, uint32_t i, const struct sample *r)
{
	(void)context;
	assert_in_range(i, 0, NJOBS - 1);
	told[i] = *r;
	ntold[i]++;
}

static struct sample
taking(cost_ns ns)
{
	return (struct sample){.outcome = OUTCOME_OK,
	    .n = 5,
	    .low = ns,
	    .median = ns,
	    .high = ns,
	    .span_ns = 1000};
}

/* The first took as long as it was seen to, the second and the last longer; nobody saw
 * the third, and the fourth is too short to say. */
static struct revisit
visited(void)
{
	static const cost_ns took[NJOBS] = {104000, 107000, 900, 9000, 130000};
	struct revisit v = revisit_new(job, NJOBS, tell, NULL, &arena);

	for (uint32_t i = 0; i < NJOBS; i++) {
		const struct sample s = taking(took[i]);

		ntold[i] = 0;
		revisit_first(&v, i, &s);
	}
	return v;
}

static int
setup(void **state)
{
	(void)state;
	arena_init(&arena);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static void
what_took_longer_is_measured_again(void **state)
{
	struct revisit v = visited();

	(void)state;
	assert_int_equal(v.nagain, 2);
	assert_int_equal(v.of[0], 1);
	assert_int_equal(v.of[1], 4);
	assert_int_equal(v.again[1].seen_ns, 100000);
	assert_int_equal(ntold[0] + ntold[2] + ntold[3], 3);
	assert_int_equal(ntold[1] + ntold[4], 0);
	revisit_end(&v);
}

static void
the_lesser_figure_counts(void **state)
{
	const struct sample less = taking(101000), more = taking(140000);
	struct revisit v = visited();

	(void)state;
	revisit_second(&v, 0, &less);
	revisit_second(&v, 1, &more);
	revisit_end(&v);
	assert_int_equal(told[1].low, 101000);
	assert_int_equal(told[4].low, 130000);
	assert_int_equal(told[4].span_ns, 2000);
	for (uint32_t i = 0; i < NJOBS; i++)
		assert_int_equal(ntold[i], 1);
}

/* Nobody knows what shots would have shown that nobody disturbed. */
static void
what_was_noisy_is_measured_again(void **state)
{
	struct sample noisy = taking(130000);
	const struct sample less = taking(101000);
	struct revisit v = revisit_new(job, NJOBS, tell, NULL, &arena);

	(void)state;
	noisy.outcome = OUTCOME_NOISY;
	noisy.n = 0;
	revisit_first(&v, 0, &noisy);
	revisit_first(&v, 4, &noisy);
	assert_int_equal(v.nagain, 2);
	revisit_second(&v, 0, &less);
	revisit_second(&v, 1, &noisy);
	revisit_end(&v);
	assert_int_equal(told[0].outcome, OUTCOME_OK);
	assert_int_equal(told[0].low, 101000);
	assert_int_equal(told[4].outcome, OUTCOME_NOISY);
	assert_int_equal(told[4].low, 130000);
}

/* It has run: what goes wrong later is not the candidate's. */
static void
a_fault_in_the_second_is_not_told(void **state)
{
	const struct sample fault = {.outcome = OUTCOME_TIMEOUT};
	struct revisit v = visited();

	(void)state;
	revisit_second(&v, 1, &fault);
	revisit_end(&v);
	assert_int_equal(told[4].outcome, OUTCOME_OK);
	assert_int_equal(told[4].low, 130000);
	assert_int_equal(ntold[4], 1);
}

static void
who_is_stopped_keeps_the_first(void **state)
{
	struct revisit v = visited();

	(void)state;
	revisit_end(&v);
	assert_int_equal(told[1].low, 107000);
	assert_int_equal(told[4].low, 130000);
	assert_int_equal(ntold[1] + ntold[4], 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_took_longer_is_measured_again),
	    cmocka_unit_test(the_lesser_figure_counts),
	    cmocka_unit_test(what_was_noisy_is_measured_again),
	    cmocka_unit_test(a_fault_in_the_second_is_not_told),
	    cmocka_unit_test(who_is_stopped_keeps_the_first),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
