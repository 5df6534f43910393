#include "exec/confirm_run.h"

#include <stdio.h>

#include "costmodel/core_lock.h"
#include "exec/apart.h"
#include "exec/contender.h"
#include "ir/base/clock.h"

/* TUNING: forty pairs of plans of 12 milliseconds; slower ones get fewer, and differ
 * less from run to run. */
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
	struct contender contender[2];
};

static bool
run_turn(void *context, uint32_t which, cost_ns *took, bool *disturbed,
    struct err *err)
{
	struct runs *r = context;

	return contender_turn(&r->contender[which], took, disturbed, err);
}

static cost_ns
budget_of(const struct confirm_options *o)
{
	const uint64_t now = clock_ns();

	if (o->deadline_ns == 0 || o->deadline_ns > now + BUDGET_NS)
		return BUDGET_NS;
	return o->deadline_ns > now ? o->deadline_ns - now : 0;
}

static void
run_both(void *context, struct arena *a)
{
	struct runs *r = context;
	const struct in_turn_runner runner = {run_turn, r};
	const struct in_turn_options o = {budget_of(r->o), r->o->stop};
	const uint32_t threads = r->o->threads ? r->o->threads : 1;
	struct err err = {.kind = ERR_NONE};
	struct cores_taken held;
	bool ok;

	cores_pin(threads);
	ok = contenders_start(r->contender, r->plan, threads, a, &err);
	if (ok) {
		cores_take(&held, threads);
		ok = in_turn_run(&r->end->turns, &o, &runner, &err);
		cores_release(&held);
	}
	contender_end(&r->contender[0]);
	contender_end(&r->contender[1]);
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
