#include "plan/eager.h"

#include <string.h>

#include "plan/shift.h"

#define NO_REGION UINT32_MAX

/* The launching region a node is in; NO_REGION: none. */
static uint32_t
launched_region(const struct plan *p, node_id n)
{
	uint32_t r = p->composite[p->composite_of[n]].region;

	return p->mix->target[p->region[r].target].kind->launches ? r
	                                                          : NO_REGION;
}

/* Of all targets. */
static uint32_t
count_launches(const struct plan *p)
{
	uint32_t n = 0;

	for (uint32_t t = 0; t < p->mix->n; t++)
		n += plan_launches_of(p, t);
	return n;
}

/* For each region of the eager plan, the one region of the plan that has nodes
 * of it: NO_REGION when none has. The first counts when several have. */
static uint32_t *
find_homes(struct eager_gain *v, const struct plan *p, struct arena *a)
{
	uint32_t *home = arena_new(a, uint32_t, v->eager->nregions);

	memset(home, 0xff, v->eager->nregions * sizeof *home);
	for (node_id n = 0; n < p->graph->nnodes; n++) {
		uint32_t theirs = launched_region(v->eager, n),
		         ours = launched_region(p, n);

		v->left += theirs != NO_REGION && ours == NO_REGION;
		v->gained += theirs == NO_REGION && ours != NO_REGION;
		if (theirs != NO_REGION && home[theirs] == NO_REGION)
			home[theirs] = ours;
	}
	return home;
}

bool
plan_gain_over_eager(
    struct eager_gain *out, const struct plan *p, struct arena *a)
{
	struct eager_gain v = {.launches = count_launches(p)};
	uint32_t *home, *guests;

	for (uint32_t i = 0; i < p->nbaselines; i++)
		if (strcmp(p->baseline[i].name, "eager") == 0) {
			v.eager = p->baseline[i].plan;
			v.bound = p->baseline[i].bound;
		}
	if (!v.eager || (v.bound && plan_unpriced(p)))
		return false; /* (a bound against estimates says nothing) */
	v.eager_launches = count_launches(v.eager);
	if (v.launches + v.eager_launches == 0)
		return false;
	home = find_homes(&v, p, a);
	guests = arena_new(a, uint32_t, p->nregions);
	for (uint32_t i = 0; i < v.eager->nregions; i++) {
		const struct plan_region *r = &v.eager->region[i];

		if (home[i] != NO_REGION)
			guests[home[i]]++;
		else
			v.lone += r->ncomposites == 1
			    && p->mix->target[r->target].kind->launches;
	}
	for (uint32_t i = 0; i < p->nregions; i++)
		v.merged += guests[i] > 1 ? guests[i] : 0;
	*out = v;
	return true;
}
