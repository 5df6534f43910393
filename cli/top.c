#include "cli/top.h"

#include <stdio.h>

#include "cli/units.h"
#include "ir/base/json.h"

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
		const struct price *price = &p->prices->candidate[id];
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
top_print(const struct job *j)
{
	char cost[32], margin[32], noise[32];
	const struct plan *p;
	struct difference d;
	uint32_t n = 0;

	for (uint32_t i = 0; (p = next(j, &i, &d)); n++) {
		if (n == 0)
			puts("next best plans:");
		printf("  %s, %s more (%s the noise of %s); %u composite%s "
		       "differ%s, first at %s%s\n",
		    format_duration(p->cost, cost, sizeof cost),
		    format_duration(d.margin, margin, sizeof margin),
		    d.margin > d.noise ? "beyond" : "within",
		    format_duration(d.noise, noise, sizeof noise), d.changed,
		    d.changed == 1 ? "" : "s", d.changed == 1 ? "s" : "",
		    d.node == NODE_NONE
		        ? "none"
		        : node_label(j->model.graph, d.node, j->arena),
		    p->proven ? "" : "; others may be cheaper");
	}
	if (n < j->args->top_k)
		printf("  no %splan was found\n", n ? "other " : "next best ");
}

void
top_write(const struct job *j, struct json *w)
{
	const struct plan *p;
	struct difference d;

	json_key(w, "alternatives");
	json_array(w);
	for (uint32_t i = 0; (p = next(j, &i, &d));) {
		json_inline_object(w);
		json_key_uint(w, "cost_ns", p->cost);
		json_key_bool(w, "proven", p->proven);
		json_key_uint(w, "margin_ns", d.margin);
		json_key_uint(w, "noise_ns", d.noise);
		json_key_bool(w, "beyond_noise", d.margin > d.noise);
		json_key_uint(w, "composites_changed", d.changed);
		json_close(w);
	}
	json_close(w);
}
