/* Lower bounds, guesses and expectations of what has no price; and what prices say
 * of bounds that were there before them. */
#include <assert.h>

#include "costmodel/pricer.h"
#include "costmodel/pricer_parts.h"

/* TUNING: below the factor a bound was broken by, so the next is not. */
#define BOUND_MARGIN 0.9

/* TUNING: a kernel rarely comes closer to the roofline than this; used only
 * where nothing can be or shall be measured, and reported as an estimate. */
#define ESTIMATE_FACTOR 8

void
subject_expect(const struct pricer *p, struct subject *s)
{
	struct price *price = price_of(p, s);

	price->ns = s->probe_ns > price->bound ? s->probe_ns
	                                       : price->bound * ESTIMATE_FACTOR;
	price->low = price->bound;
	price->high = price->ns * ESTIMATE_FACTOR;
}

/* TUNING: a price is seldom below this share of a probe; of the lesser of two. What
 * is to be priced next is looked for with it. */
#define GUESS_ONE 0.85
#define GUESS_TWO 0.98

/* SOURCE: of 1,738 prices taken under a load of 10 to 18 (docs/notebook.md) none
 * was below these shares of a probe, less PROBE_SLACK_NS; two probes tell of
 * themselves how much they differ. Where prices keep closer to their probes both
 * shares are larger, by as much (drift.h). */
#define BOUND_ONE 0.45
#define BOUND_TWO DRIFT_SHARE
#define PROBE_SLACK_NS 1000

static cost_ns
more_of(cost_ns ns, double seen)
{
	return seen > (double)ns ? (cost_ns)seen : ns;
}

/* The margin below a probe follows from how far two of them are apart. */
static double
bound_share(const struct pricer *p, const struct subject *s)
{
	double spread = s->probe_high > s->probe_ns
	    ? (double)(s->probe_high - s->probe_ns) / (double)s->probe_ns
	    : 0;

	return p->drift.share
	    * (price_of(p, s)->probes > 1 ? 1 / (1 + spread)
	                                  : BOUND_ONE / BOUND_TWO);
}

void
subject_bound(const struct pricer *p, struct subject *s)
{
	const struct environment *e = &p->environment[s->target];
	cost_ns work = roofline_bound(&p->roofline, s->work, e->scale);
	double guess = price_of(p, s)->probes > 1 ? GUESS_TWO : GUESS_ONE;
	double seen = (double)s->probe_ns;

	price_of(p, s)->bound =
	    more_of(work, seen * bound_share(p, s) - PROBE_SLACK_NS);
	price_of(p, s)->guess =
	    more_of(price_of(p, s)->bound, seen * guess * p->drift.scale);
}

cost_ns
pricer_work(const struct pricer *p, uint32_t target, node_id node)
{
	const double flops = (double)flops_in_region(p->graph, node);
	const double ns =
	    flops / p->roofline.flops_per_ns * p->environment[target].scale;

	assert(target < p->mix->n);
	return ns < 9e18 ? (cost_ns)ns : (cost_ns)9e18;
}

/* Bounds of a target follow what they are scaled by. */
static void
rebound(struct pricer *p, uint32_t target)
{
	for (uint32_t i = 0; i < p->nsubjects; i++) {
		struct subject *s = &p->subject[i];

		if (s->target != target || price_of(p, s)->state != PRICE_BOUND)
			continue;
		subject_bound(p, s);
		subject_expect(p, s);
	}
}

static const char *
target_name(const struct pricer *p, uint32_t target)
{
	return target < p->mix->n ? p->mix->target[target].text : "conversions";
}

/* The work cannot be done in less: what says so is wrong for all. */
static void
break_work(struct pricer *p, const struct subject *broken)
{
	double factor = (double)price_of(p, broken)->ns
	    / (double)price_of(p, broken)->bound * BOUND_MARGIN;

	notes_add(p->o.notes,
	    "%s: %s ran in %llu ns, below its lower bound of %llu ns; bounds "
	    "are lowered by %.2f",
	    target_name(p, broken->target),
	    broken->db.summary ? broken->db.summary : "a candidate",
	    (unsigned long long)price_of(p, broken)->ns,
	    (unsigned long long)price_of(p, broken)->bound, factor);
	assert(factor > 0 && factor < 1); /* (R3) */
	p->environment[broken->target].scale *= factor;
	rebound(p, broken->target);
}

/* Does what a price says of the probes before it move what probes are worth? */
static bool
calibrate_probes(struct pricer *p, const struct subject *s)
{
	assert(s->probe_ns > 0); /* (R2) */
	return drift_take(
	    &p->drift, (double)price_of(p, s)->ns / (double)s->probe_ns);
}

/* True: the bounds of all targets have to follow. */
static bool
check_bound(struct pricer *p, struct subject *s)
{
	struct environment *e = &p->environment[s->target];
	bool is_broken = price_of(p, s)->ns < price_of(p, s)->bound;
	bool has_moved = false;

	if (price_of(p, s)->state != PRICE_KNOWN
	    || price_of(p, s)->origin == FROM_SIMULATION)
		return false;
	if (price_of(p, s)->probes) {
		p->counts.bounded++;
		p->counts.broken += is_broken;
		has_moved = calibrate_probes(p, s);
	}
	if (!is_broken)
		return has_moved;
	if (price_of(p, s)->ns
	    < roofline_bound(&p->roofline, s->work, e->scale))
		break_work(p, s);
	price_of(p, s)->bound = price_of(p, s)->ns;
	return has_moved;
}

/* Known prices are compared with bounds of their own, which do not follow: those of
 * the others may do so once all were seen. */
void
check_bounds(struct pricer *p, uint32_t from, uint32_t end)
{
	bool has_moved = false;

	for (uint32_t i = from; i < end; i++)
		has_moved |= check_bound(p, &p->subject[i]);
	for (uint32_t t = 0; has_moved && t < p->mix->n; t++)
		rebound(p, t);
}
