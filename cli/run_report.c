#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/run.h"
#include "cli/units.h"
#include "exec/worst_region.h"
#include "ir/base/plural.h"

#define TOP 10 /* composites shown without --layers */

/* A composite as the report shows it. */
struct line {
	uint32_t composite;
	cost_ns predicted, measured;
	cost_ns shown; /* measured where it ran here, else predicted */
};

/* Is what runs here the target itself, not a simulator of it? */
static bool
is_real(const struct plan *p, uint32_t target)
{
	return p->mix->target[target].source == PRICE_MEASURED;
}

static cost_ns
sum_measured(const struct run_result *r, const struct plan_region *g)
{
	cost_ns sum = 0;

	for (uint32_t i = 0; i < g->ncomposites; i++)
		sum += r->profile.composite[g->first + i];
	return sum;
}

/* Does the conversion stay in this machine's memory? What goes to a simulated
 * device and back is a transfer, whose cost is the simulation's. */
static bool
stays_here(const struct plan *p, const struct plan_conversion *k)
{
	const struct format *f = p->mix->formats.format;

	return f[k->from].space == SPACE_HOST && f[k->to].space == SPACE_HOST;
}

static cost_ns
sum_conversions(const struct plan *p, const cost_ns *measured)
{
	cost_ns sum = 0;

	for (uint32_t i = 0; i < p->nconversions; i++)
		if (stays_here(p, &p->conversion[i]))
			sum += measured ? measured[i] : p->conversion[i].cost;
	return sum;
}

/* Predicted cost of the transfers; their number goes to *n. */
static cost_ns
sum_transfers(const struct plan *p, uint32_t *n)
{
	cost_ns sum = 0;

	*n = 0;
	for (uint32_t i = 0; i < p->nconversions; i++) {
		if (stays_here(p, &p->conversion[i]))
			continue;
		sum += p->conversion[i].cost;
		++*n;
	}
	return sum;
}

/* Predicted cost of everything that really ran here. */
static cost_ns
predicted_here(const struct plan *p)
{
	cost_ns sum = sum_conversions(p, NULL);

	for (uint32_t i = 0; i < p->ncomposites; i++)
		if (is_real(p, plan_candidate(p, i)->target))
			sum += p->composite[i].cost;
	return sum;
}

static cost_ns
simulated_time(const struct run_result *r)
{
	const struct plan *p = &r->job->plan;
	cost_ns sum = 0;

	for (uint32_t i = 0; i < p->ncomposites; i++)
		if (!is_real(p, plan_candidate(p, i)->target))
			sum += r->profile.composite[i];
	return sum;
}

/* What really ran here took this long. With simulated composites in the plan
 * it is the sum of the others and of the conversions: the whole also holds the
 * simulator, which is no latency of anything. */
static cost_ns
measured_here(const struct run_result *r)
{
	const struct plan *p = &r->job->plan;
	cost_ns sum = sum_conversions(p, r->profile.conversion);

	if (simulated_time(r) == 0)
		return r->profile.median;
	for (uint32_t i = 0; i < p->ncomposites; i++)
		if (is_real(p, plan_candidate(p, i)->target))
			sum += r->profile.composite[i];
	return sum;
}

static double
percent(cost_ns predicted, cost_ns measured)
{
	if (measured == 0)
		return 0;
	return 100 * ((double)predicted - (double)measured) / (double)measured;
}

/* ---- the ONNX operators behind a composite ---- */

static const struct onnx_node *
origin_of(const struct graph *g, const struct node *n)
{
	if (n->norigins == 0 || g->origin_table == NULL)
		return NULL;
	return &g->origin_table->node[n->origin[0].onnx];
}

/* "conv1 (Conv) + BatchNormalization + Relu": the author's name of the first
 * operator, and what was fused into it. */
static const char *
operators_text(const struct plan *p, uint32_t composite, struct arena *a)
{
	const struct candidate *c = plan_candidate(p, composite);
	const struct graph *g = p->graph;
	const char *text = arena_printf(a, "%s (%s)",
	    node_label(g, c->node[0], a), graph_node(g, c->node[0])->op_type);

	for (uint32_t i = 1; i < c->nnodes; i++)
		text = arena_printf(
		    a, "%s + %s", text, graph_node(g, c->node[i])->op_type);
	return text;
}

static int
slowest_first(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->shown != y->shown)
		return x->shown < y->shown ? 1 : -1;
	return (x->composite > y->composite) - (x->composite < y->composite);
}

static struct line *
lines_of(const struct run_result *r, bool sorted)
{
	const struct plan *p = &r->job->plan;
	struct line *l = arena_new(r->job->arena, struct line, p->ncomposites);

	for (uint32_t i = 0; i < p->ncomposites; i++)
		l[i] = (struct line){i, p->composite[i].cost,
		    r->profile.composite[i],
		    is_real(p, plan_candidate(p, i)->target)
		        ? r->profile.composite[i]
		        : p->composite[i].cost};
	if (sorted)
		qsort(l, p->ncomposites, sizeof *l, slowest_first);
	return l;
}

/* ---- text ---- */

static void
print_row(const char *name, cost_ns predicted, cost_ns measured, bool real)
{
	char x[32], y[32];

	format_column(predicted, 11, x, sizeof x);
	if (real)
		printf("  %s %s  %+6.1f %%  %s\n", x,
		    format_column(measured, 11, y, sizeof y),
		    percent(predicted, measured), name);
	else
		printf("  %s %11s            %s\n", x, "elsewhere", name);
}

static void
tell_total(const struct run_result *r, struct answer *a)
{
	const struct profile *q = &r->profile;
	const struct plan *p = &r->job->plan;
	const cost_ns prices = predicted_here(p);
	const cost_ns predicted =
	    confirmation_predicts(&r->job->confirmation, prices);

	ANSWER(a,
	    "latency: {measured_ns:t} measured{?simulated  of what runs here} "
	    "({!simulated quartiles {measured_low_ns:t} .. {measured_high_ns:t}, "
	    "}{runs} run{s runs}, {disturbed} disturbed"
	    "{?several , {cpu_ns:t} of CPU time}), {predicted_ns:t} "
	    "predicted ({off:+.1f} %{?ran ; by running it, {prices_ns:t} by its "
	    "prices})\n{?simulated stand-ins for the targets that "
	    "are not here: {simulated:t} a run, not counted\n}memory: "
	    "{pool_bytes:.1b} for values\n",
	    F("predicted_ns", predicted), F("prices_ns", prices),
	    T("ran", r->job->confirmation.took != 0),
	    F("measured_ns", measured_here(r)), F("measured_low_ns", q->low),
	    F("measured_high_ns", q->high), F("runs", q->runs),
	    F("disturbed", q->disturbed), F("cpu_ns", q->cpu),
	    T("several", r->job->args->threads > 1 ? r->job->args->threads : 0),
	    F("pool_bytes", r->pool_bytes), T("simulated", simulated_time(r)),
	    T("off", percent(predicted, measured_here(r))));
	ANSWER(a, NULL, F("conversions_predicted_ns", sum_conversions(p, NULL)),
	    F("conversions_measured_ns", sum_conversions(p, q->conversion)));
}

/* A prediction that is off says where. */
static void
print_worst_region(const struct run_result *r)
{
	const struct plan *p = &r->job->plan;
	const cost_ns measured = measured_here(r);
	const double off =
	    percent(predicted_here(p), measured) / 100; /* signed */
	struct worst_region m;
	char a[32], b[32];

	if (off < ERROR_WORTH_NAMING && off > -ERROR_WORTH_NAMING)
		return;
	m = worst_region_find(p, &r->profile);
	format_duration(m.predicted, a, sizeof a);
	format_duration(m.measured, b, sizeof b);
	if (m.region == p->nregions) {
		printf("worst prediction: the conversions, %s predicted, %s "
		       "measured\n",
		    a, b);
		return;
	}
	printf("worst prediction: region %u (%s), %s predicted, %s measured",
	    (unsigned)m.region, p->mix->target[p->region[m.region].target].text,
	    a, b);
	format_duration(p->composite[m.composite].cost, a, sizeof a);
	format_duration(r->profile.composite[m.composite], b, sizeof b);
	printf("; most of it in %s, %s predicted, %s measured\n",
	    operators_text(p, m.composite, r->job->arena), a, b);
}

static void
print_regions(const struct run_result *r)
{
	const struct plan *p = &r->job->plan;
	cost_ns transfers;
	uint32_t n;
	char name[160];

	printf("\n    predicted    measured   error  region\n");
	for (uint32_t i = 0; i < p->nregions; i++) {
		const struct plan_region *g = &p->region[i];

		snprintf(name, sizeof name, "%u %s, %u composite%s",
		    (unsigned)i, p->mix->target[g->target].text,
		    (unsigned)g->ncomposites, plural(g->ncomposites));
		print_row(
		    name, g->cost, sum_measured(r, g), is_real(p, g->target));
	}
	transfers = sum_transfers(p, &n);
	if (n > 0) {
		snprintf(
		    name, sizeof name, "%u transfer%s", (unsigned)n, plural(n));
		print_row(name, transfers, 0, false);
	}
	snprintf(name, sizeof name, "%u conversion%s",
	    (unsigned)(p->nconversions - n), plural(p->nconversions - n));
	print_row(name, sum_conversions(p, NULL),
	    sum_conversions(p, r->profile.conversion), true);
}

static void
print_layers(const struct run_result *r, bool all)
{
	const struct plan *p = &r->job->plan;
	const struct line *l = lines_of(r, !all);
	uint32_t n = all || p->ncomposites < TOP ? p->ncomposites : TOP;

	printf("\n    predicted    measured   error  %s\n",
	    all ? "operators, in order" : "slowest operators");
	for (uint32_t i = 0; i < n; i++) {
		const struct candidate *c = plan_candidate(p, l[i].composite);
		const struct target *t = &p->mix->target[c->target];
		const char *name = arena_printf(r->job->arena, "%s %s: %s",
		    t->text, c->implementation_name,
		    operators_text(p, l[i].composite, r->job->arena));

		print_row(
		    name, l[i].predicted, l[i].measured, is_real(p, c->target));
	}
}

/* ---- JSON ---- */

static void
write_composites(struct json *w, const struct run_result *r)
{
	const struct plan *p = &r->job->plan;

	json_key(w, "composites");
	json_array(w);
	for (uint32_t i = 0; i < p->ncomposites; i++) {
		const struct candidate *c = plan_candidate(p, i);

		json_inline_object(w);
		json_key_uint(w, "id", i);
		json_key_uint(w, "region", p->composite[i].region);
		json_key_str(w, "target", p->mix->target[c->target].text);
		json_key_str(w, "implementation", c->implementation_name);
		json_key_uint(w, "predicted_ns", p->composite[i].cost);
		json_key_uint(w, "measured_ns", r->profile.composite[i]);
		json_key_bool(w, "simulated", !is_real(p, c->target));
		json_key(w, "onnx");
		json_inline_array(w);
		for (uint32_t k = 0; k < c->nnodes; k++) {
			const struct onnx_node *o = origin_of(
			    p->graph, graph_node(p->graph, c->node[k]));

			json_str(w,
			    o && o->name[0] ? o->name
			                    : node_label(p->graph, c->node[k],
			                        r->job->arena));
		}
		json_close(w);
		json_close(w);
	}
	json_close(w);
}

static void
tell_checks(const struct run_result *r, struct answer *a)
{
	answer_list(a, "checks");
	for (uint32_t i = 0; i < r->nchecks; i++) {
		const struct run_check *c = &r->check[i];

		ANSWER_LINE(a,
		    "{set}: output '{output}' {!same_shape differs in type or "
		    "shape from the {against}}{?drawn {?same_shape rests on "
		    "random numbers: of the {against} only type and shape "
		    "count}}{!drawn {?same_shape {?matches matches}"
		    "{!matches DIFFERS from} the {against}: max error "
		    "{max_error:.3g} ({percent:.3g} % of the tolerance)"
		    "{!same_argmax ; the largest element is at another "
		    "index}}}\n",
		    F("set", c->set), F("output", c->output),
		    F("against", c->against), IS("matches", c->result.matches),
		    IS("drawn", c->drawn), F("max_error", c->result.max_error),
		    F("range", c->result.range),
		    IS("same_argmax", c->result.same_argmax),
		    T("same_shape", c->result.same_shape),
		    T("percent", 100 * c->result.excess));
	}
	answer_close(a);
}

/* What 8 bits lose, and so what is allowed. */
static void
print_lossy(const struct run_result *r)
{
	if (r->lossy > 0)
		printf("\nint8: outputs may be %.2g of their range off, twice "
		       "what calibration saw\n",
		    r->lossy);
}

void
run_report(const struct run_result *r, bool layers)
{
	const struct cli *c = r->job->args->cli;
	struct answer a;

	answer_begin(&a, c, "marq.run/1");
	if (!a.is_json && c->verbosity < 0) {
		tell_checks(r, &a);
		return;
	}
	ANSWER(&a, NULL, F("model", r->job->args->model));
	tell_total(r, &a);
	if (a.is_json) {
		write_composites(&a.json, r);
	} else {
		print_worst_region(r);
		print_regions(r);
		print_layers(r, layers);
		print_lossy(r);
		putchar('\n');
	}
	tell_checks(r, &a);
	ANSWER(&a, NULL, IS("matches", r->matches));
	answer_end(&a);
}
