/* The caches before a shot. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "costmodel/caches.h"
#include "costmodel/sample.h"
#include "costmodel/shot.h"

#define BYTES ((size_t)1 << 20)

struct kernel_like {
	struct own_pages own;
	struct rewritten fresh, stale;
	unsigned char *weights, in[1000], out[1000];
	struct arena arena;
	struct sweep sweep;
	struct shot shot;
};

static void
nothing(void *context)
{
	(void)context;
}

/* Its weights are known as soon as it has run, or (`own` false) not at all. */
static void
set_up(struct kernel_like *k, bool own)
{
	memset(k, 0, sizeof *k);
	arena_init(&k->arena);
	k->sweep = sweep_new(0, 0, &k->arena);
	own_pages_init(&k->own);
	k->weights = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(k->weights, MAP_FAILED);
	memset(k->weights, 7, BYTES);
	own_pages_add(&k->own, k->weights, BYTES);
	k->own.found = own;
	memset(k->in, 8, sizeof k->in);
	memset(k->out, 9, sizeof k->out);
	k->fresh = (struct rewritten){k->in, sizeof k->in};
	k->stale = (struct rewritten){k->out, sizeof k->out};
	k->shot = (struct shot){.run = nothing,
	    .fresh = &k->fresh,
	    .nfresh = 1,
	    .stale = &k->stale,
	    .nstale = 1,
	    .own = &k->own};
}

static void
tear_down(struct kernel_like *k)
{
	munmap(k->weights, BYTES);
	own_pages_release(&k->own);
	arena_release(&k->arena);
}

static void
all_is_as_it_was(const struct kernel_like *k)
{
	for (size_t i = 0; i < BYTES; i++)
		assert_int_equal(k->weights[i], 7);
	for (size_t i = 0; i < sizeof k->in; i++) {
		assert_int_equal(k->in[i], 8);
		assert_int_equal(k->out[i], 9);
	}
}

static void
is_swept(struct kernel_like *k)
{
	caches_set(&k->shot, &k->sweep);
	assert_true(k->sweep.best_ns > 0);
	assert_int_equal(k->sweep.best_near_ns, 0);
	assert_true(caches_byte_ns(&k->sweep) > 0);
	all_is_as_it_was(k);
}

/* Lines are flushed where the processor can and they are known; else all is swept. */
static void
what_cannot_be_flushed_is_swept(void **state)
{
	struct kernel_like k;

	(void)state;
	set_up(&k, true);
	k.sweep.flush.how = LINE_FLUSH_NONE; /* the processor cannot */
	is_swept(&k);
	assert_true(k.sweep.plain.byte_ns == 0);
	tear_down(&k);
	set_up(&k, false); /* nobody knows where they are */
	is_swept(&k);
	tear_down(&k);
	set_up(&k, true);
	k.shot.own = NULL;
	is_swept(&k);
	tear_down(&k);
}

/* Whatever part of them comes from memory, nothing else happens to them. */
static void
what_is_known_is_flushed(void **state)
{
	static const double part[] = {0, .001, .3, .999, 1};
	struct kernel_like k;

	(void)state;
	set_up(&k, true);
	if (k.sweep.flush.how == LINE_FLUSH_NONE)
		skip();
	k.sweep.plain.byte_ns = 1;
	for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
		k.sweep.plain.flushed = part[i];
		caches_set(&k.shot, &k.sweep);
		all_is_as_it_was(&k);
	}
	assert_true(k.sweep.best_near_ns > 0);
	assert_int_equal(k.sweep.best_ns, 0);
	k.sweep.best_near_ns =
	    1; /* behind a kernel that leaves all in the cache */
	assert_true(caches_set(&k.shot, &k.sweep));
	caches_begin(&k.sweep);
	assert_false(caches_set(&k.shot, &k.sweep)); /* the best is its own */
	assert_true(k.sweep.best_near_ns > 1);
	assert_true(caches_byte_ns(&k.sweep) == 1);
	munmap(k.weights + BYTES / 2, BYTES / 2); /* a library let it go */
	caches_set(&k.shot, &k.sweep);
	munmap(k.weights, BYTES / 2);
	caches_set(&k.shot, &k.sweep);
	tear_down(&k);
}

/* How much a model finds again is tried out once for weights as they are, and once
 * for transformed ones. */
static void
what_lasts_is_tried_out_once(void **state)
{
	struct kernel_like k;
	struct lasting first;

	(void)state;
	set_up(&k, true);
	if (k.sweep.flush.how == LINE_FLUSH_NONE)
		skip();
	caches_set(&k.shot, &k.sweep);
	first = k.sweep.plain;
	assert_true(first.byte_ns > 0);
	assert_true(first.flushed >= 0 && first.flushed <= 1);
	assert_true(k.sweep.transformed.byte_ns == 0);
	assert_true(k.sweep.nwords == k.sweep.plain.nwords);
	caches_set(&k.shot, &k.sweep);
	assert_memory_equal(&first, &k.sweep.plain, sizeof first);
	k.shot.transforms = true;
	caches_set(&k.shot, &k.sweep);
	assert_memory_equal(&first, &k.sweep.plain, sizeof first);
	assert_true(k.sweep.transformed.byte_ns > 0);
	assert_true(k.sweep.nwords == k.sweep.transformed.nwords);
	tear_down(&k);
}

/* What is tried out takes as long as a run, but for very short and very long ones. */
static void
a_round_is_as_long_as_a_run(void **state)
{
	struct arena a;
	double none, some, long_one;

	(void)state;
	arena_init(&a);
	none = sweep_new(0, 0, &a).run_ns;
	some = sweep_new(0, 2 * none, &a).run_ns;
	long_one = sweep_new(0, 1e12, &a).run_ns;
	assert_true(none > 0);
	assert_true(some == 2 * none);
	assert_true(long_one > some && long_one < 1e12);
	assert_true(sweep_new(BYTES, 0, &a).run_ns > none);
	arena_release(&a);
}

/* What little there is, and what lay there before, nobody waits for; looking for the
 * rest changes nothing. */
static void
what_is_missed_is_looked_for(void **state)
{
	struct kernel_like k;

	(void)state;
	set_up(&k, true);
	assert_int_equal(caches_missed_ns(&k.shot), 0);
	k.stale = (struct rewritten){k.weights, BYTES};
	caches_set(&k.shot, &k.sweep);
	line_flush(&k.sweep.flush, k.weights, BYTES);
	caches_missed_ns(&k.shot);
	k.shot.in_place = true;
	assert_int_equal(caches_missed_ns(&k.shot), 0);
	all_is_as_it_was(&k);
	tear_down(&k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_cannot_be_flushed_is_swept),
	    cmocka_unit_test(what_is_known_is_flushed),
	    cmocka_unit_test(what_lasts_is_tried_out_once),
	    cmocka_unit_test(a_round_is_as_long_as_a_run),
	    cmocka_unit_test(what_is_missed_is_looked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
