#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include "costmodel/measure.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "costmodel/core_type.h"
#include "costmodel/links.h"
#include "costmodel/machine.h"
#include "costmodel/revisit.h"
#include "costmodel/wire.h"
#include "costmodel/worker.h"
#include "costmodel/watch.h"
#include "ir/base/clock.h"
#include "ir/base/folder.h"
#include "ir/base/order.h"
#include "ir/base/plural.h"
#include "ir/base/shared_memory.h"
#include "ir/base/verify.h"

/* TUNING: blocks per job. Each compiles anew; the price is the lower quartile of their
 * medians. */
#define BLOCKS 3
/* TUNING: two that are no further apart, per cent or ns, need no third, and one that is no
 * further from what a probe showed, on a setup of its own, no second. */
#define BLOCKS_AGREE 3
#define BLOCKS_AGREE_NS 500
/* ... of two candidates in turn: an even number, because what is set up second may
 * come out faster, and each is second as often as the other. */
#define BLOCKS_PAIR 4
/* ... two that say the same one is the faster, one set up second in each, need no
 * more, where both say by so much, per cent. */
#define PAIR_CLEAR 2
/* TUNING: jobs measured in rounds together, which spreads their blocks over a
 * second or so and still finishes jobs one group after the other. */
#define GROUP 24
#define WORKERS_MAX 64

/* One measuring process and the job it has. */
struct helper {
	pid_t pid; /* 0: none */
	int socket, words;
	struct worker_place place;
	uint32_t job; /* UINT32_MAX: idle */
	uint64_t limit, deadline;
	uint64_t waits_since; /* for a core that others have; 0: it does not */
	uint64_t cpu_begin, cpu_seen; /* of the process, at the job's start; at
				       * the last deadline */
};

/* What is known of a job so far. */
struct job_progress {
	struct worker_reply block[BLOCKS_PAIR];
	uint32_t nblocks, strikes;
	bool finished;
	struct sample result;
};

#define WAITS_BYTES (WORKERS_MAX * sizeof(atomic_uint))

struct measurer {
	struct measure_options options;
	struct arena *arena;
	uint32_t core[CORES_MAX];
	uint32_t nhelpers;
	struct helper helper[WORKERS_MAX];
	const char *folder; /* of what tools leave when a worker is killed */
	atomic_uint *waits; /* [nhelpers] shared with them */
	bool told_of_waiting;
};

/* ---- processes ---- */

static void
helper_forget(struct helper *h)
{
	close(h->socket);
	close(h->words);
	h->pid = 0;
	h->job = UINT32_MAX;
}

static bool
helper_start(struct measurer *m, struct helper *h, struct err *err)
{
	int pair[2];
	pid_t parent = getpid();

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return err_set(err, ERR_MEASURE,
		    "cannot make a socket for a worker: %s", strerror(errno));
	h->words = memfd_create("words", MFD_CLOEXEC);
	atomic_store(h->place.waits, 0); /* of one that was killed */
	fflush(NULL); /* or the child would write it again */
	h->pid = fork();
	if (h->pid < 0) {
		close(pair[0]);
		close(pair[1]);
		h->pid = 0;
		return err_set(err, ERR_MEASURE, "cannot fork a worker: %s",
		    strerror(errno));
	}
	if (h->pid == 0) {
		h->place.socket = pair[1];
		h->place.words = h->words;
		h->place.parent = parent;
		h->place.folder = m->folder;
		worker_main(&m->options, &h->place);
	}
	close(pair[1]);
	h->socket = pair[0];
	h->job = UINT32_MAX;
	return true;
}

/* The last line a dying worker wrote, without its end. */
static void
last_words(struct helper *h, char *text, size_t n)
{
	off_t end = lseek(h->words, 0, SEEK_END);
	off_t from = end > (off_t)n - 1 ? end - (off_t)n + 1 : 0;
	ssize_t got = pread(h->words, text, n - 1, from);
	char *line;

	text[got > 0 ? got : 0] = '\0';
	while (got > 0 && text[got - 1] == '\n')
		text[--got] = '\0';
	line = strrchr(text, '\n');
	if (line)
		memmove(text, line + 1, strlen(line + 1) + 1);
}

static enum outcome
death_outcome(int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == WORKER_OOM)
		return OUTCOME_OOM;
	if (WIFEXITED(status) && WEXITSTATUS(status) == KERNEL_MISBEHAVED)
		return OUTCOME_WRONG;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
		return OUTCOME_TIMEOUT;
	return OUTCOME_CRASH;
}

static void
describe_death(struct helper *h, int status, struct sample *r)
{
	char words[96];

	last_words(h, words, sizeof words);
	if (r->outcome == OUTCOME_WRONG)
		snprintf(r->detail, sizeof r->detail, "%s", words);
	else if (r->outcome == OUTCOME_OOM)
		snprintf(r->detail, sizeof r->detail, "out of memory%s%s",
		    *words ? ": " : "", words);
	else if (WIFSIGNALED(status))
		snprintf(r->detail, sizeof r->detail,
		    "the worker died of signal %d (%s)%s%s", WTERMSIG(status),
		    strsignal(WTERMSIG(status)), *words ? ": " : "", words);
	else
		snprintf(r->detail, sizeof r->detail,
		    "the worker ended with status %d%s%s", WEXITSTATUS(status),
		    *words ? ": " : "", words);
}

/* ---- jobs ---- */

/* Quartile q of n sorted figures, between neighbours where it falls between. */
static cost_ns
quartile(const cost_ns *x, uint32_t n, uint32_t q)
{
	uint32_t at = (n - 1) * q, i = at / 4;
	cost_ns next = x[i + 1 < n ? i + 1 : i];

	return x[i] + (next - x[i]) * (at % 4) / 4;
}

/* What a probe showed counts where it spared a block. */
static void
finish_measured(const struct measure_job *j, struct job_progress *p)
{
	struct sample *r = &p->result;
	cost_ns median[BLOCKS_PAIR];
	uint32_t n = p->nblocks;

	assert(p->nblocks > 0 && p->nblocks <= BLOCKS_PAIR); /* (M2) */
	*r = (struct sample){.outcome = OUTCOME_OK, .min = COST_NEVER};
	for (uint32_t i = 0; i < p->nblocks; i++) {
		const struct worker_reply *b = &p->block[i];

		median[i] = b->median_ns;
		r->n += b->kept;
		r->min = b->min_ns < r->min ? b->min_ns : r->min;
		r->cpu += b->cpu_ns / p->nblocks;
		r->span_ns += b->sample.span_ns;
		if (b->sample.max_error > r->max_error)
			r->max_error = b->sample.max_error;
	}
	if (n == 1 && j->seen_ns) {
		median[n++] = j->seen_ns;
		r->min = j->seen_ns < r->min ? j->seen_ns : r->min;
	}
	qsort(median, n, sizeof *median, by_u64);
	r->low = quartile(median, n, 1);
	r->median = quartile(median, n, 2);
	r->high = quartile(median, n, 3);
	if (r->n == 0) /* every sample was disturbed */
		r->outcome = OUTCOME_NOISY;
	p->finished = true;
	sample_verify(r);
}

/* A tool's answer is the whole measurement. */
static void
finish_answered(struct job_progress *p, const struct worker_reply *r)
{
	p->result = r->sample;
	p->finished = true;
}

static void
finish_failed(struct job_progress *p, enum outcome outcome, const char *detail)
{
	p->result = sample_failed(outcome, "%s", detail);
	p->finished = true;
}

/* ---- one group of jobs ---- */

struct job_group {
	struct measurer *measurer;
	const struct measure_job *job;
	struct job_progress *progress;
	uint32_t first, n; /* jobs of this group */
	uint32_t round, next; /* round, next job of it (counted from 0) */
	uint32_t nbusy;
	measure_done done;
	void *context;
};

static bool
is_stopped(const struct measurer *m)
{
	const struct measure_options *o = &m->options;

	return (o->stop && atomic_load(o->stop))
	    || (o->deadline_ns && clock_ns() >= o->deadline_ns);
}

static void
report(struct job_group *k, uint32_t job)
{
	assert(k->first <= job && job < k->first + k->n);
	assert(k->progress[job].finished);
	k->done(k->context, job, &k->progress[job].result);
}

/* Rounds visit the jobs in another order each, the same on every run. */
static uint32_t
job_at(const struct job_group *k, uint32_t i)
{
	assert(i < k->n);
	if (k->round % 2)
		i = k->n - 1 - i;
	return k->first + (i + k->round / 2 * 7) % k->n;
}

/* How long a worker may take. Who asks a tool has a clock of its own. */
static uint64_t
time_limit(const struct measurer *m, const struct measure_job *job)
{
	const struct measure_options *o = &m->options;

	if (job->candidate == UINT32_MAX || !measure_asks(o, job->candidate))
		return o->timeout_ns;
	return (uint64_t)o->mix
	           ->target[o->candidates->candidate[job->candidate].target]
	           .ask_ms
	    * 1000000u;
}

/* Of a process that others took the processor from: a deadline that passes while
 * it computes says nothing. TUNING: less of the limit than this share is no
 * computing. */
#define STARVED_SHARE 16u

static uint64_t
cpu_ns_of(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0
	    || clock_gettime(clock, &t) != 0)
		return 0;
	return timespec_ns(&t);
}

/* Did the worker compute all the while, and for less than its limit? Then it has
 * as long again. */
static bool
is_starved(struct helper *h)
{
	const uint64_t cpu = cpu_ns_of(h->pid), since = h->cpu_seen;

	if (cpu < since || cpu - since < h->limit / STARVED_SHARE
	    || cpu - h->cpu_begin >= h->limit)
		return false;
	h->cpu_seen = cpu;
	h->deadline = clock_ns() + h->limit;
	return true;
}

static bool
send_job(struct job_group *k, struct helper *h, uint32_t job)
{
	struct measurer *m = k->measurer;
	struct worker_request q = {.number = job,
	    .check = k->progress[job].nblocks == 0 && !k->job[job].probe
	        && !k->job[job].is_pair,
	    .swapped = k->progress[job].nblocks % 2,
	    .job = k->job[job]};

	assert(h->pid > 0 && h->job == UINT32_MAX); /* (M1) */
	if (send(h->socket, &q, sizeof q, MSG_NOSIGNAL) != (ssize_t)sizeof q)
		return false;
	h->job = job;
	h->limit = time_limit(m, &q.job);
	h->deadline = clock_ns() + h->limit;
	h->cpu_begin = h->cpu_seen = cpu_ns_of(h->pid);
	k->nbusy++;
	return true;
}

/* Give every idle worker the next unfinished job of the round. */
static bool
hand_out(struct job_group *k, struct err *err)
{
	struct measurer *m = k->measurer;

	for (uint32_t i = 0; i < m->nhelpers; i++) {
		struct helper *h = &m->helper[i];

		if (h->job != UINT32_MAX)
			continue;
		while (
		    k->next < k->n && k->progress[job_at(k, k->next)].finished)
			k->next++;
		if (k->next == k->n)
			return true;
		if (h->pid == 0 && !helper_start(m, h, err))
			return false;
		if (!send_job(k, h, job_at(k, k->next))) {
			waitpid(h->pid, NULL, 0); /* died idle */
			helper_forget(h);
			i--;
			continue;
		}
		k->next++;
	}
	return true;
}

static uint32_t
blocks_of(const struct measure_job *j)
{
	return j->probe ? 1 : j->is_pair ? BLOCKS_PAIR : BLOCKS;
}

/* Ratios, in millionths. */
static bool
is_pair_clear(uint64_t a, uint64_t b)
{
	const uint64_t least = a < b ? a : b, most = a < b ? b : a;

	return least >= 10000u * (100 + PAIR_CLEAR)
	    || most <= 10000u * (100 - PAIR_CLEAR);
}

static bool
agree(uint64_t a, uint64_t b)
{
	const uint64_t apart = a < b ? b - a : a - b;

	return apart * 100 <= BLOCKS_AGREE * a || apart <= BLOCKS_AGREE_NS;
}

/* Have the blocks of a job said what there is to say? */
static bool
is_enough(const struct measure_job *j, const struct job_progress *p)
{
	const struct worker_reply *b = p->block;

	if (p->nblocks == blocks_of(j))
		return true;
	if (p->nblocks == 1)
		return j->seen_ns && b[0].kept
		    && agree(b[0].median_ns, j->seen_ns);
	if (p->nblocks != 2)
		return false;
	if (j->is_pair)
		return is_pair_clear(b[0].median_ns, b[1].median_ns);
	return b[1].slow || agree(b[0].median_ns, b[1].median_ns);
}

static void
take_reply(struct job_group *k, const struct worker_reply *r)
{
	struct job_progress *p = &k->progress[r->number];

	if (r->sample.outcome != OUTCOME_OK) {
		finish_failed(p, r->sample.outcome, r->sample.detail);
		p->result.max_error = r->sample.max_error;
		p->result.span_ns = r->sample.span_ns;
	} else if (r->answered) {
		finish_answered(p, r);
	} else {
		p->block[p->nblocks++] = *r;
		if (is_enough(&k->job[r->number], p))
			finish_measured(&k->job[r->number], p);
	}
	if (p->finished)
		report(k, r->number);
}

/* The worker is gone: only its job is to blame, and only when it happens in a
 * fresh one too. */
static void
bury(struct job_group *k, struct helper *h, bool timed_out)
{
	uint32_t job = h->job;
	struct job_progress *p = &k->progress[job];
	int status = 0;

	assert(k->nbusy > 0 && !p->finished);
	waitpid(h->pid, &status, 0);
	p->result = (struct sample){
	    .outcome = timed_out ? OUTCOME_TIMEOUT : death_outcome(status)};
	if (timed_out || p->result.outcome == OUTCOME_TIMEOUT)
		snprintf(p->result.detail, sizeof p->result.detail,
		    "no answer within the time limit");
	else
		describe_death(h, status, &p->result);
	helper_forget(h);
	k->nbusy--;
	if (p->result.outcome == OUTCOME_CRASH && p->strikes++ == 0) {
		struct err err = {.kind = ERR_NONE};

		if (helper_start(k->measurer, h, &err) && send_job(k, h, job))
			return;
	}
	p->finished = true;
	report(k, job);
}

static void
attend(struct job_group *k, struct helper *h, bool readable)
{
	struct worker_reply r;

	if (readable) {
		if (recv(h->socket, &r, sizeof r, MSG_DONTWAIT)
		    != (ssize_t)sizeof r) {
			kill(h->pid, SIGKILL);
			bury(k, h, false);
			return;
		}
		assert(r.number == h->job);
		h->job = UINT32_MAX;
		k->nbusy--;
		take_reply(k, &r);
	} else if (clock_ns() >= h->deadline && !is_starved(h)) {
		kill(h->pid, SIGKILL);
		bury(k, h, true);
	}
}

/* TUNING: longer than another's block takes. */
#define SILENT_NS UINT64_C(3000000000)

/* What it waits for is no fault of its job, and after a while somebody is told. */
static void
heed_waiting(struct measurer *m, struct helper *h)
{
	const uint64_t now = clock_ns();
	const unsigned core = atomic_load(h->place.waits);

	if (core == 0 || h->job == UINT32_MAX) {
		h->waits_since = 0;
		return;
	}
	h->deadline = now + h->limit;
	if (h->waits_since == 0)
		h->waits_since = now;
	if (now - h->waits_since < SILENT_NS || m->told_of_waiting
	    || !m->options.waiting)
		return;
	m->told_of_waiting = true;
	m->options.waiting(m->options.context,
	    arena_printf(m->arena,
	        "waiting for core %u, on which another marq measures",
	        core - 1));
}

static int
wait_ms(const struct measurer *m)
{
	uint64_t now = clock_ns(), soonest = now + UINT64_C(200000000);

	if (m->options.deadline_ns && m->options.deadline_ns < soonest)
		soonest = m->options.deadline_ns;
	for (uint32_t i = 0; i < m->nhelpers; i++)
		if (m->helper[i].job != UINT32_MAX
		    && m->helper[i].deadline < soonest)
			soonest = m->helper[i].deadline;
	return soonest <= now ? 0 : (int)((soonest - now) / 1000000u + 1);
}

static void
attend_all(struct job_group *k)
{
	struct measurer *m = k->measurer;
	struct pollfd fd[WORKERS_MAX];

	for (uint32_t i = 0; i < m->nhelpers; i++)
		fd[i] = (struct pollfd){.fd = m->helper[i].job == UINT32_MAX
		        ? -1
		        : m->helper[i].socket,
		    .events = POLLIN};
	if (poll(fd, m->nhelpers, wait_ms(m)) < 0)
		return; /* a signal: look at `stop` */
	for (uint32_t i = 0; i < m->nhelpers; i++) {
		heed_waiting(m, &m->helper[i]);
		if (fd[i].fd >= 0)
			attend(k, &m->helper[i], fd[i].revents != 0);
	}
}

/* Leave nothing running when stopped in the middle. */
static void
abandon(struct job_group *k)
{
	struct measurer *m = k->measurer;

	for (uint32_t i = 0; i < m->nhelpers; i++) {
		struct helper *h = &m->helper[i];

		if (h->job == UINT32_MAX)
			continue;
		kill(h->pid, SIGKILL);
		waitpid(h->pid, NULL, 0);
		helper_forget(h);
	}
	k->nbusy = 0;
}

/* (M1) A worker that is busy runs, at a job of this group that is not finished; so
 *      many are counted. (M2) No job has more blocks than it is measured in. */
static void
job_group_verify(const struct job_group *k)
{
	const struct measurer *m = k->measurer;
	uint32_t nbusy = 0;

	assert(m->nhelpers <= WORKERS_MAX && k->n <= GROUP);
	for (uint32_t i = 0; i < m->nhelpers; i++) {
		const struct helper *h = &m->helper[i];

		if (h->job == UINT32_MAX)
			continue;
		nbusy++;
		assert(h->pid > 0);
		assert(k->first <= h->job && h->job < k->first + k->n);
		assert(!k->progress[h->job].finished);
	}
	assert(nbusy == k->nbusy);
	for (uint32_t i = k->first; i < k->first + k->n; i++)
		assert(k->progress[i].nblocks <= blocks_of(&k->job[i]));
}

static bool
run_group(struct job_group *k, struct err *err)
{
	for (k->round = 0; k->round < BLOCKS_PAIR; k->round++) {
		k->next = 0;
		while (k->next < k->n || k->nbusy > 0) {
			if (is_stopped(k->measurer)) {
				abandon(k);
				return true;
			}
			if (!hand_out(k, err)) {
				abandon(k);
				return false;
			}
			if (k->nbusy > 0)
				attend_all(k);
			VERIFY(job_group_verify(k));
		}
	}
	return true;
}

static bool
run_groups(struct measurer *m, const struct measure_job *job, uint32_t n,
    measure_done done, void *context, struct err *err)
{
	struct job_group k = {
	    .measurer = m, .job = job, .done = done, .context = context};
	struct arena scratch;
	bool ok = true;

	arena_init(&scratch);
	k.progress = arena_new(&scratch, struct job_progress, n);
	for (; ok && k.first < n && !is_stopped(m); k.first += GROUP) {
		k.n = n - k.first < GROUP ? n - k.first : GROUP;
		ok = run_group(&k, err);
	}
	arena_release(&scratch);
	return ok;
}

static bool
run_here(struct measurer *m, const struct measure_job *job, uint32_t n,
    measure_done done, void *context, struct err *err)
{
	struct arena scratch;
	struct revisit v;
	bool ok;

	arena_init(&scratch);
	v = revisit_new(job, n, done, context, &scratch);
	ok = run_groups(m, job, n, revisit_first, &v, err)
	    && run_groups(m, v.again, v.nagain, revisit_second, &v, err);
	revisit_end(&v);
	arena_release(&scratch);
	return ok;
}

/* ---- jobs of boards ---- */

/* Some of the jobs, under other numbers. */
struct some_jobs {
	const uint32_t *of; /* by their number here */
	measure_done done;
	void *context;
};

static void
one_of_some(void *context, uint32_t job, const struct sample *r)
{
	const struct some_jobs *s = context;

	s->done(s->context, s->of[job], r);
}

/* A tool that tells prices is asked where it is: here. */
static bool
is_of_here(const struct measurer *m, const struct measure_job *job)
{
	return job->candidate != UINT32_MAX
	    && measure_asks(&m->options, job->candidate);
}

static struct wire_job
wire_job_of(const struct measure_job *job)
{
	return (struct wire_job){
	    .kind = job->probe ? WIRE_PROBE
	        : job->is_pair ? WIRE_PAIR
	                       : WIRE_PRICE,
	    .of = job->of,
	    .second = job->other,
	};
}

static bool
run_linked(struct measurer *m, const struct measure_job *job, uint32_t n,
    struct some_jobs *some, struct err *err)
{
	const struct measure_options *o = &m->options;
	const struct links_run run = {
	    o->deadline_ns, o->timeout_ns, o->stop, one_of_some, some};
	struct arena scratch;
	struct measure_job *here;
	struct wire_job *wire;
	uint32_t *of, nhere = 0, nwire = 0;
	bool ok;

	arena_init(&scratch);
	here = arena_new(&scratch, struct measure_job, n);
	wire = arena_new(&scratch, struct wire_job, n);
	of = arena_new(&scratch, uint32_t, n);
	for (uint32_t i = 0; i < n; i++)
		if (!is_of_here(m, &job[i])) {
			of[nwire] = i;
			wire[nwire++] = wire_job_of(&job[i]);
		}
	some->of = of;
	ok = nwire == 0 || links_run(o->links, wire, nwire, &run, err);
	for (uint32_t i = 0; i < n; i++)
		if (is_of_here(m, &job[i])) {
			of[nhere] = i;
			here[nhere++] = job[i];
		}
	ok = ok
	    && (nhere == 0 || run_here(m, here, nhere, one_of_some, some, err));
	arena_release(&scratch);
	return ok;
}

bool
measurer_run(struct measurer *m, const struct measure_job *job, uint32_t n,
    measure_done done, void *context, struct err *err)
{
	struct some_jobs some = {.done = done, .context = context};

	return m->options.links ? run_linked(m, job, n, &some, err)
	                        : run_here(m, job, n, done, context, err);
}

/* ---- opening and closing ---- */

static bool
asks_tools(const struct mix *m)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (m->target[i].ask_ms)
			return true;
	return false;
}

/* Never two timings on one core; `room`: cores over threads. */
static uint32_t
workers_that_fit(uint32_t wanted, uint32_t room)
{
	uint32_t n = wanted ? wanted : room > 1 ? room - 1 : 1;

	if (n > room)
		n = room ? room : 1;
	return n < WORKERS_MAX ? n : WORKERS_MAX;
}

uint32_t
measurer_workers(uint32_t workers, uint32_t threads)
{
	uint32_t core[CORES_MAX];

	threads = threads ? threads : 1;
	return workers_that_fit(
	    workers, measuring_cores(core, threads) / threads);
}

/* Which of the mix can wait beside others, before there are workers. */
static void
find_out_rests(const struct mix *m, uint32_t threads)
{
	for (uint32_t i = 0; i < m->n && threads > 1; i++) {
		const struct target *t = &m->target[i];

		if (t->kind->rest)
			t->kind->rest->find_out(t, threads);
	}
}

bool
measurer_open(struct measurer **out, const struct measure_options *o,
    struct arena *a, struct err *err)
{
	struct measurer *m = arena_new(a, struct measurer, 1);
	uint32_t threads = o->threads ? o->threads : 1;
	uint32_t ncores = measuring_cores(m->core, threads);

	if (threads > ncores && o->links)
		threads = 1; /* of what is asked here */
	if (threads > ncores)
		return err_set(err, ERR_USAGE,
		    "%u threads are to be measured, the process may use %u "
		    "core%s",
		    (unsigned)threads, (unsigned)ncores, plural(ncores));
	if (!o->links && !mix_load(o->mix, err))
		return false;
	cores_share_best();
	m->options = *o;
	m->options.threads = threads;
	if (m->options.timeout_ns == 0)
		m->options.timeout_ns = MEASURE_TIMEOUT_NS;
	m->nhelpers = workers_that_fit(o->workers, ncores / threads);
	m->arena = a;
	m->waits = shared_memory_new(WAITS_BYTES);
	if (!m->waits)
		return err_set(err, ERR_MEASURE,
		    "no memory to share with workers: %s", strerror(errno));
	for (uint32_t i = 0; i < m->nhelpers; i++) {
		/* from the last core on: the first does the house's work */
		m->helper[i].place.core = &m->core[ncores - (i + 1) * threads];
		m->helper[i].place.ncores = threads;
		m->helper[i].place.waits = &m->waits[i];
		m->helper[i].job = UINT32_MAX;
	}
	*out = m;
	if (!o->links)
		find_out_rests(o->mix, threads);
	if (!asks_tools(o->mix))
		return true;
	m->folder = folder_new(NULL, a, err);
	return m->folder != NULL;
}

void
measurer_set_deadline(struct measurer *m, uint64_t deadline_ns)
{
	m->options.deadline_ns = deadline_ns;
}

void
measurer_close(struct measurer *m)
{
	for (uint32_t i = 0; i < m->nhelpers; i++) {
		struct helper *h = &m->helper[i];

		if (h->pid == 0)
			continue;
		kill(h->pid, SIGKILL);
		waitpid(h->pid, NULL, 0);
		helper_forget(h);
	}
	shared_memory_end(m->waits, WAITS_BYTES);
	if (m->folder)
		folder_remove(m->folder);
}
