#include "cli/top.h"

/* How an alternative differs from the plan. */
struct difference {
	cost_ns margin; /* it costs this much more */
	cost_ns noise; /* spread of the prices that only one of both uses */
	uint32_t changed; /* composites of it the plan does not have */
	node_id node; /* the first node they run; NODE_NONE: none */
	bool same; /* it is the plan */
};

static bool
has_candidate(const struct plan *p, uint32_t candidate)
{
	for (uint32_t i = 0; i < p->ncomposites; i++)
		if (p->composite[i].candidate == candidate)
			return true;
	return false;
}

/* Add the spread of what `p` uses and `other` does not. */
static cost_ns
spread_beyond(const struct plan *p, const struct plan *other, uint32_t *count,
    node_id *first)
{
	cost_ns sum = 0;

	for (uint32_t i = 0; i < p->ncomposites; i++) {
		uint32_t id = p->composite[i].candidate;
		const struct price *price = prices_candidate(p->prices, id);
		node_id node = p->candidates->candidate[id].node[0];

		if (has_candidate(other, id))
			continue;
		sum += price_spread(price);
		++*count;
		if (node < *first)
			*first = node;
	}
	return sum;
}

static struct difference
compare(const struct plan *best, const struct plan *other)
{
	struct difference d = {.node = NODE_NONE};
	node_id ignored = NODE_NONE;
	uint32_t left = 0;

	d.margin = other->cost - best->cost;
	d.noise = spread_beyond(other, best, &d.changed, &d.node)
	    + spread_beyond(best, other, &left, &ignored);
	d.same = d.changed == 0 && left == 0;
	return d;
}

/* The next alternative from *i on; NULL: there are no more. */
static const struct plan *
next(const struct job *j, uint32_t *i, struct difference *d)
{
	/* Where the time ended early the first may not be the plan, and be
	 * cheaper or not. */
	const struct plan *best =
	    j->ntop && j->top[0].cost < j->plan.cost ? &j->top[0] : &j->plan;

	while (*i < j->ntop) {
		const struct plan *p = &j->top[(*i)++];

		*d = compare(best, p);
		if (!d->same)
			return p;
	}
	return NULL;
}

void
top_tell(const struct job *j, struct answer *a)
{
	const struct plan *p;
	struct difference d;
	uint32_t n = 0;

	answer_list(a, "alternatives");
	for (uint32_t i = 0; (p = next(j, &i, &d)); n++)
		ANSWER_LINE(a,
		    "{?first next best plans:\n}  {cost_ns:t} {basis}, {margin_ns:t} more "
		    "({?beyond_noise beyond}{!beyond_noise within} the noise of "
		    "{noise_ns:t}); {composites_changed} "
		    "composite{s composites_changed} differ{?one s}, first at "
		    "{node}{!proven ; others may be cheaper}\n",
		    F("cost_ns", p->cost), F("basis", plan_basis(p)),
		    F("proven", p->proven), F("margin_ns", d.margin),
		    F("noise_ns", d.noise),
		    IS("beyond_noise", d.margin > d.noise),
		    F("composites_changed", d.changed), T("first", n == 0),
		    T("one", d.changed == 1),
		    T("node",
		        d.node == NODE_NONE
		            ? "none"
		            : node_label(j->model.graph, d.node, j->arena)));
	answer_close(a);
	ANSWER(a, "{?few   no {?n other }{!n next best }plan was found\n}",
	    T("few", n < j->args->top_k), T("n", n));
}
