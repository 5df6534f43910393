/* Pairs of candidates whose prices are closer than their noise, measured in
 * turn in one worker: drift of the machine hits both alike. Kept in the
 * database under the facts of the first with `cost=versus`; the subject is the
 * bytes of both and the facts of the second. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "costmodel/environment.h"
#include "costmodel/fit.h"
#include "costmodel/pricer.h"
#include "costmodel/pricer_parts.h"
#include "costmodel/want_list.h"
#include "ir/base/buf.h"

/* A pair as the database knows it. */
struct compared_pair {
	struct db_subject subject;
	db_id env;
	const char *hard;
};

struct comparisons {
	struct pricer *p;
	struct pricer_pair *pair; /* [n] */
	struct compared_pair *known; /* [n] */
	uint32_t *of; /* [jobs] which pair a job is of */
	struct err *err;
};

static struct compared_pair
pair_of(struct pricer *p, const struct pricer_pair *pair)
{
	const struct subject *a = &p->subject[p->subject_of[pair->a]];
	const struct subject *b = &p->subject[p->subject_of[pair->b]];
	struct compared_pair d = {.subject = {.kind = "candidate"}};
	struct buf bytes;

	buf_init(&bytes);
	buf_str(&bytes, "versus");
	buf_u32(&bytes, (uint32_t)a->db.n);
	buf_add(&bytes, a->db.bytes, a->db.n);
	buf_add(&bytes, b->db.bytes, b->db.n);
	buf_str(&bytes, p->environment[b->target].hard);
	d.subject.bytes = arena_copy(p->arena, bytes.data, bytes.n);
	d.subject.n = bytes.n;
	d.subject.skeleton = d.subject.family = hash128(bytes.data, bytes.n);
	buf_release(&bytes);
	d.subject.summary = arena_printf(
	    p->arena, "%s, millionths of %s", b->db.summary, a->db.summary);
	d.hard = environment_other(
	    p->environment[a->target].hard, "versus", p->arena);
	return d;
}

static bool
find(struct pricer *p, struct compared_pair *d, struct db_found *f,
    struct err *err)
{
	*f = (struct db_found){.attempts = 0};
	return costdb_environment(p->db, d->hard, false, &d->env, err)
	    && (d->env == DB_NO_ID
	        || costdb_lookup(
	            p->db, d->subject.bytes, d->subject.n, d->env, f, err));
}

/* What the database has of a pair, whichever was first. */
static bool
look_up(struct comparisons *x, uint32_t i, bool *there, struct err *err)
{
	struct pricer_pair *pair = &x->pair[i];
	const struct pricer_pair turned = {.a = pair->b, .b = pair->a};
	struct compared_pair back;
	struct fit_pair said;
	struct db_found f;

	*there = false;
	if (!x->p->db)
		return true;
	if (!find(x->p, &x->known[i], &f, err))
		return false;
	if (f.attempts == 0) {
		back = pair_of(x->p, &turned);
		if (!find(x->p, &back, &f, err))
			return false;
		said = fit_turned(
		    &(struct fit_pair){pair->b, pair->a, f.low, f.high});
	} else {
		said = (struct fit_pair){pair->a, pair->b, f.low, f.high};
	}
	pair->low = said.low;
	pair->high = said.high;
	*there = f.attempts > 0;
	pair->known = pair->low > 0;
	return true;
}

static void
pair_done(void *context, uint32_t job, const struct sample *r)
{
	struct comparisons *x = context;
	const uint32_t i = x->of[job];
	const struct subject s = {.db = x->known[i].subject};

	if (x->err->kind != ERR_NONE
	    || !store_attempt(x->p, &s, x->known[i].env, r, x->err))
		return;
	x->pair[i].known = r->low > 0;
	x->pair[i].low = r->low;
	x->pair[i].high = r->high;
	x->p->counts.compared++;
}

static bool
run_pairs(struct comparisons *x, const uint32_t *subject,
    const struct measure_job *job, uint32_t n, struct err *err)
{
	struct costdb *db = x->p->db;

	if (!measuring_begin(x->p, subject, n, err))
		return false;
	for (uint32_t k = 0; db && k < n; k++) {
		struct compared_pair *d = &x->known[x->of[k]];

		if (!costdb_environment(db, d->hard, true, &d->env, err)
		    && !survive(x->p, err))
			return false;
	}
	x->err = err;
	return measurer_run(x->p->measurer, job, n, pair_done, x, err)
	    && err->kind == ERR_NONE
	    && (!db || costdb_flush(db, err) || survive(x->p, err));
}

static void
name_for_boards(const struct pricer *p, struct measure_job *job)
{
	if (!p->o.links)
		return;
	job->of = want_subject(
	    p->o.want, p, &p->subject[p->subject_of[job->candidate]]);
	job->other =
	    want_subject(p->o.want, p, &p->subject[p->subject_of[job->second]]);
}

bool
pricer_compare(
    struct pricer *p, struct pricer_pair *pair, uint32_t n, struct err *err)
{
	struct arena *a = p->arena;
	struct measure_job *job = arena_new(a, struct measure_job, n);
	uint32_t *subject = arena_new(a, uint32_t, n), njobs = 0;
	struct comparisons x = {.p = p,
	    .pair = pair,
	    .known = arena_new(a, struct compared_pair, n),
	    .of = arena_new(a, uint32_t, n)};

	for (uint32_t i = 0; i < n; i++) {
		bool there;

		assert(p->subject_of[pair[i].a] != p->subject_of[pair[i].b]);
		pair[i].known = false;
		subject_describe(p, p->subject_of[pair[i].a], a);
		subject_describe(p, p->subject_of[pair[i].b], a);
		x.known[i] = pair_of(p, &pair[i]);
		if (fitted_recall(p, &pair[i]))
			continue;
		if (!look_up(&x, i, &there, err))
			return false;
		if (there || !p->o.measure)
			continue;
		subject[njobs] = p->subject_of[pair[i].a];
		x.of[njobs] = i;
		job[njobs] = (struct measure_job){.candidate = pair[i].a,
		    .value = VALUE_NONE,
		    .is_pair = true,
		    .second = pair[i].b};
		name_for_boards(p, &job[njobs++]);
	}
	if (njobs && !run_pairs(&x, subject, job, njobs, err))
		return false;
	for (uint32_t i = 0; i < n; i++)
		fitted_keep(p, &pair[i]);
	return true;
}
