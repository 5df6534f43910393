#include "exec/confirm_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "costmodel/core_lock.h"
#include "exec/apart.h"
#include "exec/contender.h"
#include "ir/base/clock.h"
#include "ir/base/order.h"

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

	return contender_run(
	    &r->contender[which], CONTENDER_TURN, took, disturbed, err);
}

/* TUNING: loops of each, in turn, for so long. */
#define LOOPS_NS UINT64_C(400000000)
#define LOOPS_MOST 5
#define LOOPS_LEAST 2
/* TUNING: who is not this near is not the plan, millionths. */
#define CLOSE (IN_TURN_ONE / 50)

/* Who may be the plan, by the turns. */
static bool
may_stand(const struct in_turn *t, uint32_t which)
{
	return which ? t->ratio + CLOSE >= IN_TURN_ONE
	             : t->ratio <= IN_TURN_ONE + CLOSE;
}

struct loops {
	cost_ns took[LOOPS_MOST];
	uint32_t n;
};

static bool
run_loop(struct contender *c, struct loops *l, struct err *err)
{
	bool disturbed;

	return contender_run(
	    c, CONTENDER_LOOP, &l->took[l->n++], &disturbed, err);
}

/* What a run takes: the lower quartile, for neighbours only make it longer. Turns are
 * longer, for the other plan had the caches, but where neighbours were busy during
 * all loops. */
static cost_ns
least_of(struct loops *l, cost_ns turns)
{
	cost_ns looped;

	qsort(l->took, l->n, sizeof *l->took, by_u64);
	looped = l->n ? l->took[(l->n - 1) / 4] : turns;
	return looped < turns ? looped : turns;
}

/* Nobody waits for what a run takes. */
static bool
is_over(const struct confirm_options *o)
{
	return (o->stop && atomic_load(o->stop))
	    || (o->deadline_ns && clock_ns() >= o->deadline_ns);
}

static bool
run_loops(struct runs *r, struct err *err)
{
	struct in_turn *t = &r->end->turns;
	struct loops of[2] = {{.n = 0}, {.n = 0}};
	const uint64_t start = clock_ns();

	for (uint32_t i = 0; i < LOOPS_MOST && !is_over(r->o)
	     && (i < LOOPS_LEAST || clock_ns() < start + LOOPS_NS);
	     i++)
		for (uint32_t k = 0; k < 2; k++)
			if (may_stand(t, k)
			    && !run_loop(&r->contender[k], &of[k], err))
				return false;
	t->a = least_of(&of[0], t->a);
	t->b = least_of(&of[1], t->b);
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
		ok = in_turn_run(&r->end->turns, &o, &runner, &err)
		    && run_loops(r, &err);
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
