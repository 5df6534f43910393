#include "cli/summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/top.h"
#include "cli/units.h"
#include "costmodel/forecast.h"
#include "ir/base/json.h"
#include "ir/base/plural.h"
#include "plan/shift.h"
#include "plan/versus.h"

/* Composites and regions of each target of the mix. */
struct target_total {
	uint32_t composites, regions, nodes;
	cost_ns cost;
};

static void
count_shares(const struct job *j, struct target_total *share)
{
	const struct plan *p = &j->plan;

	for (uint32_t i = 0; i < p->ncomposites; i++) {
		const struct plan_composite *c = &p->composite[i];
		const struct candidate *cand =
		    &p->candidates->candidate[c->candidate];

		share[cand->target].composites++;
		share[cand->target].nodes += cand->nnodes;
		share[cand->target].cost += c->cost;
	}
	for (uint32_t i = 0; i < p->nregions; i++)
		share[p->region[i].target].regions++;
}

static void
print_shares(const struct job *j)
{
	struct target_total *share =
	    arena_new(j->arena, struct target_total, j->mix.n ? j->mix.n : 1);
	struct plan_parts parts = plan_parts_of(&j->plan);
	char text[32];
	int wide = 14;

	count_shares(j, share);
	for (uint32_t t = 0; t < j->mix.n; t++)
		if ((int)strlen(j->mix.target[t].text) > wide)
			wide = (int)strlen(j->mix.target[t].text);
	for (uint32_t t = 0; t < j->mix.n; t++)
		printf("  %-*s %4u region%-1s %5u composite%-1s %5u node%-1s"
		       "  %s\n",
		    wide, j->mix.target[t].text, share[t].regions,
		    plural(share[t].regions), share[t].composites,
		    plural(share[t].composites), share[t].nodes,
		    plural(share[t].nodes),
		    format_duration(share[t].cost, text, sizeof text));
	printf("  %-*s %4u                                  %s\n", wide,
	    "conversions", j->plan.nconversions,
	    format_duration(parts.conversions, text, sizeof text));
	printf("  %-*s                                       %s\n", wide,
	    "launches", format_duration(parts.launches, text, sizeof text));
}

static void
print_verified(const struct job *j)
{
	const struct verified_as *v = &j->verification.verdict;

	if (!j->verify || j->args->no_verify) {
		printf("not verified (--no-verify)\n");
		return;
	}
	switch (v->kind) {
	case VERIFY_RIGHT:
		printf("verified: max error %.2g of the range\n", v->error);
		break;
	case VERIFY_BEYOND:
		printf("not verified: the model is larger than what is run "
		       "unasked; marq run compares\n");
		break;
	default:
		printf("not verified: %s\n", v->detail);
	}
}

/* Only --nan=ignore lets such composites in. */
static void
print_nan(const struct plan *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->ncomposites; i++)
		n += p->candidates->candidate[p->composite[i].candidate]
		         .loses_nan;
	if (n > 0)
		printf("NaN: %u composite%s may make a number of it "
		       "(--nan=ignore)\n",
		    n, plural(n));
}

static void
print_baselines(const struct plan *p)
{
	size_t width = 18;
	char text[32];

	for (uint32_t i = 0; i < p->nbaselines; i++)
		if (strlen(p->baseline[i].name) > width)
			width = strlen(p->baseline[i].name);
	for (uint32_t i = 0; i < p->nbaselines; i++) {
		const struct plan_baseline *b = &p->baseline[i];
		double ratio;

		printf("  %-*s ", (int)width, b->name);
		if (b->cost == COST_NEVER)
			printf("no legal plan");
		else
			printf("%s%s", b->bound ? "at least " : "         ",
			    format_column(b->cost, 10, text, sizeof text));
		if (plan_ratio(&ratio, p, b))
			printf("  x%.3f", ratio);
		putchar('\n');
	}
}

static void
print_part(const char *what, uint32_t n)
{
	if (n)
		printf("; %s: %" PRIu32, what, n);
}

static void
print_versus_eager(const struct job *j)
{
	const struct plan *p = &j->plan;
	struct plan_versus v;

	if (!plan_versus_eager(&v, p, j->arena) || p->cost > v.eager->cost)
		return;
	if (p->cost == v.eager->cost
	    && v.merged + v.lone + v.left + v.gained == 0) {
		puts("vs eager: same cost, same regions");
		return;
	}
	printf("vs eager: %s%.1f %% cheaper, %u launch%s instead of %u",
	    v.bound ? "at least " : "",
	    v.eager->cost ? 100.0 * (double)(v.eager->cost - p->cost)
	            / (double)v.eager->cost
	                  : 0.0,
	    v.launches, v.launches == 1 ? "" : "es", v.eager_launches);
	print_part("eager regions merged", v.merged);
	print_part("eager regions of one composite not offloaded", v.lone);
	print_part("nodes not offloaded", v.left);
	print_part("nodes offloaded that eager leaves", v.gained);
	putchar('\n');
}

/* Of three significant digits, and no fewer than are before the point. */
static int
decimals_of(double x)
{
	return x < 0.1 ? 4 : x < 1 ? 3 : x < 10 ? 2 : x < 100 ? 1 : 0;
}

/* "assumes dma_gbps=20 GB/s (KIND); below 9.31 Conv_0 moves to host" */
static void
print_break(const struct job *j, const struct plan_assumption *x, bool above)
{
	const struct plan_end *end = &x->end[above];

	printf("assumes %s=%g %s (%s); %s %.*f %s moves to %s", x->name,
	    x->value, x->unit, j->mix.target[x->target].kind->name,
	    above ? "above" : "below", decimals_of(end->breaks_at),
	    end->breaks_at, node_label(j->plan.graph, end->node, j->arena),
	    j->mix.target[end->to].kind->name);
	if (end->nbroken > 1)
		printf(", and %u more node%s", end->nbroken - 1,
		    plural(end->nbroken - 1));
	printf("\n");
}

static void
print_sensitivity(const struct job *j)
{
	const struct sensitivity *s = &j->sensitivity;
	uint32_t nflips = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct plan_assumption *x = &s->item[i];

		for (uint32_t e = 0; e < 2; e++)
			if (x->end[e].flips)
				print_break(j, x, e == 1);
		nflips += x->end[0].flips || x->end[1].flips;
	}
	if (s->n > 0)
		printf("%u %sassumption%s of simulators: no node moves when "
		       "one varies over its range\n",
		    s->n - nflips, nflips ? "more " : "",
		    plural(s->n - nflips));
	if (s->nleft > 0)
		printf("%u assumption%s of simulators not varied for lack of "
		       "time (--sensitivity does it)\n",
		    s->nleft, plural(s->nleft));
}

static void
print_proof(const struct plan *p)
{
	char cost[32], bound[32];

	format_duration(p->cost, cost, sizeof cost);
	format_duration(p->lower_bound, bound, sizeof bound);
	if (!p->proven && p->lower_bound == 0)
		printf("plan: %s %s, by %s (no lower bound, so not proven "
		       "optimal)\n",
		    cost, plan_basis(p), p->searcher);
	else if (p->proven)
		printf("plan: %s %s, proven optimal at these prices\n", cost,
		    plan_basis(p));
	else
		printf("plan: %s %s, not proven optimal: lower bound %s, gap "
		       "%.3g %%\n",
		    cost, plan_basis(p), bound,
		    100.0 * (double)(p->cost - p->lower_bound)
		        / (double)(p->cost ? p->cost : 1));
	if (plan_unpriced(p))
		printf("  %u of its prices %s estimated, not measured yet\n",
		    plan_unpriced(p), plan_unpriced(p) == 1 ? "is" : "are");
	else if (strcmp(plan_basis(p), "estimated") == 0)
		puts("  some of its prices are estimates");
	if (p->nmoved)
		printf("  %u region%s priced as units, %u more search "
		       "round%s\n",
		    p->nmoved, plural(p->nmoved), p->rounds, plural(p->rounds));
}

static void
print_counts(const struct pricer_counts *n)
{
	printf("prices: %u distinct: %u from the database", n->distinct,
	    n->exact + n->accepted);
	if (n->accepted)
		printf(" (%u of other environments)", n->accepted);
	printf(", %u measured, %u simulated, %u estimated", n->measured,
	    n->simulated, n->estimated);
	if (n->probed)
		printf(", %u probed", n->probed);
	if (n->failed)
		printf(", %u failed", n->failed);
	putchar('\n');
}

/* How many choices were closer than their noise, and what became of them. */
static void
print_ties(const struct plan *p)
{
	uint32_t tied = 0;

	for (uint32_t i = 0; i < p->nties; i++)
		tied += p->tie[i].tied;
	if (p->nties)
		printf(
		    "near ties: %u pair%s measured side by side, %u decided, "
		    "%u still tied (fewer boundaries win)\n",
		    p->nties, plural(p->nties), p->nties - tied, tied);
}

/* What is new about this model, to somebody who has searched its last version;
 * nothing when nothing had to be measured. */
static void
print_reuse(const struct pricer_counts *n)
{
	if (n->measured && n->reused) {
		printf("database: %u of %u candidates reused; new because of "
		       "their shape %u, attributes %u, operator %u",
		    n->reused, n->stored, n->shape_changed,
		    n->attribute_changed, n->operator_changed);
		if (n->compatible + n->stale > n->accepted)
			printf(", %u in other environments",
			    n->compatible + n->stale - n->accepted);
		putchar('\n');
	}
	if (n->canaries)
		printf("canaries: %u stored price%s measured again, %.3f times "
		       "the old\n",
		    n->canaries, plural(n->canaries),
		    (double)n->drift_permille / 1000);
}

static void
print_times(const struct job_times *t)
{
	const struct {
		const char *name;
		uint64_t ns;
	} part[] = {
	    {"import", t->import_ns},
	    {"candidates", t->candidates_ns},
	    {"prices", t->prices_ns},
	    {"search", t->search_ns},
	    {"emit", t->emit_ns},
	};
	char text[32];

	fputs("time:", stdout);
	for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
		printf("%s %s %s", i ? "," : "", part[i].name,
		    format_duration(part[i].ns, text, sizeof text));
	putchar('\n');
}

static void
print_json(const struct job *j, const char *out)
{
	const struct plan *p = &j->plan;
	struct json w;

	json_init(&w, stdout, 2);
	json_object(&w);
	json_key_str(&w, "schema", "marq.search/2");
	json_key_str(&w, "model", j->args->model);
	json_key_uint(&w, "nodes", j->model.graph->nnodes);
	json_key_uint(&w, "candidates", j->candidates.n);
	json_key_uint(&w, "cost_ns", p->cost);
	json_key_str(&w, "basis", plan_basis(p));
	json_key_uint(&w, "unpriced", plan_unpriced(p));
	json_key_uint(&w, "lower_bound_ns", p->lower_bound);
	json_key_bool(&w, "proven", p->proven);
	json_key_str(&w, "searcher", p->searcher);
	json_key_uint(&w, "regions", p->nregions);
	json_key_uint(&w, "conversions", p->nconversions);
	json_key_uint(&w, "measured", j->counts.measured);
	json_key_uint(&w, "distinct_candidates", j->counts.candidates);
	json_key_uint(&w, "measured_candidates", j->counts.measured_candidates);
	json_key_uint(&w, "probed", j->counts.probed);
	json_key_uint(&w, "probed_again", j->counts.probed_again);
	json_key_uint(&w, "probing_ms", j->counts.probing_ns / 1000000);
	json_key_uint(&w, "measuring_ms", j->counts.measuring_ns / 1000000);
	json_key_uint(&w, "bounded", j->counts.bounded);
	json_key_uint(&w, "broken_bounds", j->counts.broken);
	json_key_uint(&w, "reused", j->counts.exact + j->counts.accepted);
	json_key_uint(&w, "shape_changed", j->counts.shape_changed);
	json_key_uint(&w, "attribute_changed", j->counts.attribute_changed);
	json_key_uint(&w, "operator_changed", j->counts.operator_changed);
	json_key_uint(&w, "failed", j->counts.failed);
	json_key(&w, "baselines");
	json_array(&w);
	for (uint32_t i = 0; i < p->nbaselines; i++) {
		json_inline_object(&w);
		json_key_str(&w, "name", p->baseline[i].name);
		if (p->baseline[i].cost != COST_NEVER)
			json_key_uint(&w, "cost_ns", p->baseline[i].cost);
		json_key_bool(&w, "bound", p->baseline[i].bound);
		json_close(&w);
	}
	json_close(&w);
	top_write(j, &w);
	json_key_str(&w, "output", out);
	json_key_int(&w, "exit", 0);
	json_close(&w);
}

void
summary_print(const struct job *j, const char *out)
{
	if (j->args->cli->format == OUT_JSON) {
		print_json(j, out);
		return;
	}
	if (j->args->cli->verbosity < 0)
		return;
	printf("%s: %s%s%u node%s, %u target%s, %u candidate%s\n",
	    j->args->model, j->bound ? j->bound : "", j->bound ? "; " : "",
	    j->model.graph->nnodes, plural(j->model.graph->nnodes), j->mix.n,
	    plural(j->mix.n), j->candidates.n, plural(j->candidates.n));
	print_counts(&j->counts);
	print_reuse(&j->counts);
	print_ties(&j->plan);
	print_proof(&j->plan);
	print_shares(j);
	print_verified(j);
	print_nan(&j->plan);
	if (j->plan.nbaselines)
		puts("compared with:");
	print_baselines(&j->plan);
	print_versus_eager(j);
	print_sensitivity(j);
	top_print(j);
	print_times(&j->times);
	if (out)
		printf("wrote %s\n", out);
}

void
forecast_print(
    uint32_t missing, uint64_t ns, uint32_t workers, uint64_t attempts)
{
	char text[32];

	if (missing == 0)
		puts("nothing to measure");
	else if (attempts == 0)
		printf("at most %u to measure; no time estimate: the database "
		       "holds no measurements\n",
		    missing);
	else
		printf("at most %u to measure, about %s in %u process%s, from "
		       "%" PRIu64 " measurement%s in the database\n",
		    missing, format_duration(ns, text, sizeof text), workers,
		    workers == 1 ? "" : "es", attempts, plural(attempts));
}

static void
forecast_json(const struct job *j, const struct forecast *f, const char *out)
{
	char key[33];
	struct json w;

	json_init(&w, stdout, 2);
	json_object(&w);
	json_key_str(&w, "schema", "marq.dry-run/1");
	json_key_str(&w, "model", j->args->model);
	json_key_uint(&w, "nodes", j->model.graph->nnodes);
	json_key_uint(&w, "candidates", j->candidates.n);
	json_key_uint(&w, "distinct", j->counts.distinct);
	json_key_uint(&w, "reused", j->counts.exact + j->counts.accepted);
	json_key_uint(&w, "to_measure", f->n);
	json_key_uint(&w, "measuring_ns", forecast_ns(f));
	json_key_uint(&w, "workers", f->workers);
	json_key_uint(&w, "attempts_on_record", f->attempts);
	json_key(&w, "unpriced");
	json_array(&w);
	for (uint32_t i = 0; i < f->n; i++) {
		hash128_print(f->item[i].key, key);
		json_inline_object(&w);
		json_key_str(&w, "key", key);
		json_key_uint(&w, "ns", f->item[i].span_ns);
		json_close(&w);
	}
	json_close(&w);
	json_key_str(&w, "output", out);
	json_key_int(&w, "exit", 0);
	json_close(&w);
}

bool
summary_dry_run(struct job *j, const char *out, struct err *err)
{
	struct forecast f;

	if (!job_prices(j, err)
	    || !pricer_forecast(j->pricer, &f, j->arena, err))
		return false;
	if (j->args->cli->format == OUT_JSON) {
		forecast_json(j, &f, out);
		return true;
	}
	printf("%s: %u node%s, %u target%s: %u candidate%s, %u distinct; %u "
	       "from the database\n",
	    j->args->model, j->model.graph->nnodes,
	    plural(j->model.graph->nnodes), j->mix.n, plural(j->mix.n),
	    j->candidates.n, plural(j->candidates.n), j->counts.distinct,
	    j->counts.exact + j->counts.accepted);
	forecast_print(f.n, forecast_ns(&f), f.workers, f.attempts);
	if (out)
		printf("would write %s\n",
		    strcmp(out, "none") == 0 ? "nothing" : out);
	return true;
}
