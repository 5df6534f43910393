#include "plan/columns.h"

#include <assert.h>
#include <stdlib.h>

#include "ir/base/order.h"
#include "search/problem_index.h"

/* TUNING: stretches offered of one region, and of all. A backend's price takes
 * microseconds; the search feels a thousand more candidates. */
#define STRETCHES_MAX 256u
#define COLUMNS_MAX 2000u

cost_ns
parts_cost(const struct plan *about, const uint32_t *part, uint32_t n)
{
	cost_ns sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct price *price =
		    prices_candidate(about->prices, part[i]);
		const struct paid paid = {.price = price_least(price),
		    .ncomposites = 1,
		    .nnodes = about->candidates->candidate[part[i]].nnodes};

		sum = cost_add(sum, objective_cost(PART_COMPOSITE, &paid));
	}
	return sum;
}

/* ---- one column ---- */

static bool
is_inside(const struct problem *p, const struct column *c, uint32_t node)
{
	for (uint32_t i = 0; node != NO_NODE && i < c->nparts; i++) {
		const struct problem_candidate *part =
		    &p->candidate[c->part[i]];

		for (uint32_t k = 0; k < part->nnodes; k++)
			if (part->node[k] == node)
				return true;
	}
	return false;
}

/* Is what a part reads of another part made in that very format? A conversion
 * inside a region would not be in its price. */
static bool
is_made_inside(
    const struct problem *p, const struct column *c, struct problem_port read)
{
	for (uint32_t i = 0; i < c->nparts; i++) {
		const struct problem_candidate *part =
		    &p->candidate[c->part[i]];

		for (uint32_t k = 0; k < part->noutputs; k++)
			if (part->output[k].value == read.value
			    && part->output[k].format == read.format)
				return true;
	}
	return false;
}

static bool
is_used_outside(const struct problem *p, const struct column *c, uint32_t value)
{
	if (p->value[value].required)
		return true;
	for (uint32_t u = p->user_start[value]; u < p->user_start[value + 1];
	     u++)
		if (!is_inside(p, c, p->user[u]))
			return true;
	return false;
}

static int
by_port(const void *a, const void *b)
{
	const struct problem_port *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return (x->format > y->format) - (x->format < y->format);
}

static uint32_t
sort_ports(struct problem_port *port, uint32_t n)
{
	uint32_t kept = 0;

	if (n > 0)
		qsort(port, n, sizeof *port, by_port);
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || by_port(&port[i], &port[i - 1]) != 0)
			port[kept++] = port[i];
	return kept;
}

/* Nodes, ports and resources of a column's parts; false: no candidate can stand
 * for them. */
static bool
fill_column(struct column *c, const struct problem *p, struct arena *a)
{
	const struct problem_candidate *all = p->candidate;
	struct problem_candidate *out = &c->candidate;
	uint32_t nnodes = 0, nin = 0, nout = 0, *node;
	struct problem_port *in, *made;

	for (uint32_t i = 0; i < c->nparts; i++) {
		nnodes += all[c->part[i]].nnodes;
		nin += all[c->part[i]].ninputs;
		nout += all[c->part[i]].noutputs;
	}
	node = arena_new(a, uint32_t, nnodes);
	in = arena_new(a, struct problem_port, nin);
	made = arena_new(a, struct problem_port, nout);
	for (uint32_t i = 0; i < c->nparts; i++) {
		const struct problem_candidate *part = &all[c->part[i]];

		out->resource += part->resource;
		for (uint32_t k = 0; k < part->nnodes; k++)
			node[out->nnodes++] = part->node[k];
		for (uint32_t k = 0; k < part->ninputs; k++)
			if (!is_inside(
			        p, c, p->value[part->input[k].value].producer))
				in[out->ninputs++] = part->input[k];
			else if (!is_made_inside(p, c, part->input[k]))
				return false;
		for (uint32_t k = 0; k < part->noutputs; k++)
			if (is_used_outside(p, c, part->output[k].value))
				made[out->noutputs++] = part->output[k];
	}
	qsort(node, nnodes, sizeof *node, by_u32);
	assert(out->nnodes == nnodes && out->ninputs <= nin
	    && out->noutputs <= nout);
	out->node = node;
	out->ninputs = sort_ports(in, out->ninputs);
	out->input = in;
	out->noutputs = sort_ports(made, out->noutputs);
	out->output = made;
	return true;
}

/* Offer `n` candidates of a region, which are a region by themselves. */
static void
add_column(struct columns *all, const struct problem *p, const uint32_t *part,
    uint32_t n)
{
	uint32_t target = p->candidate[part[0]].target;
	struct column c = {.part = part, .nparts = n};
	struct arena_mark mark;

	assert(n > 0 && target < p->ntargets);
	if (all->n == COLUMNS_MAX)
		return;
	all->column = arena_grow(all->arena, all->column, &all->cap, all->n + 1,
	    sizeof *all->column);
	mark = arena_mark(all->arena);
	c.is_unit = plan_region_cost(all->about, part, n, &c.unit);
	c.candidate.target = target;
	c.candidate.class = p->ncandidates + all->n;
	if (fill_column(&c, p, all->arena))
		all->column[all->n++] = c;
	else
		arena_back(all->arena, mark);
}

/* ---- stretches of a run ---- */

/* Are prices of its target a tool's own figures? */
static bool
is_told(const struct plan *about, uint32_t candidate)
{
	return prices_candidate(about->prices, candidate)->source
	    == PRICE_EXTERNAL;
}

/* Limits on regions count what the target itself runs. */
static bool
counts_runs(const struct problem_target *t)
{
	return t->max_runs != NO_LIMIT || t->max_run_nodes != NO_LIMIT
	    || t->fed_only || t->part_of;
}

/* From the start, to the end, and windows of 1, 2, 4, ... at half their
 * length. */
static void
add_some(struct columns *c, const struct problem *base, const uint32_t *run,
    uint32_t n)
{
	for (uint32_t i = 1; i <= n; i++) {
		add_column(c, base, run, i);
		if (i < n)
			add_column(c, base, run + i, n - i);
	}
	for (uint32_t length = 1; length < n; length *= 2) {
		uint32_t step = length > 1 ? length / 2 : 1;

		for (uint32_t from = 1; from + length < n; from += step)
			add_column(c, base, run + from, length);
	}
}

void
columns_offer(struct columns *c, const struct problem *base,
    const uint32_t *run, uint32_t n)
{
	if (counts_runs(&base->target[base->candidate[run[0]].target]))
		return;
	if (is_told(c->about, run[0]))
		add_column(c, base, run, n); /* of no other has it spoken */
	else if (n * (n + 1) / 2 > STRETCHES_MAX)
		add_some(c, base, run, n);
	else
		for (uint32_t from = 0; from < n; from++)
			for (uint32_t to = from; to < n; to++)
				add_column(c, base, run + from, to - from + 1);
}

/* ---- the problem with columns ---- */

/* The part of a target that runs its columns. Two columns in a row are two
 * regions, so each pays its launch in its own price. */
static uint32_t
column_target(struct problem *p, uint32_t *part, uint32_t target)
{
	if (part[target])
		return part[target];
	part[target] = p->ntargets++;
	p->target[part[target]] =
	    (struct problem_target){.name = p->target[target].name,
	        .max_runs = NO_LIMIT,
	        .max_run_nodes = NO_LIMIT,
	        .capacity = UINT64_MAX,
	        .part_of = target + 1};
	return part[target];
}

/* With its launch, at the prices there are now. */
static cost_ns
column_cost(const struct columns *all, const struct column *c,
    const struct problem *base)
{
	return cost_add(
	    c->is_unit ? c->unit : parts_cost(all->about, c->part, c->nparts),
	    base->target[c->candidate.target].launch);
}

void
columns_apply(
    const struct columns *c, const struct problem *base, struct problem *out)
{
	uint32_t *part = arena_new(c->arena, uint32_t, base->ntargets);

	problem_derive_more(out, base, c->n, base->ntargets, c->arena);
	for (uint32_t i = 0; i < c->n; i++) {
		struct problem_candidate *to =
		    &out->candidate[out->ncandidates++];

		assert(c->column[i].candidate.target < base->ntargets);
		*to = c->column[i].candidate;
		to->cost = column_cost(c, &c->column[i], base);
		to->target = column_target(out, part, to->target);
		for (uint32_t k = 0; k < c->column[i].nparts; k++)
			to->banned |= !candidate_usable(
			    &base->candidate[c->column[i].part[k]]);
	}
}

void
columns_expand(
    const struct columns *c, const struct problem *base, struct cover *cover)
{
	const uint32_t nbase = base->ncandidates;
	uint32_t *candidate = NULL, n = 0, cap = 0, fresh_cap = 0;
	bool *fresh = NULL, after = false;

	for (uint32_t i = 0; i < cover->nsteps; i++) {
		uint32_t id = cover->step[i].candidate;
		const uint32_t *part = id < nbase ? &id : NULL;
		uint32_t nparts = 1;

		if (id >= nbase) {
			assert(id - nbase < c->n); /* (O2) */
			part = c->column[id - nbase].part;
			nparts = c->column[id - nbase].nparts;
		}
		candidate = arena_grow(
		    c->arena, candidate, &cap, n + nparts, sizeof *candidate);
		fresh = arena_grow(
		    c->arena, fresh, &fresh_cap, n + nparts, sizeof *fresh);
		for (uint32_t k = 0; k < nparts; k++, n++) {
			candidate[n] = part[k];
			fresh[n] = k == 0 && i > 0
			    && (id >= nbase || after
			        || cover->step[i].run
			            != cover->step[i - 1].run);
		}
		after = id >= nbase;
	}
	cover_complete(cover, base, candidate, fresh, n, c->arena);
}
