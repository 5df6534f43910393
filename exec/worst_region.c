#include "exec/worst_region.h"

#include "targets/target.h"

/* Does a composite's time mean anything: is it the target, no simulator? */
static bool
is_real(const struct plan *p, const struct plan_composite *c)
{
	uint32_t target = p->candidates->candidate[c->candidate].target;

	return p->mix->target[target].kind->source == PRICE_MEASURED;
}

static int64_t
off_by(cost_ns predicted, cost_ns measured)
{
	return (int64_t)predicted - (int64_t)measured;
}

static struct worst_region
error_of_conversions(const struct plan *p, const struct profile *seen)
{
	struct worst_region m = {.region = p->nregions, .composite = NODE_NONE};
	const struct format *f = p->mix->formats.format;

	for (uint32_t i = 0; i < p->nconversions; i++) {
		const struct plan_conversion *k = &p->conversion[i];

		if (f[k->from].space != SPACE_HOST
		    || f[k->to].space != SPACE_HOST)
			continue;
		m.predicted += k->cost;
		m.measured += seen->conversion[i];
	}
	return m;
}

static struct worst_region
error_of_region(const struct plan *p, const struct profile *seen, uint32_t r)
{
	const struct plan_region *g = &p->region[r];
	struct worst_region m = {.region = r, .composite = g->first};

	for (uint32_t i = g->first; i < g->first + g->ncomposites; i++) {
		if (!is_real(p, &p->composite[i]))
			continue;
		m.predicted += p->composite[i].cost;
		m.measured += seen->composite[i];
	}
	return m;
}

/* The composite of m's region that is furthest off in direction `sign`. */
static uint32_t
furthest(const struct plan *p, const struct profile *seen,
    const struct worst_region *m, int64_t sign)
{
	const struct plan_region *g = &p->region[m->region];
	uint32_t worst = g->first;
	int64_t most = INT64_MIN;

	for (uint32_t i = g->first; i < g->first + g->ncomposites; i++) {
		int64_t off =
		    sign * off_by(p->composite[i].cost, seen->composite[i]);

		if (off > most) {
			most = off;
			worst = i;
		}
	}
	return worst;
}

struct worst_region
worst_region_find(const struct plan *p, const struct profile *seen)
{
	struct worst_region worst = error_of_conversions(p, seen), m;
	int64_t total = off_by(worst.predicted, worst.measured), sign;

	for (uint32_t r = 0; r < p->nregions; r++) {
		m = error_of_region(p, seen, r);
		total += off_by(m.predicted, m.measured);
	}
	sign = total < 0 ? -1 : 1;
	for (uint32_t r = 0; r < p->nregions; r++) {
		m = error_of_region(p, seen, r);
		if (sign * off_by(m.predicted, m.measured)
		    > sign * off_by(worst.predicted, worst.measured))
			worst = m;
	}
	if (worst.region < p->nregions)
		worst.composite = furthest(p, seen, &worst, sign);
	return worst;
}
