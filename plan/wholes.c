#include "plan/wholes.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/order.h"

/* TUNING: stretches offered of one region, and of all. A backend's price takes
 * microseconds; the search feels a thousand more candidates. */
#define STRETCHES_MAX 256u
#define COLUMNS_MAX 2000u

void
wholes_init(struct wholes *w, const struct plan *about,
    const struct problem *base, struct arena *a)
{
	*w = (struct wholes){.about = about, .base = base, .arena = a};
	map_init(&w->seen, a);
	w->raised = arena_new(a, cost_ns, base->ncandidates);
	w->apart = arena_new(a, bool, base->nvalues);
}

static cost_ns
own_price(const struct wholes *w, uint32_t candidate)
{
	return price_least(&w->about->prices->candidate[candidate]);
}

static cost_ns
sum_of(const struct wholes *w, const uint32_t *part, uint32_t n)
{
	cost_ns sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum = cost_add(sum, own_price(w, part[i]));
	return sum;
}

/* ---- columns ---- */

static bool
is_inside(const struct wholes *w, const struct column *c, uint32_t node)
{
	const struct problem_candidate *all = w->base->candidate;

	for (uint32_t i = 0; node != NO_NODE && i < c->nparts; i++)
		for (uint32_t k = 0; k < all[c->part[i]].nnodes; k++)
			if (all[c->part[i]].node[k] == node)
				return true;
	return false;
}

/* Is what a part reads of another part made in that very format? A conversion
 * inside a region would not be in its price. */
static bool
is_made_inside(
    const struct wholes *w, const struct column *c, struct problem_port read)
{
	for (uint32_t i = 0; i < c->nparts; i++) {
		const struct problem_candidate *p =
		    &w->base->candidate[c->part[i]];

		for (uint32_t k = 0; k < p->noutputs; k++)
			if (p->output[k].value == read.value
			    && p->output[k].format == read.format)
				return true;
	}
	return false;
}

static bool
is_used_outside(const struct wholes *w, const struct column *c, uint32_t value)
{
	const struct problem *p = w->base;

	if (p->value[value].required)
		return true;
	for (uint32_t u = p->user_start[value]; u < p->user_start[value + 1];
	     u++)
		if (!is_inside(w, c, p->user[u]))
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
fill_column(struct wholes *w, struct column *c)
{
	const struct problem_candidate *all = w->base->candidate;
	struct problem_candidate *out = &c->candidate;
	uint32_t nnodes = 0, nin = 0, nout = 0, *node;
	struct problem_port *in, *made;

	for (uint32_t i = 0; i < c->nparts; i++) {
		nnodes += all[c->part[i]].nnodes;
		nin += all[c->part[i]].ninputs;
		nout += all[c->part[i]].noutputs;
	}
	node = arena_new(w->arena, uint32_t, nnodes);
	in = arena_new(w->arena, struct problem_port, nin);
	made = arena_new(w->arena, struct problem_port, nout);
	for (uint32_t i = 0; i < c->nparts; i++) {
		const struct problem_candidate *p = &all[c->part[i]];

		out->resource += p->resource;
		for (uint32_t k = 0; k < p->nnodes; k++)
			node[out->nnodes++] = p->node[k];
		for (uint32_t k = 0; k < p->ninputs; k++)
			if (!is_inside(w, c,
			        w->base->value[p->input[k].value].producer))
				in[out->ninputs++] = p->input[k];
			else if (!is_made_inside(w, c, p->input[k]))
				return false;
		for (uint32_t k = 0; k < p->noutputs; k++)
			if (is_used_outside(w, c, p->output[k].value))
				made[out->noutputs++] = p->output[k];
	}
	qsort(node, nnodes, sizeof *node, by_u32);
	out->node = node;
	out->ninputs = sort_ports(in, out->ninputs);
	out->input = in;
	out->noutputs = sort_ports(made, out->noutputs);
	out->output = made;
	return true;
}

/* Offer `n` candidates of a run, which are a region by themselves. */
static void
add_column(struct wholes *w, const uint32_t *part, uint32_t n)
{
	uint32_t target = w->base->candidate[part[0]].target;
	struct column c = {.part = part, .nparts = n};
	struct arena_mark mark;
	struct estimate price;

	if (w->ncolumns == COLUMNS_MAX)
		return;
	w->column = arena_grow(w->arena, w->column, &w->column_cap,
	    w->ncolumns + 1, sizeof *w->column);
	mark = arena_mark(w->arena);
	if (!plan_region_price(w->about, part, n, &price))
		price.ns = sum_of(w, part, n);
	c.candidate.target = target;
	c.candidate.cost = cost_add(price.ns, w->base->target[target].launch);
	c.candidate.class = w->base->ncandidates + w->ncolumns;
	if (fill_column(w, &c))
		w->column[w->ncolumns++] = c;
	else
		arena_back(w->arena, mark);
}

/* Are prices of its target a tool's own figures? */
static bool
is_told(const struct wholes *w, uint32_t candidate)
{
	const struct price *p = &w->about->prices->candidate[candidate];

	return p->source == PRICE_EXTERNAL;
}

/* Stretches of a run: all of them where they are few; else those from the start
 * and to the end, and windows of 1, 2, 4, ... at half their length. */
static void
add_columns(struct wholes *w, const uint32_t *run, uint32_t n)
{
	const struct problem_target *t =
	    &w->base->target[w->base->candidate[run[0]].target];

	/* limits on regions count what the target itself runs */
	if (t->max_runs != NO_LIMIT || t->max_run_nodes != NO_LIMIT
	    || t->fed_only || t->part_of)
		return;
	if (is_told(w, run[0])) {
		add_column(w, run, n); /* of no other the tool has spoken */
		return;
	}
	if (n * (n + 1) / 2 <= STRETCHES_MAX) {
		for (uint32_t from = 0; from < n; from++)
			for (uint32_t to = from; to < n; to++)
				add_column(w, run + from, to - from + 1);
		return;
	}
	for (uint32_t i = 1; i <= n; i++) {
		add_column(w, run, i);
		if (i < n)
			add_column(w, run + i, n - i);
	}
	for (uint32_t length = 1; length < n; length *= 2)
		for (uint32_t from = 1;
		     from + length<n; from += length> 1 ? length / 2 : 1)
			add_column(w, run + from, length);
}

/* ---- runs ---- */

/* Parts of a region that costs more than their sum cost as much more. */
static void
raise(struct wholes *w, const uint32_t *run, uint32_t n, cost_ns sum,
    cost_ns whole)
{
	for (uint32_t i = 0; i < n; i++) {
		double share = (double)own_price(w, run[i]) / (double)sum;
		cost_ns price = (cost_ns)(share * (double)whole + 1);

		if (price > w->raised[run[i]])
			w->raised[run[i]] = price;
	}
}

static bool
makes(const struct problem_candidate *c, uint32_t value)
{
	for (uint32_t i = 0; i < c->noutputs; i++)
		if (c->output[i].value == value)
			return true;
	return false;
}

/* A run that cannot be is cut in two at its middle: what one half makes and the
 * other reads keeps them apart. Halves that share nothing cannot be held apart;
 * then none of its parts can be chosen. */
static void
cut(struct wholes *w, const uint32_t *run, uint32_t n)
{
	const struct problem_candidate *all = w->base->candidate;
	bool any = false;

	for (uint32_t to = n / 2; to < n; to++)
		for (uint32_t k = 0; k < all[run[to]].ninputs; k++) {
			uint32_t value = all[run[to]].input[k].value;

			for (uint32_t from = 0; from < n / 2; from++)
				if (makes(&all[run[from]], value))
					any = w->apart[value] = true;
		}
	for (uint32_t i = 0; !any && i < n; i++)
		w->raised[run[i]] = COST_NEVER;
}

/* A run that was not priced before; does its price differ from its parts'? */
static bool
learn(struct wholes *w, const uint32_t *run, uint32_t n, cost_ns whole)
{
	const uint32_t *copy = arena_copy(w->arena, run, n * sizeof *run);
	const struct candidate *first = &w->about->candidates->candidate[*run];
	cost_ns sum = sum_of(w, run, n);
	uint32_t nnodes = 0, number = w->seen.nkeys;

	if (map_add(&w->seen, copy, n * sizeof *copy, number) != number)
		return false;
	for (uint32_t i = 0; i < n; i++)
		nnodes += w->base->candidate[run[i]].nnodes;
	if (whole == sum)
		return false;
	w->moved = arena_grow(
	    w->arena, w->moved, &w->moved_cap, w->nmoved + 1, sizeof *w->moved);
	w->moved[w->nmoved++] = (struct plan_move){.target = first->target,
	    .node = first->node[0],
	    .ncomposites = n,
	    .nnodes = nnodes,
	    .parts = sum,
	    .whole = whole};
	if (whole == COST_NEVER) {
		cut(w, copy, n);
		return true;
	}
	if (whole > sum && sum > 0)
		raise(w, copy, n, sum, whole);
	add_columns(w, copy, n);
	return true;
}

cost_ns
wholes_cost(struct wholes *w, const struct cover *c, bool *news)
{
	uint32_t *run = arena_new(w->arena, uint32_t, c->nsteps);
	cost_ns cost = c->cost;
	bool never = false;

	*news = false;
	for (uint32_t i = 0, n; i < c->nsteps; i += n) {
		struct estimate price;

		for (n = 0;
		     i + n < c->nsteps && c->step[i + n].run == c->step[i].run;
		     n++)
			run[n] = c->step[i + n].candidate;
		if (!plan_region_price(w->about, run, n, &price))
			continue;
		*news |= learn(w, run, n, price.ns);
		never |= price.ns == COST_NEVER;
		if (!never)
			cost = cost_add(cost - sum_of(w, run, n), price.ns);
	}
	return never ? COST_NEVER : cost;
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

bool
wholes_apply(const struct wholes *w, struct problem *out, struct err *err)
{
	const struct problem *p = w->base;
	uint32_t *part = arena_new(w->arena, uint32_t, p->ntargets);
	struct problem_candidate *all = arena_new(w->arena,
	    struct problem_candidate, (size_t)p->ncandidates + w->ncolumns);

	*out = *p;
	out->value =
	    arena_copy(w->arena, p->value, p->nvalues * sizeof *p->value);
	for (uint32_t v = 0; v < p->nvalues; v++)
		out->value[v].mark |= w->apart[v];
	out->target =
	    arena_new(w->arena, struct problem_target, 2 * (size_t)p->ntargets);
	out->candidate = all;
	for (uint32_t t = 0; t < p->ntargets; t++)
		out->target[t] = p->target[t];
	for (uint32_t c = 0; c < p->ncandidates; c++) {
		all[c] = p->candidate[c];
		if (candidate_usable(&all[c]) && w->raised[c] > all[c].cost)
			all[c].cost = w->raised[c];
	}
	for (uint32_t c = 0; c < w->ncolumns; c++) {
		struct problem_candidate *to = &all[p->ncandidates + c];

		*to = w->column[c].candidate;
		to->target = column_target(out, part, to->target);
		for (uint32_t i = 0; i < w->column[c].nparts; i++)
			to->banned |= !candidate_usable(
			    &p->candidate[w->column[c].part[i]]);
	}
	out->ncandidates += w->ncolumns;
	return problem_index(out, w->arena, err)
	    || err_in(err, "search problem with regions");
}

void
wholes_expand(const struct wholes *w, struct cover *c)
{
	const uint32_t nbase = w->base->ncandidates;
	uint32_t *candidate = NULL, n = 0, cap = 0, fresh_cap = 0;
	bool *fresh = NULL, after = false;

	for (uint32_t i = 0; i < c->nsteps; i++) {
		uint32_t id = c->step[i].candidate;
		const uint32_t *part = id < nbase ? &id : NULL;
		uint32_t nparts = 1;

		if (id >= nbase) {
			part = w->column[id - nbase].part;
			nparts = w->column[id - nbase].nparts;
		}
		candidate = arena_grow(
		    w->arena, candidate, &cap, n + nparts, sizeof *candidate);
		fresh = arena_grow(
		    w->arena, fresh, &fresh_cap, n + nparts, sizeof *fresh);
		for (uint32_t k = 0; k < nparts; k++, n++) {
			candidate[n] = part[k];
			fresh[n] = k == 0 && i > 0
			    && (id >= nbase || after
			        || c->step[i].run != c->step[i - 1].run);
		}
		after = id >= nbase;
	}
	cover_complete(c, w->base, candidate, fresh, n, w->arena);
}
