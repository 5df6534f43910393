#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* close_range */
#endif
#include "costmodel/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "costmodel/core_lock.h"
#include "costmodel/machine.h"
#include "costmodel/operands.h"
#include "costmodel/roofline.h"
#include "costmodel/sample.h"
#include "costmodel/sandbox.h"
#include "costmodel/reference.h"
#include "costmodel/seed.h"
#include "costmodel/seeded.h"
#include "costmodel/trial.h"
#include "ir/base/clock.h"
#include "ir/base/float_mode.h"
#include "ir/base/huge_blocks.h"
#include "ir/base/sanitized.h"
#include "targets/convert.h"
#include "targets/threads.h"
#include "targets/widened.h"

/* TUNING: of a worker's memory, when the caller does not say. */
#define MEMORY_DEFAULT (UINT64_C(8) << 30)

struct worker {
	const struct measure_options *options;
	const struct worker_place *place;
	struct core_locks locks;
	/* of the model, and of what is shown of it */
	struct reference reference, widened;
	struct seeded weights; /* made up; the reference sees them too */
	bool own_weights; /* none are made up */
	struct arena life; /* of the process */
	struct sweep sweep;
	struct kept_operands operands; /* of all jobs */
	struct own_pages own; /* of the job */
	struct arena
	    kernels; /* of the job: what they keep, on pages with nothing else */
};

/* ---- limits ---- */

/* A failed allocation that somebody then fell over is not a crash: errno still
 * says so. */
static void
on_fault(int signal_number)
{
	if (errno == ENOMEM)
		_exit(WORKER_OOM);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void
catch_faults(void)
{
	static const int caught[] = {SIGSEGV, SIGBUS, SIGABRT};
	static char stack[1 << 16];
	stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction action = {.sa_handler = on_fault};

	action.sa_flags = (int)(SA_ONSTACK | SA_RESETHAND);
	sigaltstack(&own, NULL);
	for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
		sigaction(caught[i], &action, NULL);
}

static void
set_limit(int what, rlim_t soft)
{
	struct rlimit l = {soft, soft};

	setrlimit((__rlimit_resource_t)what, &l);
}

/* Address space in use now, from /proc; the limit is on top of it. */
static uint64_t
address_space(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%lu", &pages) != 1)
		pages = 0;
	fclose(f);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void
limit_memory(const struct measure_options *o)
{
	uint64_t bytes = o->memory_bytes ? o->memory_bytes : MEMORY_DEFAULT;

	set_limit(RLIMIT_CORE, 0);
	if (SANITIZED)
		return;
	set_limit(RLIMIT_AS, address_space() + bytes);
	catch_faults();
}

/* A spinning kernel that nobody is left to kill still ends. */
static void
limit_time(const struct measure_options *o)
{
	struct rusage u;
	struct rlimit l;

	getrusage(RUSAGE_SELF, &u);
	l.rlim_cur = (rlim_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec)
	    + (rlim_t)(o->timeout_ns / 1000000000u
	        * (o->threads ? o->threads : 1))
	    + 5;
	l.rlim_max = RLIM_INFINITY;
	setrlimit(RLIMIT_CPU, &l);
}

static void
settle_in(struct worker *w)
{
	const struct worker_place *p = w->place;
	int null = open("/dev/null", O_RDWR);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != (pid_t)p->parent)
		_exit(WORKER_DONE); /* it was faster */
	signal(SIGINT, SIG_IGN); /* the orchestrator ends us */
	signal(SIGTERM, SIG_DFL);
	dup2(null, 0);
	dup2(null, 1);
	dup2(p->words, 2);
	if (p->socket > 3)
		close_range(3, (unsigned)p->socket - 1, 0);
	close_range((unsigned)p->socket + 1, ~0u, 0);
	machine_own_session();
	machine_pin(p->core, p->ncores);
	core_locks_open(&w->locks, p->core, p->ncores);
	if (p->folder)
		setenv("TMPDIR", p->folder, 1);
	limit_memory(w->options);
	target_threads_set(w->options->threads);
	float_denormals_off();
	/* programs that are asked may need all of it: boards, licences */
	if (!p->folder)
		sandbox_enter(NULL);
}

/* Of several threads a price is one beside the mix's other runtimes, which wait. */
static void
idle_beside(const struct measure_options *o)
{
	if (o->threads > 1)
		for (uint32_t i = 0; i < o->mix->n; i++) {
			const struct target *t = &o->mix->target[i];

			if (t->kind->rest)
				t->kind->rest->idle(t);
		}
}

/* ---- jobs ---- */

struct weights_read {
	struct own_pages *own;
	size_t bytes;
};

/* What lies in the model's file was there before the kernel. */
static void
take_weights(void *context, const struct tensor *weights)
{
	struct weights_read *w = context;

	w->bytes += weights->bytes;
	if (weights->kind == TENSOR_VIEW)
		own_pages_add(w->own, weights->data, weights->bytes);
}

/* Bytes of the constants a candidate reads, which are among its own pages. */
static size_t
weights_of(
    const struct graph *g, const struct candidate *c, struct own_pages *own)
{
	struct weights_read w = {own, 0};

	candidate_constants(g, c, take_weights, &w);
	return w.bytes;
}

static size_t
weight_bytes(const struct graph *g)
{
	size_t sum = 0;

	for (value_id v = 0; v < g->nvalues; v++)
		if (g->value[v].constant)
			sum += g->value[v].constant->bytes;
	return sum;
}

static void
take_block(struct worker_reply *r, const struct block *b)
{
	r->kept = b->kept;
	r->dropped = b->dropped;
	r->slow = b->slow;
	r->median_ns = b->median_ns;
	r->min_ns = b->min_ns;
}

/* As plans are run: a busy machine takes longer, and says the same. */
static void
take_cores(struct worker *w)
{
	core_locks_take(&w->locks, w->place->waits);
	machine_urgent(true);
}

static void
drop_cores(struct worker *w)
{
	machine_urgent(false);
	core_locks_drop(&w->locks);
}

/* Asking for processor time takes some of it: no thread has more than there was. */
static uint64_t
possible_cpu(const struct worker *w, const struct block *b)
{
	const uint32_t threads = w->options->threads ? w->options->threads : 1;
	const uint64_t most = threads * b->median_ns;

	return b->cpu_ns < most ? b->cpu_ns : most;
}

static void
time_it(struct worker *w, const struct worker_request *q, const struct shot *s,
    struct worker_reply *r)
{
	struct block b;

	take_cores(w);
	b = q->job.probe ? sample_probe(s, &w->sweep)
	                 : sample_block(s, &w->sweep);
	drop_cores(w);
	take_block(r, &b);
	r->cpu_ns = possible_cpu(w, &b);
}

static void
say(struct worker_reply *r, enum outcome outcome, const char *text)
{
	r->sample.outcome = outcome;
	snprintf(r->sample.detail, sizeof r->sample.detail, "%s", text);
}

static void
run_trial(void *context)
{
	trial_run(context);
}

/* false: the answer is there already. */
static bool
check_outputs(struct worker *w, struct trial *t, struct worker_reply *r,
    struct arena *a, struct err *err)
{
	struct reference *of =
	    t->graph == w->options->graph ? &w->reference : &w->widened;
	double allowed;

	if (!trial_check(t, of, &r->sample.max_error, &allowed, a, err)) {
		say(r, OUTCOME_UNSUPPORTED, err->text);
		return false;
	}
	if (r->sample.max_error <= allowed)
		return true;
	r->sample.outcome = OUTCOME_WRONG;
	snprintf(r->sample.detail, sizeof r->sample.detail,
	    "differs from the reference by %.3g of its range, allowed %.3g",
	    r->sample.max_error, allowed);
	return false;
}

/* A candidate as its target sees it, which its price is of. */
static bool
fill_trial(struct worker *w, struct trial *t, uint32_t candidate,
    struct arena *a, struct err *err)
{
	const struct measure_options *o = w->options;
	const struct graph *g = o->graph;
	const struct candidate *c =
	    candidate_seen(&o->candidates->candidate[candidate], &g);

	return trial_fill_kept(t, g, &w->operands, c, a, err);
}

/* Its kernel, in a run that looked at what its inputs rest on (targets/known.h). */
static bool
compile_trial(struct worker *w, struct trial *t, struct err *err)
{
	static const bool small = true;
	bool ok;

	huge_blocks_give(true); /* as where a plan is opened */
	ok = trial_compile(t, &w->kernels, err);
	huge_blocks_give(false);
	if (!ok)
		return false;
	t->kernel.small = &small;
	return true;
}

/* A run of the candidate as it will be in a plan. */
static struct shot
shot_of(struct worker *w, struct trial *t, struct arena *a)
{
	const struct candidate *c = t->candidate;
	const struct target_kind *kind = t->mix->target[c->target].kind;
	struct rewritten *fresh = arena_new(a, struct rewritten, c->ninputs);
	struct rewritten *stale = arena_new(a, struct rewritten, c->noutputs);

	trial_share(t, a);
	for (uint32_t i = 0; i < c->ninputs; i++) {
		const union {
			const void *read;
			void *at;
		} in = {.read = t->in[i]};

		fresh[i] = (struct rewritten){in.at, t->in_bytes[i]};
	}
	for (uint32_t i = 0; i < c->noutputs; i++)
		stale[i] = (struct rewritten){t->out[i], t->out_bytes[i]};
	return (struct shot){.run = run_trial,
	    .context = t,
	    .fresh = fresh,
	    .nfresh = c->ninputs,
	    .stale = stale,
	    .nstale = c->noutputs,
	    .in_place = c->in_place,
	    .own = &w->own,
	    .weights = weights_of(t->graph, c, &w->own),
	    .transforms = c->transforms,
	    .team = kind->own_threads ? 0 : target_threads(),
	    .translates = kind->translates};
}

/* A price that a program elsewhere tells: asked once. It may take a measured
 * time on our cores, so nobody else measures there meanwhile. */
static void
do_ask(struct worker *w, const struct candidate *c, struct worker_reply *r,
    struct arena *a)
{
	const struct measure_options *o = w->options;
	const struct target *target = &o->mix->target[c->target];
	const struct region alone = region_of(target, o->graph, &c, 1);
	struct err err = {.kind = ERR_NONE};
	struct trial t;
	bool computed;

	if (!trial_fill(&t, o->graph, o->mix, c, a, &err)) {
		say(r, OUTCOME_UNSUPPORTED, err.text);
		return;
	}
	core_locks_take(&w->locks, w->place->waits);
	computed = target->kind->tool->ask(&alone, t.in, t.out, &r->sample);
	core_locks_drop(&w->locks);
	r->answered = true;
	if (r->sample.outcome == OUTCOME_OK && computed && o->reference)
		check_outputs(w, &t, r, a, &err);
}

/* TUNING: made-up weights kept at once, bytes. What the reference worked out
 * may point into them, so both go together. */
#define WEIGHT_BYTES ((size_t)1 << 30)

static void
open_references(struct worker *w)
{
	const struct measure_options *o = w->options;

	reference_init(&w->reference, o->graph, o->reference);
	reference_init(&w->widened, o->candidates->widened, o->reference);
}

static void
make_up_weights(struct worker *w, const struct measure_job *job)
{
	const struct measure_options *o = w->options;
	const struct candidate *c = &o->candidates->candidate[job->candidate];
	const struct candidate *second =
	    job->is_pair ? &o->candidates->candidate[job->second] : c;
	const bool own = c->own_weights || second->own_weights;

	if (own != w->own_weights || w->weights.arena.bytes > WEIGHT_BYTES) {
		seeded_restore(&w->weights);
		reference_release(&w->reference);
		reference_release(&w->widened);
		open_references(w);
	}
	w->own_weights = own;
	if (own)
		return;
	seeded_take(&w->weights, c);
	if (second != c)
		seeded_take(&w->weights, second);
}

static void
do_candidate(struct worker *w, const struct worker_request *q,
    struct worker_reply *r, struct arena *a)
{
	const struct measure_options *o = w->options;
	const struct candidate *c = &o->candidates->candidate[q->job.candidate];
	struct err err = {.kind = ERR_NONE}, fault = {.kind = ERR_NONE};
	struct trial t;
	struct shot s;
	bool ok;

	ok = fill_trial(w, &t, q->job.candidate, a, &err);
	own_pages_begin(&w->own);
	if (!ok || !compile_trial(w, &t, &err)) {
		say(r, OUTCOME_UNSUPPORTED, err.text);
		return;
	}
	if (target_is_host(&o->mix->target[c->target]))
		t.kernel.fault = &fault; /* others' processes end */
	if (q->check && o->reference) {
		trial_run(&t);
		ok = fault.kind == ERR_NONE && check_outputs(w, &t, r, a, &err);
	}
	if (ok) {
		s = shot_of(w, &t, a);
		time_it(w, q, &s, r);
	}
	if (fault.kind != ERR_NONE)
		say(r, OUTCOME_UNSUPPORTED, fault.text);
	trial_close(&t);
}

/* What is kept may have been written over by a kernel before: who is wrong is so with
 * inputs made anew, too. */
static void
do_candidate_surely(struct worker *w, const struct worker_request *q,
    struct worker_reply *r, struct arena *a)
{
	const struct worker_reply before = *r;

	do_candidate(w, q, r, a);
	if (r->sample.outcome != OUTCOME_WRONG)
		return;
	operands_forget(&w->operands);
	*r = before;
	do_candidate(w, q, r, a);
}

static void
do_pair(struct worker *w, const struct worker_request *q,
    struct worker_reply *r, struct arena *a)
{
	const uint32_t id[2] = {q->job.candidate, q->job.second};
	uint32_t first = q->swapped != 0;
	struct err err = {.kind = ERR_NONE};
	struct trial two[2];
	struct shot x, y;
	struct block b;
	bool ok = fill_trial(w, &two[first], id[first], a, &err)
	    && fill_trial(w, &two[!first], id[!first], a, &err);

	own_pages_begin(&w->own);
	if (!ok || !compile_trial(w, &two[first], &err)) {
		say(r, OUTCOME_UNSUPPORTED, err.text);
		return;
	}
	if (compile_trial(w, &two[!first], &err)) {
		x = shot_of(w, &two[0], a);
		y = shot_of(w, &two[1], a);
		take_cores(w);
		b = sample_pair(&x, &y, &w->sweep);
		drop_cores(w);
		take_block(r, &b);
		trial_close(&two[!first]);
	} else {
		say(r, OUTCOME_UNSUPPORTED, err.text);
	}
	trial_close(&two[first]);
}

struct conversion_run {
	struct converter converter;
	void *in, *out;
};

static void
run_conversion(void *context)
{
	struct conversion_run *k = context;

	k->converter.run(&k->converter, k->in, k->out);
}

static void
do_conversion(
    struct worker *w, const struct worker_request *q, struct worker_reply *r)
{
	const struct measure_options *o = w->options;
	const struct format *f = o->mix->formats.format;
	const struct type *type = &graph_value(o->graph, q->job.value)->type;
	struct err err = {.kind = ERR_NONE};
	struct conversion_run k;
	struct rewritten from, to;
	const struct shot s = {.run = run_conversion,
	    .context = &k,
	    .fresh = &from,
	    .nfresh = 1,
	    .stale = &to,
	    .nstale = 1,
	    .own = &w->own,
	    .team = target_threads()};

	from.bytes = format_bytes(f[q->job.from], type);
	to.bytes = format_bytes(f[q->job.to], type);
	from.at = k.in = operands_room(&w->operands, from.bytes);
	to.at = k.out = operands_room(&w->operands, to.bytes);
	own_pages_begin(&w->own);
	if (!converter_new(&k.converter,
	        &(struct format_change){
	            f[q->job.from], f[q->job.to], type, NULL},
	        &w->kernels, &err)) {
		say(r, OUTCOME_UNSUPPORTED, err.text);
		return;
	}
	time_it(w, q, &s, r);
	if (k.converter.release)
		k.converter.release(&k.converter);
}

static void
answer(struct worker *w, const struct worker_request *q)
{
	struct worker_reply r = {
	    .number = q->number, .sample.outcome = OUTCOME_OK};
	uint64_t start = clock_ns();
	struct arena a;

	limit_time(w->options);
	errno = 0;
	arena_init(&a);
	arena_init(&w->kernels);
	operands_begin(&w->operands);
	if (q->job.candidate != UINT32_MAX)
		make_up_weights(w, &q->job);
	if (q->job.candidate == UINT32_MAX)
		do_conversion(w, q, &r);
	else if (q->job.is_pair)
		do_pair(w, q, &r, &a);
	else if (measure_asks(w->options, q->job.candidate))
		do_ask(w, &w->options->candidates->candidate[q->job.candidate],
		    &r, &a);
	else
		do_candidate_surely(w, q, &r, &a);
	arena_release(&w->kernels);
	arena_release(&a);
	r.sample.span_ns = clock_ns() - start;
	if (send(w->place->socket, &r, sizeof r, MSG_NOSIGNAL) != sizeof r)
		_exit(WORKER_DONE);
}

/* Most of what the process has is not the kernels'. */
static void
begin_own(struct worker *w)
{
	const struct arena *others[] = {&w->life, &w->operands.arena,
	    &w->weights.arena, &w->reference.arena, &w->widened.arena};

	own_pages_init(&w->own);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		own_pages_without(&w->own, others[i]);
}

_Noreturn void
worker_main(const struct measure_options *o, const struct worker_place *place)
{
	struct worker w = {.options = o, .place = place};
	struct worker_request q;

	settle_in(&w);
	idle_beside(o);
	arena_init(&w.life);
	operands_init(&w.operands, o->mix);
	open_references(&w);
	/* A copy of our own since the fork, shared with no other worker. */
	seeded_init(&w.weights, o->graph, o->candidates, &w.life);
	w.sweep = sweep_new(weight_bytes(o->graph),
	    roofline_expect_ns(o->graph, o->threads), &w.life);
	begin_own(&w);
	while (recv(place->socket, &q, sizeof q, 0) == (ssize_t)sizeof q)
		answer(&w, &q);
	_exit(WORKER_DONE);
}
