/* Prices out of the database: exact, or near and why not exact. */
#include "costmodel/pricer.h"
#include "costmodel/pricer_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/environment.h"
#include "db/facts.h"

static const char *const outcome_phrase[] = {
    [OUTCOME_OK] = "ok",
    [OUTCOME_UNSUPPORTED] = "unsupported",
    [OUTCOME_WRONG] = "wrong result",
    [OUTCOME_TIMEOUT] = "timeout",
    [OUTCOME_CRASH] = "crash",
    [OUTCOME_OOM] = "out of memory",
    [OUTCOME_NOISY] = "noisy",
};

/* Does a tool tell its price? */
static bool
is_asked(const struct pricer *p, const struct slot *s)
{
	return s->target < p->mix->n && p->mix->target[s->target].ask_ms > 0;
}

uint64_t
slot_limit_ns(const struct pricer *p, const struct slot *s)
{
	return is_asked(p, s)
	    ? (uint64_t)p->mix->target[s->target].ask_ms * 1000000u
	    : p->o.timeout_ns;
}

/* One stored environment and how it stands to ours. */
struct candidate_env {
	db_id id;
	struct facts_gap gap;
	const char *hard;
};

/* Compatible ones first, then stale ones, then the same target on other
 * machines; of these the ones that differ in fewer facts. In no case by row,
 * for rows are in the order of merging. */
static int
compare_near(const void *a, const void *b)
{
	const struct candidate_env *x = a, *y = b;

	if (x->gap.relation != y->gap.relation)
		return x->gap.relation < y->gap.relation ? -1 : 1;
	if (x->gap.n != y->gap.n)
		return x->gap.n < y->gap.n ? -1 : 1;
	return strcmp(x->hard, y->hard);
}

static void
sort_near(struct environment *e, struct candidate_env *all, uint32_t n,
    struct arena *a)
{
	db_id *id = arena_new(a, db_id, n);
	const char **why = arena_new(a, const char *, n);
	uint32_t *rank = arena_new(a, uint32_t, n);

	if (n > 1)
		qsort(all, n, sizeof *all, compare_near);
	for (uint32_t i = 0; i < n; i++) {
		id[i] = all[i].id;
		why[i] = all[i].gap.why;
		rank[i] = i;
		if (i && all[i].gap.relation == all[i - 1].gap.relation
		    && all[i].gap.n == all[i - 1].gap.n)
			rank[i] = rank[i - 1];
		e->ncompatible += all[i].gap.relation <= FACTS_COMPATIBLE;
	}
	e->near = id;
	e->why = why;
	e->rank = rank;
	e->nnear = n;
}

static bool
same_fact(const char *key, const char *x, const char *y, struct arena *a)
{
	const char *s = facts_get(x, key, a);
	const char *t = facts_get(y, key, a);

	return s && t && strcmp(s, t) == 0;
}

static void
find_near(struct pricer *p, struct environment *e,
    const struct db_environment *stored, uint32_t n)
{
	struct candidate_env *all =
	    arena_new(p->arena, struct candidate_env, n);
	uint32_t nall = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (stored[i].id == e->id
		    || !same_fact("target", stored[i].hard, e->hard, p->arena)
		    || !same_fact("cost", stored[i].hard, e->hard, p->arena))
			continue;
		all[nall++] = (struct candidate_env){
		    .id = stored[i].id,
		    .gap = facts_compare(stored[i].hard, e->hard, p->arena),
		    .hard = stored[i].hard,
		};
	}
	sort_near(e, all, nall, p->arena);
}

static bool
is_stored(const struct pricer *p, uint32_t i)
{
	if (i == p->mix->n)
		return true;
	return p->mix->target[i].ask_ms > 0
	    || p->mix->target[i].source == PRICE_MEASURED;
}

static bool
is_measured_here(const struct pricer *p, uint32_t i)
{
	return i == p->mix->n || p->mix->target[i].source == PRICE_MEASURED;
}

bool
environments_open(struct pricer *p, struct err *err)
{
	const struct db_environment *stored = NULL;
	uint32_t nstored = 0;

	if (p->db
	    && !costdb_environments(p->db, &stored, &nstored, p->arena, err))
		return false;
	for (uint32_t i = 0; i <= p->mix->n; i++) {
		struct environment *e = &p->environment[i];

		e->scale = 1;
		e->is_stored = is_stored(p, i);
		if (!e->is_stored)
			continue;
		e->hard =
		    environment_hard(i < p->mix->n ? &p->mix->target[i] : NULL,
		        p->o.threads, p->arena);
		if (is_measured_here(p, i))
			e->probe_hard =
			    environment_other(e->hard, "glance", p->arena);
		if (!p->db)
			continue;
		if (!costdb_environment(p->db, e->hard, false, &e->id, err)
		    || (e->probe_hard
		        && !costdb_environment(
		            p->db, e->probe_hard, false, &e->probe_id, err))
		    || !costdb_environment(p->db,
		        environment_other(e->hard, "bar", p->arena), false,
		        &e->bar_id, err))
			return false;
		find_near(p, e, stored, nstored);
	}
	return true;
}

/* A price is a low quartile: its range begins at the fastest sample, where that
 * was kept. */
static cost_ns
range_low(cost_ns quartile, cost_ns least)
{
	return least > 0 && least < quartile ? least : quartile;
}

void
price_of_found(struct price *price, const struct db_found *f)
{
	bool good = f->outcome == OUTCOME_OK || f->outcome == OUTCOME_NOISY;

	price->state = good ? PRICE_KNOWN : PRICE_FAILED;
	price->ns = f->ns;
	price->low = range_low(f->low, f->least);
	price->high = f->high;
	price->samples = f->n;
}

void
price_of_measurement(
    struct price *price, const struct sample *m, struct arena *a)
{
	bool good = m->outcome == OUTCOME_OK || m->outcome == OUTCOME_NOISY;

	price->source = PRICE_MEASURED;
	price->origin = FROM_MEASURING;
	price->state = good && m->low > 0 ? PRICE_KNOWN : PRICE_FAILED;
	price->ns = m->low;
	price->low = range_low(m->low, m->min);
	price->high = m->high;
	price->samples = m->n;
	price->detail = arena_str(a, m->detail);
	if (m->outcome != OUTCOME_OK)
		price->detail =
		    arena_printf(a, "%s%s%s", outcome_phrase[m->outcome],
		        m->detail[0] ? ": " : "", m->detail);
}

/* Why it failed, or what it rests on. */
static const char *
outcome_words(const struct db_found *f, struct arena *a)
{
	if (f->outcome == OUTCOME_OK)
		return arena_str(a, f->detail);
	return arena_printf(a, "%s%s%s", outcome_phrase[f->outcome],
	    f->detail[0] ? ": " : "", f->detail);
}

/* It took too long for a shorter limit than today's. */
static bool
is_worth_retrying(
    const struct pricer *p, const struct slot *s, const struct db_found *f)
{
	return f->outcome == OUTCOME_TIMEOUT
	    && f->limit_ns < slot_limit_ns(p, s) && p->o.measure;
}

static bool
use_exact(struct pricer *p, struct slot *s, bool *hit, struct err *err)
{
	const struct environment *e = &p->environment[s->target];
	struct db_found f;

	*hit = false;
	if (e->id == DB_NO_ID)
		return true;
	if (!costdb_lookup(
	        p->db, s->subject.bytes, s->subject.n, e->id, &f, err))
		return false;
	if (f.attempts == 0)
		return true;
	if (is_worth_retrying(p, s, &f)) {
		s->miss = "it timed out under a shorter limit";
		return true;
	}
	price_of_found(&s->price, &f);
	if (is_asked(p, s) && s->price.state == PRICE_KNOWN
	    && !costdb_detail(p->db, f.newest_good, &f, err))
		return false;
	s->price.origin = s->answered ? s->answered : FROM_DB_EXACT;
	s->price.when = arena_str(p->arena, f.at_utc);
	s->price.detail = outcome_words(&f, p->arena);
	if (s->price.state == PRICE_KNOWN)
		doubts_see(p, f.conditions);
	p->counts.exact++;
	*hit = true;
	return true;
}

/* A figure of another environment: used if the user accepts it, else named as
 * the reason there is none. */
static bool
use_near(struct pricer *p, struct slot *s, bool *found, struct err *err)
{
	const struct environment *e = &p->environment[s->target];
	struct db_found f;
	uint32_t which;
	bool compatible, accepted;

	*found = false;
	if (e->nnear == 0)
		return true;
	if (!costdb_lookup_any(p->db, &s->subject,
	        (struct db_environments){e->near, e->rank, e->nnear}, &which,
	        &f, err))
		return false;
	if (which == e->nnear)
		return true;
	*found = true;
	compatible = which < e->ncompatible;
	p->counts.compatible += compatible;
	p->counts.stale += !compatible;
	accepted = p->o.accept == ACCEPT_ANY
	    || (compatible && p->o.accept == ACCEPT_COMPATIBLE);
	s->miss = e->why[which];
	if (!accepted)
		return true;
	price_of_found(&s->price, &f);
	s->price.origin = FROM_DB_COMPATIBLE;
	p->counts.accepted++;
	s->price.when = arena_str(p->arena, f.good_utc);
	s->price.detail = e->why[which];
	return true;
}

/* TUNING: a probe's least of a run that was disturbed throughout. */
#define DISTURBED 2

void
probe_of_found(struct pricer *p, struct slot *s, const struct db_found *f)
{
	if (f->outcome == OUTCOME_OK || f->outcome == OUTCOME_NOISY) {
		cost_ns ns =
		    f->outcome == OUTCOME_OK ? f->low : f->low / DISTURBED;

		if (s->price.probes == 0 || ns < s->probe_ns)
			s->probe_ns = ns ? ns : 1;
		s->probe_high =
		    f->high > s->probe_high ? f->high : s->probe_high;
		s->price.probes += f->attempts;
		slot_bound(p, s);
		if (s->price.state == PRICE_BOUND)
			slot_expect(s);
		return;
	}
	if (s->price.state == PRICE_KNOWN) /* another time it ran */
		return;
	if (is_worth_retrying(p, s, f))
		return;
	price_of_found(&s->price, f);
	s->price.origin = s->answered ? s->answered : FROM_DB_EXACT;
	s->price.when = arena_str(p->arena, f->at_utc);
	s->price.detail = outcome_words(f, p->arena);
}

/* What a probe at it has shown, now or in another run. */
static bool
use_probe(struct pricer *p, struct slot *s, struct err *err)
{
	const struct environment *e = &p->environment[s->target];
	struct db_found f;

	if (e->probe_id == DB_NO_ID)
		return true;
	if (!costdb_lookup(
	        p->db, s->subject.bytes, s->subject.n, e->probe_id, &f, err))
		return false;
	if (f.attempts)
		probe_of_found(p, s, &f);
	return true;
}

static bool
find_price(struct pricer *p, struct slot *s, struct err *err)
{
	bool found = false;

	if (!use_exact(p, s, &found, err))
		return false;
	if (found)
		return true;
	if (s->miss[0]) { /* an attempt that does not count */
		p->counts.missed++;
		return true;
	}
	if (!use_near(p, s, &found, err))
		return false;
	if (!found) {
		p->counts.missed++;
		s->is_missed = true;
		s->miss = "not in the database";
	}
	return true;
}

bool
slot_lookup(struct pricer *p, uint32_t slot, struct err *err)
{
	struct slot *s = &p->slot[slot];

	if (!p->db) {
		s->miss = "no database";
		p->counts.missed++;
		return true;
	}
	return find_price(p, s, err)
	    && (s->price.state == PRICE_FAILED || use_probe(p, s, err))
	    && slot_lookup_bar(p, s, err);
}
