#include "plan/slices.h"

#include <stdlib.h>

#include "ir/base/order.h"
#include "search/cover.h"
#include "search/problem_index.h"

static bool
is_of_kind(const struct slices *s, uint32_t target)
{
	return s->mix->target[target].kind == s->kind;
}

/* What candidates need by themselves. False: nothing of the kind keeps anything,
 * or needs more than there is. */
static bool
read_memory(struct slices *s, const struct graph *g)
{
	bool any = false;

	s->limit = UINT64_MAX;
	for (uint32_t i = 0; i < s->candidates->n; i++) {
		const struct candidate *c = &s->candidates->candidate[i];
		struct memory m;

		if (!is_of_kind(s, c->target))
			continue;
		s->kind->region_memory(
		    &s->mix->target[c->target], g, &c, 1, &m);
		s->scratch[i] = m.scratch;
		s->limit = m.limit < s->limit ? m.limit : s->limit;
		any |= c->resident > 0 || m.scratch > m.limit;
	}
	return any;
}

/* Those that need more than there is are in no plan: above all levels. */
static void
list_levels(struct slices *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->candidates->n; i++)
		if (is_of_kind(s, s->candidates->candidate[i].target)
		    && s->scratch[i] <= s->limit)
			s->level[n++] = s->scratch[i];
	qsort(s->level, n, sizeof *s->level, by_u64);
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || s->level[i] != s->level[i - 1])
			s->level[s->nlevels++] = s->level[i];
	s->nlevels += n == 0; /* the level 0, of plans without the device */
}

bool
slices_init(struct slices *s, const struct plan *about, const struct problem *p,
    struct arena *a)
{
	bool *banned;

	*s = (struct slices){.mix = about->mix,
	    .candidates = about->candidates,
	    .target = p->target,
	    .arena = a};
	for (uint32_t t = 0; t < s->mix->n && !s->kind; t++)
		if (s->mix->target[t].kind->region_memory)
			s->kind = s->mix->target[t].kind;
	if (!s->kind)
		return false;
	s->scratch = arena_new(a, uint64_t, s->candidates->n);
	s->level = arena_new(a, uint64_t, s->candidates->n);
	if (!read_memory(s, about->graph))
		return false;
	list_levels(s);
	banned = arena_new(a, bool, p->ncandidates);
	for (uint32_t c = 0; c < p->ncandidates; c++)
		banned[c] = p->candidate[c].banned;
	s->banned = banned;
	return true;
}

void
slices_put(struct slices *s, struct slice slice)
{
	s->open = arena_grow(
	    s->arena, s->open, &s->cap, s->nopen + 1, sizeof *s->open);
	s->open[s->nopen++] = slice;
}

bool
slices_take(struct slices *s, struct slice *out)
{
	uint32_t best = 0;

	if (s->nopen == 0)
		return false;
	for (uint32_t i = 1; i < s->nopen; i++)
		if (s->open[i].bound < s->open[best].bound)
			best = i;
	*out = s->open[best];
	s->open[best] = s->open[--s->nopen];
	return true;
}

static void
limit_targets(
    const struct slices *s, const struct slice *slice, struct problem *p)
{
	for (uint32_t t = 0; t < s->mix->n; t++) {
		uint64_t room = s->limit - s->level[slice->low];

		if (!is_of_kind(s, t))
			continue;
		if (slice->alone && p->target[t].max_runs > 1)
			p->target[t].max_runs = 1;
		if (!slice->alone && p->target[t].capacity > room)
			p->target[t].capacity = room;
	}
}

bool
slices_apply(const struct slices *s, const struct slice *slice,
    struct problem *p, struct err *err)
{
	p->target =
	    arena_copy(s->arena, s->target, p->ntargets * sizeof *p->target);
	if (slice)
		limit_targets(s, slice, p);
	for (uint32_t c = 0; c < p->ncandidates; c++)
		p->candidate[c].banned = s->banned[c]
		    || (slice && !slice->alone
		        && s->scratch[c] > s->level[slice->high]);
	return problem_index(p, s->arena, err)
	    || err_in(err, "search problem of a slice");
}

bool
slices_overfull(const struct slices *s, const struct problem *p,
    const struct cover *c, struct device_use *use)
{
	*use = (struct device_use){.kind = s->kind, .limit = s->limit};
	for (uint32_t i = 0; i < c->nsteps; i++) {
		uint32_t id = c->step[i].candidate;

		if (!is_of_kind(s, s->candidates->candidate[id].target))
			continue;
		use->resident += p->candidate[id].resource;
		if (s->scratch[id] > use->scratch)
			use->scratch = s->scratch[id];
	}
	return use->resident > s->limit
	    || use->scratch > s->limit - use->resident;
}

/* At `cut` and above the memory left is too little for what the cover keeps;
 * below, what needs most in it is banned. Of such cuts, the middle one. */
void
slices_split(
    struct slices *s, const struct slice *slice, const struct device_use *use)
{
	struct slice below = *slice, above;
	uint32_t first = slice->low + 1, last = slice->high;

	while (last > first && s->level[last] > use->scratch)
		last--;
	while (first < last && s->limit - s->level[first] >= use->resident)
		first++;
	below.visits = 0;
	above = below;
	below.high = (first + last) / 2 - 1;
	above.low = (first + last) / 2;
	slices_put(s, below);
	slices_put(s, above);
}

static bool
is_light(const struct slices *s, const struct problem *p, uint32_t candidate)
{
	return is_of_kind(s, s->candidates->candidate[candidate].target)
	    && p->candidate[candidate].resource == 0;
}

bool
slices_relax_alone(const struct slices *s, const struct problem *p,
    struct problem *out, cost_ns *launch, struct err *err)
{
	uint32_t n = p->ncandidates;

	*launch = COST_NEVER;
	*out = *p;
	out->target =
	    arena_new(s->arena, struct problem_target, (size_t)p->ntargets + 1);
	for (uint32_t t = 0; t < p->ntargets; t++)
		out->target[t] = p->target[t];
	out->target[out->ntargets++] =
	    (struct problem_target){.name = s->kind->name,
	        .max_runs = NO_LIMIT,
	        .max_run_nodes = NO_LIMIT,
	        .capacity = UINT64_MAX};
	out->candidate =
	    arena_new(s->arena, struct problem_candidate, 2 * (size_t)n);
	for (uint32_t c = 0; c < n; c++)
		out->candidate[c] = p->candidate[c];
	for (uint32_t c = 0; c < n; c++) {
		if (!is_light(s, p, c))
			continue;
		if (p->target[p->candidate[c].target].launch < *launch)
			*launch = p->target[p->candidate[c].target].launch;
		out->candidate[out->ncandidates] = p->candidate[c];
		out->candidate[out->ncandidates++].target = p->ntargets;
	}
	return problem_index(out, s->arena, err)
	    || err_in(err, "search problem of one region");
}
