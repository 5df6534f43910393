#include "costmodel/watch.h"

#include "costmodel/machine.h"
#include "ir/base/clock.h"

/* TUNING: some 8 us of additions that depend on each other; beside a neighbour on the
 * same core they take 1.25 to 1.7 times as long, and what a core computes
 * 1.15 to 1.6 times. */
#define SPINS 20000
#define SLACK 8 /* per cent */

bool
core_is_slow(uint64_t *best_ns)
{
	volatile uint64_t end = SPINS; /* or it would be computed before */
	const uint64_t start = clock_ns();
	uint64_t took;

	for (volatile uint64_t i = 0; i < end; i++)
		;
	took = clock_ns() - start;
	if (*best_ns == 0 || took < *best_ns)
		*best_ns = took;
	return took * 100 > *best_ns * (100 + SLACK);
}

void
watch_begin(struct watch *w)
{
	w->slow = core_is_slow(&w->best_ns);
	w->preemptions = machine_preemptions();
}

bool
watch_end(struct watch *w)
{
	const bool interrupted = machine_preemptions() != w->preemptions;

	return core_is_slow(&w->best_ns) || w->slow || interrupted;
}
