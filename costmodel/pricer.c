#include "costmodel/pricer.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "costmodel/environment.h"
#include "costmodel/key.h"
#include "costmodel/pricer_parts.h"
#include "db/lease.h"
#include "ir/base/plural.h"
#include "ir/base/verify.h"

bool
pricer_open(struct pricer **out, const struct graph *g, const struct mix *m,
    const struct candidates *c, const struct pricer_options *o, struct arena *a,
    struct err *err)
{
	struct pricer *p = arena_new(a, struct pricer, 1);

	*p = (struct pricer){
	    .graph = g,
	    .mix = m,
	    .candidates = c,
	    .o = *o,
	    .arena = a,
	    .roofline =
	        (o->board ? roofline_of_any : roofline_of_machine)(o->threads),
	    .drift = drift_none(),
	    .environment = arena_new(a, struct environment, (size_t)m->n + 1),
	    .subject_of = arena_new(a, uint32_t, c->n),
	    .next = arena_new(a, uint32_t, c->n),
	};
	if (p->o.threads == 0)
		p->o.threads = 1;
	if (p->o.timeout_ns == 0)
		p->o.timeout_ns = MEASURE_TIMEOUT_NS;
	map_init(&p->keys, a);
	keys_init(&p->keys_of, g, m, a);
	p->db = o->opened;
	if (o->db && !p->db
	    && !costdb_open(
	        &p->db, o->db, o->measure ? DB_WRITE : DB_READ, a, err))
		return false;
	if (environments_open(p, err)) {
		*out = p;
		return true;
	}
	if (p->db)
		costdb_abandon(p->db);
	return false;
}

bool
pricer_open_like(struct pricer **out, const struct pricer *known,
    const struct mix *m, const struct candidates *c, struct arena *a,
    struct err *err)
{
	const struct pricer_options o = {
	    .timeout_ns = known->o.timeout_ns,
	    .threads = known->o.threads,
	    .board = known->o.board,
	    .told = known->o.told,
	    .reference = known->o.reference,
	    .known = known,
	};

	assert(m->n == known->mix->n);
	return pricer_open(out, known->graph, m, c, &o, a, err);
}

void
pricer_free_moves(struct pricer *p, const struct free_moves *free)
{
	assert(!p->prices);
	p->o.free = free;
}

static void
describe(struct pricer *p, const uint32_t *subject, uint32_t n)
{
	struct arena scratch;

	arena_init(&scratch);
	for (uint32_t i = 0; i < n; i++)
		if (subject[i] < p->ncandidate_subjects)
			subject_describe(p, subject[i], &scratch);
	arena_release(&scratch);
}

static void
launches_begin(struct pricer *p)
{
	price_id *id = arena_new(p->arena, price_id, p->mix->n);

	for (uint32_t t = 0; t < p->mix->n; t++) {
		const struct target *target = &p->mix->target[t];
		struct price price = {.state = PRICE_KNOWN,
		    .source = target->kind->source,
		    .when = "",
		    .detail = ""};

		if (target->kind->launches
		    && !(p->o.free && p->o.free->launches >> t & 1))
			price_of_estimate(
			    &price, target->kind->source, &target->launch);
		id[t] = prices_add(p->prices, &price);
	}
	p->prices->launch = id;
	p->prices->nlaunches = p->mix->n;
}

/* The first time: who there is. */
static void
prices_begin(struct pricer *p, struct prices *prices)
{
	price_id *id = arena_new(p->arena, price_id, p->candidates->n);

	p->prices = prices;
	prices_init(prices, p->arena);
	prices->board = p->o.board;
	subjects_of_candidates(p);
	for (uint32_t c = 0; c < p->candidates->n; c++)
		id[c] = p->subject[p->subject_of[c]].price;
	prices->candidate = id;
	prices->ncandidates = p->candidates->n;
	prices->nkeys = p->ncandidate_subjects;
	launches_begin(p);
}

static bool
look_everything_up(struct pricer *p, struct err *err)
{
	p->counts.distinct = p->counts.candidates = p->ncandidate_subjects;
	for (uint32_t i = 0; i < p->ncandidate_subjects; i++)
		if (!subject_begin(p, i, err))
			return false;
	check_bounds(p, 0, p->ncandidate_subjects);
	if (!explain_misses(p, err) || !conversions_begin(p, err))
		return false;
	check_bounds(p, p->ncandidate_subjects, p->nsubjects);
	return true;
}

bool
pricer_begin(struct pricer *p, struct prices *prices, struct err *err)
{
	bool ok;

	assert(!p->prices || p->prices == prices);
	if (!p->prices)
		prices_begin(p, prices);
	if (p->db && !costdb_begin_lookups(p->db, err))
		return false;
	ok = look_everything_up(p, err);
	if (p->db)
		costdb_end_lookups(p->db);
	if (!ok || !doubts_note(p, err))
		return false;
	conversions_close_over(p);
	VERIFY(pricer_verify(p));
	return canary_once_in_a_while(p, err);
}

/* As it was before anything was looked up; regions are asked about again. */
static void
forget(struct pricer *p)
{
	for (uint32_t i = 0; i < p->nsubjects; i++)
		subject_forget(p, &p->subject[i]);
	for (uint32_t i = 0; i <= p->mix->n; i++)
		p->environment[i].scale = 1;
	p->drift = drift_none();
	fitted_forget(p);
	map_init(&p->prices->regions, p->arena);
	p->prices->nregions = 0;
}

bool
pricer_restart(struct pricer *p, bool *done, struct err *err)
{
	struct pricer_counts counts = p->counts;
	struct notes *notes = p->o.notes;
	bool ok;

	*done = p->db && p->o.measure && !p->db_is_full;
	if (!*done)
		return true;
	if (!costdb_flush(p->db, err)) {
		*done = false;
		return survive(p, err);
	}
	p->o.notes = NULL; /* all was said the first time */
	forget(p);
	ok = pricer_begin(p, p->prices, err);
	p->o.notes = notes;
	p->counts = counts;
	return ok;
}

void
pricer_set_deadline(struct pricer *p, uint64_t deadline_ns)
{
	p->o.deadline_ns = deadline_ns;
	if (p->measurer)
		measurer_set_deadline(p->measurer, deadline_ns);
}

static bool
supposes(const struct pricer *p)
{
	return !p->o.measure && p->o.unpriced == UNPRICED_SUPPOSED;
}

/* Price subjects that are BOUND, by whatever means their kind has. */
static bool
price_subjects(
    struct pricer *p, const uint32_t *subject, uint32_t n, struct err *err)
{
	for (uint32_t i = 0; !p->o.measure && i < n; i++) {
		struct subject *s = &p->subject[subject[i]];

		s->is_wanted = supposes(p);
		subject_unmeasured(p, s);
	}
	if (!p->o.measure)
		return true;
	describe(p, subject, n);
	return subjects_measure(p, subject, n, err);
}

/* It takes what it was expected to take. */
static void
suppose_probe(struct pricer *p, struct subject *s)
{
	const cost_ns ns = price_of(p, s)->ns;
	const struct db_found f = {
	    .attempts = 1, .outcome = OUTCOME_OK, .low = ns, .high = ns};

	s->supposed++;
	p->counts.probed++;
	probe_of_found(p, s, &f);
}

static bool
probe_subjects(
    struct pricer *p, const uint32_t *subject, uint32_t n, struct err *err)
{
	for (uint32_t i = 0; supposes(p) && i < n; i++)
		suppose_probe(p, &p->subject[subject[i]]);
	if (supposes(p))
		return true;
	describe(p, subject, n);
	return subjects_probe(p, subject, n, err);
}

static bool
price_subjects_again(
    struct pricer *p, const uint32_t *subject, uint32_t n, struct err *err)
{
	describe(p, subject, n);
	return subjects_measure_again(p, subject, n, err);
}

/* What candidates are asked for instead of their probe of a number. */
#define TO_PRICE UINT32_MAX
#define TO_PRICE_AGAIN (UINT32_MAX - 1)

static bool
is_from_one_moment(const struct price *price)
{
	return price->state == PRICE_KNOWN && price->source == PRICE_MEASURED
	    && !price->is_second
	    && (price->origin == FROM_MEASURING
	        || price->origin == FROM_DB_EXACT);
}

/* May asking tell anything that was not known after `nprobes` probes? */
static bool
is_worth_asking(
    const struct pricer *p, const struct subject *s, uint32_t nprobes)
{
	if (nprobes == TO_PRICE_AGAIN)
		return is_from_one_moment(price_of(p, s));
	return price_of(p, s)->state == PRICE_BOUND
	    && (nprobes == TO_PRICE
	        || (price_of(p, s)->probes == nprobes
	            && p->environment[s->target].probe_hard));
}

static bool
ask_subjects(struct pricer *p, const uint32_t *subject, uint32_t n,
    uint32_t nprobes, struct err *err)
{
	if (nprobes == TO_PRICE)
		return price_subjects(p, subject, n, err);
	if (nprobes == TO_PRICE_AGAIN)
		return price_subjects_again(p, subject, n, err);
	return probe_subjects(p, subject, n, err);
}

/* Each subject of these candidates once: its price, or its next probe. */
static bool
ask(struct pricer *p, const uint32_t *candidate, uint32_t n, uint32_t nprobes,
    struct err *err)
{
	struct arena scratch;
	uint32_t *subject, nsubjects = 0;
	bool *asked, ok;

	arena_init(&scratch);
	subject = arena_new(&scratch, uint32_t, n);
	asked = arena_new(&scratch, bool, p->nsubjects);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = p->subject_of[candidate[i]];

		if (asked[s] || !is_worth_asking(p, &p->subject[s], nprobes))
			continue;
		asked[s] = true;
		subject[nsubjects++] = s;
	}
	ok =
	    nsubjects == 0 || ask_subjects(p, subject, nsubjects, nprobes, err);
	arena_release(&scratch);
	VERIFY(pricer_verify(p));
	return ok;
}

bool
pricer_price(
    struct pricer *p, const uint32_t *candidate, uint32_t n, struct err *err)
{
	return ask(p, candidate, n, TO_PRICE, err);
}

bool
pricer_price_again(struct pricer *p, const uint32_t *candidate, uint32_t n,
    bool *moved, struct err *err)
{
	const uint32_t before = p->counts.measured + p->counts.exact;
	bool ok =
	    !pricer_may_measure(p) || ask(p, candidate, n, TO_PRICE_AGAIN, err);

	*moved = p->counts.measured + p->counts.exact != before;
	return ok;
}

static uint32_t
probes(const struct pricer_counts *n)
{
	return n->probed + n->probed_again + n->failed;
}

bool
pricer_probe(struct pricer *p, const uint32_t *candidate, uint32_t n,
    uint32_t nprobes, bool *any, struct err *err)
{
	uint32_t before = probes(&p->counts);
	bool ok = !(p->o.measure || supposes(p))
	    || ask(p, candidate, n, nprobes, err);

	*any = probes(&p->counts) != before;
	return ok;
}

bool
pricer_price_conversions(struct pricer *p, const struct pricer_conversion *c,
    uint32_t n, struct err *err)
{
	struct arena scratch;
	uint32_t *subject, nsubjects;
	bool ok;

	arena_init(&scratch);
	subject = arena_new(&scratch, uint32_t, p->nsubjects);
	nsubjects = conversions_unpriced(p, c, n, subject, &scratch);
	ok = nsubjects == 0 || price_subjects(p, subject, nsubjects, err);
	arena_release(&scratch);
	conversions_close_over(p);
	VERIFY(pricer_verify(p));
	return ok;
}

uint32_t
pricer_readmit(struct pricer *p, bool readmitted)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nsubjects; i++) {
		if (!p->subject[i].is_refused)
			continue;
		price_at(p, i)->state = readmitted ? PRICE_BOUND : PRICE_FAILED;
		n++;
	}
	if (n)
		conversions_close_over(p);
	return n;
}

struct pricer_counts
pricer_counts(const struct pricer *p)
{
	return p->counts;
}

uint32_t
pricer_asked(const struct pricer *p)
{
	return p->counts.measured + p->counts.compared + probes(&p->counts);
}

const char *
pricer_miss_reason(const struct pricer *p, uint32_t candidate)
{
	return p->subject[p->subject_of[candidate]].why_missed;
}

void
pricer_end_workers(struct pricer *p)
{
	if (p->measurer)
		measurer_close(p->measurer);
	p->measurer = NULL;
}

bool
pricer_close(struct pricer *p, struct err *err)
{
	bool ok = true;

	pricer_end_workers(p);
	if (!p->db)
		return true;
	ok = costdb_flush(p->db, err) && record_model(p, err);
	if (ok && p->o.measure)
		ok = costdb_lease_drop(p->db, err);
	if (ok && p->nlost)
		ok = err_set(err, ERR_IO, "%s: %u figure%s could not be stored",
		    costdb_path(p->db), p->nlost, plural(p->nlost));
	costdb_abandon(p->db);
	p->db = NULL;
	return ok;
}
