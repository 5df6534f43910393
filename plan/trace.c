#include "plan/trace.h"

#include <inttypes.h>

void
trace_solve(FILE *f, const char *how, const struct search_result *r)
{
	if (!f)
		return;
	fprintf(f, "plan: solve %s: ", how);
	if (r->found)
		fprintf(f,
		    "cost %" PRIu64 ", bound %" PRIu64 " (%" PRIu32
		    " steps, %" PRIu32 " regions)%s\n",
		    r->cover.cost, r->lower_bound, r->cover.nsteps,
		    r->cover.nruns, r->proven ? ", proven" : "");
	else
		fprintf(f, "no cover%s\n", r->proven ? ", proven" : "");
}

void
trace_ask(FILE *f, const char *what, const uint32_t *id, uint32_t n)
{
	if (!f || n == 0)
		return;
	fprintf(f, "plan: ask %s:", what);
	for (uint32_t i = 0; i < n; i++)
		fprintf(f, " %" PRIu32, id[i]);
	fputc('\n', f);
}

void
trace_learn(FILE *f, const char *what, uint32_t now, uint32_t all)
{
	if (f && now)
		fprintf(f, "plan: learn %s: %" PRIu32 " (all: %" PRIu32 ")\n",
		    what, now, all);
}

void
trace_offer(FILE *f, const struct plan *p, bool fits)
{
	if (f)
		fprintf(f, "plan: offer %" PRIu64 ": %s\n", p->cost,
		    fits ? "fits" : "does not fit");
}

void
trace_plan(FILE *f, const struct plan *p)
{
	if (!f)
		return;
	fprintf(f,
	    "plan: found %" PRIu64 ", bound %" PRIu64 "%s, by %s: %" PRIu32
	    " rounds, %" PRIu32 " unit prices, %" PRIu32
	    " comparisons, baselines",
	    p->cost, p->lower_bound, p->proven ? ", proven" : "", p->searcher,
	    p->rounds, p->nmoved, p->nties);
	for (uint32_t i = 0; i < p->nbaselines; i++)
		fprintf(f, " %" PRIu64 "%s", p->baseline[i].cost,
		    p->baseline[i].bound ? "+" : "");
	fputc('\n', f);
}
