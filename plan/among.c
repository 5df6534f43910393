/* What a region costs that nobody priced is at least what the work of its nodes
 * costs. That adds up over nodes, so each node that may be in one is offered by
 * itself at its work: a relaxation. Fused values need no layout but those that cross
 * the border, which are plain; inside, plain to plain costs nothing. */
#include "plan/among.h"

#include <assert.h>

#include "costmodel/pricer.h"
#include "plan/propose.h"
#include "search/problem_index.h"
#include "search/solve.h"

bool
has_unoffered(const struct plan *p)
{
	const struct bitset *in = p->candidates->unoffered;

	for (uint32_t t = 0; in && t < p->mix->n; t++)
		for (uint32_t i = 0; i < in[t].nwords; i++)
			if (in[t].word[i])
				return true;
	return false;
}

static bool
may_be_in(const struct candidates *c, uint32_t target, node_id id)
{
	const struct bitset in = c->unoffered[target];

	return in.nwords && bitset_has(in, id);
}

static cost_ns
work_of(const struct planner *pl, uint32_t target, node_id id)
{
	return pl->r->pricer ? pricer_work(pl->r->pricer, target, id) : 0;
}

/* ---- without a search ---- */

/* Would the work of its nodes cost less, where nothing has to be converted? */
static bool
is_above_work(const struct planner *pl, const struct candidate *c, cost_ns cost)
{
	cost_ns work = 0;

	for (uint32_t i = 0; i < c->nnodes; i++) {
		if (!may_be_in(pl->r->candidates, c->target, c->node[i]))
			return false;
		work = cost_add(work, work_of(pl, c->target, c->node[i]));
	}
	return work < cost;
}

/* Nearly always: no library does work alone, and at its best rate. */
static bool
is_plainly_above(const struct planner *pl, const struct plan *plan)
{
	for (uint32_t i = 0; i < plan->ncomposites; i++) {
		const struct plan_composite *x = &plan->composite[i];

		if (is_above_work(pl,
		        &plan->candidates->candidate[x->candidate], x->cost))
			return true;
	}
	return false;
}

/* ---- with one ---- */

/* Ports by value id, as candidates have them. */
static void
add_port(struct problem_port *port, uint32_t *n, uint32_t value)
{
	uint32_t i = *n;

	for (uint32_t k = 0; k < *n; k++)
		if (port[k].value == value)
			return;
	for (; i > 0 && port[i - 1].value > value; i--)
		port[i] = port[i - 1];
	port[i] = (struct problem_port){value, FORMAT_PLAIN};
	++*n;
}

static bool
leaves(const struct problem *p, uint32_t value)
{
	return p->user_start[value] < p->user_start[value + 1]
	    || p->value[value].required;
}

static void
offer_node(struct problem *p, uint32_t target, uint32_t id, cost_ns cost,
    struct arena *a)
{
	const struct problem_node *n = &p->node[id];
	struct problem_port *in =
	    arena_new(a, struct problem_port, n->ninputs + n->noutputs);
	struct problem_port *out = in + n->ninputs;
	struct problem_candidate *c = &p->candidate[p->ncandidates];

	*c = (struct problem_candidate){.target = target,
	    .cost = cost,
	    .class = UINT32_MAX - p->ncandidates++,
	    .nnodes = 1,
	    .node = arena_copy(a, &id, sizeof id),
	    .input = in,
	    .output = out};
	for (uint32_t i = 0; i < n->ninputs; i++)
		add_port(in, &c->ninputs, n->input[i]);
	for (uint32_t i = 0; i < n->noutputs; i++)
		if (leaves(p, n->output[i]))
			add_port(out, &c->noutputs, n->output[i]);
}

static bool
relax(struct problem *out, const struct planner *pl, struct arena *a,
    struct err *err)
{
	const struct candidates *c = pl->r->candidates;
	const uint32_t ntargets = pl->r->mix->n;
	uint32_t n = 0;

	for (uint32_t t = 0; t < ntargets; t++)
		for (node_id id = 0; id < pl->problem.nnodes; id++)
			n += may_be_in(c, t, id);
	problem_derive_more(out, &pl->problem, n, pl->problem.ntargets, a);
	for (uint32_t t = 0; t < ntargets; t++)
		for (node_id id = 0; id < pl->problem.nnodes; id++)
			if (may_be_in(c, t, id))
				offer_node(out, t, id, work_of(pl, t, id), a);
	constraints_apply(pl->r->constraints, NULL, pl->r->graph, out);
	return problem_index(out, a, err);
}

bool
among_only(bool *among, const struct plan *plan, const struct planner *pl,
    struct err *err)
{
	struct search_options o = quick_options(pl);
	struct search_result found;
	struct problem relaxed;
	struct arena scratch;
	bool ok;

	assert(plan->proven);
	if (!*among || is_plainly_above(pl, plan))
		return true;
	arena_init(&scratch);
	ok = relax(&relaxed, pl, &scratch, err)
	    && search_exact(&found, &relaxed, &o, &scratch, err);
	if (ok)
		*among = found.lower_bound < plan->cost;
	arena_release(&scratch);
	return ok;
}
