/* The summary for people: plain Markdown, readable as it is. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emit/source_map.h"
#include "emit/writers.h"
#include "ir/base/plain.h"
#include "ir/base/plural.h"
#include "plan/eager.h"

/* TUNING: what fits a screen; report.html has all of it */
#define ROWS 20

/* Text inside a table cell: one line, no cell ends, no markup. */
static void
put_cell(FILE *f, const char *s)
{
	size_t taken;
	char plain[4];

	for (; *s; s += taken) {
		size_t n = plain_next(plain, s, &taken);

		if (*s == '<') {
			fputs("&lt;", f);
			continue;
		}
		if (strchr("|`*_>&[]\\", *s))
			putc('\\', f);
		fwrite(plain, 1, n, f);
	}
}

/* The file: exporters call every graph "main_graph". */
static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void
put_head(FILE *f, const struct emit_work *w)
{
	const struct plan *p = w->plan;
	struct plan_sums sums = plan_sums_of(p);
	struct total range = emit_total(w);
	struct arena *a = w->arena;

	fputs("# ", f);
	put_cell(f, base_name(w->in->model->path));
	fputs(" over ", f);
	for (uint32_t i = 0; i < p->mix->n; i++) {
		fputs(i ? ", " : "", f);
		put_cell(f, p->mix->target[i].text);
	}
	fprintf(f,
	    "\n\n%s**%s** %s, between %s and %s over the ranges of its "
	    "prices.\n",
	    plan_unsized(p) ? "At least " : "", cost_text(p->cost, a),
	    plan_basis(p), cost_text(range.low, a), cost_text(range.high, a));
	if (range.cpu > p->cost + p->cost / 10)
		fprintf(f, "Processor time of a run, of all threads: %s.\n",
		    cost_text(range.cpu, a));
	if (plan_unpriced(p))
		fprintf(f,
		    "Of its prices, %" PRIu32 " %s estimated, not measured "
		    "yet.\n",
		    plan_unpriced(p), plan_unpriced(p) == 1 ? "is" : "are");
	if (plan_unsized(p))
		fprintf(f,
		    "%" PRIu32 " of its prices %s out sizes, branches or steps "
		    "that only a run tells.\n",
		    plan_unsized(p), plan_unsized(p) == 1 ? "leaves" : "leave");
	if (p->proven && plan_among(p))
		fprintf(f,
		    "Proven among %" PRIu32
		    " region%s at these prices (%s search).\n",
		    plan_among(p), plural(plan_among(p)), p->searcher);
	else if (p->proven)
		fprintf(f, "Proven optimal at these prices (%s search).\n",
		    p->searcher);
	else if (p->lower_bound == 0)
		fprintf(f,
		    "Not proven optimal (%s): no lower bound is known.\n",
		    p->searcher);
	else
		fprintf(f,
		    "Not proven optimal (%s search): no legal plan%s costs "
		    "less than %s, a gap of %.1f %%.\n",
		    p->searcher, p->among ? " of the regions offered" : "",
		    cost_text(p->lower_bound, a), 100 * emit_gap(p));
	fprintf(f, "\n| part | cost | share |\n|---|---:|---:|\n");
	for (uint32_t t = 0; t < NTERMS; t++)
		fprintf(f, "| %s | %s | %.1f %% |\n", term_words(t),
		    cost_text(sums.ns[t], a),
		    p->cost ? 100 * (double)sums.ns[t] / (double)p->cost : 0);
}

static void
put_baselines(FILE *f, const struct emit_work *w)
{
	const struct plan *p = w->plan;

	if (p->nbaselines == 0)
		return;
	fputs("\n## Compared with\n\n| plan | cost | times ours |\n"
	      "|---|---:|---:|\n",
	    f);
	for (uint32_t i = 0; i < p->nbaselines; i++) {
		const struct plan_baseline *b = &p->baseline[i];
		double ratio;

		fputs("| ", f);
		put_cell(f, b->name);
		if (b->cost == COST_NEVER)
			fputs(" | no legal plan | |\n", f);
		else
			fprintf(f, " | %s%s | %s |\n",
			    b->bound ? "at least " : "",
			    cost_text(b->cost, w->arena),
			    plan_ratio(&ratio, p, b)
			        ? arena_printf(w->arena, "%.3f", ratio)
			        : "");
	}
}

/* What the baselines' figures are worth. */
static void
put_confirmation(FILE *f, const struct emit_work *w)
{
	static const char *const word[] = {[CONFIRM_CONFIRMED] = "Confirmed",
	    [CONFIRM_LIKELY] = "Likely",
	    [CONFIRM_LEVEL] = "Level",
	    [CONFIRM_REFUSED] = "Not confirmed",
	    [CONFIRM_PREDICTED] = "Predicted only"};
	const struct plan_confirmation *c = w->in->confirmation;

	if (!c || c->kind == CONFIRM_NOTHING)
		return;
	fprintf(f, "\n%s: ", word[c->kind]);
	if (c->pairs)
		fprintf(f,
		    "run in turn, what prices say is best takes %.3f of %s (itself: %.3f to "
		    "%.3f, %" PRIu32 " pairs)",
		    (double)c->ratio / 1e6, c->against,
		    (double)c->self_low / 1e6, (double)c->self_high / 1e6,
		    c->pairs);
	else
		fprintf(f,
		    "what prices say is best was not run in turn with %s (%s)",
		    c->against, c->why);
	fprintf(f, "%s.\n",
	    c->kind == CONFIRM_REFUSED ? "; so the plan is that" : "");
}

/* Why it is cheaper than the eager plan. */
static void
put_gain(FILE *f, const struct emit_work *w)
{
	const struct plan *p = w->plan;
	struct eager_gain v;

	if (!plan_gain_over_eager(&v, p, w->arena) || p->cost >= v.eager->cost)
		return;
	fprintf(f,
	    "\n%s%.1f %% cheaper than the eager plan. Launches: %" PRIu32
	    " instead of %" PRIu32 "; eager regions merged: %" PRIu32
	    "; eager regions of one composite not offloaded: %" PRIu32
	    "; nodes not offloaded: %" PRIu32
	    ", offloaded that eager leaves: %" PRIu32 ".\n",
	    v.bound ? "At least " : "",
	    v.eager->cost ? 100 * (double)(v.eager->cost - p->cost)
	            / (double)v.eager->cost
	                  : 0,
	    v.launches, v.eager_launches, v.merged, v.lone, v.left, v.gained);
}

/* What simulated prices assume, and whether the plan hangs on it. */
static void
put_sensitivity(FILE *f, const struct emit_work *w)
{
	const struct sensitivity *s = w->in->sensitivity;

	fputs("\n## Sensitivity to what simulators assume\n\n", f);
	if (!s) {
		fputs("Not looked into.\n", f);
		return;
	}
	if (s->nleft)
		fprintf(f,
		    "Not varied, for lack of time: %" PRIu32
		    " (`--sensitivity` does it).\n\n",
		    s->nleft);
	if (s->n == 0) {
		if (s->nleft == 0)
			fputs("No price here rests on an assumption.\n", f);
		return;
	}
	fputs("| assumption | value | at | this plan | best plan | nodes "
	      "elsewhere | choice |\n|---|---:|---:|---:|---:|---:|---|\n",
	    f);
	for (uint32_t i = 0; i < 2 * s->n; i++) {
		const struct plan_assumption *x = &s->item[i / 2];
		const struct plan_end *end = &x->end[i % 2];

		fprintf(f, "| %s | %g | %g | %s | %s | %" PRIu32 " | %s |\n",
		    x->name, x->value, end->value,
		    cost_text(end->kept, w->arena),
		    cost_text(end->best, w->arena), end->nmoved,
		    end->flips ? arena_printf(
		        w->arena, "**changes at %.4g**", end->breaks_at)
		               : "stays");
	}
}

static void
put_targets(FILE *f, const struct emit_work *w)
{
	const struct plan *p = w->plan;

	fputs("\n## What runs where\n\n| target | prices | nodes | composites "
	      "| regions | cost |\n|---|---|---:|---:|---:|---:|\n",
	    f);
	for (uint32_t t = 0; t < p->mix->n; t++) {
		uint32_t nodes = 0, composites = 0, regions = 0;
		cost_ns cost = 0;

		for (uint32_t i = 0; i < p->ncomposites; i++) {
			const struct candidate *c = plan_candidate(p, i);

			if (c->target != t)
				continue;
			nodes += c->nnodes;
			composites++;
			cost += p->composite[i].cost;
		}
		for (uint32_t i = 0; i < p->nregions; i++)
			regions += p->region[i].target == t;
		fputs("| ", f);
		put_cell(f, p->mix->target[t].text);
		fprintf(f,
		    " | %s | %" PRIu32 " | %" PRIu32 " | %" PRIu32 " | %s |\n",
		    plan_target_basis(p, t), nodes, composites, regions,
		    cost_text(cost, w->arena));
	}
}

static void
put_regions(FILE *f, const struct emit_work *w)
{
	const struct plan *p = w->plan;
	uint32_t n = p->nregions < ROWS ? p->nregions : ROWS;

	fputs("\n## Regions, in execution order\n\n| region | composites | "
	      "first node | last node | launch | cost |\n"
	      "|---|---:|---|---|---:|---:|\n",
	    f);
	for (uint32_t i = 0; i < n; i++) {
		const struct plan_region *r = &p->region[i];
		const struct candidate *last =
		    plan_candidate(p, r->first + r->ncomposites - 1);

		fputs("| ", f);
		put_cell(f, w->region[i]);
		fprintf(f, " | %" PRIu32 " | ", r->ncomposites);
		put_cell(f, w->label[plan_candidate(p, r->first)->node[0]]);
		fputs(" | ", f);
		put_cell(f, w->label[last->node[last->nnodes - 1]]);
		fprintf(f, " | %s | %s |\n", cost_text(r->launch, w->arena),
		    cost_text(r->cost, w->arena));
	}
	if (n < p->nregions)
		fprintf(f, "\n... and %" PRIu32 " more.\n", p->nregions - n);
}

static int
costlier_conversion_first(const void *a, const void *b)
{
	const struct plan_conversion
	    *x = *(const struct plan_conversion *const *)a,
	    *y = *(const struct plan_conversion *const *)b;

	if (x->cost != y->cost)
		return x->cost > y->cost ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void
put_boundaries(FILE *f, const struct emit_work *w)
{
	const struct plan *p = w->plan;
	uint32_t n = p->nconversions < ROWS ? p->nconversions : ROWS;
	const struct plan_conversion **list = arena_new(
	    w->arena, const struct plan_conversion *, p->nconversions);

	if (p->nconversions == 0)
		return;
	for (uint32_t i = 0; i < p->nconversions; i++)
		list[i] = &p->conversion[i];
	qsort(list, p->nconversions, sizeof *list, costlier_conversion_first);
	fputs(
	    "\n## What boundaries cost, most expensive first\n\n| value | from | to "
	    "| bytes | cost |\n|---|---|---|---:|---:|\n",
	    f);
	for (uint32_t i = 0; i < n; i++) {
		fputs("| ", f);
		put_cell(f, p->graph->value[list[i]->value].name);
		fprintf(f, " | %s | %s | %zu | %s |\n",
		    emit_format(w, list[i]->from), emit_format(w, list[i]->to),
		    emit_value_bytes(w, list[i]->value, list[i]->to),
		    cost_text(list[i]->cost, w->arena));
	}
	if (n < p->nconversions)
		fprintf(
		    f, "\n... and %" PRIu32 " more.\n", p->nconversions - n);
}

static void
put_loss(FILE *f, const struct loss *l)
{
	if (l->noise > 0)
		fprintf(f, " | %.1f dB | %.2g |\n", loss_sqnr(l), l->max_error);
	else
		fputs(" | nothing lost | 0 |\n", f);
}

/* What 8 bits lose. */
static void
put_accuracy(FILE *f, const struct emit_work *w)
{
	const struct plan_accuracy *a = w->in->accuracy;
	const struct plan *p = w->plan;

	if (!a || !a->region)
		return;
	fprintf(f,
	    "\n## 8 bits\n\nRanges %s over %s, measured over %" PRIu32
	    " samples against the float reference; errors are parts of a "
	    "value's range.\n\n| | SQNR | max error |\n|---|---:|---:|\n",
	    a->rule, a->data, a->nsamples);
	for (uint32_t i = 0; i < p->nregions; i++)
		if (a->region[i].n > 0) {
			fprintf(f, "| region %s", w->region[i]);
			put_loss(f, &a->region[i]);
		}
	for (uint32_t i = 0; i < p->graph->noutputs; i++)
		if (a->output[i].n > 0) {
			fputs("| output ", f);
			put_cell(f, p->graph->value[p->graph->output[i]].name);
			put_loss(f, &a->output[i]);
		}
}

struct resting {
	const char *on; /* an assumption */
	uint32_t n; /* composites */
	cost_ns ns, low, high;
};

static int
costlier_first(const void *a, const void *b)
{
	const struct resting *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->on, y->on);
}

static uint32_t
rest_on(struct resting *list, uint32_t n, const struct price *price)
{
	uint32_t i = 0;

	if (!price->detail || !*price->detail)
		return n;
	while (i < n && strcmp(list[i].on, price->detail) != 0)
		i++;
	list[i].on = price->detail;
	list[i].n++;
	list[i].ns += price->ns;
	list[i].low += price->low;
	list[i].high += price->high;
	return i == n ? n + 1 : n;
}

/* How much of the cost rests on each assumption, and over what range. */
static void
put_assumptions(FILE *f, const struct emit_work *w)
{
	const struct plan *p = w->plan;
	struct resting *list =
	    arena_new(w->arena, struct resting, p->ncomposites + 1u);
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->ncomposites; i++)
		n = rest_on(list, n, emit_price(w, i));
	if (n == 0)
		return;
	qsort(list, n, sizeof *list, costlier_first);
	fputs("\n## What prices rest on, costliest first\n\n| assumption | "
	      "composites | cost | low | high |\n|---|---:|---:|---:|---:|\n",
	    f);
	for (uint32_t i = 0; i < n; i++) {
		fputs("| ", f);
		put_cell(f, list[i].on);
		fprintf(f, " | %" PRIu32 " | %s | %s | %s |\n", list[i].n,
		    cost_text(list[i].ns, w->arena),
		    cost_text(list[i].low, w->arena),
		    cost_text(list[i].high, w->arena));
	}
}

static void
put_accounts(FILE *f, const struct emit_work *w, const struct source_map *m)
{
	const struct notes *notes = &w->in->model->notes;
	uint32_t n = notes->n < ROWS ? notes->n : ROWS;

	fprintf(f,
	    "\n## Every ONNX node\n\n%" PRIu32 " covered, %" PRIu32
	    " folded into constants, %" PRIu32 " dropped (map.json says which "
	    "and why).\n",
	    m->count[FATE_COVERED], m->count[FATE_FOLDED],
	    m->count[FATE_DROPPED]);
	if (n > 0)
		fputs("\n## Notes\n\n", f);
	for (uint32_t i = 0; i < n; i++) {
		fputs("- ", f);
		put_cell(f, notes->text[i]);
		putc('\n', f);
	}
	if (n < notes->n)
		fprintf(f, "- ... and %" PRIu32 " more (result.json)\n",
		    notes->n - n);
}

bool
write_markdown(FILE *f, const struct emit_work *w, struct err *err)
{
	struct source_map m;

	if (!source_map_init(&m, w, err))
		return false;
	put_head(f, w);
	put_baselines(f, w);
	put_confirmation(f, w);
	put_gain(f, w);
	put_sensitivity(f, w);
	put_targets(f, w);
	put_regions(f, w);
	put_boundaries(f, w);
	put_accuracy(f, w);
	put_assumptions(f, w);
	put_accounts(f, w, &m);
	return true;
}
