/* Prices out of the database: exact, or near and why not exact. */
#include "costmodel/pricer.h"
#include "costmodel/pricer_parts.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/environment.h"
#include "db/origin.h"

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
is_asked(const struct pricer *p, const struct subject *s)
{
	return s->target < p->mix->n && p->mix->target[s->target].ask_ms > 0;
}

uint64_t
subject_limit_ns(const struct pricer *p, const struct subject *s)
{
	return is_asked(p, s)
	    ? (uint64_t)p->mix->target[s->target].ask_ms * 1000000u
	    : p->o.timeout_ns;
}

/* A price is a low quartile: its range begins at the fastest sample, where that
 * was kept. */
static cost_ns
range_low(cost_ns quartile, cost_ns least)
{
	return least > 0 && least < quartile ? least : quartile;
}

/* (P1), whatever a database or a tool says. */
static void
set_known(struct price *price, bool good, cost_ns low, cost_ns high)
{
	price->state = good ? PRICE_KNOWN : PRICE_FAILED;
	price->low = low < price->ns ? low : price->ns;
	price->high = high > price->ns ? high : price->ns;
}

static bool
has_figures(enum outcome outcome)
{
	return outcome == OUTCOME_OK || outcome == OUTCOME_NOISY;
}

/* Why it failed, or what it rests on. */
static const char *
outcome_text(enum outcome outcome, const char *detail, struct arena *a)
{
	if (outcome == OUTCOME_OK)
		return arena_str(a, detail);
	return arena_printf(a, "%s%s%s", outcome_phrase[outcome],
	    detail[0] ? ": " : "", detail);
}

/* More than floats to compute with: sizes, indices, conditions, scales. */
static bool
is_fed_more(const struct pricer *p, const struct subject *s)
{
	const struct candidate *c = &p->candidates->candidate[s->candidate];

	return c->ninputs > 1
	    || (c->ninputs == 1
	        && !dtype_is_float(
	            graph_value(p->graph, c->input[0].value)->type.dtype));
}

void
subject_excuse(struct pricer *p, struct subject *s, enum outcome outcome,
    const char *detail)
{
	if (outcome != OUTCOME_UNSUPPORTED || s->target >= p->mix->n
	    || !target_is_host(&p->mix->target[s->target])
	    || !is_fed_more(p, s))
		return;
	subject_estimate(p, s,
	    arena_printf(p->arena,
	        "made-up inputs do not suit it (%s): a multiple of the lower "
	        "bound",
	        detail));
}

void
take_found(struct pricer *p, struct subject *s, const struct db_found *f,
    enum price_origin origin)
{
	struct price *price = price_of(p, s);

	price->origin = origin;
	price->ns = f->ns;
	price->samples = f->n;
	price->cpu = f->cpu;
	price->when = arena_str(p->arena, f->at_utc);
	price->detail = outcome_text(f->outcome, f->detail, p->arena);
	price->machine = p->environment[s->target].machine;
	set_known(price, has_figures(f->outcome) && f->ns != COST_NEVER,
	    range_low(f->low, f->least), f->high);
	assert(f->attempts > 0);
	if (price->state == PRICE_FAILED && !*price->detail)
		price->detail = "its figures on record are none";
	subject_excuse(p, s, f->outcome, f->detail);
}

void
price_of_measurement(
    struct price *price, const struct sample *m, struct arena *a)
{
	bool good = has_figures(m->outcome) && m->low > 0;

	price->source = PRICE_MEASURED;
	price->origin = FROM_MEASURING;
	price->ns = m->low;
	price->samples = m->n;
	price->cpu = m->cpu;
	price->detail = outcome_text(m->outcome, m->detail, a);
	set_known(price, good, range_low(m->low, m->min), m->high);
	if (!good && !*price->detail)
		price->detail = "it took no time";
}

/* It took too long for a shorter limit than today's. */
static bool
is_worth_retrying(
    const struct pricer *p, const struct subject *s, const struct db_found *f)
{
	return f->outcome == OUTCOME_TIMEOUT
	    && f->limit_ns < subject_limit_ns(p, s) && p->o.measure;
}

/* Where it was measured once more, that counts. */
static bool
use_second(struct pricer *p, struct subject *s, struct err *err)
{
	const struct environment *e = &p->environment[s->target];
	struct db_found f = {.attempts = 0};

	if (e->second_id == DB_NO_ID || price_of(p, s)->state != PRICE_KNOWN)
		return true;
	if (!costdb_lookup(p->db, s->db.bytes, s->db.n, e->second_id, &f, err))
		return false;
	if (f.attempts == 0)
		return true;
	take_found(p, s, &f, s->answered ? s->answered : FROM_DB_EXACT);
	price_of(p, s)->is_second = true;
	return true;
}

static bool
use_exact(struct pricer *p, struct subject *s, bool *hit, struct err *err)
{
	const struct environment *e = &p->environment[s->target];
	struct db_found f;

	*hit = false;
	if (e->id == DB_NO_ID)
		return true;
	if (!costdb_lookup(p->db, s->db.bytes, s->db.n, e->id, &f, err))
		return false;
	if (f.attempts == 0)
		return true;
	if (is_worth_retrying(p, s, &f)) {
		s->why_missed = "it timed out under a shorter limit";
		s->why = WHY_too_slow;
		return true;
	}
	if (is_asked(p, s) && has_figures(f.outcome)
	    && !costdb_detail(p->db, f.newest_good, &f, err))
		return false;
	take_found(p, s, &f, s->answered ? s->answered : FROM_DB_EXACT);
	if (price_of(p, s)->state == PRICE_KNOWN)
		doubts_see(p, f.conditions);
	p->counts.exact++;
	*hit = true;
	return use_second(p, s, err);
}

static void
take_near(
    struct pricer *p, struct subject *s, const struct db_found *f, uint32_t i)
{
	const struct environment *e = &p->environment[s->target];
	bool compatible = i < e->ncompatible;

	p->counts.compatible += compatible;
	p->counts.stale += !compatible;
	s->why_missed = e->why[i];
	s->why = e->kind[i];
	if (p->o.accept < (compatible ? ACCEPT_COMPATIBLE : ACCEPT_ANY))
		return;
	take_found(p, s, f, compatible ? FROM_DB_COMPATIBLE : FROM_DB_OTHER);
	p->counts.accepted++;
	p->counts.accepted_any += !compatible;
	price_of(p, s)->machine = origin_name(e->near_hard[i], p->arena);
	price_of(p, s)->when = arena_str(p->arena, f->good_utc);
	price_of(p, s)->detail = e->why[i];
}

/* A figure of another environment: used if the user accepts it, else named as
 * the reason there is none. */
static bool
use_near(struct pricer *p, struct subject *s, bool *found, struct err *err)
{
	const struct environment *e = &p->environment[s->target];
	struct db_found f;
	uint32_t which;

	*found = false;
	if (e->nnear == 0)
		return true;
	if (!costdb_lookup_any(p->db, &s->db,
	        (struct db_environments){e->near, e->rank, e->nnear}, &which,
	        &f, err))
		return false;
	if (which == e->nnear)
		return true;
	assert(which < e->nnear && f.attempts > 0);
	*found = true;
	if (which < e->nsame) {
		take_found(p, s, &f, s->answered ? s->answered : FROM_DB_EXACT);
		p->counts.exact++;
		return true;
	}
	take_near(p, s, &f, which);
	return true;
}

/* TUNING: a probe's least of a run that was disturbed throughout. */
#define DISTURBED 2

void
probe_of_found(struct pricer *p, struct subject *s, const struct db_found *f)
{
	if (has_figures(f->outcome)) {
		cost_ns ns =
		    f->outcome == OUTCOME_OK ? f->low : f->low / DISTURBED;

		if (price_of(p, s)->probes == 0 || ns < s->probe_ns)
			s->probe_ns = ns ? ns : 1;
		if (f->high > s->probe_high)
			s->probe_high = f->high;
		if (s->probe_ns > s->probe_high) /* (R2) */
			s->probe_high = s->probe_ns;
		assert(f->attempts > 0 && s->probe_ns > 0);
		price_of(p, s)->probes += f->attempts;
		subject_bound(p, s);
		if (price_of(p, s)->state == PRICE_BOUND)
			subject_expect(p, s);
		return;
	}
	if (price_of(p, s)->state == PRICE_KNOWN) /* another time it ran */
		return;
	if (is_worth_retrying(p, s, f))
		return;
	take_found(p, s, f, s->answered ? s->answered : FROM_DB_EXACT);
}

/* What a probe in another environment says it may take. */
static bool
use_near_probe(struct pricer *p, struct subject *s, struct err *err)
{
	const struct db_environments near =
	    p->environment[s->target].near_probes;
	struct db_found f;
	uint32_t which;

	if (near.n == 0 || price_of(p, s)->state != PRICE_BOUND)
		return true;
	if (!costdb_lookup_any(p->db, &s->db, near, &which, &f, err))
		return false;
	if (which == near.n)
		return true;
	s->probe_ns = s->probe_high = f.low ? f.low : 1;
	subject_expect(p, s);
	return true;
}

/* What a probe at it has shown, now or in another run. */
static bool
use_probe(struct pricer *p, struct subject *s, struct err *err)
{
	const struct environment *e = &p->environment[s->target];
	struct db_found f = {.attempts = 0};

	if (e->probe_id != DB_NO_ID
	    && !costdb_lookup(
	        p->db, s->db.bytes, s->db.n, e->probe_id, &f, err))
		return false;
	if (f.attempts == 0)
		return use_near_probe(p, s, err);
	probe_of_found(p, s, &f);
	return true;
}

static bool
find_price(struct pricer *p, struct subject *s, struct err *err)
{
	bool found = false;

	if (!use_exact(p, s, &found, err))
		return false;
	if (found)
		return true;
	if (s->why_missed[0]) { /* an attempt that does not count */
		p->counts.missed++;
		return true;
	}
	if (!use_near(p, s, &found, err))
		return false;
	if (!found) {
		p->counts.missed++;
		s->is_missed = true;
		s->why_missed = "not in the database";
	}
	return true;
}

/* Keys begin with the number of the target, which is the same. */
static bool
use_known(struct pricer *p, struct subject *s)
{
	const struct pricer *known = p->o.known;
	const unsigned char *key = s->db.bytes;
	uint32_t i = map_find(&known->keys, key - 4, s->db.n + 4);

	if (i == MAP_NONE)
		return false;
	*price_of(p, s) = *price_at(known, i);
	s->probe_ns = known->subject[i].probe_ns;
	s->probe_high = known->subject[i].probe_high;
	s->why_missed = known->subject[i].why_missed;
	s->why = known->subject[i].why;
	return true;
}

bool
subject_lookup(struct pricer *p, uint32_t subject, struct err *err)
{
	struct subject *s = &p->subject[subject];

	if (p->o.known && use_known(p, s))
		return true;
	if (!p->db) {
		s->why_missed = "no database";
		p->counts.missed++;
		return true;
	}
	return find_price(p, s, err)
	    && (price_of(p, s)->state == PRICE_FAILED || use_probe(p, s, err))
	    && subject_lookup_bar(p, s, err);
}
