/* What was compared since the search began, and prices that fit it. */
#include "costmodel/fit.h"
#include "costmodel/pricer.h"
#include "costmodel/pricer_parts.h"

/* What was compared, and its price as it was measured. */
struct pricer_fitted {
	uint32_t subject;
	cost_ns ns; /* as fitted; the price is another one: measured since */
	cost_ns own, low, high, bound;
};

static uint32_t
fitted_of(struct pricer *p, uint32_t subject)
{
	for (uint32_t i = 0; i < p->nfitted; i++)
		if (p->fitted[i].subject == subject)
			return i;
	p->fitted = arena_grow(p->arena, p->fitted, &p->fitted_cap,
	    p->nfitted + 1, sizeof *p->fitted);
	p->fitted[p->nfitted] = (struct pricer_fitted){.subject = subject};
	return p->nfitted++;
}

/* What turns of two said; whether it counts in this search. */
struct pricer_turned {
	struct fit_pair pair;
	bool counts;
};

static struct pricer_turned *
find_turned(const struct pricer *p, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < p->nturned; i++)
		if (p->turned[i].pair.a == a && p->turned[i].pair.b == b)
			return &p->turned[i];
	return NULL;
}

bool
fitted_recall(struct pricer *p, struct pricer_pair *pair)
{
	const uint32_t a = fitted_of(p, p->subject_of[pair->a]);
	const uint32_t b = fitted_of(p, p->subject_of[pair->b]);
	struct pricer_turned *t = find_turned(p, a, b);
	struct pricer_turned *back = t ? NULL : find_turned(p, b, a);
	struct fit_pair said;

	pair->known = t || back;
	if (!pair->known)
		return false;
	(t ? t : back)->counts = true;
	said = t ? t->pair : fit_turned(&back->pair);
	pair->low = said.low;
	pair->high = said.high;
	return true;
}

void
fitted_keep(struct pricer *p, const struct pricer_pair *pair)
{
	struct pricer_pair seen = *pair;

	if (!pair->known || fitted_recall(p, &seen))
		return;
	p->turned = arena_grow(p->arena, p->turned, &p->turned_cap,
	    p->nturned + 1, sizeof *p->turned);
	p->turned[p->nturned++] = (struct pricer_turned){
	    {fitted_of(p, p->subject_of[pair->a]),
	        fitted_of(p, p->subject_of[pair->b]), pair->low, pair->high},
	    true};
}

static cost_ns
scaled(cost_ns x, cost_ns ns, cost_ns own)
{
	return (cost_ns)((double)x * (double)ns / (double)own);
}

/* Its range goes along. */
static bool
take_fitted(struct price *price, struct pricer_fitted *f, cost_ns ns)
{
	const cost_ns low = scaled(f->low, ns, f->own);
	const cost_ns high = scaled(f->high, ns, f->own) + 1;
	const bool moved = price->ns != ns;

	price->low = low < ns ? low : ns;
	price->high = ns == f->own ? f->high : high;
	price->bound = f->bound < ns ? f->bound : ns;
	price->ns = f->ns = ns;
	price_verify(price);
	return moved;
}

static bool
has_price(const struct pricer *p, const struct pricer_fitted *f)
{
	return price_at(p, f->subject)->state == PRICE_KNOWN;
}

static void
look_at_price(const struct pricer *p, struct pricer_fitted *f)
{
	const struct price *price = price_at(p, f->subject);

	if (has_price(p, f) && price->ns != f->ns)
		*f = (struct pricer_fitted){f->subject, price->ns, price->ns,
		    price->low, price->high, price->bound};
}

/* Those of this search, both of which have a price. */
static uint32_t
pairs_that_count(const struct pricer *p, struct fit_pair *pair)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nturned; i++) {
		const struct pricer_turned *t = &p->turned[i];

		if (t->counts && has_price(p, &p->fitted[t->pair.a])
		    && has_price(p, &p->fitted[t->pair.b]))
			pair[n++] = t->pair;
	}
	return n;
}

bool
pricer_fit(struct pricer *p)
{
	bool moved = false;
	struct arena scratch;
	struct fit_pair *pair;
	cost_ns *ns, *spread;

	arena_init(&scratch);
	pair = arena_new(&scratch, struct fit_pair, p->nturned);
	ns = arena_new(&scratch, cost_ns, p->nfitted);
	spread = arena_new(&scratch, cost_ns, p->nfitted);
	for (uint32_t i = 0; i < p->nfitted; i++) {
		struct pricer_fitted *f = &p->fitted[i];

		look_at_price(p, f);
		ns[i] = f->own ? f->own : 1; /* that is in no pair */
		spread[i] = f->high > f->own ? f->high - f->own : 0;
	}
	fit_prices(
	    ns, spread, p->nfitted, pair, pairs_that_count(p, pair), &scratch);
	for (uint32_t i = 0; i < p->nfitted; i++)
		if (has_price(p, &p->fitted[i]))
			moved |= take_fitted(price_at(p, p->fitted[i].subject),
			    &p->fitted[i], ns[i]);
	arena_release(&scratch);
	return moved;
}

void
pricer_unfit(struct pricer *p)
{
	for (uint32_t i = 0; i < p->nturned; i++)
		p->turned[i].counts = false;
	pricer_fit(p);
}

void
fitted_forget(struct pricer *p)
{
	p->nturned = p->nfitted = 0;
}
