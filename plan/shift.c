#include "plan/shift.h"

#include <string.h>

const struct target *
plan_target_of(const struct plan *p, node_id node)
{
	return &p->mix
	            ->target[plan_candidate(p, p->composite_of[node])->target];
}

uint32_t
plan_launches_of(const struct plan *p, uint32_t target)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nregions; i++)
		n += p->region[i].target == target
		    && p->mix->target[target].kind->launches;
	return n;
}

static bool
same_composite(const struct candidate *x, const struct candidate *y)
{
	return x->target == y->target && x->rule == y->rule
	    && x->nnodes == y->nnodes
	    && memcmp(x->node, y->node, x->nnodes * sizeof *x->node) == 0
	    && strcmp(x->implementation_name, y->implementation_name) == 0;
}

static bool
has_composite(const struct plan *p, const struct candidate *c)
{
	return same_composite(
	    c, plan_candidate(p, p->composite_of[c->node[0]]));
}

static bool
same_format(
    const struct plan *p, format_id f, const struct plan *q, format_id g)
{
	const struct format *x = &p->mix->formats.format[f];
	const struct format *y = &q->mix->formats.format[g];

	return x->space == y->space && x->layout == y->layout
	    && x->dtype == y->dtype;
}

/* Among the first n conversions of a plan, those like one of `of`. */
static uint32_t
count_like(const struct plan *p, uint32_t n, const struct plan *of,
    const struct plan_conversion *c)
{
	uint32_t like = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct plan_conversion *x = &p->conversion[i];

		like += x->value == c->value
		    && same_format(p, x->from, of, c->from)
		    && same_format(p, x->to, of, c->to);
	}
	return like;
}

/* Does the other plan pay conversion i of this one, as often as it has come up?
 * Several regions may each pay the same. */
static bool
has_conversion(const struct plan *other, const struct plan *p, uint32_t i)
{
	const struct plan_conversion *c = &p->conversion[i];

	return count_like(p, i + 1, p, c)
	    <= count_like(other, other->nconversions, p, c);
}

static void
add_noise(struct plan_shift *s, const struct price *price)
{
	s->unpriced |= price->state == PRICE_BOUND;
	s->guessed |=
	    price->source == PRICE_ESTIMATED && price->high > price->low;
	if (price->source == PRICE_MEASURED)
		s->noise += price_spread(price) / 2;
}

/* What `p` pays and `other` does not; the conversions among that. */
static const uint32_t *
find_own(struct plan_shift *s, const struct plan *p, const struct plan *other,
    uint32_t *n, struct arena *a)
{
	uint32_t *list = arena_new(a, uint32_t, p->nconversions);

	for (uint32_t i = 0; i < p->ncomposites; i++)
		if (!has_composite(other, plan_candidate(p, i)))
			add_noise(s,
			    prices_candidate(
			        p->prices, p->composite[i].candidate));
	*n = 0;
	for (uint32_t i = 0; i < p->nconversions; i++) {
		const struct plan_conversion *c = &p->conversion[i];

		if (has_conversion(other, p, i))
			continue;
		add_noise(s,
		    &conversion_at(p->prices, p->prices->value_class[c->value],
		        c->from, c->to)
		         ->price);
		list[(*n)++] = i;
	}
	return list;
}

static void
find_moved(struct plan_shift *s, struct arena *a)
{
	node_id *list = arena_new(a, node_id, s->from->graph->nnodes);

	for (node_id n = 0; n < s->from->graph->nnodes; n++)
		if (plan_target_of(s->from, n)->index
		    != plan_target_of(s->to, n)->index)
			list[s->nmoved++] = n;
	s->moved = list;
}

/* Add what a plan pays, with a sign. */
static void
add_parts(struct plan_shift *s, const struct plan *p, int64_t sign)
{
	struct plan_sums sums = plan_sums_of(p);

	s->delta += sign * (int64_t)p->cost;
	for (uint32_t t = 0; t < NTERMS; t++)
		s->term[t] += sign * (int64_t)sums.ns[t];
}

void
plan_shift_make(struct plan_shift *s, const struct plan *from,
    const struct plan *to, struct arena *a)
{
	*s = (struct plan_shift){.from = from, .to = to};
	add_parts(s, to, 1);
	add_parts(s, from, -1);
	s->gone = find_own(s, from, to, &s->ngone, a);
	s->new = find_own(s, to, from, &s->nnew, a);
	find_moved(s, a);
}
