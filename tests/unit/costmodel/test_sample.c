/* How kernels are timed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "costmodel/core_lock.h"
#include "costmodel/sample.h"
#include "costmodel/watch.h"
#include "ir/base/arena.h"

/* ---- first runs ---- */

#define FIRST_NS 120000000 /* more than what is timed but once */

/* A kernel that translates its code when it is run first, as runtimes do. */
static void
run_translated(void *context)
{
	const struct timespec first = {.tv_nsec = FIRST_NS};
	uint32_t *runs = context;

	if ((*runs)++ == 0)
		nanosleep(&first, NULL);
}

/* What is told of it: nothing of the first run, however it is asked. */
static void
first_runs_say_nothing(void **state)
{
	uint32_t runs = 0;
	const struct shot s = {
	    .run = run_translated, .context = &runs, .translates = true};
	struct arena a;
	struct sweep w;
	struct block b;

	(void)state;
	arena_init(&a);
	w = sweep_new(0, 0, &a);
	b = sample_probe(&s, &w);
	assert_false(b.slow);
	assert_true(b.min_ns < FIRST_NS / 10);
	runs = 0;
	b = sample_block(&s, &w);
	assert_false(b.slow);
	assert_true(b.median_ns < FIRST_NS / 10);
	runs = 0;
	b = sample_pair(&s, &s, &w);
	assert_int_equal(runs, 3 + 2 * (b.kept + b.dropped)); /* x again, y */
	arena_release(&a);
}

/* Others' first runs are believed: of what takes long, one is enough. */
static void
long_runs_are_not_repeated(void **state)
{
	uint32_t runs = 0;
	const struct shot s = {.run = run_translated, .context = &runs};
	struct arena a;
	struct sweep w;

	(void)state;
	arena_init(&a);
	w = sweep_new(0, 0, &a);
	assert_true(sample_probe(&s, &w).min_ns >= FIRST_NS);
	assert_int_equal(runs, 1);
	arena_release(&a);
}

static void
run_nothing(void *context)
{
	(void)context;
}

/* Neighbours who stay are not waited for again, but whoever finds them gone is. */
static void
patience_ends_with_a_disturbed_block(void **state)
{
	const struct shot s = {.run = run_nothing};
	struct arena a;
	struct sweep w;
	struct block first, second;

	(void)state;
	arena_init(&a);
	w = sweep_new(0, 0, &a);
	cores_pin(1);
	atomic_store(core_best_ns(), 1); /* no core is as fast */
	first = sample_block(&s, &w);
	assert_int_equal(first.kept, 0);
	second = sample_block(&s, &w);
	assert_int_equal(second.kept, 0);
	assert_true(second.dropped < first.dropped);
	assert_true(w.disturbed);
	w.disturbed = false;
	assert_int_equal(sample_block(&s, &w).dropped, first.dropped);
	arena_release(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(first_runs_say_nothing),
	    cmocka_unit_test(long_runs_are_not_repeated),
	    cmocka_unit_test(patience_ends_with_a_disturbed_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
