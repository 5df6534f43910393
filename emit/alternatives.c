/* What else could have been chosen: other candidates over the nodes of each
 * composite, and why rules refused nodes. */
#include <stdlib.h>
#include <string.h>

#include "emit/writers.h"
#include "ir/base/json.h"

/* TUNING: the cheapest say what was close; every other target has one more */
#define SHOWN 6u

struct alternatives {
	const struct emit_work *w;
	struct json j;
	const uint32_t *start, *touching; /* candidates by node they hold */
	uint32_t *list; /* [candidates->n] of one composite */
	uint32_t *seen; /* [candidates->n] the last composite that listed it */
};

static cost_ns
price_of(const struct price *p)
{
	return price_least(p);
}

/* Candidates that hold each node: touching[start[n]] .. [start[n + 1] - 1]. */
static void
index_candidates(struct alternatives *x)
{
	const struct candidates *c = x->w->plan->candidates;
	uint32_t nnodes = x->w->graph->nnodes;
	uint32_t *start = arena_new(x->w->arena, uint32_t, (size_t)nnodes + 2);
	uint32_t *list;

	for (uint32_t i = 0; i < c->n; i++)
		for (uint32_t k = 0; k < c->candidate[i].nnodes; k++)
			start[c->candidate[i].node[k] + 2]++;
	for (uint32_t n = 2; n < nnodes + 2; n++)
		start[n] += start[n - 1];
	list = arena_new(x->w->arena, uint32_t, start[nnodes + 1]);
	for (uint32_t i = 0; i < c->n; i++)
		for (uint32_t k = 0; k < c->candidate[i].nnodes; k++)
			list[start[c->candidate[i].node[k] + 1]++] = i;
	x->start = start;
	x->touching = list;
	x->list = arena_new(x->w->arena, uint32_t, c->n);
	x->seen = arena_new(x->w->arena, uint32_t, c->n);
}

/* Same nodes first, then cheapest, then by id. */
struct rank {
	bool other_nodes;
	cost_ns ns;
	uint32_t candidate;
};

static int
by_rank(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->other_nodes != y->other_nodes)
		return x->other_nodes ? 1 : -1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->candidate < y->candidate ? -1 : x->candidate > y->candidate;
}

static bool
same_nodes(const struct candidate *a, const struct candidate *b)
{
	return a->nnodes == b->nnodes
	    && memcmp(a->node, b->node, a->nnodes * sizeof *a->node) == 0;
}

static uint32_t
list_others(struct alternatives *x, uint32_t id)
{
	const struct candidate *c = plan_candidate(x->w->plan, id);
	uint32_t n = 0;

	for (uint32_t k = 0; k < c->nnodes; k++)
		for (uint32_t i = x->start[c->node[k]];
		     i < x->start[c->node[k] + 1]; i++) {
			uint32_t other = x->touching[i];

			if (x->seen[other] == id + 1
			    || other == x->w->plan->composite[id].candidate)
				continue;
			x->seen[other] = id + 1;
			x->list[n++] = other;
		}
	return n;
}

static void
write_other(struct alternatives *x, const struct rank *r)
{
	const struct plan *p = x->w->plan;
	const struct candidate *c = &p->candidates->candidate[r->candidate];
	const struct price *price = prices_candidate(p->prices, r->candidate);

	json_inline_object(&x->j);
	json_key_uint(&x->j, "target", c->target);
	json_key_str(&x->j, "rule", emit_rule(x->w, c)->name);
	json_key_str(&x->j, "implementation", c->implementation_name);
	json_key_uint(&x->j, "nodes", c->nnodes);
	json_key_bool(&x->j, "same", !r->other_nodes);
	json_key_str(&x->j, "state",
	    price->state == PRICE_KNOWN        ? "known"
	        : price->state == PRICE_FAILED ? "failed"
	                                       : "bound");
	json_key_str(&x->j, "basis", price_basis(price, true));
	json_cost(&x->j, "ns", r->ns);
	json_close(&x->j);
}

static void
write_composite(struct alternatives *x, uint32_t id)
{
	const struct plan *p = x->w->plan;
	uint32_t n = list_others(x, id), written = 0;
	struct arena_mark mark = arena_mark(x->w->arena);
	struct rank *rank = arena_new(x->w->arena, struct rank, n);
	bool *has = arena_new(x->w->arena, bool, p->mix->n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t other = x->list[i];

		rank[i] = (struct rank){!same_nodes(plan_candidate(p, id),
		                            &p->candidates->candidate[other]),
		    price_of(prices_candidate(p->prices, other)), other};
	}
	if (n > 0)
		qsort(rank, n, sizeof *rank, by_rank);
	json_object(&x->j);
	json_key_uint(&x->j, "id", id);
	json_key_uint(&x->j, "count", n);
	json_key(&x->j, "others");
	json_array(&x->j);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t target =
		    p->candidates->candidate[rank[i].candidate].target;

		if (written >= SHOWN && has[target])
			continue;
		has[target] = true;
		written++;
		write_other(x, &rank[i]);
	}
	json_close(&x->j);
	json_close(&x->j);
	arena_back(x->w->arena, mark);
}

static void
write_refusal(struct alternatives *x, const struct refusal *r)
{
	const struct target *t = &x->w->plan->mix->target[r->target];

	json_object(&x->j);
	json_key_uint(&x->j, "node", r->match->root);
	json_key_uint(&x->j, "target", r->target);
	json_key_str(&x->j, "rule", t->kind->rule[r->rule].name);
	json_key(&x->j, "failed");
	json_array(&x->j);
	for (uint32_t i = 0; i < r->nreasons; i++) {
		if (r->reason[i].holds)
			continue;
		json_inline_object(&x->j);
		json_key_str(&x->j, "condition", r->reason[i].condition);
		json_key_str(&x->j, "actual", r->reason[i].actual);
		json_key_str(&x->j, "required", r->reason[i].required);
		json_close(&x->j);
	}
	json_close(&x->j);
	json_close(&x->j);
}

static uint32_t
failures(const struct refusal *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->nreasons; i++)
		n += !r->reason[i].holds;
	return n;
}

/* Of each (target, rule, node) the refusal with fewest failures: the others are
 * ways to match that were further off. They lie side by side. */
static void
write_refusals(struct alternatives *x)
{
	const struct candidates *c = x->w->plan->candidates;

	json_key(&x->j, "refusals");
	json_array(&x->j);
	for (uint32_t i = 0; i < c->nrefusals;) {
		const struct refusal *first = &c->refusal[i], *best = first;

		for (; i < c->nrefusals; i++) {
			const struct refusal *r = &c->refusal[i];

			if (r->target != first->target || r->rule != first->rule
			    || r->match->root != first->match->root)
				break;
			if (failures(r) < failures(best))
				best = r;
		}
		write_refusal(x, best);
	}
	json_close(&x->j);
}

bool
write_alternatives(FILE *f, const struct emit_work *w, struct err *err)
{
	struct alternatives x = {.w = w};

	(void)err;
	index_candidates(&x);
	emit_json(&x.j, f, w);
	json_object(&x.j);
	json_key_str(&x.j, "schema", "marq.alternatives/1");
	json_key(&x.j, "composites");
	json_array(&x.j);
	for (uint32_t i = 0; i < w->plan->ncomposites; i++)
		write_composite(&x, i);
	json_close(&x.j);
	write_refusals(&x);
	json_close(&x.j);
	return true;
}
