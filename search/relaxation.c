#include "search/relaxation.h"

#include <assert.h>
#include <string.h>

#include "search/check.h"
#include "search/problem_index.h"

static uint32_t
costliest_target(const struct problem *p)
{
	uint32_t costliest = 0;

	for (uint32_t t = 1; t < p->ntargets; t++)
		if (target_launch(p, t) > target_launch(p, costliest))
			costliest = t;
	return costliest;
}

/* The only target that can run the node; NO_LIMIT: none or several can. */
static uint32_t
only_target(const struct problem *p, const bool *can, uint32_t node)
{
	uint32_t only = NO_LIMIT;

	for (uint32_t t = 0; t < p->ntargets; t++)
		if (can[(size_t)node * p->ntargets + t]) {
			if (only != NO_LIMIT)
				return NO_LIMIT;
			only = t;
		}
	return only;
}

/* A node that only one target can run is run by it, in a launch at least. Its
 * candidates pay for that one: [ntargets] nodes, NO_NODE where there is none. */
static uint32_t *
anchors(const struct problem *p, struct arena *a)
{
	uint32_t *anchor = arena_new(a, uint32_t, p->ntargets);
	bool *can = arena_array(a, (size_t)p->nnodes * p->ntargets, 1);

	memset(anchor, 0xff, p->ntargets * sizeof *anchor);
	for (uint32_t c = 0; c < p->ncandidates; c++) {
		const struct problem_candidate *x = &p->candidate[c];

		for (uint32_t i = 0; candidate_usable(x) && i < x->nnodes; i++)
			can[(size_t)x->node[i] * p->ntargets + x->target] =
			    true;
	}
	for (uint32_t n = p->nnodes; n-- > 0;) {
		uint32_t t = only_target(p, can, n);

		if (t != NO_LIMIT)
			anchor[t] = n;
	}
	return anchor;
}

static void
charge_launches(struct problem *relaxed, const struct problem *p,
    uint32_t costliest, struct arena *a)
{
	const uint32_t *anchor = anchors(p, a);

	for (uint32_t c = 0; c < relaxed->ncandidates; c++) {
		struct problem_candidate *x = &relaxed->candidate[c];

		if (x->target == costliest || anchor[x->target] == NO_NODE)
			continue;
		for (uint32_t i = 0; i < x->nnodes; i++)
			if (x->node[i] == anchor[x->target])
				x->cost = cost_add(
				    x->cost, p->target[x->target].launch);
	}
}

bool
relax(struct problem *relaxed, const struct problem *p, struct arena *a)
{
	uint32_t costliest = costliest_target(p);
	struct err err = {.kind = ERR_NONE};

	problem_derive(relaxed, p, EDIT_CANDIDATES | EDIT_TARGETS, a);
	charge_launches(relaxed, p, costliest, a);
	/* What limits rule out here stays ruled out where they are relaxed. */
	for (uint32_t c = 0; c < p->ncandidates; c++)
		relaxed->candidate[c].banned |= p->candidate[c].hopeless;
	for (uint32_t t = 0; t < p->ntargets; t++) {
		struct problem_target *x = &relaxed->target[t];

		x->max_run_nodes = NO_LIMIT;
		x->fed_only = false;
		if (t == costliest)
			continue;
		x->launch = 0;
		x->max_runs = NO_LIMIT;
	}
	/* A legal one stays legal. */
	if (!problem_index(relaxed, a, &err))
		return false;
	if (relaxed->ntracked <= 1)
		return true;
	relaxed->local = 0;
	return problem_index(relaxed, a, &err);
}

static bool
size_is_priced(const struct problem *p, uint32_t target)
{
	return p->target[target].max_run_nodes < p->nnodes;
}

/* The n nodes' part of a launch; n <= max. */
static cost_ns
part_of_launch(cost_ns launch, uint32_t n, uint32_t max)
{
	assert(max > 0 && n <= max);
	return launch / max * n + launch % max * n / max;
}

void
relax_sizes(struct problem *priced, const struct problem *p, struct arena *a)
{
	problem_derive(priced, p, EDIT_CANDIDATES | EDIT_TARGETS, a);
	priced->local = 0;
	for (uint32_t c = 0; c < p->ncandidates; c++) {
		struct problem_candidate *x = &priced->candidate[c];
		const struct problem_target *t = &p->target[x->target];

		if (size_is_priced(p, x->target)
		    && x->nnodes <= t->max_run_nodes)
			x->cost = cost_add(x->cost,
			    part_of_launch(
			        t->launch, x->nnodes, t->max_run_nodes));
	}
	for (uint32_t t = 0; t < p->ntargets; t++)
		if (size_is_priced(p, t))
			priced->target[t].launch = 0;
}

cost_ns
region_room_value(const struct problem *p, uint32_t target, uint32_t run_nodes)
{
	const struct problem_target *t = &p->target[target];

	if (!size_is_priced(p, target))
		return 0;
	return part_of_launch(
	    t->launch, t->max_run_nodes - run_nodes, t->max_run_nodes);
}

/* Steps of a cover on their way to another order. Those of a target that may
 * have one run only are one block; every other step is a block of its own. */
struct gather {
	const struct problem *p;
	const struct cover *relaxed;
	uint32_t *block; /* [nsteps] its first step */
	uint32_t *next; /* [nsteps] of the same block; NO_NODE: the last */
	uint32_t *waits; /* [nsteps] of a block: inputs not made yet */
	uint32_t *step_of; /* [nnodes] */
	bool *done; /* [nsteps] of a block */
	uint32_t *out; /* [nsteps] candidates in the new order */
	uint32_t n;
};

static uint32_t
step_target(const struct gather *g, uint32_t step)
{
	return g->p->candidate[g->relaxed->step[step].candidate].target;
}

static void
make_blocks(struct gather *g, struct arena *a)
{
	uint32_t *last = arena_new(a, uint32_t, g->p->ntargets);

	memset(last, 0xff, g->p->ntargets * sizeof *last);
	for (uint32_t i = 0; i < g->relaxed->nsteps; i++) {
		const struct problem_candidate *c =
		    &g->p->candidate[g->relaxed->step[i].candidate];
		uint32_t before = last[c->target];

		g->next[i] = NO_NODE;
		g->block[i] = i;
		for (uint32_t k = 0; k < c->nnodes; k++)
			g->step_of[c->node[k]] = i;
		if (g->p->target[c->target].max_runs != 1)
			continue;
		if (before != NO_NODE) {
			g->next[before] = i;
			g->block[i] = g->block[before];
		}
		last[c->target] = i;
	}
}

/* Add `by` to what the readers of a block's outputs wait for. */
static void
count_waits(struct gather *g, uint32_t block, uint32_t by)
{
	const struct problem *p = g->p;

	for (uint32_t i = block; i != NO_NODE; i = g->next[i]) {
		const struct problem_candidate *c =
		    &p->candidate[g->relaxed->step[i].candidate];

		for (uint32_t k = 0; k < c->noutputs; k++) {
			uint32_t v = c->output[k].value;

			for (uint32_t u = p->user_start[v];
			     u < p->user_start[v + 1]; u++) {
				uint32_t to = g->block[g->step_of[p->user[u]]];

				if (to != block)
					g->waits[to] += by;
			}
		}
	}
}

/* The first block that waits for nothing and runs on `target` (NO_LIMIT: on any
 * but `not`); NO_NODE: none. */
static uint32_t
ready_block(const struct gather *g, uint32_t target, uint32_t not )
{
	for (uint32_t i = 0; i < g->relaxed->nsteps; i++)
		if (g->block[i] == i && !g->done[i] && g->waits[i] == 0
		    && (target == NO_LIMIT ? step_target(g, i) != not
		                           : step_target(g, i) == target))
			return i;
	return NO_NODE;
}

static void
take_block(struct gather *g, uint32_t block)
{
	g->done[block] = true;
	for (uint32_t i = block; i != NO_NODE; i = g->next[i])
		g->out[g->n++] = g->relaxed->step[i].candidate;
	count_waits(g, block, UINT32_MAX); /* one less */
}

/* Go on with one target while it has blocks that are ready; the costliest target
 * comes when nothing else is, which gives it the fewest runs there can be when
 * others go first. False: blocks wait for each other. */
static bool
lay_blocks(struct gather *g)
{
	uint32_t costliest = costliest_target(g->p), target = NO_LIMIT;

	while (g->n < g->relaxed->nsteps) {
		uint32_t block = NO_NODE;

		if (target != NO_LIMIT)
			block = ready_block(g, target, NO_LIMIT);
		if (block == NO_NODE)
			block = ready_block(g, NO_LIMIT, costliest);
		if (block == NO_NODE)
			block = ready_block(g, costliest, NO_LIMIT);
		if (block == NO_NODE)
			return false;
		target = step_target(g, block);
		take_block(g, block);
	}
	return true;
}

static bool
needs_gathering(const struct problem *p, const struct cover *relaxed)
{
	for (uint32_t i = 1; i < relaxed->nsteps; i++) {
		uint32_t t = p->candidate[relaxed->step[i].candidate].target;

		if (p->target[t].max_runs != 1)
			continue;
		for (uint32_t k = 0; k < i; k++)
			if (p->candidate[relaxed->step[k].candidate].target == t
			    && relaxed->step[k].run != relaxed->step[i].run)
				return true;
	}
	return false;
}

/* The cover's candidates in an order that gathers what must be one run. */
static bool
gather(uint32_t *out, const struct problem *p, const struct cover *relaxed,
    struct arena *a)
{
	uint32_t n = relaxed->nsteps;
	struct gather g = {.p = p,
	    .relaxed = relaxed,
	    .block = arena_new(a, uint32_t, n),
	    .next = arena_new(a, uint32_t, n),
	    .waits = arena_new(a, uint32_t, n),
	    .step_of = arena_new(a, uint32_t, p->nnodes),
	    .done = arena_new(a, bool, n),
	    .out = out};

	make_blocks(&g, a);
	for (uint32_t i = 0; i < n; i++)
		if (g.block[i] == i)
			count_waits(&g, i, 1);
	return lay_blocks(&g);
}

/* Where runs must be cut because they get too long, or because they were. */
static void
cut_runs(
    bool *fresh, const struct problem *p, const uint32_t *candidate, uint32_t n)
{
	uint32_t nodes = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct problem_candidate *c = &p->candidate[candidate[i]];
		bool goes_on = i > 0 && !fresh[i]
		    && c->target == p->candidate[candidate[i - 1]].target;

		nodes = goes_on ? nodes + c->nnodes : c->nnodes;
		if (goes_on && nodes > p->target[c->target].max_run_nodes) {
			fresh[i] = true;
			nodes = c->nnodes;
		}
	}
}

bool
tighten(struct cover *out, const struct problem *p, const struct cover *relaxed,
    struct arena *a)
{
	uint32_t *candidate = arena_new(a, uint32_t, relaxed->nsteps);
	bool *fresh = arena_new(a, bool, relaxed->nsteps);
	struct err err = {.kind = ERR_NONE};

	if (needs_gathering(p, relaxed)) {
		if (!gather(candidate, p, relaxed, a))
			return false;
	} else {
		for (uint32_t i = 0; i < relaxed->nsteps; i++) {
			candidate[i] = relaxed->step[i].candidate;
			fresh[i] = i > 0
			    && relaxed->step[i].run != relaxed->step[i - 1].run;
		}
	}
	cut_runs(fresh, p, candidate, relaxed->nsteps);
	cover_complete(out, p, candidate, fresh, relaxed->nsteps, a);
	return cover_check(out, p, a, &err);
}
