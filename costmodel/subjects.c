/* Subjects: who they are, and what is known of each for nothing. */
#include "costmodel/board.h"
#include "costmodel/pricer_parts.h"

/* What is known of one before anything was looked up. */
static const struct price nothing_known = {
    .state = PRICE_BOUND,
    .origin = FROM_NOWHERE,
    .when = "",
    .detail = "",
};

/* One with a key that lives as long as the pricer. */
static uint32_t
add_new(struct pricer *p, const unsigned char *key, size_t n)
{
	uint32_t subject = p->nsubjects++;

	p->subject = arena_grow(p->arena, p->subject, &p->subject_cap,
	    p->nsubjects, sizeof *p->subject);
	map_add(&p->keys, key, n, subject);
	p->subject[subject] = (struct subject){
	    .db = {.bytes = key + 4, .n = n - 4},
	    .candidate = SUBJECT_NONE,
	    .value = VALUE_NONE,
	    .price = prices_add(p->prices, &nothing_known),
	    .why_missed = "",
	    .why = WHY_first_seen,
	};
	return subject;
}

uint32_t
subject_add(struct pricer *p, const void *bytes, size_t n, bool *is_new)
{
	uint32_t subject = map_find(&p->keys, bytes, n);

	*is_new = subject == MAP_NONE;
	return *is_new ? add_new(p, arena_copy(p->arena, bytes, n), n)
	               : subject;
}

void
subject_identify(struct pricer *p, uint32_t subject, struct arena *scratch)
{
	struct subject *s = &p->subject[subject];
	const struct candidate *c;
	struct buf b;

	if (s->db.kind)
		return;
	c = &p->candidates->candidate[s->candidate];
	s->db.kind = "candidate";
	buf_init(&b);
	key_candidate(&p->keys_of, &b, c, KEY_SKELETON, scratch);
	s->db.skeleton = hash128(b.data, b.n);
	b.n = 0;
	key_candidate(&p->keys_of, &b, c, KEY_FAMILY, scratch);
	s->db.family = hash128(b.data, b.n);
	buf_release(&b);
}

void
subject_describe(struct pricer *p, uint32_t subject, struct arena *scratch)
{
	struct subject *s = &p->subject[subject];

	subject_identify(p, subject, scratch);
	if (!s->db.summary)
		s->db.summary = key_summary(p->graph, p->mix,
		    &p->candidates->candidate[s->candidate], p->arena);
}

/* A pricer that has made the keys of these candidates, or NULL. */
static const struct pricer *
who_has_keys(const struct pricer *p)
{
	const struct pricer *known = p->o.known;

	return known && known->graph == p->graph
	        && known->ncandidate_subjects > 0
	        && known->candidates->n == p->candidates->n
	        && known->candidates->candidate == p->candidates->candidate
	    ? known
	    : NULL;
}

/* Those of a pricer with the same candidates, which lives longer. */
static void
add_like(struct pricer *p, const struct pricer *known)
{
	for (uint32_t i = 0; i < known->ncandidate_subjects; i++) {
		const struct subject *k = &known->subject[i];
		const unsigned char *key = k->db.bytes;
		const uint32_t subject = add_new(p, key - 4, k->db.n + 4);
		struct subject *s = &p->subject[subject];

		s->target = k->target;
		s->candidate = k->candidate;
		s->work = k->work;
	}
	for (uint32_t i = 0; i < p->candidates->n; i++) {
		p->subject_of[i] = known->subject_of[i];
		p->next[i] = known->next[i];
	}
}

static void
add_candidate(
    struct pricer *p, uint32_t i, struct buf *b, struct arena *scratch)
{
	const struct candidate *c = &p->candidates->candidate[i];
	uint32_t subject;
	bool is_new;

	b->n = 0;
	buf_u32(b, c->target);
	key_candidate(&p->keys_of, b, c, KEY_FULL, scratch);
	subject = subject_add(p, b->data, b->n, &is_new);
	p->subject_of[i] = subject;
	p->next[i] = SUBJECT_NONE;
	if (is_new) {
		p->subject[subject].target = c->target;
		p->subject[subject].work =
		    work_of_candidate(p->graph, p->mix, c);
	} else {
		p->next[i] = p->subject[subject].candidate;
	}
	p->subject[subject].candidate = i;
}

void
subjects_of_candidates(struct pricer *p)
{
	const struct pricer *known = who_has_keys(p);
	struct arena scratch;
	struct buf b;

	arena_init(&scratch);
	buf_init(&b);
	if (known)
		add_like(p, known);
	else
		for (uint32_t i = 0; i < p->candidates->n; i++)
			add_candidate(p, i, &b, &scratch);
	p->ncandidate_subjects = p->nsubjects;
	buf_release(&b);
	arena_release(&scratch);
}

void
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

void
subject_fail(struct pricer *p, struct subject *s, const char *why)
{
	struct price *price = price_of(p, s);

	price->state = PRICE_FAILED;
	price->detail = *why ? why : "for no reason it gave"; /* (P3) */
}

/* What its kind works out as its price; false: it works out none. */
static bool
simulate(const struct pricer *p, const struct subject *s, struct estimate *out)
{
	const struct candidate *c = &p->candidates->candidate[s->candidate];
	const struct region r =
	    region_of(&p->mix->target[s->target], p->graph, &c, 1);

	return r.target->kind->simulate && r.target->kind->simulate(&r, out);
}

/* A kind that works out its prices itself; what it does not price is priced
 * as FAILED. */
static void
ask_kind(struct pricer *p, struct subject *s)
{
	const struct target *t = &p->mix->target[s->target];
	struct estimate e = {.ns = 0};

	if (simulate(p, s, &e)) {
		price_of_estimate(price_of(p, s), t->kind->source, &e);
		return;
	}
	price_of(p, s)->source = t->kind->source;
	subject_fail(p, s, "the target gives no price for it");
}

void
subject_estimate(struct pricer *p, struct subject *s, const char *why)
{
	subject_expect(p, s);
	price_of(p, s)->state = PRICE_KNOWN;
	price_of(p, s)->source = PRICE_ESTIMATED;
	price_of(p, s)->origin = FROM_ESTIMATE;
	price_of(p, s)->detail = why;
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

/* What the user says an opaque node costs; of several of one key the most. */
static void
price_opaque(struct pricer *p, struct subject *s)
{
	struct price *price = price_of(p, s);
	struct estimate e = {.ns = 0};
	bool is_told = false;

	for (uint32_t c = s->candidate; c != SUBJECT_NONE; c = p->next[c]) {
		const node_id id = p->candidates->candidate[c].node[0];
		const cost_ns told = p->o.told ? p->o.told[id] : COST_NEVER;

		is_told |= told != COST_NEVER;
		if (told != COST_NEVER && told > e.ns)
			e.ns = told;
	}
	price_of_estimate(
	    price, is_told ? PRICE_EXTERNAL : PRICE_ESTIMATED, &e);
	price->detail =
	    is_told ? "told by the user" : "nobody said what it costs";
	p->counts.estimated += !is_told;
}

/* Why a candidate cannot be measured at all, or NULL. */
static const char *
not_measurable(const struct graph *g, const struct candidate *c)
{
	if (!has_static_ports(g, c))
		return "a dynamic shape cannot be measured (--dim and --shape "
		       "bind it): a multiple of the lower bound";
	return NULL;
}

/* Never above the price. Nothing bounds what another machine takes; a tool that
 * only says whether a simulated price counts leaves it as it is. */
static void
set_bound(const struct pricer *p, struct subject *s)
{
	const struct target *t = &p->mix->target[s->target];
	struct estimate e = {.ns = 1};

	if (!t->ask_ms || t->is_this_cpu) {
		subject_bound(p, s);
		return;
	}
	if (t->source == PRICE_SIMULATED)
		simulate(p, s, &e);
	price_of(p, s)->bound = price_of(p, s)->guess = e.ns ? e.ns : 1;
}

bool
subject_begin(struct pricer *p, uint32_t i, struct err *err)
{
	struct subject *s = &p->subject[i];
	const struct target *t = &p->mix->target[s->target];
	const struct candidate *c = &p->candidates->candidate[s->candidate];
	const char *why;

	price_of(p, s)->source = t->source;
	if (c->opaque) {
		price_opaque(p, s);
		return true;
	}
	if (!p->environment[s->target].is_stored) {
		ask_kind(p, s);
		p->counts.simulated += t->source == PRICE_SIMULATED;
		p->counts.estimated += t->source == PRICE_ESTIMATED;
		return true;
	}
	set_bound(p, s);
	subject_expect(p, s);
	why = not_measurable(p->graph, c);
	if (!t->ask_ms && why) {
		subject_estimate(p, s, why);
		return true;
	}
	if (!has_static_ports(p->graph, c)) {
		subject_fail(p, s,
		    "a dynamic shape cannot be given to a tool (--dim "
		    "and --shape bind it)");
		return true;
	}
	if (!subject_lookup(p, i, err))
		return false;
	p->counts.stored++;
	p->counts.reused += price_of(p, s)->state != PRICE_BOUND;
	return true;
}

static void
refuse(struct pricer *p, struct subject *s)
{
	const struct board *b = p->o.board;

	subject_fail(p, s,
	    b ? arena_printf(
	        p->arena, "no price of it on %s (%s)", b->name, b->words)
	      : "no price of it on record");
	s->is_refused = true;
	p->counts.refused++;
}

void
subject_unmeasured(struct pricer *p, struct subject *s)
{
	const struct target *t =
	    s->target < p->mix->n ? &p->mix->target[s->target] : NULL;

	if (p->o.unpriced == UNPRICED_REFUSED
	    && (!t || !t->ask_ms || t->is_this_cpu)) {
		refuse(p, s);
	} else if (!t || !t->ask_ms) {
		subject_estimate(p, s,
		    "no figure in the database and measuring is off: a "
		    "multiple of the lower bound");
	} else if (t->kind->simulate) {
		ask_kind(p, s);
		p->counts.simulated++;
	} else {
		subject_fail(p, s,
		    "no figure in the database and measuring is off: the tool "
		    "was not asked");
	}
}

void
subject_forget(struct pricer *p, struct subject *s)
{
	struct price *price = price_of(p, s);
	const enum price_source source = price->source;

	if (price->origin == FROM_MEASURING || price->origin == FROM_EXTERNAL)
		s->answered = price->origin;
	*price = nothing_known;
	price->source = source;
	s->probe_ns = s->probe_high = 0;
	s->why_missed = "";
	s->why = WHY_first_seen;
	s->is_missed = s->is_refused = false;
}

/* ---- what must hold ---- */

/* (R1) */
static void
candidates_verify(const struct pricer *p)
{
	uint32_t n = 0;

	assert(p->ncandidate_subjects <= p->nsubjects);
	for (uint32_t i = 0; i < p->ncandidate_subjects; i++)
		for (uint32_t c = p->subject[i].candidate; c != SUBJECT_NONE;
		     c = p->next[c], n++) {
			assert(p->subject_of[c] == i);
			assert(p->candidates->candidate[c].target
			    == p->subject[i].target);
			assert(p->prices->candidate[c] == p->subject[i].price);
		}
	assert(n == p->candidates->n);
}

static void
subject_verify(const struct pricer *p, const struct subject *s)
{
	assert(s->db.bytes && s->db.n);
	assert(s->target <= p->mix->n && s->why_missed);
	assert((s->target == p->mix->n) == (s->value != VALUE_NONE));
	assert(s->price < p->prices->n);
	if (price_of(p, s)->probes) { /* (R2) */
		assert(s->probe_ns > 0);
		assert(s->probe_ns <= s->probe_high);
	}
}

/* (R4) */
static void
counts_verify(const struct pricer_counts *n)
{
	assert(n->candidates <= n->distinct);
	assert(n->measured_candidates <= n->measured);
	assert(n->broken <= n->bounded);
	assert(n->reused <= n->stored);
	assert(n->accepted <= n->compatible + n->stale);
}

void
pricer_verify(const struct pricer *p)
{
	candidates_verify(p);
	for (uint32_t i = 0; i < p->nsubjects; i++)
		subject_verify(p, &p->subject[i]);
	for (uint32_t t = 0; t <= p->mix->n; t++) /* (R3) */
		assert(!p->environment[t].is_stored
		    || (p->environment[t].scale > 0
		        && p->environment[t].scale <= 1));
	assert(p->drift.scale > 0 && p->drift.scale <= DRIFT_MOST);
	counts_verify(&p->counts);
	conversions_verify(p);
	prices_verify(p->prices);
}
