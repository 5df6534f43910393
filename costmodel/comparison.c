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

#define MILLION UINT64_C(1000000)

/* The other way round it says the same: how long a takes per b. */
static uint64_t
inverse(uint64_t ratio)
{
	return ratio ? MILLION * MILLION / ratio : 0;
}

/* What the database has of a pair, whichever was first. */
static bool
look_up(struct comparisons *x, uint32_t i, bool *there, struct err *err)
{
	struct pricer_pair *pair = &x->pair[i];
	const struct pricer_pair turned = {.a = pair->b, .b = pair->a};
	struct compared_pair back;
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
		pair->low = inverse(f.high);
		pair->high = inverse(f.low);
	} else {
		pair->low = f.low;
		pair->high = f.high;
	}
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

/* ---- what is known of this run ---- */

/* What was compared, and its price as it was measured. */
struct pricer_fitted {
	uint32_t subject;
	cost_ns ns; /* as fitted: another one was measured since */
	cost_ns own, low, high, bound;
};

static uint32_t
fitted_of(struct pricer *p, uint32_t subject)
{
	for (uint32_t i = 0; i < p->nfitted; i++)
		if (p->fitted[i].subject == subject)
			return i;
	p->fitted = arena_grow(p->arena, p->fitted, &p->fitted_cap,
	    p->nfitted + 1, sizeof *p->fitted);
	p->fitted[p->nfitted] = (struct pricer_fitted){.subject = subject};
	return p->nfitted++;
}

/* What turns of two said; whether it counts in this search. */
struct pricer_turned {
	struct fit_pair pair;
	bool counts;
};

static struct pricer_turned *
find_turned(const struct pricer *p, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < p->nturned; i++)
		if (p->turned[i].pair.a == a && p->turned[i].pair.b == b)
			return &p->turned[i];
	return NULL;
}

/* Whichever was first. */
static bool
recall(struct pricer *p, struct pricer_pair *pair)
{
	const uint32_t a = fitted_of(p, p->subject_of[pair->a]);
	const uint32_t b = fitted_of(p, p->subject_of[pair->b]);
	struct pricer_turned *t = find_turned(p, a, b);
	struct pricer_turned *back = t ? NULL : find_turned(p, b, a);

	pair->known = t || back;
	if (!pair->known)
		return false;
	(t ? t : back)->counts = true;
	pair->low = t ? t->pair.low : inverse(back->pair.high);
	pair->high = t ? t->pair.high : inverse(back->pair.low);
	return true;
}

static void
keep_turned(struct pricer *p, const struct pricer_pair *pair)
{
	struct pricer_pair seen = *pair;

	if (!pair->known || recall(p, &seen))
		return;
	p->turned = arena_grow(p->arena, p->turned, &p->turned_cap,
	    p->nturned + 1, sizeof *p->turned);
	p->turned[p->nturned++] = (struct pricer_turned){
	    {fitted_of(p, p->subject_of[pair->a]),
	        fitted_of(p, p->subject_of[pair->b]), pair->low, pair->high},
	    true};
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
		if (recall(p, &pair[i]))
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
		keep_turned(p, &pair[i]);
	return true;
}

/* ---- prices that fit ---- */

static cost_ns
scaled(cost_ns x, cost_ns ns, cost_ns own)
{
	return (cost_ns)((double)x * (double)ns / (double)own);
}

/* Its range goes along. */
static bool
take_fitted(struct price *price, struct pricer_fitted *f, cost_ns ns)
{
	const cost_ns low = scaled(f->low, ns, f->own);
	const cost_ns high = scaled(f->high, ns, f->own) + 1;
	const bool moved = price->ns != ns;

	price->low = low < ns ? low : ns;
	price->high = ns == f->own ? f->high : high > ns ? high : ns;
	price->bound = f->bound < ns ? f->bound : ns;
	price->ns = f->ns = ns;
	price_verify(price);
	return moved;
}

static void
look_at_price(const struct pricer *p, struct pricer_fitted *f)
{
	const struct price *price = price_at(p, f->subject);

	if (price->state == PRICE_KNOWN && price->ns != f->ns)
		*f = (struct pricer_fitted){f->subject, price->ns, price->ns,
		    price->low, price->high, price->bound};
}

bool
pricer_fit(struct pricer *p)
{
	bool moved = false;
	struct arena scratch;
	struct fit_pair *pair;
	uint32_t npairs = 0;
	cost_ns *ns, *spread;

	arena_init(&scratch);
	pair = arena_new(&scratch, struct fit_pair, p->nturned);
	ns = arena_new(&scratch, cost_ns, p->nfitted);
	spread = arena_new(&scratch, cost_ns, p->nfitted);
	for (uint32_t i = 0; i < p->nfitted; i++) {
		struct pricer_fitted *f = &p->fitted[i];

		look_at_price(p, f);
		ns[i] = f->own ? f->own : 1;
		spread[i] = f->high > f->own ? f->high - f->own : 0;
	}
	for (uint32_t i = 0; i < p->nturned; i++)
		if (p->turned[i].counts)
			pair[npairs++] = p->turned[i].pair;
	fit_prices(ns, spread, p->nfitted, pair, npairs, &scratch);
	for (uint32_t i = 0; i < p->nfitted; i++) {
		struct price *price = price_at(p, p->fitted[i].subject);

		if (price->state == PRICE_KNOWN && p->fitted[i].own)
			moved |= take_fitted(price, &p->fitted[i], ns[i]);
	}
	arena_release(&scratch);
	return moved;
}

void
pricer_unfit(struct pricer *p)
{
	for (uint32_t i = 0; i < p->nturned; i++)
		p->turned[i].counts = false;
	pricer_fit(p);
}

void
comparisons_forget(struct pricer *p)
{
	p->nturned = p->nfitted = 0;
}
