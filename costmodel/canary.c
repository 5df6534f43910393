/* Canaries: stored figures timed again, so that a drift of the machine no
 * version shows (firmware, governor, neighbours) is seen. They are not stored:
 * looking at the machine must not move the plan that is being made, so the same
 * command on the same database gives the same plan. */
#include <assert.h>
#include <stdlib.h>

#include "costmodel/pricer.h"
#include "costmodel/pricer_parts.h"
#include "costmodel/want_list.h"
#include "ir/base/order.h"

/* SOURCE: medians of an unchanged, shared machine differ by 2 to 12 % between
 * sessions; within that nothing is said. */
#define DRIFT_LOW 900
#define DRIFT_HIGH 1100
#define CANARY_MAX 32
/* TUNING: longer kernels take too long to be timed again in passing. */
#define CANARY_NS_MAX UINT64_C(20000000)

struct flock {
	struct pricer *p;
	uint32_t subject[CANARY_MAX]; /* by job */
	uint32_t ratio[CANARY_MAX]; /* permille, of those that worked */
	uint32_t n, nratios;
};

/* Spread evenly over the range of prices: short kernels and long ones drift
 * for different reasons. */
static void
choose(struct flock *f, uint32_t max, struct arena *scratch)
{
	struct pricer *p = f->p;
	struct ranked *all =
	    arena_new(scratch, struct ranked, p->ncandidate_subjects);
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->ncandidate_subjects; i++)
		if (price_at(p, i)->state == PRICE_KNOWN
		    && price_at(p, i)->source == PRICE_MEASURED
		    && price_at(p, i)->origin == FROM_DB_EXACT
		    && price_at(p, i)->ns <= CANARY_NS_MAX)
			all[n++] = (struct ranked){price_at(p, i)->ns, i};
	if (n > 1)
		qsort(all, n, sizeof *all, by_rank);
	assert(max <= CANARY_MAX);
	f->n = n < max ? n : max;
	for (uint32_t i = 0; i < f->n; i++)
		f->subject[i] = all[(2 * (uint64_t)i + 1) * n / (2 * f->n)].id;
}

static void
done(void *context, uint32_t job, const struct sample *r)
{
	struct flock *f = context;
	const struct subject *s = &f->p->subject[f->subject[job]];
	double ratio;

	if (r->outcome != OUTCOME_OK || r->low == 0)
		return;
	assert(price_of(f->p, s)->state == PRICE_KNOWN);
	ratio = 1000.0 * (double)r->low / (double)price_of(f->p, s)->ns;
	f->ratio[f->nratios++] = ratio < 1e9 ? (uint32_t)ratio : 1000000000u;
}

static void
conclude(struct flock *f)
{
	struct pricer_counts *c = &f->p->counts;

	assert(f->nratios <= f->n);
	c->canaries = f->nratios;
	if (f->nratios == 0)
		return;
	qsort(f->ratio, f->nratios, sizeof *f->ratio, by_u32);
	c->drift_permille = f->ratio[f->nratios / 2];
	if (c->drift_permille >= DRIFT_LOW && c->drift_permille <= DRIFT_HIGH)
		return;
	notes_add(f->p->o.notes,
	    "this machine has drifted: %u stored figures timed again take "
	    "%.2f times what they did ('marq db invalidate' retires old ones)",
	    f->nratios, (double)c->drift_permille / 1000);
}

bool
pricer_canary(struct pricer *p, uint32_t max, struct err *err)
{
	struct measure_job job[CANARY_MAX];
	struct flock f = {.p = p};
	struct arena scratch;
	bool ok;

	p->canary_done = true;
	arena_init(&scratch);
	choose(&f, max < CANARY_MAX ? max : CANARY_MAX, &scratch);
	for (uint32_t i = 0; i < f.n; i++) {
		subject_describe(p, f.subject[i], &scratch);
		job[i] = (struct measure_job){
		    .candidate = p->subject[f.subject[i]].candidate,
		    .value = VALUE_NONE,
		};
		if (p->o.links)
			job[i].of = want_subject(
			    p->o.want, p, &p->subject[f.subject[i]]);
	}
	ok = f.n == 0
	    || (measuring_begin(p, f.subject, f.n, err)
	        && measurer_run(p->measurer, job, f.n, done, &f, err));
	arena_release(&scratch);
	if (!ok)
		return false;
	conclude(&f);
	canary_remember(p);
	return true;
}
