#include "exec/confirm_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "costmodel/core_lock.h"
#include "costmodel/machine.h"
#include "exec/apart.h"
#include "exec/executor.h"
#include "exec/samples.h"
#include "ir/base/clock.h"
#include "ir/base/order.h"

/* TUNING: forty pairs of plans of ten milliseconds; slower ones get fewer. */
#define BUDGET_NS UINT64_C(1000000000)
/* TUNING: a process that has not finished by then hangs. */
#define SECONDS 300

/* What the process leaves behind. */
struct runs_end {
	bool done;
	struct in_turn turns;
	char why[sizeof((struct err *)0)->text];
};

struct runs {
	const struct plan *plan[2];
	const struct confirm_options *o;
	struct runs_end *end;
	struct executor *x[2];
	cost_ns took[2]; /* in the last turn; 0: none yet */
	struct tensor *in, *out;
};

/* TUNING: threads that spin behind a run of theirs, as those of a runtime that has
 * the whole model may, do so for some milliseconds; they would take the other
 * plan's processors. */
#define REST_NS UINT64_C(1000000)
#define RESTS 50

/* Until the other threads of the process use less than a tenth of a processor. */
static void
let_rest(void)
{
	for (uint32_t i = 0; i < RESTS; i++) {
		const cost_ns before = clock_cpu_ns();

		nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
		if (clock_cpu_ns() - before < REST_NS / 10)
			return;
	}
}

/* TUNING: a turn is that of a loop of inferences, whose caches are warm and whose
 * threads are awake: short plans run once to have them so, then as often as goes
 * into this. */
#define TURN_NS UINT64_C(2000000)
#define TURN_RUNS 9

static bool
run_once(struct runs *r, uint32_t which, cost_ns *took, struct err *err)
{
	const cost_ns start = clock_ns();

	if (!executor_run(r->x[which], r->in, r->out, err))
		return false;
	*took = clock_ns() - start;
	return true;
}

static uint32_t
runs_of_turn(cost_ns took)
{
	const cost_ns n = took ? TURN_NS / took : 1;

	return n > TURN_RUNS ? TURN_RUNS : n > 1 ? (uint32_t)n : 1;
}

/* The median of its runs. */
static bool
run_turn(void *context, uint32_t which, cost_ns *took, bool *disturbed,
    struct err *err)
{
	struct runs *r = context;
	const uint32_t n = runs_of_turn(r->took[which]);
	cost_ns all[TURN_RUNS];
	long before;

	if (r->o->threads > 1)
		let_rest();
	if (n > 1 && !run_once(r, which, took, err))
		return false;
	before = machine_preemptions();
	for (uint32_t i = 0; i < n; i++)
		if (!run_once(r, which, &all[i], err))
			return false;
	*disturbed = machine_preemptions() != before;
	qsort(all, n, sizeof *all, by_u64);
	r->took[which] = *took = all[n / 2];
	return true;
}

static cost_ns
budget_of(const struct confirm_options *o)
{
	const uint64_t now = clock_ns();

	if (o->deadline_ns == 0 || o->deadline_ns > now + BUDGET_NS)
		return BUDGET_NS;
	return o->deadline_ns > now ? o->deadline_ns - now : 0;
}

static bool
open_both(struct runs *r, struct arena *a, struct err *err)
{
	const struct samples made_up = {.n = 1};
	const struct executor_options o = {.threads = r->o->threads};
	const struct graph *g = r->plan[0]->graph;

	r->in = arena_new(a, struct tensor, g->ninputs);
	r->out = arena_new(a, struct tensor, g->noutputs);
	return samples_take(r->in, &made_up, 0, g, a, err)
	    && executor_open(&r->x[0], r->plan[0], &o, a, err)
	    && executor_open(&r->x[1], r->plan[1], &o, a, err);
}

static void
run_both(void *context, struct arena *a)
{
	struct runs *r = context;
	const struct in_turn_runner runner = {run_turn, r};
	const struct in_turn_options o = {budget_of(r->o), r->o->stop};
	struct err err = {.kind = ERR_NONE};
	const uint32_t threads = r->o->threads ? r->o->threads : 1;
	struct cores_taken held;
	bool ok;

	cores_pin(threads);
	ok = open_both(r, a, &err);
	if (ok) {
		cores_take(&held, threads);
		machine_urgent(true);
		ok = in_turn_run(&r->end->turns, &o, &runner, &err);
		machine_urgent(false);
		cores_release(&held);
	}
	if (!ok)
		snprintf(r->end->why, sizeof r->end->why, "%s", err.text);
	r->end->done = true;
}

static const char *
why_not(const struct runs_end *x)
{
	if (!x->done)
		return "running it ended its process";
	if (x->why[0])
		return x->why;
	return x->turns.pairs < IN_TURN_LEAST ? "stopped early" : NULL;
}

bool
confirm_run(struct in_turn *out, const char **why,
    const struct plan *const pair[2], const struct confirm_options *o,
    struct arena *a, struct err *err)
{
	struct runs r = {.plan = {pair[0], pair[1]}, .o = o};
	bool ok;

	r.end = apart_memory(sizeof *r.end);
	if (!r.end)
		return err_set(
		    err, ERR_MEASURE, "no memory to confirm the plan with");
	ok = apart_run(run_both, &r, SECONDS, err);
	*out = r.end->turns;
	*why = why_not(r.end);
	*why = *why ? arena_str(a, *why) : NULL;
	apart_memory_end(r.end, sizeof *r.end);
	return ok;
}
