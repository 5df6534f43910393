#include "costmodel/revisit.h"

#include "ir/base/arena.h"

/* TUNING: per cent of what a probe showed. Without neighbours one price in a hundred is
 * beyond 108, one in twenty-five beyond 104. */
#define BEYOND 106
/* TUNING: less is noise. */
#define LEAST_NS 10000

struct revisit
revisit_new(const struct measure_job *job, uint32_t n, measure_done done,
    void *context, struct arena *a)
{
	return (struct revisit){.job = job,
	    .done = done,
	    .context = context,
	    .first = arena_new(a, struct sample, n),
	    .again = arena_new(a, struct measure_job, n),
	    .of = arena_new(a, uint32_t, n)};
}

static bool
is_doubtful(const struct measure_job *j, const struct sample *r)
{
	return sample_has_figures(r) && j->seen_ns >= LEAST_NS
	    && r->low * 100 > j->seen_ns * BEYOND;
}

void
revisit_first(void *context, uint32_t job, const struct sample *r)
{
	struct revisit *v = context;
	const uint32_t i = v->nagain;

	if (!is_doubtful(&v->job[job], r)) {
		v->done(v->context, job, r);
		return;
	}
	v->first[i] = *r;
	v->again[i] = v->job[job];
	v->of[i] = job;
	v->nagain++;
}

void
revisit_second(void *context, uint32_t again, const struct sample *r)
{
	struct revisit *v = context;
	const struct sample *first = &v->first[again];
	struct sample less =
	    sample_has_figures(r) && r->low < first->low ? *r : *first;

	less.span_ns = first->span_ns + r->span_ns;
	v->done(v->context, v->of[again], &less);
	v->of[again] = UINT32_MAX;
}

void
revisit_end(struct revisit *v)
{
	for (uint32_t i = 0; i < v->nagain; i++)
		if (v->of[i] != UINT32_MAX)
			v->done(v->context, v->of[i], &v->first[i]);
}
