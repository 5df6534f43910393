#include "exec/profile.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "costmodel/machine.h"
#include "costmodel/watch.h"
#include "ir/base/clock.h"
#include "ir/base/order.h"

/* TUNING: enough for quartiles; more only costs time. */
#define RUNS_MIN 5
#define RUNS_MAX 200
#define BUDGET_NS UINT64_C(1000000000)
#define WARM_UP 2

/* Sorts x; the middle one. */
static cost_ns
middle(cost_ns *x, uint32_t n)
{
	qsort(x, n, sizeof *x, by_u64);
	return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* Times of one step in every run, RUNS_MAX apart. */
struct record {
	cost_ns *composite, *conversion, total[RUNS_MAX], cpu[RUNS_MAX];
};

static void
keep(const cost_ns *from, cost_ns *to, uint32_t n, uint32_t run)
{
	for (uint32_t i = 0; i < n; i++)
		to[(size_t)i * RUNS_MAX + run] = from[i];
}

static const cost_ns *
middles(cost_ns *seen, uint32_t n, uint32_t runs, struct arena *a)
{
	cost_ns *m = arena_new(a, cost_ns, n);

	for (uint32_t i = 0; i < n; i++)
		m[i] = middle(seen + (size_t)i * RUNS_MAX, runs);
	return m;
}

static bool
is_enough(
    const struct profile *p, const struct profile_options *o, cost_ns spent)
{
	uint64_t budget = o->budget_ns ? o->budget_ns : BUDGET_NS;

	if (p->runs == RUNS_MAX
	    || (p->runs > 0 && o->stop && atomic_load(o->stop)))
		return true;
	if (o->runs)
		return p->runs >= o->runs;
	return p->runs >= RUNS_MIN && spent >= budget;
}

/* How long to wait for undisturbed runs: the budget, and as much again. */
static cost_ns
patience(const struct profile_options *o)
{
	return 2 * (o->budget_ns ? o->budget_ns : BUDGET_NS);
}

bool
profile_run(struct profile *p, struct executor *x, const struct plan *plan,
    const struct profile_options *o, const struct tensor *in,
    struct tensor *out, struct arena *a, struct err *err)
{
	struct record *r = arena_new(a, struct record, 1);
	struct watch watch;
	cost_ns began;

	r->composite =
	    arena_new(a, cost_ns, (size_t)plan->ncomposites * RUNS_MAX);
	r->conversion =
	    arena_new(a, cost_ns, (size_t)plan->nconversions * RUNS_MAX);
	*p = (struct profile){0};
	for (uint32_t i = 0; i < WARM_UP; i++)
		if (!executor_run(x, in, out, err))
			return false;
	began = clock_ns();
	while (!is_enough(p, o, clock_ns() - began)) {
		cost_ns cpu, start, took, used;

		machine_rest();
		watch_begin(&watch);
		cpu = clock_cpu_ns();
		start = clock_ns();
		if (!executor_run(x, in, out, err))
			return false;
		took = clock_ns() - start;
		used = clock_cpu_ns() - cpu;
		if (watch_end(&watch)) {
			p->disturbed++;
			if (clock_ns() - began < patience(o))
				continue;
		}
		r->total[p->runs] = took;
		r->cpu[p->runs] = used;
		keep(executor_composite_ns(x), r->composite, plan->ncomposites,
		    p->runs);
		keep(executor_conversion_ns(x), r->conversion,
		    plan->nconversions, p->runs);
		p->runs++;
	}
	p->composite = middles(r->composite, plan->ncomposites, p->runs, a);
	p->conversion = middles(r->conversion, plan->nconversions, p->runs, a);
	p->median = middle(r->total, p->runs);
	p->cpu = middle(r->cpu, p->runs);
	p->low = r->total[p->runs / 4];
	p->high = r->total[p->runs * 3 / 4];
	return true;
}
