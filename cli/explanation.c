#include "cli/explanation.h"

#include <string.h>

static bool
has_node(const node_id *node, uint32_t n, node_id id)
{
	for (uint32_t i = 0; i < n; i++)
		if (node[i] == id)
			return true;
	return false;
}

static bool
is_legal_on(const struct job *j, uint32_t target, node_id id)
{
	for (uint32_t i = 0; i < j->candidates.n; i++) {
		const struct candidate *c = &j->candidates.candidate[i];

		if (c->target == target && has_node(c->node, c->nnodes, id))
			return true;
	}
	return false;
}

uint32_t
refusal_failures(const struct refusal *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->nreasons; i++)
		n += !r->reason[i].holds;
	return n;
}

/* Of each rule's refusals that contain the node, the one nearest to legal. */
static const struct refusal **
nearest_refusals(
    const struct job *j, const struct target *t, node_id id, struct arena *a)
{
	const struct refusal **best =
	    arena_new(a, const struct refusal *, t->kind->nrules);

	for (uint32_t i = 0; i < j->candidates.nrefusals; i++) {
		const struct refusal *r = &j->candidates.refusal[i];

		if (r->target == t->index
		    && has_node(r->match->node, r->match->nnodes, id)
		    && (!best[r->rule]
		        || refusal_failures(r)
		            < refusal_failures(best[r->rule])))
			best[r->rule] = r;
	}
	return best;
}

/* Patterns are constants of our own (or bounded by the parser). */
static bool
mentions(const struct pattern *p, enum op op)
{
	if ((p->kind == PATTERN_NODE || p->kind == PATTERN_MAYBE)
	    && p->op == op)
		return true;
	for (uint32_t i = 0; i < p->nargs; i++)
		if (mentions(p->arg[i], op))
			return true;
	return false;
}

static void
tell_rules(struct target_explanation *s, const struct job *j, node_id id,
    struct arena *a)
{
	const struct target_kind *kind = s->target->kind;
	const struct refusal **best = nearest_refusals(j, s->target, id, a);
	enum op op = graph_node(j->model.graph, id)->op;
	struct rule_explanation *rule =
	    arena_new(a, struct rule_explanation, kind->nrules);
	bool refused = false, mentioned = false;

	for (uint32_t i = 0; i < kind->nrules; i++) {
		struct rule_explanation r = {
		    .rule = &kind->rule[i], .refusal = best[i]};

		r.mentions = !r.refusal && mentions(r.rule->pattern, op);
		refused |= r.refusal != NULL;
		mentioned |= r.mentions;
		if (r.refusal || r.mentions)
			rule[s->nrules++] = r;
	}
	s->rule = rule;
	s->verdict = refused ? VERDICT_REFUSED
	    : mentioned      ? VERDICT_NO_MATCH
	                     : VERDICT_UNKNOWN;
}

/* What the whole plan would be with the node there. */
static bool
tell_cost(struct target_explanation *s, struct job *j, node_id node,
    struct arena *a, struct err *err)
{
	struct plan *plan = arena_new(a, struct plan, 1);
	bool found;

	s->verdict = VERDICT_NO_PLAN;
	if (!job_plan_pinned(j, node, s->target->index, plan, &found, a, err))
		return false;
	if (!found)
		return true;
	s->verdict = VERDICT_COSTLIER;
	plan_shift_make(&s->shift, &j->plan, plan, a);
	return true;
}

static bool
tell_target(struct target_explanation *s, struct job *j,
    const struct explanation *node, bool ask_cost, struct arena *a,
    struct err *err)
{
	uint32_t t = s->target->index;

	tell_rules(s, j, node->node, a);
	if (node->candidate->target == t) {
		s->verdict = VERDICT_RUNS;
		return true;
	}
	if (!is_legal_on(j, t, node->node))
		return true;
	s->verdict = VERDICT_LEGAL;
	return !ask_cost || tell_cost(s, j, node->node, a, err);
}

bool
explanation_make(struct explanation *s, struct job *j, node_id node,
    bool ask_cost, struct arena *a, struct err *err)
{
	const struct plan *p = &j->plan;
	struct target_explanation *target =
	    arena_new(a, struct target_explanation, j->mix.n);

	*s = (struct explanation){.node = node, .ntargets = j->mix.n};
	s->composite = &p->composite[p->composite_of[node]];
	s->candidate = &p->candidates->candidate[s->composite->candidate];
	s->price = prices_candidate(p->prices, s->composite->candidate);
	s->target = target;
	for (uint32_t t = 0; t < j->mix.n; t++) {
		target[t].target = &j->mix.target[t];
		if (!tell_target(&target[t], j, s, ask_cost, a, err))
			return false;
	}
	return true;
}
