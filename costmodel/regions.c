/* Regions of targets whose prices a tool tells: asked about as units, where a
 * kind's own simulation says it for other targets (plan/knowledge.h). */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/pricer.h"
#include "costmodel/pricer_parts.h"
#include "costmodel/reference.h"
#include "costmodel/seeded.h"
#include "costmodel/trial.h"
#include "ir/base/bitset.h"
#include "ir/base/order.h"
#include "ir/base/verify.h"

/* A region as one candidate, in memory of its own. */
struct asked_region {
	struct candidate candidate;
	const struct candidate *const *part; /* [nparts] in execution order */
	uint32_t nparts;
	struct arena arena;
};

/* ---- the region ---- */

static bool
is_used_outside(const struct graph *g, const struct uses *u, value_id v,
    struct bitset inside)
{
	if (graph_value(g, v)->flags & VALUE_OUTPUT)
		return true;
	for (uint32_t i = u->start[v]; i < u->start[v + 1]; i++)
		if (!bitset_has(inside, u->user[i]))
			return true;
	return false;
}

static bool
is_made_in(const struct graph *g, value_id v, struct bitset inside)
{
	node_id producer = graph_value(g, v)->producer;

	return producer != NODE_NONE && bitset_has(inside, producer);
}

static void
put_ports(struct asked_region *w, const struct graph *g, struct bitset inside)
{
	struct uses u = graph_uses(g, &w->arena);
	struct candidate *c = &w->candidate;
	struct port *in, *out;

	for (uint32_t i = 0; i < w->nparts; i++) {
		c->ninputs += w->part[i]->ninputs;
		c->noutputs += w->part[i]->noutputs;
	}
	in = arena_new(&w->arena, struct port, c->ninputs);
	out = arena_new(&w->arena, struct port, c->noutputs);
	c->ninputs = c->noutputs = 0;
	for (uint32_t i = 0; i < w->nparts; i++) {
		const struct candidate *p = w->part[i];

		for (uint32_t k = 0; k < p->ninputs; k++)
			if (!is_made_in(g, p->input[k].value, inside))
				in[c->ninputs++] = p->input[k];
		for (uint32_t k = 0; k < p->noutputs; k++)
			if (is_used_outside(g, &u, p->output[k].value, inside))
				out[c->noutputs++] = p->output[k];
	}
	c->ninputs = ports_sort(in, c->ninputs);
	c->noutputs = ports_sort(out, c->noutputs);
	c->input = in;
	c->output = out;
}

static void
asked_init(struct asked_region *w, const struct pricer *p, const uint32_t *part,
    uint32_t n)
{
	const struct graph *g = p->graph;
	struct candidate *c = &w->candidate;
	const struct candidate **list;
	struct bitset inside;
	node_id *node;

	assert(n > 1);
	*w = (struct asked_region){.nparts = n};
	arena_init(&w->arena);
	list = arena_new(&w->arena, const struct candidate *, n);
	inside = bitset_new(&w->arena, g->nnodes);
	node = arena_new(&w->arena, node_id, g->nnodes);
	for (uint32_t i = 0; i < n; i++) {
		list[i] = &p->candidates->candidate[part[i]];
		memcpy(node + c->nnodes, list[i]->node,
		    list[i]->nnodes * sizeof *node);
		c->nnodes += list[i]->nnodes;
	}
	qsort(node, c->nnodes, sizeof *node, by_u32);
	for (uint32_t i = 0; i < c->nnodes; i++)
		bitset_add(inside, node[i]);
	for (uint32_t i = 1; i < c->nnodes; i++) /* parts share none */
		assert(node[i - 1] < node[i]);
	w->part = list;
	c->target = list[0]->target;
	c->rule = UINT32_MAX; /* none: it is several */
	c->implementation_name = "region";
	c->match = list[0]->match;
	c->node = node;
	put_ports(w, g, inside);
}

/* The set of nodes, and how it is divided into composites. */
static void
put_key(struct asked_region *w, struct pricer *p, struct buf *b)
{
	key_candidate(&p->keys_of, b, &w->candidate, KEY_FULL, &w->arena);
	for (uint32_t i = 0; i < w->nparts; i++)
		key_candidate(&p->keys_of, b, w->part[i], KEY_FULL, &w->arena);
}

/* ---- asking ---- */

static void
check_outputs(struct asked_region *w, const struct pricer *p, struct trial *t,
    struct sample *m)
{
	struct err err = {.kind = ERR_NONE};
	struct reference r;
	double allowed;

	reference_init(&r, p->graph, p->o.reference);
	if (!trial_check(t, &r, &m->max_error, &allowed, &w->arena, &err)) {
		m->outcome = OUTCOME_UNSUPPORTED;
		snprintf(m->detail, sizeof m->detail, "%s", err.text);
	} else if (m->max_error > allowed) {
		m->outcome = OUTCOME_WRONG;
		snprintf(m->detail, sizeof m->detail,
		    "differs from the reference by %.3g of its range, allowed "
		    "%.3g",
		    m->max_error, allowed);
	}
	reference_release(&r);
}

static void
ask_with_weights(
    struct asked_region *w, const struct pricer *p, struct sample *m)
{
	const struct candidate *c = &w->candidate;
	const struct target *target = &p->mix->target[c->target];
	const struct region region = {.target = target,
	    .graph = p->graph,
	    .ncandidates = w->nparts,
	    .candidate = w->part,
	    .ninputs = c->ninputs,
	    .noutputs = c->noutputs,
	    .input = c->input,
	    .output = c->output};
	struct err err = {.kind = ERR_NONE};
	struct trial t;
	bool computed;

	if (!trial_fill(&t, p->graph, p->mix, c, &w->arena, &err)) {
		*m = sample_failed(OUTCOME_UNSUPPORTED, "%s", err.text);
		return;
	}
	computed = target->kind->tool->ask(&region, t.in, t.out, m);
	if (m->outcome == OUTCOME_OK && computed && p->o.reference)
		check_outputs(w, p, &t, m);
}

/* The key says nothing of the weights: a tool is asked with made-up ones, as
 * kernels are tried. */
static void
ask(struct asked_region *w, const struct pricer *p, struct sample *m)
{
	struct seeded weights;

	seeded_init(&weights, p->graph, p->candidates, &w->arena);
	seeded_take(&weights, &w->candidate);
	ask_with_weights(w, p, m);
	seeded_release(&weights);
}

static bool
ask_and_store(
    struct pricer *p, struct asked_region *w, uint32_t subject, struct err *err)
{
	struct subject *s = &p->subject[subject];
	struct sample m;

	ask(w, p, &m);
	price_of_measurement(price_of(p, s), &m, p->arena);
	price_of(p, s)->source = p->mix->target[s->target].source;
	price_of(p, s)->origin = FROM_EXTERNAL;
	p->counts.measured++;
	p->counts.why[s->why]++;
	p->counts.failed += price_of(p, s)->state == PRICE_FAILED;
	return recording_begin(p, &subject, 1, err)
	    && store_attempt(p, s, p->environment[s->target].id, &m, err);
}

static uint32_t
region_subject(struct pricer *p, struct asked_region *w)
{
	uint32_t subject;
	bool is_new;
	struct subject *s;
	struct buf b;

	buf_init(&b);
	buf_u32(&b, w->candidate.target);
	put_key(w, p, &b);
	subject = subject_add(p, b.data, b.n, &is_new);
	buf_release(&b);
	if (!is_new)
		return subject;
	s = &p->subject[subject];
	s->target = w->candidate.target;
	price_of(p, s)->source = p->mix->target[s->target].source;
	s->db.kind = "candidate"; /* as the database knows it */
	s->db.summary =
	    arena_printf(p->arena, "%s region of %u composites, %u nodes",
	        p->mix->target[s->target].kind->name, w->nparts,
	        w->candidate.nnodes);
	s->db.skeleton = s->db.family = hash128(s->db.bytes, s->db.n);
	return subject;
}

static bool
price_asked(struct pricer *p, struct asked_region *w, uint32_t *subject,
    struct err *err)
{
	*subject = region_subject(p, w);
	if (price_at(p, *subject)->state != PRICE_BOUND)
		return true;
	if (!subject_lookup(p, *subject, err))
		return false;
	if (price_at(p, *subject)->state != PRICE_BOUND || !p->o.measure
	    || pricing_is_over(p))
		return true;
	return ask_and_store(p, w, *subject, err);
}

bool
pricer_price_region(
    struct pricer *p, const uint32_t *candidate, uint32_t n, struct err *err)
{
	const struct candidate *first = &p->candidates->candidate[*candidate];
	const struct target *t = &p->mix->target[first->target];
	struct asked_region w;
	uint32_t subject;
	bool ok;

	if (n < 2 || t->ask_ms == 0 || !t->kind->launches
	    || prices_region(p->prices, candidate, n))
		return true;
	asked_init(&w, p, candidate, n);
	ok = price_asked(p, &w, &subject, err);
	arena_release(&w.arena);
	if (ok && price_at(p, subject)->state != PRICE_BOUND)
		prices_add_region(
		    p->prices, candidate, n, p->subject[subject].price);
	VERIFY(pricer_verify(p));
	return ok;
}
