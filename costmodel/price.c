#include "costmodel/price.h"

void
prices_init(struct prices *p, struct arena *a)
{
	*p = (struct prices){.arena = a};
	map_init(&p->regions, a);
}

price_id
prices_add(struct prices *p, const struct price *price)
{
	p->price =
	    arena_grow(p->arena, p->price, &p->cap, p->n + 1, sizeof *p->price);
	p->price[p->n] = *price;
	return p->n++;
}

static const price_id *
add_each(struct prices *p, uint32_t n)
{
	const struct price nothing = {.when = "", .detail = ""};
	price_id *id = arena_new(p->arena, price_id, n);

	for (uint32_t i = 0; i < n; i++)
		id[i] = prices_add(p, &nothing);
	return id;
}

void
prices_of_each(struct prices *p, uint32_t ncandidates, uint32_t nlaunches)
{
	assert(p->n == 0); /* (T1): candidates' come first */
	p->candidate = add_each(p, ncandidates);
	p->ncandidates = p->nkeys = ncandidates;
	p->launch = add_each(p, nlaunches);
	p->nlaunches = nlaunches;
}

void
prices_add_region(
    struct prices *p, const uint32_t *candidate, uint32_t n, price_id id)
{
	const uint32_t *key =
	    arena_copy(p->arena, candidate, n * sizeof *candidate);

	assert(n > 1);
	assert(prices_get(p, id)->state != PRICE_BOUND); /* (T3) */
	map_add(&p->regions, key, n * sizeof *key, p->nregions);
	p->region = arena_grow(p->arena, p->region, &p->region_cap,
	    p->nregions + 1, sizeof *p->region);
	p->region[p->nregions++] = id;
}

void
prices_copy(struct prices *out, const struct prices *p, struct arena *a)
{
	size_t nways = (size_t)p->nclasses * p->nformats * p->nformats;

	*out = *p;
	out->arena = a;
	out->price = arena_copy(a, p->price, p->n * sizeof *p->price);
	out->cap = p->n;
	out->conversion =
	    arena_copy(a, p->conversion, nways * sizeof *p->conversion);
}

void
price_verify(const struct price *p)
{
	assert(p->when && p->detail);
	switch (p->state) {
	case PRICE_KNOWN: /* (P1) */
		assert(p->bound <= p->ns);
		assert(p->low <= p->ns);
		assert(p->ns <= p->high);
		assert(p->ns != COST_NEVER);
		break;
	case PRICE_BOUND: /* (P2) */
		assert(p->bound <= p->ns);
		assert(p->guess == 0 || p->bound <= p->guess);
		assert(price_least(p) <= price_guess(p));
		break;
	case PRICE_FAILED: /* (P3) */
		assert(*p->detail);
		assert(price_least(p) == COST_NEVER);
		break;
	}
}

void
prices_verify(const struct prices *p)
{
	assert(p->n <= p->cap);
	assert(p->nkeys <= p->ncandidates && p->nkeys <= p->n);
	for (price_id id = 0; id < p->n; id++)
		price_verify(prices_get(p, id));
	for (uint32_t i = 0; i < p->ncandidates; i++)
		assert(p->candidate[i] < p->nkeys); /* (T1) */
	for (uint32_t t = 0; t < p->nlaunches; t++)
		assert(prices_launch(p, t)->state == PRICE_KNOWN); /* (T2) */
	assert(p->nregions == p->regions.nkeys);
	for (uint32_t i = 0; i < p->nregions; i++) { /* (T3) */
		assert(p->region[i] >= p->nkeys);
		assert(prices_get(p, p->region[i])->state != PRICE_BOUND);
	}
}
