#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getcpu */
#endif
#include "costmodel/watch.h"

#include <sched.h>

#include "costmodel/machine.h"
#include "ir/base/clock.h"
#include "ir/base/shared_memory.h"
#include "targets/team.h"
#include "targets/threads.h"

/* TUNING: some 8 us of additions that depend on each other; beside a neighbour on the
 * same core they take 1.25 to 1.7 times as long, and what a core computes
 * 1.15 to 1.6 times. */
#define SPINS 20000
#define SLACK 8 /* per cent */

static _Atomic uint64_t own_best[CORES_MAX], *best = own_best;

void
cores_share_best(void)
{
	_Atomic uint64_t *shared =
	    best == own_best ? shared_memory_new(sizeof own_best) : NULL;

	if (!shared)
		return;
	best = shared;
	for (uint32_t i = 0; i < CORES_MAX; i++)
		atomic_init(&best[i], own_best[i]);
}

_Atomic uint64_t *
core_best_ns(void)
{
	const int core = sched_getcpu();

	return &best[core < 0 ? 0 : (uint32_t)core % CORES_MAX];
}

bool
core_is_slow(void)
{
	volatile uint64_t end = SPINS; /* or it would be computed before */
	_Atomic uint64_t *kept = core_best_ns();
	const uint64_t start = clock_ns();
	uint64_t took, least;

	for (volatile uint64_t i = 0; i < end; i++)
		;
	took = clock_ns() - start;
	least = atomic_load_explicit(kept, memory_order_relaxed);
	if (least == 0 || took < least) {
		atomic_store_explicit(kept, took, memory_order_relaxed);
		least = took;
	}
	return took * 100 > least * (100 + SLACK);
}

static void
look(void *any_slow, uint32_t i)
{
	atomic_bool *slow = any_slow;

	(void)i;
	if (core_is_slow())
		atomic_store(slow, true);
}

static bool
cores_are_slow(void)
{
	atomic_bool slow = false;

	team_each(target_threads(), look, &slow);
	return slow;
}

void
watch_begin(struct watch *w)
{
	w->slow = cores_are_slow();
	w->preemptions = machine_preemptions();
}

bool
watch_end(struct watch *w)
{
	const bool interrupted = machine_preemptions() != w->preemptions;

	return cores_are_slow() || w->slow || interrupted;
}
