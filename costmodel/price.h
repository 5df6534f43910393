/* Prices with provenance, and lower bounds where nothing is priced yet: one record
 * for each thing that has a price, in one table; all else holds its id. */
#ifndef COSTMODEL_PRICE_H
#define COSTMODEL_PRICE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "ir/base/map.h"
#include "targets/candidates.h"
#include "targets/target.h"

struct board;

enum price_state {
	PRICE_BOUND, /* only `bound` is known */
	PRICE_KNOWN, /* ns is */
	PRICE_FAILED, /* crashed, hung, wrong result, ...: never chosen */
};

enum price_origin { /* where a KNOWN or FAILED price came from, this time */
	FROM_NOWHERE,
	FROM_DB_EXACT,
	FROM_DB_COMPATIBLE,
	FROM_DB_OTHER, /* another environment, or another machine */
	FROM_MEASURING,
	FROM_SIMULATION,
	FROM_EXTERNAL,
	FROM_ESTIMATE,
};

/* (P1) KNOWN: the price is not below its bound, and within its range.
 * (P2) BOUND: it is expected to be no less than its bound, nor taken for less.
 * (P3) FAILED: it says why.
 * (P4) Candidates of one key share one record: nothing is copied to them. */
struct price {
	enum price_state state;
	enum price_source source;
	enum price_origin origin;
	cost_ns ns; /* KNOWN: the price; BOUND: an estimate of it */
	cost_ns bound; /* admissible: never above the true price */
	/* BOUND: what it is taken for while the search looks for what to price;
	 * may be above the true price, so nothing is proven with it */
	cost_ns guess;
	cost_ns low, high; /* range about ns: samples (measured), parameters */
	cost_ns cpu; /* processor time of a run, of all threads; 0: not known */
	uint32_t samples;
	bool is_second; /* measured at a second moment: what came of that */
	uint32_t probes; /* what `bound` rests on; 0: the work alone */
	/* The name of the machine it was measured on (db/origin.h); NULL:
	 * it is of none. */
	const char *machine;
	const char *when; /* UTC ISO-8601, or "" for simulated */
	const char *detail; /* FAILED: outcome in words; else what it rests
			      * on ("KIND assumed: dma_gbps"), or "" */
};

typedef uint32_t price_id;

/* What a price counts as until more is known: never above the true one. */
static inline cost_ns
price_least(const struct price *p)
{
	switch (p->state) {
	case PRICE_KNOWN:
		return p->ns;
	case PRICE_BOUND:
		return p->bound;
	case PRICE_FAILED:
		break;
	}
	return COST_NEVER;
}

/* What it is taken for when the next to be priced is looked for. */
static inline cost_ns
price_guess(const struct price *p)
{
	return p->state == PRICE_BOUND && p->guess > p->bound ? p->guess
	                                                      : price_least(p);
}

/* What a price is expected to be: what a plan that pays it says it costs. */
static inline cost_ns
price_expected(const struct price *p)
{
	return p->state == PRICE_FAILED ? COST_NEVER : p->ns;
}

/* How far it may be off: a measurement from its price up, for the samples below
 * it are the undisturbed ones; any other over its whole range. */
static inline cost_ns
price_spread(const struct price *p)
{
	cost_ns from = p->source == PRICE_MEASURED ? p->ns : p->low;

	return p->high > from ? p->high - from : 0;
}

/* What a figure of this price rests on, in a word: measured, simulated, external
 * or estimated; a bound where the least it may be is what counts. */
static inline const char *
price_basis(const struct price *p, bool at_least)
{
	if (p->state == PRICE_FAILED)
		return "failed";
	if (p->state == PRICE_BOUND)
		return at_least ? "bound" : "estimated";
	return price_source_text(p->source);
}

/* A conversion's price; formats are closed over detours (a two-step way that
 * is cheaper than the direct one is what is priced). */
struct conversion_price {
	struct price price;
	format_id via; /* == to when direct */
};

/* (T1) Ids are dense and never reused. Those below nkeys are candidates', equal for
 *      equal keys.
 * (T2) Launches are KNOWN: a target that does not launch does so for nothing.
 * (T3) Regions are listed once they are KNOWN or FAILED.
 * (T4) A conversion costs no more than one with a detour on the host. */
struct prices {
	struct arena *arena;
	const struct board *board; /* they are for; NULL: for this machine */
	struct price *price; /* [n] by id */
	uint32_t n, cap;
	const price_id *candidate; /* [ncandidates] */
	uint32_t ncandidates, nkeys;
	const price_id *launch; /* [nlaunches] by target */
	uint32_t nlaunches;
	/* [nvalues] -> class; UINT32_MAX: constant, never converted at run
	 * time */
	const uint32_t *value_class;
	struct conversion_price *conversion; /* see conversion_at() */
	uint32_t nclasses, nformats;
	/* Regions a tool was asked about: candidates in order -> region[]. */
	struct map regions;
	price_id *region; /* [nregions] */
	uint32_t nregions, region_cap;
};

/* Without prices. */
void prices_init(struct prices *p, struct arena *a);

/* Another record, and its id. */
price_id prices_add(struct prices *p, const struct price *price);

/* Each of n candidates, or launches, has a price of its own. */
void prices_of_each(struct prices *p, uint32_t ncandidates, uint32_t nlaunches);

/* Candidates [n] as one region have this price. */
void prices_add_region(
    struct prices *p, const uint32_t *candidate, uint32_t n, price_id id);

/* Records and ways of their own under the same ids: for another scenario. */
void prices_copy(struct prices *out, const struct prices *p, struct arena *a);

/* (P1) to (P3); (T1) to (T3). */
void price_verify(const struct price *p);
void prices_verify(const struct prices *p);

static inline struct price *
prices_get(const struct prices *p, price_id id)
{
	assert(id < p->n);
	return &p->price[id];
}

static inline struct price *
prices_candidate(const struct prices *p, uint32_t candidate)
{
	assert(candidate < p->ncandidates);
	return prices_get(p, p->candidate[candidate]);
}

static inline struct price *
prices_launch(const struct prices *p, uint32_t target)
{
	assert(target < p->nlaunches);
	return prices_get(p, p->launch[target]);
}

/* What a tool told about n candidates run as one, or NULL: it was not asked. */
static inline const struct price *
prices_region(const struct prices *p, const uint32_t *candidate, uint32_t n)
{
	uint32_t at = p->nregions == 0
	    ? MAP_NONE
	    : map_find(&p->regions, candidate, n * sizeof *candidate);

	return at == MAP_NONE ? NULL : prices_get(p, p->region[at]);
}

/* The price of converting values of a class between two formats. */
static inline struct conversion_price *
conversion_at(
    const struct prices *p, uint32_t class, format_id from, format_id to)
{
	size_t row = (size_t) class * p->nformats + from;

	assert(class < p->nclasses && from < p->nformats && to < p->nformats);
	return &p->conversion[row * p->nformats + to];
}

#endif
