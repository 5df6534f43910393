#include "plan/memory.h"

#include <assert.h>

/* The regions of one kind. */
static struct device_use
use_of(const struct plan *p, const struct target_kind *kind, struct arena *a)
{
	struct device_use use = {kind, 0, 0, UINT64_MAX};

	for (uint32_t i = 0; i < p->nregions; i++) {
		struct region r;
		struct memory m;

		if (p->mix->target[p->region[i].target].kind != kind)
			continue;
		r = plan_region_of(p, i, a);
		kind->memory(&r, &m);
		use.resident += m.resident;
		if (m.scratch > use.scratch)
			use.scratch = m.scratch;
		if (m.limit < use.limit)
			use.limit = m.limit;
	}
	return use;
}

bool
plan_fits(const struct plan *p, struct device_use *use, struct arena *scratch)
{
	struct device_use now;

	for (uint32_t t = 0; t < p->mix->n; t++) {
		if (!p->mix->target[t].kind->memory)
			continue;
		now = use_of(p, p->mix->target[t].kind, scratch);
		if (now.resident <= now.limit
		    && now.scratch <= now.limit - now.resident)
			continue;
		*use = now;
		return false;
	}
	return true;
}

static uint64_t
used_by(const struct plan *p, uint32_t target)
{
	uint64_t used = 0;

	for (uint32_t i = 0; i < p->ncomposites; i++) {
		const struct candidate *c = plan_candidate(p, i);

		if (c->target == target)
			used += c->resident;
	}
	return used;
}

bool
problem_tighten(
    struct problem *p, const struct plan *plan, const struct device_use *use)
{
	uint64_t excess = use->resident + use->scratch - use->limit, most = 0;
	uint32_t fullest = 0;

	assert(use->kind && use->resident + use->scratch > use->limit);
	for (uint32_t t = 0; t < plan->mix->n; t++)
		if (plan->mix->target[t].kind == use->kind
		    && used_by(plan, t) > most) {
			fullest = t;
			most = used_by(plan, t);
		}
	if (most == 0)
		return false;
	assert(p->target[fullest].capacity >= most);
	p->target[fullest].capacity = most > excess ? most - excess : 0;
	return true;
}
