#include "plan/planner.h"

#include <assert.h>

#include "plan/evaluate.h"
#include "plan/propose.h"
#include "plan/regions.h"
#include "ir/base/cost.h"
#include "ir/base/verify.h"

#define ANSWERS (MODE_SEARCH | MODE_FIXED)

static const struct oracle oracles[] = {
    {"too full", MODE_SEARCH, false, ask_too_full},
    {"unpriced", ANSWERS | MODE_BASELINE, false, ask_unpriced},
    {"second prices", MODE_SEARCH, false, ask_second},
    {"proof", ANSWERS, true, ask_proof},
    {"known only", ANSWERS, false, ask_known},
    {"near ties", MODE_SEARCH, false, ask_ties},
    {"fewest changes", MODE_SEARCH, false, ask_changes},
    {"region prices", ANSWERS, false, ask_regions},
    {"memory", ANSWERS, false, ask_memory},
};
#define NORACLES (sizeof oracles / sizeof *oracles)

/* One after the other, until one has learned something or split the node. */
static bool
ask_oracles(
    struct planner *pl, struct proposal *p, enum verdict *v, struct err *err)
{
	for (size_t i = 0; i < NORACLES; i++) {
		const struct oracle *o = &oracles[i];

		*v = ORACLE_QUIET;
		if (!(o->modes & pl->mode) || (!p->best.found && !o->empty))
			continue;
		if (!o->ask(pl, p, v, err))
			return err_in(err, "%s", o->name);
		if (*v == ORACLE_LEARNED || *v == ORACLE_BRANCHED)
			return true;
	}
	*v = ORACLE_QUIET;
	return true;
}

/* Being late is the oracles' affair (O3). */
bool
planner_refine(
    struct planner *pl, struct proposal *p, bool *branched, struct err *err)
{
	enum verdict v;

	do {
		if (!propose(pl, p, err) || !ask_oracles(pl, p, &v, err))
			return false;
		VERIFY(planner_verify(pl));
	} while (v == ORACLE_LEARNED);
	assert(v == ORACLE_QUIET || (v == ORACLE_BRANCHED && p->best.found));
	*branched = v == ORACLE_BRANCHED;
	return true;
}

/* ---- the tree ---- */

/* A search that was quick is made once more, thoroughly, when no other node has a
 * lower bound, if that can prove the plan. */
static void
leave(struct planner *pl, const struct proposal *p)
{
	struct plan_node n = pl->node;
	struct node_visit *x = &pl->visit;

	if (x->improved) {
		pl->incumbent.rounds = x->rounds;
		pl->incumbent.moved = pl->known.moved;
		pl->incumbent.nmoved = pl->known.nmoved;
	}
	if (x->rounds == 0) /* no cover */
		pl->proven_empty = p->best.proven;
	if (n.guess || (x->rounds == 0 && p->best.proven))
		return;
	if (x->broken || regions_may_discount(pl->r->mix)) {
		n.bound = 0; /* sums of parts bound nothing */
		x->proven = false;
	}
	if (!x->proven && n.quick && x->fits) {
		n.quick = false;
		tree_put(&pl->tree, n);
	} else {
		tree_close(&pl->tree, n, pl->fell);
	}
}

static bool
explore(struct planner *pl, struct err *err)
{
	struct proposal p;
	bool branched;

	pl->visit = (struct node_visit){.rounds = 0};
	if (!pl->node.guess)
		knowledge_forget(&pl->known);
	effort_after(pl, true);
	if (!node_apply(pl, err) || !planner_refine(pl, &p, &branched, err))
		return false;
	if (!branched)
		leave(pl, &p);
	return true;
}

/* Until no node that is open can have a cheaper plan, or it is late and there is
 * one. */
static bool
search_open(struct planner *pl, struct err *err)
{
	struct incumbent *best = &pl->incumbent;

	while (tree_take(&pl->tree, &pl->node)) {
		cost_ns bound = node_bound(&pl->node, pl->fell);

		if (!pl->node.guess && !pl->node.whole
		    && (bound >= incumbent_cost(pl, best)
		        || (best->found && planner_is_late(pl))))
			tree_close(&pl->tree, pl->node, pl->fell);
		else if (!explore(pl, err))
			return false;
	}
	return true;
}

static bool
search_from(struct planner *pl, struct plan_node root, struct err *err)
{
	tree_put(&pl->tree, root);
	return search_open(pl, err);
}

/* Memory levels; then the plans of which one region fills the memory; then nodes
 * whose bounds prices have fallen below. */
static bool
search_levels(struct planner *pl, struct err *err)
{
	const struct tree *t = &pl->tree;
	const struct plan_node root = {.high = t->nlevels - 1, .quick = true},
	                       alone = {.alone = true, .quick = true};

	if (!search_from(pl, root, err)
	    || (t->kind->spills && !search_from(pl, alone, err)))
		return false;
	while (!planner_is_late(pl) && tree_reopen(&pl->tree, pl->fell))
		if (!search_open(pl, err))
			return false;
	return true;
}

/* The least of all bounds, those of plans included that nobody searched. */
static bool
bound_all(struct planner *pl, struct err *err)
{
	const struct tree *t = &pl->tree;
	cost_ns attended;

	pl->bound = COST_NEVER;
	pl->bound_fell = pl->fell;
	for (uint32_t i = 0; i < t->nclosed; i++) {
		if (t->closed[i].bound < pl->bound)
			pl->bound = t->closed[i].bound;
		if (t->closed[i].fell < pl->bound_fell) /* (Z3) */
			pl->bound_fell = t->closed[i].fell;
	}
	if (t->kind && t->kind->spills) {
		pl->node = (struct plan_node){.alone = true};
		if (!node_apply(pl, err)
		    || !propose_attended(pl, &attended, err))
			return false;
		pl->bound = attended < pl->bound ? attended : pl->bound;
	}
	if (pl->bound == COST_NEVER
	    || (t->kind && pl->bound > incumbent_cost(pl, &pl->incumbent)))
		pl->bound = incumbent_cost(pl, &pl->incumbent);
	return true;
}

bool
planner_search(struct planner *pl, struct err *err)
{
	const struct plan_node whole = {.whole = true};
	bool levels = pl->tree.kind && pl->mode == MODE_SEARCH
	    && !regions_may_discount(pl->r->mix);

	if (levels && !search_levels(pl, err))
		return false;
	levels &= incumbent_cost(pl, &pl->incumbent) != COST_NEVER;
	if (!levels) { /* or nothing fits: perhaps with less capacity */
		pl->tree.nclosed = 0;
		pl->tree.kind = NULL;
		pl->overflow.kind = NULL;
		if (!search_from(pl, whole, err))
			return false;
	}
	if (!bound_all(pl, err))
		return false;
	pl->node = whole;
	return node_apply(pl, err);
}

void
planner_verify(const struct planner *pl)
{
	const struct incumbent *x = &pl->incumbent;
	const struct tree *t = &pl->tree;

	for (uint32_t i = 0; i < pl->r->mix->n; i++) { /* (Z1): tightened */
		assert(pl->problem.target[i].capacity <= pl->asked[i].capacity);
		assert(pl->problem.target[i].max_runs <= pl->asked[i].max_runs);
	}
	for (uint32_t c = 0; c < pl->problem.ncandidates; c++)
		assert(pl->problem.candidate[c].banned || !t->banned[c]);
	assert(!x->found || x->epoch <= pl->epoch); /* (Z2) */
	assert(!x->found || x->cover.nsteps == x->plan.ncomposites);
	assert(!pl->visit.improved || (x->found && pl->visit.fits));
	assert(pl->nask <= pl->r->candidates->n);
	assert(pl->ndoubted <= pl->r->candidates->n);
	assert(pl->fell <= pl->epoch); /* (Z3) */
	assert(pl->node.fell <= pl->fell);
	for (uint32_t i = 0; i < t->nclosed; i++) {
		assert(t->closed[i].fell <= pl->fell); /* (X1) */
		assert(!t->closed[i].guess); /* (X2) */
	}
	for (uint32_t i = 0; i < t->nopen; i++)
		assert(t->open[i].fell <= pl->fell);
	if (pl->mode & ANSWERS && !pl->node.guess) /* (Y1) */
		assert(pl->known.nmoved == 0 || pl->visit.rounds > 0);
	knowledge_verify(&pl->known);
}
