/* Measuring what the database lacks, shared with other processes by leases. */
#include "costmodel/pricer.h"
#include "costmodel/pricer_parts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "costmodel/board.h"
#include "costmodel/environment.h"
#include "costmodel/links.h"
#include "costmodel/want_list.h"
#include "db/lease.h"
#include "ir/base/clock.h"

/* TUNING: taken at a time. Few, so that processes on one database share a
 * model evenly; several, so that leasing (a disk sync) is rare. */
#define BATCH 16

/* TUNING: enough for a median, a second or so of measuring. */
#define CANARIES 8

/* TUNING: a measurement takes tens of milliseconds. */
#define WAIT_NS 20000000

/* TUNING: longer than another process's batch of quick candidates takes. */
#define SILENT_NS UINT64_C(3000000000)

struct measure_batch {
	struct pricer *p;
	enum figure figure;
	bool again; /* a quick look, although there was one */
	uint32_t subject[BATCH], n; /* of this batch */
	struct err *err;
};

bool
pricing_is_over(const struct pricer *p)
{
	return (p->o.stop && *p->o.stop)
	    || (p->o.deadline_ns && clock_ns() >= p->o.deadline_ns);
}

static bool
may_go_on(const struct pricer *p)
{
	return !pricing_is_over(p)
	    && (p->o.max_measure == 0 || p->counts.measured < p->o.max_measure);
}

bool
pricer_may_measure(const struct pricer *p)
{
	return p->o.measure && may_go_on(p);
}

static bool
open_measurer(struct pricer *p, struct err *err)
{
	struct measure_options o = {
	    .graph = p->graph,
	    .mix = p->mix,
	    .candidates = p->candidates,
	    .reference = p->o.reference,
	    .threads = p->o.threads,
	    .workers = p->o.workers,
	    .timeout_ns = p->o.timeout_ns,
	    .deadline_ns = p->o.deadline_ns,
	    .stop = p->o.stop,
	    .waiting = p->o.waiting,
	    .context = p->o.context,
	    .links = p->o.links,
	};

	return p->measurer || measurer_open(&p->measurer, &o, p->arena, err);
}

bool
survive(struct pricer *p, struct err *err)
{
	if (err->kind != ERR_IO)
		return false;
	if (!p->db_is_full)
		notes_add(p->o.notes, "%s; going on with what is in memory",
		    err->text);
	p->db_is_full = true;
	err_clear(err);
	return true;
}

static const char *
hard_of(const struct environment *e, enum figure figure)
{
	const char *const of[] = {[FIGURE_PRICE] = e->hard,
	    [FIGURE_PROBE] = e->probe_hard,
	    [FIGURE_SECOND] = e->second_hard};

	return of[figure];
}

static db_id *
id_of(struct environment *e, enum figure figure)
{
	db_id *const of[] = {[FIGURE_PRICE] = &e->id,
	    [FIGURE_PROBE] = &e->probe_id,
	    [FIGURE_SECOND] = &e->second_id};

	return of[figure];
}

static bool
add_environments(struct pricer *p, const uint32_t *subject, uint32_t n,
    enum figure figure, struct err *err)
{
	for (uint32_t i = 0; i < n; i++) {
		struct environment *e =
		    &p->environment[p->subject[subject[i]].target];
		db_id *id = id_of(e, figure);

		if (*id == DB_NO_ID
		    && !costdb_environment(
		        p->db, hard_of(e, figure), true, id, err))
			return false;
	}
	return true;
}

static bool
begin_run(struct pricer *p, struct err *err)
{
	if (p->has_run)
		return true;
	p->has_run = true;
	return costdb_begin_run(p->db, "marq", p->o.command ? p->o.command : "",
	           p->o.board ? p->o.board->soft
	                      : environment_soft(pricer_workers(p), p->arena),
	           err)
	    || survive(p, err);
}

/* The first attempt of a run brings its environment rows with it. */
bool
recording_begin(
    struct pricer *p, const uint32_t *subject, uint32_t n, struct err *err)
{
	if (!p->db)
		return true;
	if (!add_environments(p, subject, n, FIGURE_PRICE, err))
		return survive(p, err);
	return begin_run(p, err);
}

bool
measuring_begin(
    struct pricer *p, const uint32_t *subject, uint32_t n, struct err *err)
{
	return open_measurer(p, err) && recording_begin(p, subject, n, err);
}

bool
store_attempt(struct pricer *p, const struct subject *s, db_id env,
    const struct sample *r, struct err *err)
{
	struct sample sample = *r;
	const char *soft;

	sample.limit_ns = subject_limit_ns(p, s);
	if (sample.median < sample.low)
		sample.median = sample.low;
	if (sample.high < sample.median)
		sample.high = sample.median;
	if (!p->db)
		return true;
	sample_verify(&sample);
	assert(s->db.bytes && s->db.n);
	if (env == DB_NO_ID) { /* not even its environment fitted */
		p->nlost++;
		return true;
	}
	soft = p->o.links ? links_soft(p->o.links) : NULL;
	return (soft ? costdb_put_under(p->db, &s->db, env, &sample, soft, err)
	             : costdb_put(p->db, &s->db, env, &sample, err))
	    || survive(p, err);
}

/* Where what a batch finds out about a subject is kept. */
static db_id
env_of(const struct measure_batch *b, const struct subject *s)
{
	return *id_of(&b->p->environment[s->target], b->figure);
}

static void
take_probe(struct measure_batch *b, uint32_t subject, const struct sample *r)
{
	struct pricer *p = b->p;
	struct subject *s = &p->subject[subject];
	const struct db_found f = {.attempts = 1,
	    .outcome = r->outcome,
	    .low = r->low,
	    .high = r->low};

	if (r->outcome == OUTCOME_OK || r->outcome == OUTCOME_NOISY) {
		p->counts.probed += !b->again;
		p->counts.probed_again += b->again;
		probe_of_found(p, s, &f);
	} else {
		price_of_measurement(price_of(p, s), r, p->arena);
		subject_excuse(p, s, r->outcome, r->detail);
		p->counts.failed += price_of(p, s)->state == PRICE_FAILED;
	}
}

static void
take_price(struct measure_batch *b, uint32_t subject, const struct sample *r)
{
	struct pricer *p = b->p;
	struct subject *s = &p->subject[subject];
	cost_ns bound = price_of(p, s)->bound;

	price_of_measurement(price_of(p, s), r, p->arena);
	price_of(p, s)->machine = p->environment[s->target].machine;
	price_of(p, s)->bound = bound;
	subject_excuse(p, s, r->outcome, r->detail);
	if (s->target < p->mix->n && p->mix->target[s->target].ask_ms) {
		price_of(p, s)->source = p->mix->target[s->target].source;
		price_of(p, s)->origin = FROM_EXTERNAL;
	}
	p->counts.measured++;
	p->counts.why[s->why]++;
	p->counts.measured_candidates +=
	    s->candidate != SUBJECT_NONE && b->figure == FIGURE_PRICE;
	p->counts.failed += price_of(p, s)->state == PRICE_FAILED;
	price_of(p, s)->is_second = b->figure == FIGURE_SECOND;
	check_bounds(p, subject, subject + 1);
}

/* Jobs that measuring everything would still take: a subject is looked at in
 * passing before it is measured. */
static uint32_t
jobs_left(const struct pricer *p)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < p->nsubjects; i++)
		if (price_at(p, i)->state == PRICE_BOUND)
			left += p->subject[i].probe_ns ? 1 : 2;
	return left;
}

static void
job_done(void *context, uint32_t job, const struct sample *r)
{
	struct measure_batch *b = context;
	struct pricer *p = b->p;
	uint32_t subject = b->subject[job];
	struct subject *s = &p->subject[subject];

	assert(job < b->n);
	if (b->err->kind != ERR_NONE)
		return; /* the first fault is the one reported */
	if (!store_attempt(p, s, env_of(b, s), r, b->err))
		return;
	if (b->figure == FIGURE_PROBE)
		take_probe(b, subject, r);
	else
		take_price(b, subject, r);
	p->jobs++;
	if (p->o.progress)
		p->o.progress(p->o.context, p->jobs, p->jobs + jobs_left(p),
		    s->db.summary);
}

static bool
run_batch(struct measure_batch *b, struct err *err)
{
	struct measure_job job[BATCH];
	struct pricer *p = b->p;
	uint64_t start = clock_ns();
	bool ok;

	for (uint32_t i = 0; i < b->n; i++) {
		const struct subject *s = &p->subject[b->subject[i]];

		job[i] = (struct measure_job){
		    .candidate = s->candidate,
		    .value = s->value,
		    .from = s->from,
		    .to = s->to,
		    .probe = b->figure == FIGURE_PROBE,
		    .seen_ns = b->figure == FIGURE_PRICE ? s->probe_ns : 0,
		};
		if (p->o.links)
			job[i].of = want_subject(p->o.want, p, s);
	}
	assert(b->n > 0 && b->n <= BATCH);
	b->err = err;
	ok = measurer_run(p->measurer, job, b->n, job_done, b, err)
	    && err->kind == ERR_NONE;
	*(b->figure == FIGURE_PROBE ? &p->counts.probing_ns
	                            : &p->counts.measuring_ns) +=
	    clock_ns() - start;
	return ok;
}

/* All looks there are, ours among them. */
static void
take_probes(
    struct measure_batch *b, struct subject *s, const struct db_found *f)
{
	struct pricer *p = b->p;
	struct price *price = price_of(p, s);
	const uint32_t known = price->probes;

	price->probes = 0;
	probe_of_found(p, s, f);
	if (b->again && price->probes <= known)
		price->probes = known + 1; /* it has been looked at again */
	p->counts.probed += !b->again;
	p->counts.probed_again += b->again;
}

/* What another process has measured meanwhile. */
static bool
take_result(struct measure_batch *b, uint32_t subject, struct err *err)
{
	struct subject *s = &b->p->subject[subject];
	struct db_found f;

	if (!costdb_lookup(
	        b->p->db, s->db.bytes, s->db.n, env_of(b, s), &f, err))
		return false;
	if (f.attempts == 0)
		return true; /* invalidated just now; asked for again */
	b->p->jobs++;
	if (b->figure == FIGURE_PROBE) {
		take_probes(b, s, &f);
		return true;
	}
	take_found(b->p, s, &f, FROM_DB_EXACT);
	price_of(b->p, s)->is_second = b->figure == FIGURE_SECOND;
	b->p->counts.exact++;
	check_bounds(b->p, subject, subject + 1);
	return true;
}

static uint32_t
batch_size(const struct measure_batch *b)
{
	const struct pricer *p = b->p;
	uint32_t left = BATCH;

	if (b->figure != FIGURE_PROBE && p->o.max_measure
	    && p->o.max_measure - p->counts.measured < left)
		left = p->o.max_measure - p->counts.measured;
	return left;
}

/* Ask for leases of the first subjects; without a database (or a full one) all
 * are ours. */
static bool
ask_for_leases(struct measure_batch *b, const uint32_t *subject,
    struct lease_ask *ask, uint32_t n, struct err *err)
{
	struct pricer *p = b->p;

	for (uint32_t i = 0; i < n; i++)
		ask[i] = (struct lease_ask){
		    .subject = &p->subject[subject[i]].db,
		    .env = env_of(b, &p->subject[subject[i]]),
		    .limit_ns = subject_limit_ns(p, &p->subject[subject[i]]),
		    .known = b->again ? price_at(p, subject[i])->probes : 0,
		    .lease = LEASE_OURS,
		};
	if (!p->db || p->db_is_full
	    || costdb_lease(p->db, ask, n, batch_size(b), err))
		return true;
	for (uint32_t i = 0; i < n; i++)
		ask[i].lease = LEASE_OURS;
	return survive(p, err);
}

/* Sort subjects [n] by what the leases say: ours into the batch, those another
 * process is at stay in subject[], the rest is priced. */
static bool
share_out(
    struct measure_batch *b, uint32_t *subject, uint32_t *n, struct err *err)
{
	struct lease_ask ask[4 * BATCH];
	uint32_t asked = *n < 4 * BATCH ? *n : 4 * BATCH, kept = 0;
	uint32_t max = batch_size(b);

	if (!ask_for_leases(b, subject, ask, asked, err))
		return false;
	b->n = 0;
	for (uint32_t i = 0; i < *n; i++) {
		if (i < asked && ask[i].lease == LEASE_OURS && b->n < max)
			b->subject[b->n++] = subject[i];
		else if (i < asked && ask[i].lease == LEASE_DONE) {
			if (!take_result(b, subject[i], err))
				return false;
		} else {
			subject[kept++] = subject[i];
		}
	}
	assert(b->n <= max && kept <= *n);
	*n = kept;
	return true;
}

/* Say whom we wait for; the database may not tell, which stops nobody. */
static void
say_waiting(const struct measure_batch *b, uint32_t subject, uint32_t left)
{
	struct pricer *p = b->p;
	const struct subject *s = &p->subject[subject];
	const struct lease_ask ask = {.subject = &s->db, .env = env_of(b, s)};
	struct err ignored = {.kind = ERR_NONE};
	char holder[LEASE_HOLDER_CHARS];

	if (p->o.waiting && costdb_lease_holder(p->db, &ask, holder, &ignored)
	    && *holder)
		p->o.waiting(p->o.context,
		    arena_printf(p->arena,
		        "waiting for %s, which took %u of the prices needed "
		        "here to measure (%s)",
		        holder, left, s->db.summary));
}

/* Others are at the rest: since when, until that has been said. */
static void
wait_for_others(const struct measure_batch *b, uint32_t subject, uint32_t left,
    uint64_t *since)
{
	uint64_t now = clock_ns();

	if (*since == 0)
		*since = now;
	if (*since != UINT64_MAX && now - *since >= SILENT_NS) {
		say_waiting(b, subject, left);
		*since = UINT64_MAX;
	}
	nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
}

static bool
run_batches(struct measure_batch *b, const uint32_t *subject, uint32_t n,
    struct err *err)
{
	struct pricer *p = b->p;
	uint64_t idle_since = 0;
	uint32_t before,
	    left = n,
	    *waiting = arena_copy(p->arena, subject, n * sizeof *subject);

	while (left && may_go_on(p)) {
		before = left;
		if (!share_out(b, waiting, &left, err))
			return false;
		if (b->n && !run_batch(b, err))
			return false;
		if (left < before)
			idle_since = 0;
		else if (left)
			wait_for_others(b, waiting[0], left, &idle_since);
	}
	return !p->db || p->db_is_full || costdb_flush(p->db, err)
	    || survive(p, err);
}

bool
subjects_measure(
    struct pricer *p, const uint32_t *subject, uint32_t n, struct err *err)
{
	struct measure_batch b = {.p = p};

	if (!measuring_begin(p, subject, n, err))
		return false;
	if (p->o.canary && !p->canary_done && !pricer_canary(p, CANARIES, err))
		return false;
	return run_batches(&b, subject, n, err);
}

bool
subjects_probe(
    struct pricer *p, const uint32_t *subject, uint32_t n, struct err *err)
{
	struct measure_batch b = {.p = p,
	    .figure = FIGURE_PROBE,
	    .again = n && price_at(p, subject[0])->probes > 0};

	if (!open_measurer(p, err))
		return false;
	if (p->db
	    && !(add_environments(p, subject, n, FIGURE_PROBE, err)
	            ? begin_run(p, err)
	            : survive(p, err)))
		return false;
	return run_batches(&b, subject, n, err);
}

bool
subjects_measure_again(
    struct pricer *p, const uint32_t *subject, uint32_t n, struct err *err)
{
	struct measure_batch b = {.p = p, .figure = FIGURE_SECOND};

	return measuring_begin(p, subject, n, err)
	    && (!p->db || add_environments(p, subject, n, FIGURE_SECOND, err)
	        || survive(p, err))
	    && run_batches(&b, subject, n, err);
}
