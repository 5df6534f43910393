#include "search/bound.h"

#include <assert.h>

#include "search/mask.h"

/* What one live value adds, as labels of a group ask for it. */
struct addition {
	uint32_t have, need, waiting, away, transferred;
	bool leaves;
	int64_t adds;
};

/* Most values have one state in all labels of a group. */
struct additions {
	struct addition first;
	struct addition *more; /* [n - 1] */
	uint32_t n, cap;
};

size_t
bound_group_bytes(const struct group *g)
{
	return g->nitems * sizeof(struct additions);
}

static struct addition *
addition_at(struct additions *all, uint32_t i)
{
	return i ? &all->more[i - 1] : &all->first;
}

cost_ns *
least_shares(const struct problem *p, struct arena *a)
{
	cost_ns *share = arena_new(a, cost_ns, p->nnodes);

	for (uint32_t n = 0; n < p->nnodes; n++)
		share[n] = COST_NEVER;
	for (uint32_t k = 0; k < p->low_start[p->nnodes]; k++) {
		const struct problem_candidate *c = &p->candidate[p->low[k]];

		for (uint32_t i = 0; i < c->nnodes; i++)
			if (c->cost / c->nnodes < share[c->node[i]])
				share[c->node[i]] = c->cost / c->nnodes;
	}
	return share;
}

static void
sum_fed(struct bound *b, struct arena *a)
{
	const struct problem *p = b->p;

	b->fed_below = arena_new(a, int64_t, (size_t)p->nnodes + 1);
	b->fed = arena_new(a, int64_t, p->nvalues);
	b->highest = arena_new(a, uint32_t, p->nvalues);
	b->asked = arena_new(a, uint32_t, p->nvalues);
	b->stamp = arena_new(a, uint32_t, 1);
	for (uint32_t v = 0; v < p->nvalues; v++) {
		b->highest[v] = NO_NODE;
		if (p->value[v].producer != NO_NODE
		    || p->user_start[v] == p->user_start[v + 1])
			continue;
		b->highest[v] = p->user[p->user_start[v + 1] - 1];
		b->fed[v] = dual_fed(b->dual, v);
		b->fed_below[b->highest[v] + 1] += b->fed[v];
	}
	for (uint32_t n = 0; n < p->nnodes; n++)
		b->fed_below[n + 1] += b->fed_below[n];
}

void
bound_init(struct bound *b, const struct problem *p,
    const struct transfer_sets *transferred, struct dual *dual, struct arena *a)
{
	*b = (struct bound){.p = p, .transferred = transferred, .dual = dual};
	for (uint32_t t = 0; dual && t < p->ntargets; t++)
		b->launch += dual->launch[t];
	b->share = least_shares(p, a);
	b->below = arena_new(a, cost_ns, (size_t)p->nnodes + 1);
	for (uint32_t n = 0; n < p->nnodes; n++)
		b->below[n + 1] = cost_add(b->below[n], b->share[n]);
	if (dual)
		sum_fed(b, a);
}

static bool
is_covered(const struct group *g, uint32_t node)
{
	uint32_t low = 0, high = g->nover;

	if (g->top == NO_NODE || node > g->top)
		return true;
	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (g->over[mid] < node)
			low = mid + 1;
		else
			high = mid;
	}
	return low < g->nover && g->over[low] == node;
}

/* What fed values add none of whose users is covered. */
static int64_t
fed_rest(const struct bound *b, const struct group *g)
{
	int64_t sum;

	if (g->top == NO_NODE)
		return 0;
	sum = b->fed_below[g->top + 1];
	assert(g->top < b->p->nnodes);
	++*b->stamp;
	for (uint32_t i = 0; i < g->nover; i++) {
		const struct problem_node *n = &b->p->node[g->over[i]];

		for (uint32_t k = 0; k < n->ninputs; k++) {
			uint32_t v = n->input[k];

			if (b->highest[v] > g->top || b->asked[v] == *b->stamp)
				continue;
			b->asked[v] = *b->stamp;
			sum -= b->fed[v];
		}
	}
	return sum;
}

static int64_t
node_prices(const struct dual *d, const struct group *g)
{
	int64_t sum;

	if (g->top == NO_NODE)
		return 0;
	sum = d->rest[g->top + 1];
	for (uint32_t i = 0; i < g->nover; i++)
		sum -= d->rest[g->over[i] + 1] - d->rest[g->over[i]];
	return sum;
}

void
bound_group(const struct bound *b, struct group *g)
{
	g->rest = g->top == NO_NODE ? 0 : b->below[g->top + 1];
	for (uint32_t i = 0; i < g->nover && g->rest != COST_NEVER; i++)
		g->rest -= b->share[g->over[i]];
	if (!b->dual)
		return;
	g->dual_rest = node_prices(b->dual, g) + fed_rest(b, g);
	g->additions = arena_new(g->arena, struct additions, g->nitems);
}

/* Local formats that runs had it brought in for, and later users may find. */
static uint32_t
formats_transferred(const struct bound *b, const struct live_backward *e)
{
	const struct transfer_set *s = &b->transferred->set[e->transferred];
	uint32_t mask = 0;

	for (uint32_t i = 0; i < s->n; i++)
		mask |= UINT32_C(1) << s->point[i].format;
	return mask;
}

/* What local formats that are brought in are for the prices. */
static uint32_t
as_brought(const struct bound *b, uint32_t formats)
{
	uint32_t mask = 0, f;

	if (!b->split->start)
		return formats;
	while (mask_next(&formats, &f))
		mask |= UINT32_C(1) << b->split->brought[f];
	return mask;
}

/* What an entry adds where formats are local and the prices know nothing of that:
 * for them each is there for all once it is somewhere. What waits may still be made
 * where it waits. What was brought in is paid but for the way to a format it can be
 * brought in from. */
static int64_t
local_adds(const struct bound *b, struct group *g,
    const struct live_backward *e, struct dual_live live)
{
	struct dual_cut cut = {g->top, g->nover, g->over};
	uint32_t brought = e->need & b->p->local, enter = 0, f;
	uint32_t class = b->p->value[live.value].class;
	cost_ns cost[FORMATS_MAX] = {0};
	int64_t best = INT64_MAX;

	live.need = (e->need & ~b->p->local) | e->pending
	    | (e->unplaced & ~e->away) | as_brought(b, e->away);
	live.paid = as_brought(b, formats_transferred(b, e));
	live.cost = cost;
	for (uint32_t rest = b->p->local; mask_next(&rest, &f);)
		cost[b->split->start ? b->split->brought[f] : f] =
		    transfer_cost(b->p, class, f);
	if (brought)
		enter = transfer_formats(b->p, class, mask_lowest(brought));
	if (!enter)
		return dual_value(b->dual, &live, &cut);
	for (uint32_t rest = enter; mask_next(&rest, &f);) {
		struct dual_live from = live;
		int64_t adds;

		from.need |= UINT32_C(1) << f;
		adds = dual_value(b->dual, &from, &cut);
		if (adds < best)
			best = adds;
	}
	return best;
}

static int64_t
item_adds(const struct bound *b, struct group *g, uint32_t item,
    const struct live_backward *e)
{
	struct additions *all = &g->additions[item];
	uint32_t value = g->item[item];
	uint32_t path = b->dual->path_use[value];
	struct addition *x;
	bool leaves = path != UINT32_MAX && !(e->pos & 1) && !e->have
	    && is_covered(g, b->p->user[path]);
	struct dual_live live = {value, e->have, e->need, leaves, 0, NULL};

	for (uint32_t i = 0; i < all->n; i++) {
		x = addition_at(all, i);
		if (x->need == e->need && x->have == e->have
		    && x->waiting == (e->pending | e->unplaced)
		    && x->away == e->away && x->transferred == e->transferred
		    && x->leaves == leaves)
			return x->adds;
	}
	if (all->n > 0)
		all->more = arena_grow(
		    g->arena, all->more, &all->cap, all->n, sizeof *all->more);
	x = addition_at(all, all->n++);
	*x = (struct addition){e->have, e->need, e->pending | e->unplaced,
	    e->away, e->transferred, leaves, 0};
	x->adds = b->p->local
	    ? local_adds(b, g, e, live)
	    : dual_value(
	        b->dual, &live, &(struct dual_cut){g->top, g->nover, g->over});
	return x->adds;
}

/* Runs the path may still use without paying: they are paid already, but its
 * prices count them. */
static int64_t
paid_runs(const struct bound *b, const struct group *g, uint32_t item,
    const struct label *l)
{
	uint32_t path = b->dual->path_use[g->item[item]];

	if (path == UINT32_MAX || l->entry[item].have
	    || !is_covered(g, b->p->user[path]))
		return 0;
	return (2 * l->runs - l->entry[item].pos) / 2;
}

static cost_ns
dual_label(const struct bound *b, struct group *g, const struct label *l)
{
	int64_t rest = g->dual_rest;

	for (uint32_t i = 0; i < g->nitems; i++) {
		int64_t adds = item_adds(b, g, i, &l->entry[i]);

		if (adds == INT64_MAX)
			return COST_NEVER;
		rest += adds - b->launch * paid_runs(b, g, i, l);
	}
	if (b->multiplier)
		rest -= (int64_t)multiplier_left(
		            b->multiplier, l->used[b->multiplier_slot])
		    * DUAL_SCALE;
	if (rest <= 0)
		return l->cost;
	return cost_add(l->cost, ((cost_ns)rest + DUAL_SCALE - 1) / DUAL_SCALE);
}

cost_ns
bound_label(const struct bound *b, struct group *g, const struct label *l)
{
	cost_ns simple = cost_add(l->cost, g->rest), better;

	assert(l->cost != COST_NEVER);
	if (!b->dual || simple == COST_NEVER)
		return simple;
	better = dual_label(b, g, l);
	return better > simple ? better : simple;
}
