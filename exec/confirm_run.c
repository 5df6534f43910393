#include "exec/confirm_run.h"

#include <stdio.h>
#include <time.h>

#include "costmodel/core_lock.h"
#include "costmodel/watch.h"
#include "exec/apart.h"
#include "exec/contender.h"
#include "exec/loops.h"
#include "ir/base/clock.h"
#include "ir/base/shared_memory.h"

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

/* TUNING: single targets have no borders to give way for: the faster one is taken when
 * it is so by more than a per cent. */
#define FASTER (IN_TURN_ONE + IN_TURN_ONE / 100)

/* TUNING: what so many hundredths of the price are said to be is the plan where runs say
 * neither that nor the contrary: while neighbours are busy they do not see three per
 * cent. Of less the half is the luck of the cheapest, so runs must say a per cent, too. */
#define SAID 96
#define SAID_BOTH 98.5
#define SEEN_BOTH (IN_TURN_ONE - IN_TURN_ONE / 100)

static bool
is_likely(const struct plan *plan, const struct plan *single, uint64_t ratio)
{
	const double said = (double)plan->cost * 100 / (double)single->cost;

	return (ratio < IN_TURN_ONE && said <= SAID)
	    || (ratio <= SEEN_BOTH && said <= SAID_BOTH);
}

enum confirmation_kind
confirm_verdict(const struct plan *const pair[2], const struct in_turn *t)
{
	if (in_turn_wins(t))
		return CONFIRM_CONFIRMED;
	if (!plan_is_picked(pair[0]))
		return t->ratio > FASTER ? CONFIRM_REFUSED : CONFIRM_LEVEL;
	return is_likely(pair[0], pair[1], t->ratio) ? CONFIRM_LIKELY
	                                             : CONFIRM_REFUSED;
}

/* TUNING: loops for so long; of what is not sure then some more, a while after each other:
 * a neighbour that takes half of the memory's bandwidth does so for seconds, and with two
 * threads AlexNet took 6.9 ms instead of 5.2. */
#define LOOPS_NS UINT64_C(200000000)
#define MORE_LOOPS_NS UINT64_C(2000000000)
#define PAUSE_NS 100000000
#define OPENED_SOON_NS UINT64_C(400000000) /* both plans */
#define LOOPS_ENOUGH 6 /* more only of what is not sure */
#define LOOPS_LEAST 3
/* TUNING: runs that take longer differ by less than what another loop of them costs, and
 * such that stream all of their weights anew by nothing from those in turn. */
#define SLOW_NS UINT64_C(50000000)
#define SLOWEST_NS UINT64_C(100000000)

/* What a run takes of the plan that the turns leave. */
struct looping {
	struct runs *r;
	uint32_t which;
	cost_ns turn; /* what it took in turns */
	struct loops loops; /* that were not disturbed */
	uint32_t tried;
	uint64_t start;
};

/* In the process that took turns. The first plan was the last to run. */
static bool
loop_here(
    const struct looping *l, cost_ns *took, bool *disturbed, struct err *err)
{
	const bool goes_on = l->tried || l->which == 0;

	return contender_run(&l->r->contender[l->which],
	    goes_on ? CONTENDER_GO_ON : CONTENDER_LOOP, took, disturbed, err);
}

/* In one of its own, as whoever runs the plan will have: its memory is elsewhere in the
 * machine's, and that alone makes runs differ by some per cent. */
static bool
loop_afresh(
    const struct looping *l, cost_ns *took, bool *disturbed, struct err *err)
{
	const struct runs *r = l->r;
	struct contender c;
	cost_ns first;
	bool ok;

	ok = contender_start(&c, r->plan[l->which], threads_of(r->o), err)
	    && contender_run(&c, CONTENDER_TURN, &first, disturbed, err)
	    && contender_run(&c, CONTENDER_LOOP, took, disturbed, err);
	contender_end(&c);
	return ok;
}

/* Nobody waits for what a run takes. */
static bool
is_over(const struct confirm_options *o)
{
	return (o->stop && atomic_load(o->stop))
	    || (o->deadline_ns && clock_ns() >= o->deadline_ns);
}

static bool
is_unsure(const struct looping *l)
{
	return loops_are_unsure(&l->loops, l->r->plan[l->which]->cost);
}

/* Is another loop of it wanted? */
static bool
is_wanted(const struct looping *l)
{
	const uint64_t spent = clock_ns() - l->start;
	const bool slow = l->turn >= SLOW_NS;
	const uint32_t n = l->loops.n;

	if (is_over(l->r->o) || n == LOOPS_MOST || spent >= MORE_LOOPS_NS
	    || l->turn >= SLOWEST_NS)
		return false;
	if (n < (slow ? 1 : LOOPS_LEAST))
		return true;
	if (spent < LOOPS_NS && !slow && n < LOOPS_ENOUGH)
		return true;
	return is_unsure(l);
}

/* The first where it took turns, the others, at several moments, in processes of their
 * own where one is soon opened. */
static bool
loop_once(struct looping *l, struct err *err)
{
	cost_ns took = 0;
	bool disturbed = false, ok;

	if (clock_ns() - l->start > LOOPS_NS && l->tried >= LOOPS_LEAST)
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
	ok = l->tried && l->r->opened_ns < OPENED_SOON_NS
	    ? loop_afresh(l, &took, &disturbed, err)
	    : loop_here(l, &took, &disturbed, err);
	l->tried++;
	if (ok && !disturbed)
		loops_add(&l->loops, took);
	return ok;
}

/* Turns are longer than loops, for the other plan had the caches. Where neighbours were
 * busy during all loops nobody knows: prices say it better. */
static bool
loop_what_stays(struct runs *r, struct err *err)
{
	struct in_turn *t = &r->end->turns;
	const bool second = confirm_verdict(r->plan, t) == CONFIRM_REFUSED;
	cost_ns *took = second ? &t->b : &t->a, looped;
	struct looping l = {
	    .r = r, .which = second, .turn = *took, .start = clock_ns()};

	if (r->o->known && !second)
		return true;
	while (is_wanted(&l))
		if (!loop_once(&l, err))
			return false;
	looped = loops_typical(&l.loops);
	if (l.tried && looped < *took)
		*took = looped;
	return true;
}

uint32_t
confirm_pairs(cost_ns cost, const struct confirm_options *o)
{
	const cost_ns turns =
	    BUDGET_NS / contender_turn_runs(cost, threads_of(o)) / (cost + 1);

	return turns / 2 < IN_TURN_LEAST ? IN_TURN_LEAST
	    : turns / 2 > IN_TURN_MOST   ? IN_TURN_MOST
	                                 : (uint32_t)(turns / 2);
}

/* A turn counts as one run. */
static cost_ns
budget_of(const struct runs *r)
{
	const uint64_t now = clock_ns(), deadline = r->o->deadline_ns;
	cost_ns left = BUDGET_NS;

	if (deadline && deadline < now + BUDGET_NS)
		left = deadline > now ? deadline - now : 0;
	return left / contender_turn_runs(r->plan[0]->cost, threads_of(r->o));
}

static void
run_both(void *context, struct arena *a)
{
	struct runs *r = context;
	const struct in_turn_runner runner = {run_turn, r};
	const struct in_turn_options o = {budget_of(r), r->o->stop};
	const uint32_t threads = threads_of(r->o);
	const uint64_t start = clock_ns();
	struct err err = {.kind = ERR_NONE};
	struct cores_taken held;
	bool ok;

	cores_pin(threads);
	cores_share_best();
	ok = contenders_start(r->contender, r->plan, threads, a, &err);
	r->opened_ns = clock_ns() - start;
	if (ok) {
		cores_take(&held, threads);
		ok = in_turn_run(&r->end->turns, &o, &runner, &err)
		    && loop_what_stays(r, &err);
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
	return x->turns.stopped ? "stopped early" : NULL;
}

bool
confirm_run(struct in_turn *out, const char **why,
    const struct plan *const pair[2], const struct confirm_options *o,
    struct arena *a, struct err *err)
{
	struct runs r = {.plan = {pair[0], pair[1]}, .o = o};
	bool ok;

	r.end = shared_memory_new(sizeof *r.end);
	if (!r.end)
		return err_set(
		    err, ERR_MEASURE, "no memory to confirm the plan with");
	ok = apart_run(run_both, &r, SECONDS, err);
	*out = r.end->turns;
	*why = why_not(r.end);
	*why = *why ? arena_str(a, *why) : NULL;
	shared_memory_end(r.end, sizeof *r.end);
	return ok;
}
