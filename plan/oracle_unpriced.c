/* "unpriced": probe and price what the cheapest cover lacks; "proof": search again
 * with more effort once nothing is missing; "known only": pricing ended early, so
 * the best cover of what is known to run instead. */
#include <assert.h>
#include <inttypes.h>

#include "ir/base/plural.h"
#include "plan/pricing.h"
#include "plan/propose.h"
#include "plan/trace.h"

/* (O4) Each time something gets a price, a probe or a lower bound. */
bool
ask_unpriced(
    struct planner *pl, struct proposal *p, enum verdict *v, struct err *err)
{
	bool moved = false;

	if (pricing_list(pl, &p->best.cover) == 0)
		return true;
	if (!pricing_some(pl, &moved, err))
		return false;
	/* a bound may have fallen without a price for any of it */
	if (moved || p->fell != pl->fell) {
		effort_after(pl, false);
		*v = ORACLE_LEARNED;
	}
	return true;
}

/* (O4) Twice after each time something was learned. */
bool
ask_proof(
    struct planner *pl, struct proposal *p, enum verdict *v, struct err *err)
{
	(void)err;
	if (effort_more(pl, p))
		*v = ORACLE_LEARNED;
	return true;
}

/* ---- known only ---- */

static uint32_t
count_unsure(const struct planner *pl, const struct cover *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->nsteps; i++)
		n += !is_sure(pl, c->step[i].candidate);
	return n;
}

/* TUNING: times a cover is priced to the end: another may be cheaper then. */
#define COMPLETIONS_MAX 4

/* Try what the cheapest cover by bounds has that was never run: then it is known to
 * run, and about how fast. */
static bool
try_cover(struct planner *pl, const struct cover *c, struct err *err)
{
	bool any;

	pricing_list(pl, c);
	trace_ask(pl->r->trace, "probe", pl->ask, pl->nask);
	if (!pricer_probe(pl->r->pricer, pl->ask, pl->nask, 0, &any, err))
		return false;
	pricing_update(pl);
	return true;
}

/* Price what the best cover lacks, as long as there is time. */
static bool
price_cover(struct planner *pl, struct err *err)
{
	for (uint32_t i = 0; i < COMPLETIONS_MAX; i++) {
		struct search_result r;
		bool moved;

		if (!pricer_may_measure(pl->r->pricer))
			return true;
		if (!propose_known(pl, true, &r, err))
			return false;
		if (!r.found || pricing_list(pl, &r.cover) == 0)
			return true;
		if (!pricing_all(pl, &moved, err))
			return false;
	}
	return true;
}

/* The same, with the time that was kept for it; nothing is priced after that. */
static bool
complete(struct planner *pl, const struct cover *c, struct err *err)
{
	const struct plan_request *r = pl->r;
	bool ok;

	if (!r->pricer || r->completing_ns == 0)
		return true;
	pricer_set_deadline(r->pricer, r->completing_ns);
	ok = try_cover(pl, c, err) && price_cover(pl, err);
	pricer_set_deadline(r->pricer, 1);
	return ok;
}

/* What was never run is in the cover only where there is no other way. The bound
 * stays that of the problem with bounds. */
bool
ask_known(
    struct planner *pl, struct proposal *p, enum verdict *v, struct err *err)
{
	struct search_result r;
	uint32_t unsure;

	if (pl->nask + pl->nconvert == 0)
		return true;
	if (!complete(pl, &p->best.cover, err)
	    || !propose_known(pl, true, &r, err)
	    || (!r.found && !propose_known(pl, false, &r, err)))
		return false;
	if (!r.found)
		r.cover = p->best.cover;
	unsure = count_unsure(pl, &r.cover);
	if (unsure)
		notes_add(pl->r->notes,
		    "%" PRIu32 " composite%s of the plan never tried: may turn "
		    "out not to run",
		    unsure, plural(unsure));
	p->best.cover = r.cover;
	p->best.searcher = r.searcher;
	p->best.proven = false;
	*v = ORACLE_REPLACED;
	return true;
}
