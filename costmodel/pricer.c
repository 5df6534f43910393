#include "costmodel/pricer.h"

#include <stdio.h>
#include <string.h>

#include "costmodel/environment.h"
#include "costmodel/key.h"
#include "costmodel/pricer_state.h"
#include "db/lease.h"
#include "ir/base/plural.h"

static const struct price nothing_known = {
    .state = PRICE_BOUND,
    .origin = FROM_NOWHERE,
    .when = "",
    .detail = "",
};

uint32_t
slot_add(struct pricer *p, const void *bytes, size_t n, bool *is_new)
{
	uint32_t slot = map_find(&p->keys, bytes, n);
	const unsigned char *copy;

	*is_new = slot == MAP_NONE;
	if (!*is_new)
		return slot;
	p->slot = arena_grow(
	    p->arena, p->slot, &p->slot_cap, p->nslots + 1, sizeof *p->slot);
	slot = p->nslots++;
	copy = arena_copy(p->arena, bytes, n);
	map_add(&p->keys, copy, n, slot);
	p->slot[slot] = (struct slot){
	    .subject = {.bytes = copy + 4, .n = n - 4},
	    .candidate = SLOT_NONE,
	    .value = VALUE_NONE,
	    .price = nothing_known,
	    .miss = "",
	};
	p->slot[slot].price.key = slot;
	return slot;
}

void
slot_publish(struct pricer *p, struct prices *prices, uint32_t slot)
{
	uint32_t c = p->slot[slot].candidate;

	for (; c != SLOT_NONE; c = p->next[c])
		prices->candidate[c] = p->slot[slot].price;
}

void
slot_identify(struct pricer *p, uint32_t slot, struct arena *scratch)
{
	struct slot *s = &p->slot[slot];
	const struct candidate *c;
	struct buf b;

	if (s->subject.kind)
		return;
	c = &p->candidates->candidate[s->candidate];
	s->subject.kind = "candidate";
	buf_init(&b);
	key_candidate(&p->keys_of, &b, c, KEY_SKELETON, scratch);
	s->subject.skeleton = hash128(b.data, b.n);
	b.n = 0;
	key_candidate(&p->keys_of, &b, c, KEY_FAMILY, scratch);
	s->subject.family = hash128(b.data, b.n);
	buf_release(&b);
}

void
slot_describe(struct pricer *p, uint32_t slot, struct arena *scratch)
{
	struct slot *s = &p->slot[slot];

	slot_identify(p, slot, scratch);
	if (!s->subject.summary)
		s->subject.summary = key_summary(p->graph, p->mix,
		    &p->candidates->candidate[s->candidate], p->arena);
}

/* TUNING: a kernel rarely comes closer to the roofline than this; used only
 * where nothing can be or shall be measured, and reported as an estimate. */
#define ESTIMATE_FACTOR 8

void
slot_expect(struct slot *s)
{
	struct price *p = &s->price;

	p->ns =
	    s->probe_ns > p->bound ? s->probe_ns : p->bound * ESTIMATE_FACTOR;
	p->low = p->bound;
	p->high = p->ns * ESTIMATE_FACTOR;
}

/* TUNING: a price is seldom below this share of a probe; of the lesser of two. What
 * is to be priced next is looked for with it. */
#define GUESS_ONE 0.85
#define GUESS_TWO 0.98

/* SOURCE: of 1,738 prices taken under a load of 10 to 18 (docs/notebook.md) none
 * was below these shares of a probe, less PROBE_SLACK_NS; two
 * probes tell of themselves how much they differ. */
#define BOUND_ONE 0.4
#define BOUND_TWO 0.6
#define PROBE_SLACK_NS 1000

static cost_ns
more_of(cost_ns ns, double seen)
{
	return seen > (double)ns ? (cost_ns)seen : ns;
}

/* The margin below a probe follows from how far two of them are apart. */
static double
bound_share(const struct slot *s)
{
	double spread = s->probe_high > s->probe_ns
	    ? (double)(s->probe_high - s->probe_ns) / (double)s->probe_ns
	    : 0;

	return s->price.probes > 1 ? BOUND_TWO / (1 + spread) : BOUND_ONE;
}

void
slot_bound(const struct pricer *p, struct slot *s)
{
	const struct environment *e = &p->environment[s->target];
	cost_ns work = roofline_bound(&p->roofline, s->work, e->scale);
	double guess = s->price.probes > 1 ? GUESS_TWO : GUESS_ONE;
	double seen = (double)s->probe_ns;

	s->price.bound = more_of(work, seen * bound_share(s) - PROBE_SLACK_NS);
	s->price.guess = more_of(s->price.bound, seen * guess * p->drift.scale);
}

/* Give every candidate its slot. */
static void
slots_of_candidates(struct pricer *p)
{
	struct arena scratch;
	struct buf b;

	arena_init(&scratch);
	buf_init(&b);
	for (uint32_t i = 0; i < p->candidates->n; i++) {
		const struct candidate *c = &p->candidates->candidate[i];
		uint32_t slot;
		bool is_new;

		b.n = 0;
		buf_u32(&b, c->target);
		key_candidate(&p->keys_of, &b, c, KEY_FULL, &scratch);
		slot = slot_add(p, b.data, b.n, &is_new);
		p->slot_of[i] = slot;
		p->next[i] = SLOT_NONE;
		if (is_new) {
			p->slot[slot].target = c->target;
			p->slot[slot].work =
			    work_of_candidate(p->graph, p->mix, c);
		} else {
			p->next[i] = p->slot[slot].candidate;
		}
		p->slot[slot].candidate = i;
	}
	p->ncandidate_slots = p->nslots;
	buf_release(&b);
	arena_release(&scratch);
}

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
	    .roofline = roofline_of_machine(o->threads),
	    .drift = {.scale = 1},
	    .environment = arena_new(a, struct environment, (size_t)m->n + 1),
	    .slot_of = arena_new(a, uint32_t, c->n),
	    .next = arena_new(a, uint32_t, c->n),
	};
	if (p->o.threads == 0)
		p->o.threads = 1;
	if (p->o.timeout_ns == 0)
		p->o.timeout_ns = MEASURE_TIMEOUT_NS;
	map_init(&p->keys, a);
	keys_init(&p->keys_of, g, m, a);
	if (o->db
	    && !costdb_open(
	        &p->db, o->db, o->measure ? DB_WRITE : DB_READ, a, err))
		return false;
	if (environments_open(p, err)) {
		slots_of_candidates(p);
		*out = p;
		return true;
	}
	if (p->db)
		costdb_abandon(p->db);
	return false;
}

static void
price_of_estimate(
    struct price *price, enum price_source source, const struct estimate *e)
{
	price->state = PRICE_KNOWN;
	price->source = source;
	price->origin = source == PRICE_EXTERNAL ? FROM_EXTERNAL
	    : source == PRICE_SIMULATED          ? FROM_SIMULATION
	                                         : FROM_ESTIMATE;
	price->ns = e->ns;
	price->low = e->low ? e->low : e->ns;
	price->high = e->high ? e->high : e->ns;
	price->bound = e->ns;
	price->detail = e->assumed ? e->assumed : "";
}

static void
fail_slot(struct slot *s, const char *why)
{
	s->price.state = PRICE_FAILED;
	s->price.detail = why;
}

/* A kind that works out its prices itself; what it does not price is priced
 * as FAILED. */
static void
ask_kind(struct pricer *p, struct slot *s)
{
	const struct target *t = &p->mix->target[s->target];
	struct estimate e = {.ns = 0};

	if (t->kind->simulate
	    && t->kind->simulate(
	        t, p->graph, &p->candidates->candidate[s->candidate], &e)) {
		price_of_estimate(&s->price, t->kind->source, &e);
		return;
	}
	s->price.source = t->kind->source;
	fail_slot(s, "the target gives no price for it");
}

static void
estimate(struct pricer *p, struct slot *s, const char *why)
{
	slot_expect(s);
	s->price.state = PRICE_KNOWN;
	s->price.source = PRICE_ESTIMATED;
	s->price.origin = FROM_ESTIMATE;
	s->price.detail = why;
	p->counts.estimated++;
}

/* Do all values at the candidate's boundary have a size? */
static bool
has_static_ports(const struct graph *g, const struct candidate *c)
{
	for (uint32_t i = 0; i < c->ninputs; i++)
		if (!type_is_static(&graph_value(g, c->input[i].value)->type))
			return false;
	for (uint32_t i = 0; i < c->noutputs; i++)
		if (!type_is_static(&graph_value(g, c->output[i].value)->type))
			return false;
	return true;
}

static bool
is_opaque(const struct graph *g, const struct candidate *c)
{
	for (uint32_t i = 0; i < c->nnodes; i++)
		if (graph_node(g, c->node[i])->op == OP_CUSTOM)
			return true;
	return false;
}

/* Why a candidate cannot be measured at all, or NULL. */
static const char *
not_measurable(const struct graph *g, const struct candidate *c)
{
	if (is_opaque(g, c))
		return "an operator nothing here can run: a multiple of the "
		       "lower bound";
	if (!has_static_ports(g, c))
		return "a dynamic shape cannot be measured (--dim and --shape "
		       "bind it): a multiple of the lower bound";
	return NULL;
}

/* Never above the price. Nothing bounds what another machine takes; a tool that
 * only says whether a simulated price counts leaves it as it is. */
static void
set_bound(const struct pricer *p, struct slot *s)
{
	const struct target *t = &p->mix->target[s->target];
	struct estimate e = {.ns = 1};

	if (!t->ask_ms || t->is_this_cpu) {
		slot_bound(p, s);
		return;
	}
	if (t->source == PRICE_SIMULATED)
		t->kind->simulate(
		    t, p->graph, &p->candidates->candidate[s->candidate], &e);
	s->price.bound = s->price.guess = e.ns ? e.ns : 1;
}

static bool
slot_begin(struct pricer *p, uint32_t i, struct err *err)
{
	struct slot *s = &p->slot[i];
	const struct target *t = &p->mix->target[s->target];
	const struct candidate *c = &p->candidates->candidate[s->candidate];
	const char *why;

	s->price.source = t->source;
	if (!p->environment[s->target].is_stored) {
		ask_kind(p, s);
		p->counts.simulated += t->source == PRICE_SIMULATED;
		p->counts.estimated += t->source == PRICE_ESTIMATED;
		return true;
	}
	set_bound(p, s);
	slot_expect(s);
	why = not_measurable(p->graph, c);
	if (!t->ask_ms && why) {
		estimate(p, s, why);
		return true;
	}
	if (!has_static_ports(p->graph, c)) {
		fail_slot(s,
		    "a dynamic shape cannot be given to a tool (--dim "
		    "and --shape bind it)");
		return true;
	}
	if (!slot_lookup(p, i, err))
		return false;
	p->counts.stored++;
	p->counts.reused += s->price.state != PRICE_BOUND;
	return true;
}

static void
describe(struct pricer *p, const uint32_t *slot, uint32_t n)
{
	struct arena scratch;

	arena_init(&scratch);
	for (uint32_t i = 0; i < n; i++)
		if (slot[i] < p->ncandidate_slots)
			slot_describe(p, slot[i], &scratch);
	arena_release(&scratch);
}

static void
launches_begin(struct pricer *p, struct prices *prices)
{
	p->launch = arena_new(p->arena, struct price, p->mix->n);
	for (uint32_t t = 0; t < p->mix->n; t++) {
		const struct target *target = &p->mix->target[t];
		struct price *price = &p->launch[t];
		struct estimate e = {.ns = 0};

		*price = nothing_known;
		price->state = PRICE_KNOWN;
		price->source = target->kind->source;
		if (!target->kind->launches || !target->kind->launch_ns
		    || (p->o.free && p->o.free->launches >> t & 1))
			continue;
		e.ns = target->kind->launch_ns(target, &e);
		price_of_estimate(price, target->kind->source, &e);
	}
	prices->launch = p->launch;
}

static bool
look_everything_up(struct pricer *p, struct prices *prices, struct err *err)
{
	*prices = (struct prices){
	    .candidate = arena_new(p->arena, struct price, p->candidates->n),
	    .nkeys = p->ncandidate_slots,
	};
	map_init(&prices->regions, p->arena);
	p->counts.distinct = p->counts.candidates = p->ncandidate_slots;
	for (uint32_t i = 0; i < p->ncandidate_slots; i++) {
		if (!slot_begin(p, i, err))
			return false;
		slot_publish(p, prices, i);
	}
	for (uint32_t i = 0; i < p->ncandidate_slots; i++)
		check_bound(p, prices, i);
	return explain_misses(p, err) && conversions_begin(p, prices, err)
	    && doubts_note(p, err);
}

bool
pricer_begin(struct pricer *p, struct prices *prices, struct err *err)
{
	bool ok;

	if (p->db && !costdb_begin_lookups(p->db, err))
		return false;
	ok = look_everything_up(p, prices, err);
	if (p->db)
		costdb_end_lookups(p->db);
	if (!ok)
		return false;
	launches_begin(p, prices);
	conversions_close_over(p, prices);
	return canary_once_in_a_while(p, err);
}

/* As it was before anything was looked up. */
static void
forget(struct pricer *p)
{
	for (uint32_t i = 0; i < p->nslots; i++) {
		struct slot *s = &p->slot[i];
		enum price_source source = s->price.source;
		enum price_origin origin = s->price.origin;

		if (origin == FROM_MEASURING || origin == FROM_EXTERNAL)
			s->answered = origin;
		s->price = nothing_known;
		s->price.source = source;
		s->price.key = i;
		s->probe_ns = s->probe_high = 0;
		s->miss = "";
		s->is_missed = false;
	}
	for (uint32_t i = 0; i <= p->mix->n; i++)
		p->environment[i].scale = 1;
	p->drift = (struct drift){.scale = 1};
}

bool
pricer_restart(
    struct pricer *p, struct prices *prices, bool *done, struct err *err)
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
	ok = pricer_begin(p, prices, err);
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

/* Measuring is off: what the kind says itself, or an estimate; of a tool, that
 * nothing is known. */
static void
price_unmeasured(struct pricer *p, struct slot *s)
{
	const struct target *t =
	    s->target < p->mix->n ? &p->mix->target[s->target] : NULL;

	if (!t || !t->ask_ms) {
		estimate(p, s,
		    "no figure in the database and measuring is off: a "
		    "multiple of the lower bound");
	} else if (t->kind->simulate) {
		ask_kind(p, s);
		p->counts.simulated++;
	} else {
		fail_slot(s,
		    "no figure in the database and measuring is off: the tool "
		    "was not asked");
	}
}

/* Price slots that are BOUND, by whatever means their kind has. */
static bool
price_slots(struct pricer *p, struct prices *prices, uint32_t *slot, uint32_t n,
    struct err *err)
{
	uint32_t nmeasure = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct slot *s = &p->slot[slot[i]];

		if (!p->o.measure) {
			price_unmeasured(p, s);
			slot_publish(p, prices, slot[i]);
		} else {
			slot[nmeasure++] = slot[i];
		}
	}
	if (nmeasure == 0)
		return true;
	describe(p, slot, nmeasure);
	return slots_measure(p, prices, slot, nmeasure, err);
}

bool
pricer_price(struct pricer *p, struct prices *prices, const uint32_t *candidate,
    uint32_t n, struct err *err)
{
	struct arena scratch;
	uint32_t *slot, nslots = 0;
	bool *asked, ok;

	arena_init(&scratch);
	slot = arena_new(&scratch, uint32_t, n);
	asked = arena_new(&scratch, bool, p->nslots);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = p->slot_of[candidate[i]];

		if (p->slot[s].price.state != PRICE_BOUND || asked[s])
			continue;
		asked[s] = true;
		slot[nslots++] = s;
	}
	ok = nslots == 0 || price_slots(p, prices, slot, nslots, err);
	arena_release(&scratch);
	return ok;
}

/* May a probe tell anything about it that `nprobes` did not? */
static bool
is_worth_a_probe(const struct pricer *p, const struct slot *s, uint32_t nprobes)
{
	return s->price.state == PRICE_BOUND && s->price.probes == nprobes
	    && p->environment[s->target].probe_hard != NULL;
}

static uint32_t
probes(const struct pricer_counts *n)
{
	return n->probed + n->probed_again + n->failed;
}

/* Those of candidates [n] that were looked at `nprobes` times so far. */
struct probe_at {
	const uint32_t *candidate;
	uint32_t n, nprobes;
};

static bool
probe(struct pricer *p, struct prices *prices, const struct probe_at *at,
    bool *any, struct err *err)
{
	uint32_t before = probes(&p->counts), nslots = 0;
	struct arena scratch;
	uint32_t *slot;
	bool *asked, ok;

	*any = false;
	if (!p->o.measure)
		return true;
	arena_init(&scratch);
	slot = arena_new(&scratch, uint32_t, at->n);
	asked = arena_new(&scratch, bool, p->nslots);
	for (uint32_t i = 0; i < at->n; i++) {
		uint32_t s = p->slot_of[at->candidate[i]];

		if (asked[s] || !is_worth_a_probe(p, &p->slot[s], at->nprobes))
			continue;
		asked[s] = true;
		slot[nslots++] = s;
	}
	describe(p, slot, nslots);
	ok = nslots == 0 || slots_probe(p, prices, slot, nslots, err);
	arena_release(&scratch);
	*any = probes(&p->counts) != before;
	return ok;
}

bool
pricer_probe(struct pricer *p, struct prices *prices, const uint32_t *candidate,
    uint32_t n, bool *any, struct err *err)
{
	const struct probe_at at = {candidate, n, 0};

	return probe(p, prices, &at, any, err);
}

bool
pricer_probe_again(struct pricer *p, struct prices *prices,
    const uint32_t *candidate, uint32_t n, bool *any, struct err *err)
{
	const struct probe_at at = {candidate, n, 1};

	return probe(p, prices, &at, any, err);
}

bool
pricer_price_conversions(struct pricer *p, struct prices *prices,
    const struct pricer_conversion *c, uint32_t n, struct err *err)
{
	struct arena scratch;
	uint32_t *slot, nslots;
	bool ok;

	arena_init(&scratch);
	slot = arena_new(&scratch, uint32_t, p->nslots);
	nslots = conversions_unpriced(p, prices, c, n, slot, &scratch);
	ok = nslots == 0 || price_slots(p, prices, slot, nslots, err);
	arena_release(&scratch);
	conversions_close_over(p, prices);
	return ok;
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
	return p->slot[p->slot_of[candidate]].miss;
}

bool
pricer_close(struct pricer *p, struct err *err)
{
	bool ok = true;

	if (p->measurer)
		measurer_close(p->measurer);
	p->measurer = NULL;
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
