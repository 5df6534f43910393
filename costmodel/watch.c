#include "costmodel/watch.h"

#include "costmodel/machine.h"
#include "ir/base/clock.h"
#include "targets/team.h"
#include "targets/threads.h"

/* TUNING: some 8 us of additions that depend on each other; beside a neighbour on the
 * same core they take 1.25 to 1.7 times as long, and what a core computes
 * 1.15 to 1.6 times. */
#define SPINS 20000
#define SLACK 8 /* per cent */

static void
spin(void *took_by, uint32_t i)
{
	volatile uint64_t end = SPINS; /* or it would be computed before */
	uint64_t *took = took_by;
	const uint64_t start = clock_ns();

	for (volatile uint64_t k = 0; k < end; k++)
		;
	took[i] = clock_ns() - start;
}

bool
core_is_slow(uint64_t *best_ns)
{
	uint64_t took;

	spin(&took, 0);
	if (*best_ns == 0 || took < *best_ns)
		*best_ns = took;
	return took * 100 > *best_ns * (100 + SLACK);
}

/* Of the team's cores the slowest. */
static bool
cores_are_slow(uint64_t *best_ns)
{
	const uint32_t all = target_threads();
	const uint32_t n = all < CORES_MAX ? all : CORES_MAX;
	uint64_t took[CORES_MAX], most = 0;

	team_each(n, spin, took);
	for (uint32_t i = 0; i < n; i++) {
		if (*best_ns == 0 || took[i] < *best_ns)
			*best_ns = took[i];
		most = took[i] > most ? took[i] : most;
	}
	return most * 100 > *best_ns * (100 + SLACK);
}

void
watch_begin(struct watch *w)
{
	w->slow = cores_are_slow(&w->best_ns);
	w->preemptions = machine_preemptions();
}

bool
watch_end(struct watch *w)
{
	const bool interrupted = machine_preemptions() != w->preemptions;

	return cores_are_slow(&w->best_ns) || w->slow || interrupted;
}
