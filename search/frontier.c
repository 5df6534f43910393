#include "search/frontier.h"

#include <assert.h>
#include <string.h>

#include "search/mask.h"

/* TUNING: labels a new one is compared with at most; cheap ones dominate most,
 * and comparing all pairs is quadratic. */
#define COMPARED_MAX 64

#define TRACES 128u /* made at a time */

size_t
label_bytes(const struct group *g)
{
	return sizeof(struct label)
	    + (size_t)g->nitems * sizeof(struct live_backward);
}

/* Runs the label may still use without paying for new ones, in half steps. */
static uint32_t
slack(const struct label *l, const struct live_backward *e)
{
	return 2 * l->runs - e->pos;
}

/* Two entries of one value, of which `a` shall do what `b` does. */
struct live_pair {
	uint32_t value;
	const struct live_backward *a, *b;
	int64_t shift; /* what is at a position in b is at one so much higher
			* in a */
};

/* What `a` must pay to ask of one value no more than `b` does: conversions of
 * what b asks for into what only a asks for. COST_NEVER: it cannot. */
static cost_ns
extra_formats(struct frontier *f, const struct live_pair *x, uint32_t ask)
{
	uint32_t have = x->b->have | (x->b->need & ~f->p->local);

	if (x->a->have != x->b->have)
		return COST_NEVER;
	return convert_cost(
	    f->memo, f->p->value[x->value].class, have, ask & ~x->b->need);
}

static cost_ns
transfers_cost(const struct frontier *f, uint32_t value, uint32_t formats)
{
	cost_ns sum = 0;

	for (uint32_t format; mask_next(&formats, &format);)
		sum = cost_add(
		    sum, transfer_cost(f->p, f->p->value[value].class, format));
	return sum;
}

/* Runs that may have to bring the value in for `a` where they need not for `b`,
 * at most: that which waits for it in a and not in b; those b has brought it in
 * for, which later users may be in; and that which made it, where it is another. */
static cost_ns
extra_transfers(struct frontier *f, const struct live_pair *x, uint32_t *ask)
{
	const struct live_backward *a = x->a, *b = x->b;
	const struct transfer_set *paid = &f->transferred.set[b->transferred];
	bool same_run = a->pos == b->pos + x->shift;
	uint32_t late = same_run ? a->pending & ~b->pending : a->pending;
	cost_ns cost;

	if (a->floor <= b->floor + x->shift)
		late |= a->unplaced & ~(b->pending | b->unplaced);
	else
		late |= a->unplaced & ~b->pending;
	late |= a->away & ~(a->floor <= b->floor + x->shift ? b->away : 0);

	if (a->have && !same_run)
		late |= a->have & f->p->local;
	*ask |= late;
	cost = transfers_cost(f, x->value, late);
	for (uint32_t i = 0; i < paid->n; i++) {
		struct transfer_point at = {
		    (uint32_t)(paid->point[i].pos + x->shift),
		    paid->point[i].format};

		if (!transfer_set_has(&f->transferred, a->transferred, at)
		    && !(a->pos == at.pos && a->pending >> at.format & 1))
			cost = cost_add(cost,
			    transfers_cost(
			        f, x->value, UINT32_C(1) << at.format));
	}
	return cost;
}

static bool
asks_no_more(
    uint32_t ask, const struct live_backward *a, const struct live_backward *b)
{
	return !(ask & ~b->need) && a->have == b->have;
}

/* What it takes to make of entry a what entry b is. */
static cost_ns
extra(struct frontier *f, const struct live_pair *x)
{
	uint32_t ask = x->a->need;
	cost_ns cost = f->p->local ? extra_transfers(f, x, &ask) : 0;

	if (asks_no_more(ask, x->a, x->b))
		return cost;
	return cost_add(cost, extra_formats(f, x, ask));
}

/* New runs at the front `a` must pay for so that none of its positions leaves
 * less room than b's. */
static uint32_t
extra_runs(const struct group *g, const struct label *a, const struct label *b)
{
	uint32_t most = 0;

	/* What nobody waits for may go anywhere, also into the last run. */
	if (g->has_sink && b->runs > a->runs)
		most = 2 * (b->runs - a->runs);
	for (uint32_t i = 0; i < g->nitems; i++) {
		uint32_t has = slack(a, &a->entry[i]);
		uint32_t wants = slack(b, &b->entry[i]);

		if (!a->entry[i].have && wants > has && wants - has > most)
			most = wants - has;
	}
	return (most + 1) / 2;
}

/* Values that left early bound their consumers from above, and tell which
 * order is already fixed. */
static bool
as_free(const struct group *g, const struct label *a, const struct label *b,
    uint32_t runs)
{
	for (uint32_t i = 0; i < g->nitems; i++) {
		const struct live_backward *x = &a->entry[i], *y = &b->entry[i];

		if (x->reach & ~y->reach)
			return false;
		if (x->have && x->pos != UINT32_MAX
		    && slack(a, x) + 2 * runs > slack(b, y))
			return false;
	}
	return true;
}

static bool
uses_no_more(const struct frontier *f, const struct label *a,
    const struct label *b, uint32_t runs)
{
	for (uint32_t i = 0; i < f->ncapped; i++)
		if (a->used[i] > b->used[i])
			return false;
	return f->tracked == NO_LIMIT
	    || f->p->target[f->tracked].max_runs == NO_LIMIT
	    || a->runs + runs <= b->runs;
}

/* Is `a` at least as good as `b` whatever comes? Any cover below b is one below
 * a too, once a has paid for the formats and the runs that b counts on. */
static bool
dominates(struct frontier *f, const struct group *g, const struct label *a,
    const struct label *b)
{
	cost_ns cost = a->cost;
	uint32_t runs = 0;
	int64_t shift;

	if (cost > b->cost)
		return false;
	if (f->tracked != NO_LIMIT) {
		runs = extra_runs(g, a, b);
		for (uint32_t i = 0; i < runs; i++)
			cost = cost_add(cost, f->p->target[f->tracked].launch);
	}
	shift = 2 * ((int64_t)a->runs + runs - b->runs);
	for (uint32_t i = 0; i < g->nitems && cost <= b->cost; i++) {
		const struct live_backward *x = &a->entry[i], *y = &b->entry[i];

		if (!f->p->local && asks_no_more(x->need, x, y))
			continue; /* most of them */
		cost = cost_add(cost,
		    extra(f, &(struct live_pair){g->item[i], x, y, shift}));
	}
	return cost <= b->cost && uses_no_more(f, a, b, runs)
	    && as_free(g, a, b, runs);
}

void
frontier_drop(const struct frontier *f, struct group *g, struct label *l)
{
	if (f->holds)
		return;
	l->next = g->spare;
	g->spare = l;
}

const struct trace *
frontier_trace(struct frontier *f, const struct label *l)
{
	struct trace *trace;

	if (f->ntraces == 0) {
		f->ntraces = TRACES;
		f->traces = arena_new(f->arena, struct trace, TRACES);
	}
	trace = &f->traces[--f->ntraces];
	*trace = (struct trace){
	    l->parent, l->candidate, l->pos, l->age, l->unplaced};
	return trace;
}

static struct label *
copy(struct frontier *f, struct group *g, const struct label *l)
{
	struct label *to = g->spare;
	uint64_t *used = to ? to->used : NULL;

	if (to)
		g->spare = to->next;
	else
		to = arena_alloc(g->arena, label_bytes(g));
	if (!used && f->ncapped > 0)
		used = arena_new(g->arena, uint64_t, f->ncapped);
	memcpy(to, l, label_bytes(g));
	to->age = f->age++;
	to->used = used;
	if (f->ncapped > 0)
		memcpy(used, l->used, f->ncapped * sizeof *used);
	to->trace = frontier_trace(f, to);
	return to;
}

/* The first label from `from` on that costs more. */
static uint32_t
first_costlier(const struct group *g, uint32_t from, cost_ns cost)
{
	uint32_t to = g->nlabels;

	while (from < to) {
		uint32_t mid = (from + to) / 2;

		if (g->label[mid]->cost <= cost)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

bool
frontier_add(struct frontier *f, struct group *g, const struct label *l)
{
	uint32_t at = 0, kept, end;

	if (l->bound >= f->upper)
		return false;
	for (; at < g->nlabels && g->label[at]->cost <= l->cost
	     && at < COMPARED_MAX;
	     at++) {
		f->ncompared++;
		if (dominates(f, g, g->label[at], l))
			return false;
	}
	if (at == COMPARED_MAX)
		at = first_costlier(g, at, l->cost);
	kept = end = at;
	for (; end < g->nlabels && end - at < COMPARED_MAX; end++) {
		f->ncompared++;
		if (!dominates(f, g, l, g->label[end]))
			g->label[kept++] = g->label[end];
		else
			frontier_drop(f, g, g->label[end]);
	}
	if (kept < end)
		memmove(&g->label[kept], &g->label[end],
		    (g->nlabels - end) * sizeof(struct label *));
	kept += g->nlabels - end;
	f->nlabels += (uint64_t)kept + 1;
	f->nlabels -= g->nlabels;
	g->nlabels = kept;
	g->label = arena_grow(g->arena, g->label, &g->cap, g->nlabels + 1,
	    sizeof(struct label *));
	memmove(&g->label[at + 1], &g->label[at],
	    (g->nlabels - at) * sizeof(struct label *));
	g->label[at] = copy(f, g, l);
	g->nlabels++;
	return true;
}

/* (V1) live values and the covered set ascend; (V2) what is covered beyond the top
 * is below it; (V3) a fed value has no producer. */
static void
values_verify(const struct problem *p, const struct group *g)
{
	for (uint32_t i = 0; i < g->nover; i++) {
		assert(i == 0 || g->over[i - 1] < g->over[i]); /* (V1) */
		assert(g->over[i] < g->top); /* (V2) */
	}
	for (uint32_t i = 0; i < g->nitems; i++) {
		assert(i == 0 || g->item[i - 1] < g->item[i]); /* (V1) */
		assert(g->item[i] < p->nvalues);
		assert(g->kind[i] <= ITEM_EARLY);
		assert((g->kind[i] == ITEM_FED)
		    == (p->value[g->item[i]].producer == NO_NODE)); /* (V3) */
	}
}

/* (L1) a label's bound is at least what it paid; (L2) positions are within its
 * regions; (L3) an open value is in no format yet, others are in one; (L4) what
 * waits or is unplaced is local, and only where formats are. */
static void
label_verify(
    const struct frontier *f, const struct group *g, const struct label *l)
{
	assert(l->trace && l->cost != COST_NEVER);
	assert(l->bound >= l->cost && l->bound < f->upper); /* (L1) */
	assert(l->trace->pos == l->pos && l->trace->candidate == l->candidate);
	for (uint32_t i = 0; i < g->nitems; i++) {
		const struct live_backward *e = &l->entry[i];

		assert(e->pos == UINT32_MAX
		    || e->pos <= 2 * l->runs + 1); /* (L2) */
		assert((g->kind[i] == ITEM_OPEN) == (e->have == 0)); /* (L3) */
		assert(!(e->pending & ~f->p->local)); /* (L4) */
		assert(!(e->unplaced & ~f->p->local));
		assert(!(e->away & ~e->unplaced));
		assert(e->transferred < f->transferred.n || !f->p->local);
	}
	for (uint32_t i = 0; i < f->ncapped; i++)
		assert(l->used[i] <= f->p->target[f->capped[i]].capacity);
}

void
group_verify(const struct frontier *f, const struct group *g)
{
	assert(g->nlabels <= g->cap);
	assert(g->arena);
	values_verify(f->p, g);
	for (uint32_t i = 0; i < g->nlabels; i++) {
		label_verify(f, g, g->label[i]);
		assert(i == 0
		    || g->label[i - 1]->cost <= g->label[i]->cost); /* (D1) */
	}
}
