#include "tests/support/device.h"

#define LEAST 2 /* scratch of any region */

static enum law law; /* the double's; set by dress_device() */
static uint64_t limit;
static const struct dressed *dressing;
static const uint64_t *live; /* [ncandidates] */

static void
memory(const struct region *r, struct memory *out)
{
	*out = (struct memory){.limit = limit, .scratch = LEAST};
	for (uint32_t i = 0; i < r->ncandidates; i++) {
		const struct candidate *c = r->candidate[i];
		uint64_t own = live[c - dressing->candidates.candidate];

		out->resident += c->resident;
		if (own > out->scratch)
			out->scratch = own;
	}
	if (law == LAW_MORE) {
		out->resident = (out->resident + 2) / 3 * 3;
		out->scratch += r->ncandidates ? r->ncandidates - 1 : 0;
	}
	if (law != LAW_LARGEST && out->resident + out->scratch > limit)
		out->scratch =
		    out->resident < limit ? limit - out->resident : 0;
	if (out->scratch < LEAST)
		out->scratch = LEAST;
}

static const struct rule any_rule = {.name = "any"};

void
dress_device(
    struct dressed *d, struct target_kind *kind, enum law as, struct rng *r)
{
	struct target *t =
	    arena_copy(d->a, d->mix.target, d->mix.n * sizeof *d->mix.target);
	struct candidate *list = arena_copy(d->a, d->candidates.candidate,
	    d->candidates.n * sizeof *d->candidates.candidate);
	uint64_t *need = arena_new(d->a, uint64_t, d->candidates.n);

	law = as;
	dressing = d;
	*kind = (struct target_kind){.name = "device",
	    .rule = &any_rule,
	    .nrules = 1,
	    .launches = t[0].kind->launches,
	    .memory = memory,
	    .spills = law != LAW_LARGEST};
	t[0].kind = kind;
	for (uint32_t c = 0; c < d->candidates.n; c++) {
		need[c] = rng_below(r, 8);
		if (t[list[c].target].kind == kind && rng_below(r, 3))
			list[c].resident = rng_below(r, 6);
	}
	d->mix.target = t;
	d->candidates.candidate = list;
	live = need;
	limit = 6 + rng_below(r, 10);
}

/* ---- the oracle ---- */

static bool
fits(const struct oracle *o)
{
	const struct candidate *all = dressing->candidates.candidate, *run[16];
	uint64_t resident = 0, scratch = 0;

	for (uint32_t i = 0, n; i < o->n; i += n) {
		struct region r;
		struct memory m;

		for (n = 0; i + n < o->n && (n == 0 || !o->fresh[i + n]); n++)
			run[n] = &all[o->chosen[i + n]];
		if (!dressing->mix.target[run[0]->target].kind->memory)
			continue;
		r = region_of(NULL, NULL, run, n);
		memory(&r, &m);
		resident += m.resident;
		scratch = m.scratch > scratch ? m.scratch : scratch;
	}
	return resident + scratch <= limit;
}

cost_ns
device_cost(const struct oracle *o, struct arena *a)
{
	struct cover c;

	cover_complete(&c, o->p, o->chosen, o->fresh, o->n, a);
	return fits(o) ? c.cost : COST_NEVER;
}
