#include "exec/confirm_run.h"

#include <stdio.h>
#include <time.h>

#include "costmodel/core_lock.h"
#include "exec/apart.h"
#include "exec/contender.h"
#include "exec/loops.h"
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
	uint64_t opened_ns; /* what it took to open both */
};

static uint32_t
threads_of(const struct confirm_options *o)
{
	return o->threads ? o->threads : 1;
}

static bool
run_turn(void *context, uint32_t which, cost_ns *took, bool *disturbed,
    struct err *err)
{
	struct runs *r = context;

	return contender_run(
	    &r->contender[which], CONTENDER_TURN, took, disturbed, err);
}

/* TUNING: loops of each, in turn, for so long; of what is not sure then some more, a while
 * after each other: a neighbour that takes half of the memory's bandwidth does so for
 * seconds, and with two threads AlexNet took 6.9 ms instead of 5.2. */
#define LOOPS_NS UINT64_C(400000000)
#define MORE_LOOPS_NS UINT64_C(2000000000)
#define PAUSE_NS 100000000
#define LOOPS_ENOUGH 6 /* more only of what is not sure */
#define LOOPS_LEAST 3
/* TUNING: what is not this near is not the plan, millionths. */
#define CLOSE (IN_TURN_ONE / 50)

/* Who may be the plan, by the turns. */
static bool
may_stand(const struct in_turn *t, uint32_t which)
{
	return which ? t->ratio + CLOSE >= IN_TURN_ONE
	             : t->ratio <= IN_TURN_ONE + CLOSE;
}

/* In the process that took turns. */
static bool
loop_here(struct contender *c, struct loops *l, struct err *err)
{
	bool disturbed;
	cost_ns took;

	if (!contender_run(c, CONTENDER_LOOP, &took, &disturbed, err))
		return false;
	loops_add(l, took);
	return true;
}

/* In one of its own, as whoever runs the plan will have: its memory is elsewhere in the
 * machine's, and that alone makes runs differ by some per cent. */
static bool
loop_afresh(
    const struct runs *r, uint32_t which, struct loops *l, struct err *err)
{
	struct contender c;
	bool disturbed, ok;
	cost_ns first;

	ok = contender_start(&c, r->plan[which], threads_of(r->o), err)
	    && contender_run(&c, CONTENDER_TURN, &first, &disturbed, err)
	    && loop_here(&c, l, err);
	contender_end(&c);
	return ok;
}

/* Turns are longer, for the other plan had the caches, but where neighbours were busy
 * during all loops. */
static cost_ns
least_of(const struct loops *l, cost_ns turns)
{
	const cost_ns looped = loops_typical(l);

	return looped && looped < turns ? looped : turns;
}

/* Nobody waits for what a run takes. */
static bool
is_over(const struct confirm_options *o)
{
	return (o->stop && atomic_load(o->stop))
	    || (o->deadline_ns && clock_ns() >= o->deadline_ns);
}

/* Is another loop of it wanted? */
static bool
is_wanted(
    const struct runs *r, uint32_t which, const struct loops *l, uint64_t start)
{
	const uint64_t spent = clock_ns() - start;
	const cost_ns prices = r->plan[which]->cost;

	if (!may_stand(&r->end->turns, which) || is_over(r->o)
	    || l->n == LOOPS_MOST)
		return false;
	if (l->n < LOOPS_LEAST)
		return true;
	if (spent < LOOPS_NS)
		return l->n < LOOPS_ENOUGH || loops_are_unsure(l, prices);
	return spent < MORE_LOOPS_NS && loops_are_unsure(l, prices);
}

/* A loop of one of them, the first where it took turns. */
static bool
loop_of(struct runs *r, uint32_t which, struct loops *l, uint64_t start,
    struct err *err)
{
	if (clock_ns() - start > LOOPS_NS && l->n >= LOOPS_LEAST)
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
	return l->n && r->opened_ns < LOOPS_NS
	    ? loop_afresh(r, which, l, err)
	    : loop_here(&r->contender[which], l, err);
}

/* At several moments, and in processes of their own where one is soon opened. */
static bool
run_loops(struct runs *r, struct err *err)
{
	struct in_turn *t = &r->end->turns;
	struct loops of[2] = {{.n = 0}, {.n = 0}};
	const uint64_t start = clock_ns();
	bool more = true;

	while (more) {
		more = false;
		for (uint32_t k = 0; k < 2; k++) {
			if (!is_wanted(r, k, &of[k], start))
				continue;
			if (!loop_of(r, k, &of[k], start, err))
				return false;
			more = true;
		}
	}
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
	const uint32_t threads = threads_of(r->o);
	const uint64_t start = clock_ns();
	struct err err = {.kind = ERR_NONE};
	struct cores_taken held;
	bool ok;

	cores_pin(threads);
	ok = contenders_start(r->contender, r->plan, threads, a, &err);
	r->opened_ns = clock_ns() - start;
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
