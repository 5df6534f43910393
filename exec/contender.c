#define _GNU_SOURCE /* SOCK_CLOEXEC */
#include "exec/contender.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "costmodel/machine.h"
#include "costmodel/watch.h"
#include "exec/executor.h"
#include "exec/samples.h"
#include "ir/base/clock.h"
#include "ir/base/huge_pages.h"
#include "ir/base/order.h"
#include "ir/base/reap.h"

/* What it says when it is ready, and behind each turn. */
struct turn_answer {
	cost_ns took;
	bool ok, disturbed;
	struct err err;
};

/* ---- in its process ---- */

struct running {
	struct executor *x;
	struct tensor *in, *out;
	uint32_t threads;
	bool went_on; /* here, after it was opened in another process */
	cost_ns took; /* in the last turn; 0: none yet */
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

static bool
run_once(struct running *r, cost_ns *took, struct err *err)
{
	const cost_ns start = clock_ns();

	if (!executor_run(r->x, r->in, r->out, err))
		return false;
	*took = clock_ns() - start;
	return true;
}

/* TUNING: as long as this, but so many runs (of several threads, which find their
 * processors first, the most); of plans that take long, one run that finds caches as
 * the other plan left them says enough. */
#define TURN_NS UINT64_C(2000000)
#define TURN_RUNS 9
#define TURN_RUNS_LEAST 3
#define WARM_NS UINT64_C(10000000)

static uint32_t
runs_of_turn(cost_ns took, uint32_t threads)
{
	const cost_ns n = TURN_NS / (took ? took : 1);

	if (took >= WARM_NS)
		return 1;
	return n > TURN_RUNS || threads > 1 ? TURN_RUNS
	    : n > TURN_RUNS_LEAST           ? (uint32_t)n
	                                    : TURN_RUNS_LEAST;
}

static cost_ns
median(cost_ns *took, uint32_t n)
{
	qsort(took, n, sizeof *took, by_u64);
	return took[(n - 1) / 2] / 2 + took[n / 2] / 2;
}

/* The first run counts nowhere. What it writes to that was another process's, too, is in
 * small pages then. */
static bool
warm_up(struct running *r, struct err *err)
{
	if (!run_once(r, &r->took, err))
		return false;
	if (r->went_on)
		huge_pages_take();
	return true;
}

/* TUNING: as many runs as a program makes that has nothing else to do: caches learn in
 * several what to keep. */
#define LOOP_NS UINT64_C(60000000)
#define LOOP_RUNS 15
#define LOOP_RUNS_LEAST 2

static uint32_t
runs_of_loop(cost_ns took)
{
	const cost_ns n = LOOP_NS / (took + 1);

	return n > LOOP_RUNS      ? LOOP_RUNS
	    : n > LOOP_RUNS_LEAST ? (uint32_t)n
	                          : LOOP_RUNS_LEAST;
}

/* The median of n runs; disturbed ones count where there are no others. */
static bool
run_some(struct running *r, uint32_t n, bool *disturbed, struct err *err)
{
	cost_ns all[LOOP_RUNS], good[LOOP_RUNS];
	struct watch watch;
	uint32_t kept = 0;

	assert(n > 0 && n <= LOOP_RUNS);
	for (uint32_t i = 0; i < n; i++) {
		watch_begin(&watch);
		if (!run_once(r, &all[i], err))
			return false;
		if (!watch_end(&watch))
			good[kept++] = all[i];
		machine_rest();
	}
	*disturbed = kept == 0;
	r->took = kept ? median(good, kept) : median(all, n);
	return true;
}

uint32_t
contender_turn_runs(cost_ns took, uint32_t threads)
{
	return runs_of_turn(took, threads) + (took < WARM_NS);
}

static bool
run_turn(struct running *r, bool *disturbed, struct err *err)
{
	cost_ns warm;

	if (r->took == 0)
		return warm_up(r, err);
	if (r->took < WARM_NS && !run_once(r, &warm, err))
		return false;
	return run_some(r, runs_of_turn(r->took, r->threads), disturbed, err);
}

static bool
run_loop(struct running *r, bool goes_on, bool *disturbed, struct err *err)
{
	cost_ns warm = r->took;

	if (!goes_on && !run_once(r, &warm, err))
		return false;
	return run_some(
	    r, runs_of_loop(r->took ? r->took : warm), disturbed, err);
}

static bool
open_plan(struct running *r, const struct plan *p, const struct executor *with,
    struct arena *a, struct err *err)
{
	const struct samples made_up = {.n = 1};
	const struct executor_options o = {
	    .threads = r->threads, .keep_inputs = true, .with = with};

	r->in = arena_new(a, struct tensor, p->graph->ninputs);
	r->out = arena_new(a, struct tensor, p->graph->noutputs);
	return samples_take(r->in, &made_up, 0, p->graph, a, err)
	    && executor_open(&r->x, p, &o, a, err)
	    && executor_hold(r->x, r->in, err);
}

static bool
tell(int socket, const struct turn_answer *a)
{
	return send(socket, a, sizeof *a, MSG_NOSIGNAL) == sizeof *a;
}

/* Until nobody asks any more, or a run fails. */
static void
serve(struct running *r, struct turn_answer a, int socket)
{
	uint8_t ask;

	while (tell(socket, &a) && a.ok && recv(socket, &ask, 1, 0) == 1) {
		machine_urgent(true);
		a.disturbed = false;
		a.ok = ask == CONTENDER_TURN
		    ? run_turn(r, &a.disturbed, &a.err)
		    : run_loop(r, ask == CONTENDER_GO_ON, &a.disturbed, &a.err);
		machine_urgent(false);
		a.took = r->took;
		if (r->threads > 1)
			let_rest();
	}
}

/* What a process is to serve. */
struct serving {
	const struct plan *plan;
	struct running *ready; /* NULL: it is opened there */
	uint32_t threads;
};

static void
live(const struct serving *s, int socket, long parent)
{
	struct running own = {.threads = s->threads};
	struct turn_answer first = {.ok = true, .err.kind = ERR_NONE};
	struct arena a;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if ((long)getppid() != parent)
		_exit(0); /* it was faster */
	arena_init(&a);
	if (!s->ready)
		first.ok = open_plan(&own, s->plan, NULL, &a, &first.err);
	serve(s->ready ? s->ready : &own, first, socket);
	_exit(0);
}

/* ---- in its parent's ---- */

static bool
take_answer(const struct contender *r, struct turn_answer *a, struct err *err)
{
	if (recv(r->socket, a, sizeof *a, 0) != sizeof *a)
		return err_set(
		    err, ERR_MEASURE, "running it ended its process");
	if (!a->ok)
		*err = a->err;
	return a->ok;
}

static bool
start(struct contender *r, const struct serving *s, struct err *err)
{
	const long parent = getpid();
	struct turn_answer ready;
	int pair[2];

	r->socket = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return err_set(err, ERR_MEASURE, "no socket to a process");
	r->process = fork();
	if (r->process == 0) {
		close(pair[0]);
		live(s, pair[1], parent);
	}
	close(pair[1]);
	r->socket = pair[0];
	if (r->process > 0)
		return take_answer(r, &ready, err);
	contender_end(r);
	return err_set(err, ERR_MEASURE, "no process to run a plan in");
}

bool
contender_start(struct contender *r, const struct plan *p, uint32_t threads,
    struct err *err)
{
	return start(r, &(struct serving){p, NULL, threads}, err);
}

/* Do all run in kernels that another process may go on with? Others' runtimes have
 * threads, which it does not have. */
static bool
may_go_on(const struct plan *p)
{
	bool may = true;

	for (uint32_t i = 0; may && i < p->nregions; i++) {
		const struct target_kind *k =
		    p->mix->target[p->region[i].target].kind;

		may = !k->rest && !k->tool && !k->translates;
	}
	return may;
}

/* Both are opened here, and go on in processes of their own. */
static bool
start_opened(struct contender r[2], const struct plan *const plan[2],
    struct arena *a, struct err *err)
{
	struct running ready[2] = {
	    {.threads = 1, .went_on = true}, {.threads = 1, .went_on = true}};

	for (uint32_t i = 0; i < 2; i++)
		if (!open_plan(
		        &ready[i], plan[i], i ? ready[0].x : NULL, a, err)
		    || !start(
		        &r[i], &(struct serving){plan[i], &ready[i], 1}, err))
			return false;
	return true;
}

bool
contenders_start(struct contender r[2], const struct plan *const plan[2],
    uint32_t threads, struct arena *a, struct err *err)
{
	r[0].socket = r[1].socket = -1;
	if (threads == 1 && plan[0]->candidates == plan[1]->candidates
	    && may_go_on(plan[0]) && may_go_on(plan[1]))
		return start_opened(r, plan, a, err);
	return contender_start(&r[0], plan[0], threads, err)
	    && contender_start(&r[1], plan[1], threads, err);
}

bool
contender_run(struct contender *r, enum contender_runs runs, cost_ns *took,
    bool *disturbed, struct err *err)
{
	const uint8_t ask = (uint8_t)runs;
	struct turn_answer a;

	if (send(r->socket, &ask, 1, MSG_NOSIGNAL) != 1)
		return err_set(
		    err, ERR_MEASURE, "running it ended its process");
	if (!take_answer(r, &a, err))
		return false;
	*took = a.took;
	*disturbed = a.disturbed;
	return true;
}

void
contender_end(struct contender *r)
{
	if (r->socket < 0)
		return;
	/* others' processes may have it, too */
	shutdown(r->socket, SHUT_RDWR);
	close(r->socket);
	r->socket = -1;
	if (r->process > 0)
		reap(r->process);
}
