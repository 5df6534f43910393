/* summary.prom, for node_exporter's textfile collector, and summary.junit.xml,
 * for what shows test reports. */
#include <string.h>

#include "cli/night/html.h"
#include "cli/night/summary.h"
#include "cli/night/words.h"

/* ---- Prometheus ---- */

struct metric {
	const char *name, *help;
	double (*of)(const struct night_unit *u);
};

static double
seconds_of_cost(const struct night_unit *u)
{
	return (double)u->status.cost_ns / 1e9;
}

static double
seconds_of_bound(const struct night_unit *u)
{
	return (double)u->status.lower_bound_ns / 1e9;
}

static double
seconds_of_baseline(const struct night_unit *u)
{
	return (double)u->status.baseline_ns / 1e9;
}

static double
is_proven(const struct night_unit *u)
{
	return u->status.proven;
}

static double
among_regions(const struct night_unit *u)
{
	return u->status.among_regions;
}

static double
unpriced(const struct night_unit *u)
{
	return u->unpriced;
}

static double
measured(const struct night_unit *u)
{
	return u->ran ? u->status.measured : 0;
}

static const struct metric metrics[] = {
    {"marq_cost_seconds", "predicted latency of the plan", seconds_of_cost},
    {"marq_lower_bound_seconds", "no plan is cheaper", seconds_of_bound},
    {"marq_baseline_seconds", "the best baseline", seconds_of_baseline},
    {"marq_proven", "1: no cheaper plan exists at these prices", is_proven},
    {"marq_among_regions", "regions marq_proven is among; 0: all there are",
        among_regions},
    {"marq_unpriced", "composites known by a lower bound only", unpriced},
    {"marq_measured", "prices measured in the last night", measured},
};

static void
put_unit(FILE *f, const char *metric, const struct night_unit *u, double x)
{
	fprintf(f, "%s{model=\"%s\",mix=\"%s\",shape=\"%s\"} %.9g\n", metric,
	    u->model, u->mix, u->shape, x);
}

bool
write_summary_prometheus(FILE *f, void *context, struct err *err)
{
	const struct summary *s = context;

	(void)err;
	for (size_t m = 0; m < sizeof metrics / sizeof *metrics; m++) {
		fprintf(f, "# HELP %s %s\n# TYPE %s gauge\n", metrics[m].name,
		    metrics[m].help, metrics[m].name);
		for (uint32_t i = 0; i < s->night->nunits; i++)
			if (unit_succeeded(&s->night->unit[i]))
				put_unit(f, metrics[m].name, &s->night->unit[i],
				    metrics[m].of(&s->night->unit[i]));
	}
	fputs("# HELP marq_searches searches of the last night by outcome\n"
	      "# TYPE marq_searches gauge\n",
	    f);
	fprintf(f, "marq_searches{outcome=\"done\"} %u\n", s->done);
	fprintf(f, "marq_searches{outcome=\"failed\"} %u\n", s->failed);
	fprintf(f, "marq_searches{outcome=\"not_run\"} %u\n", s->left);
	fputs("# HELP marq_findings what is worth looking at, by kind\n"
	      "# TYPE marq_findings gauge\n",
	    f);
	for (int i = 0; i < NEVENTS; i++)
		fprintf(f, "marq_findings{kind=\"%s\"} %u\n",
		    event_key((enum event)i), s->findings.count[i]);
	fprintf(f,
	    "# HELP marq_night_began_seconds when the last night began\n"
	    "# TYPE marq_night_began_seconds gauge\n"
	    "marq_night_began_seconds %llu\n",
	    (unsigned long long)s->night->began);
	return true;
}

/* ---- JUnit: failed and costlier ones fail, what was not run is skipped ---- */

static const struct finding *
finding_of(const struct summary *s, uint32_t unit)
{
	for (uint32_t i = 0; i < s->findings.n; i++)
		if (s->findings.item[i].unit == unit
		    && s->findings.item[i].kind <= EVENT_REGRESSED)
			return &s->findings.item[i];
	return NULL;
}

static void
put_case(FILE *f, const struct summary *s, uint32_t i)
{
	const struct night_unit *u = &s->night->unit[i];
	const struct finding *x = finding_of(s, i);

	fprintf(f, "  <testcase classname=\"%s\" name=\"%s\" time=\"%.3f\"",
	    escaped(u->model, s->a), escaped(u->name, s->a),
	    (double)u->status.took_ms / 1000);
	if (!u->status.ended)
		fputs("><skipped message=\"not run\"/></testcase>\n", f);
	else if (x)
		fprintf(f,
		    "><failure type=\"%s\" message=\"%s\">%s\n%s</failure>"
		    "</testcase>\n",
		    event_key(x->kind), escaped(x->what, s->a),
		    escaped(x->why, s->a), escaped(x->command, s->a));
	else
		fputs("/>\n", f);
}

bool
write_summary_junit(FILE *f, void *context, struct err *err)
{
	const struct summary *s = context;
	uint32_t failures = 0;

	(void)err;
	for (uint32_t i = 0; i < s->night->nunits; i++)
		failures += finding_of(s, i) != NULL;
	fprintf(f,
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<testsuite name=\"%s\" tests=\"%u\" failures=\"%u\" "
	    "skipped=\"%u\" time=\"%.3f\" timestamp=\"%s\">\n",
	    escaped(s->manifest, s->a), s->night->nunits, failures, s->left,
	    (double)s->took_ms / 1000, night_time(s->night->began, s->a));
	for (uint32_t i = 0; i < s->night->nunits; i++)
		put_case(f, s, i);
	fputs("</testsuite>\n", f);
	return true;
}
