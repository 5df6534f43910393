#include "cli/summary.h"

#include <inttypes.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/precision.h"
#include "cli/top.h"
#include "costmodel/forecast.h"
#include "ir/base/plural.h"
#include "plan/origins.h"
#include "plan/shift.h"
#include "plan/eager.h"

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
tell_share(struct answer *a, const char *target, int wide,
    const struct target_total *t, struct arena *arena)
{
	ANSWER(a,
	    "  {target} {r:4} region{rs:-1} {c:5} composite{cs:-1} {n:5} "
	    "node{ns:-1}  {cost:t}\n",
	    T("target", arena_printf(arena, "%-*s", wide, target)),
	    T("r", t->regions), T("rs", plural(t->regions)),
	    T("c", t->composites), T("cs", plural(t->composites)),
	    T("n", t->nodes), T("ns", plural(t->nodes)), T("cost", t->cost));
}

static void
tell_shares(const struct job *j, struct answer *a)
{
	struct target_total *share =
	    arena_new(j->arena, struct target_total, j->mix.n ? j->mix.n : 1);
	struct plan_sums sums = plan_sums_of(&j->plan);
	int wide = 14;

	count_shares(j, share);
	for (uint32_t t = 0; t < j->mix.n; t++)
		if ((int)strlen(j->mix.target[t].text) > wide)
			wide = (int)strlen(j->mix.target[t].text);
	for (uint32_t t = 0; t < j->mix.n; t++)
		tell_share(a, j->mix.target[t].text, wide, &share[t], j->arena);
	for (uint32_t t = TERM_COMPOSITES + 1; t < NTERMS; t++)
		ANSWER(a,
		    "  {term} {n:4}                                  {ns:t}\n",
		    T("term",
		        arena_printf(j->arena, "%-*s", wide, term_words(t))),
		    T("n",
		        t == TERM_CONVERSIONS ? arena_printf(
		            j->arena, "%" PRIu32, j->plan.nconversions)
		                              : ""),
		    T("ns", sums.ns[t]));
	ANSWER(a, NULL, F("regions", j->plan.nregions),
	    F("conversions", j->plan.nconversions));
}

static void
tell_verified(const struct job *j, struct answer *a)
{
	const struct verified_as *v = &j->verification.verdict;
	bool asked = j->verify && !j->args->no_verify;
	bool right = asked && v->kind == VERIFY_RIGHT;

	ANSWER(a,
	    "{?right verified: max error {error:.2g} of the range"
	    "{?on_record  (on record)}}"
	    "{!right not verified{!why  (--no-verify)}{?why : {why}}}\n",
	    T("right", right), T("error", v->error),
	    T("on_record", v->on_record),
	    T("why",
	        !asked ? ""
	            : v->kind == VERIFY_PARTS
	            ? "opaque nodes and so the whole; by themselves the "
	              "other composites are right"
	            : v->kind == VERIFY_BEYOND
	            ? "the model is larger than what is run unasked; marq run "
	              "compares"
	            : v->detail));
}

/* What the plan by prices is per the single target's that did best against it. */
static void
tell_confirmation(const struct plan_confirmation *c, struct answer *a)
{
	answer_object(a, "confirmation");
	ANSWER(a,
	    "{?word {word}: {?pairs {ratio:.2f} of {against} (A/A "
	    "{self_low:.2f}-{self_high:.2f}, {pairs} pair{s pairs}"
	    "{?on_record , on record})}"
	    "{!pairs {?predicted {predicted:.3g} of }{against} ({why})}"
	    "{?refused : {against} is taken}"
	    "{?took_ns ; a run takes {took_ns:t}}\n}",
	    F("word", confirmation_word(c->kind)), F("against", c->against),
	    F("predicted", c->predicted), F("took_ns", c->took),
	    F("ratio", (double)c->ratio / 1e6),
	    F("self_low", (double)c->self_low / 1e6),
	    F("self_high", (double)c->self_high / 1e6), F("pairs", c->pairs),
	    F("on_record", c->on_record), F("why", c->why),
	    T("refused", c->kind == CONFIRM_REFUSED));
	answer_close(a);
}

/* What the plan rests on that nobody here knows. */
static void
tell_opaque(const struct plan *p, struct answer *a)
{
	uint32_t n = 0, untold = 0;
	cost_ns ns = 0;

	for (uint32_t i = 0; i < p->ncomposites; i++) {
		const uint32_t c = p->composite[i].candidate;

		if (!p->candidates->candidate[c].opaque)
			continue;
		n++;
		untold +=
		    prices_candidate(p->prices, c)->source != PRICE_EXTERNAL;
		ns += prices_candidate(p->prices, c)->ns;
	}
	ANSWER(a,
	    "{?opaque opaque: {opaque} node{s opaque}, {told:t} told by "
	    "--opaque-price; {untold} counted as 0 ns\n}",
	    F("opaque", n), T("told", ns), T("untold", untold));
}

/* Only --nan=ignore lets such composites in. */
static void
tell_nan(const struct plan *p, struct answer *a)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->ncomposites; i++)
		n += plan_candidate(p, i)->loses_nan;
	ANSWER(a,
	    "{?n NaN: {n} composite{s n} may make a number of it "
	    "(--nan=ignore)\n}",
	    T("n", n));
}

static void
tell_baseline(struct answer *a, const struct plan *p,
    const struct plan_baseline *b, bool priced, int wide, struct arena *arena)
{
	double ratio;
	bool known = plan_ratio(&ratio, p, b);

	if (a->is_json)
		json_inline_object(&a->json);
	ANSWER(a, "  {padded} ", F("name", b->name),
	    T("padded", arena_printf(arena, "%-*s", wide, b->name)));
	if (b->cost == COST_NEVER)
		ANSWER(a,
		    "{?priced no legal plan}{!priced none of what has a price}",
		    T("priced", priced), F("bound", b->bound));
	else
		ANSWER(a, "{?bound at least }{!bound          }{cost_ns:10t}",
		    F("cost_ns", b->cost), F("bound", b->bound));
	ANSWER(a, "{?known   x{ratio:.3f}}\n", T("known", known),
	    T("ratio", known ? ratio : 0));
	answer_close(a);
}

static void
tell_baselines(const struct job *j, struct answer *a)
{
	const struct plan *p = &j->plan;
	size_t wide = 18;

	ANSWER(a, "{?any compared with:\n}", T("any", p->nbaselines));
	for (uint32_t i = 0; i < p->nbaselines; i++)
		if (strlen(p->baseline[i].name) > wide)
			wide = strlen(p->baseline[i].name);
	answer_list(a, "baselines");
	for (uint32_t i = 0; i < p->nbaselines; i++)
		tell_baseline(a, p, &p->baseline[i], j->counts.refused == 0,
		    (int)wide, j->arena);
	answer_close(a);
}

static void
tell_gain(const struct job *j, struct answer *a)
{
	const struct plan *p = &j->plan;
	struct eager_gain v;

	if (!plan_gain_over_eager(&v, p, j->arena) || p->cost > v.eager->cost)
		return;
	if (p->cost == v.eager->cost
	    && v.merged + v.lone + v.left + v.gained == 0) {
		ANSWER(
		    a, "vs eager: {is}\n", T("is", "same cost, same regions"));
		return;
	}
	ANSWER(a,
	    "vs eager: {?bound at least }{percent:.1f} % cheaper, {n} "
	    "launch{es n} instead of {eager}{?merged ; eager regions merged: "
	    "{merged}}{?lone ; eager regions of one composite not offloaded: "
	    "{lone}}{?left ; nodes not offloaded: {left}}{?gained ; nodes "
	    "offloaded that eager leaves: {gained}}\n",
	    T("bound", v.bound),
	    T("percent",
	        v.eager->cost ? 100.0 * (double)(v.eager->cost - p->cost)
	                / (double)v.eager->cost
	                      : 0.0),
	    T("n", v.launches), T("eager", v.eager_launches),
	    T("merged", v.merged), T("lone", v.lone), T("left", v.left),
	    T("gained", v.gained));
}

/* Of three significant digits, and no fewer than are before the point. */
static int
decimals_of(double x)
{
	return x < 0.1 ? 4 : x < 1 ? 3 : x < 10 ? 2 : x < 100 ? 1 : 0;
}

/* "assumes dma_gbps=20 GB/s (KIND); below 9.31 Conv_0 moves to host" */
static void
tell_break(const struct job *j, const struct plan_assumption *x, bool above,
    struct answer *a)
{
	const struct plan_end *end = &x->end[above];

	ANSWER(a,
	    "assumes {name}={value:g} {unit} ({kind}); {?above above}"
	    "{!above below} {at} {node} moves to {to}{?more , and {more} more "
	    "node{s more}}\n",
	    T("name", x->name), T("value", x->value), T("unit", x->unit),
	    T("kind", j->mix.target[x->target].kind->name), T("above", above),
	    T("at",
	        arena_printf(j->arena, "%.*f", decimals_of(end->breaks_at),
	            end->breaks_at)),
	    T("node", node_label(j->plan.graph, end->node, j->arena)),
	    T("to", j->mix.target[end->to].kind->name),
	    T("more", end->nbroken ? end->nbroken - 1 : 0));
}

static void
tell_sensitivity(const struct job *j, struct answer *a)
{
	const struct sensitivity *s = &j->sensitivity;
	uint32_t nflips = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct plan_assumption *x = &s->item[i];

		for (uint32_t e = 0; e < 2; e++)
			if (x->end[e].flips)
				tell_break(j, x, e == 1, a);
		nflips += x->end[0].flips || x->end[1].flips;
	}
	ANSWER(a,
	    "{?any {n} {?flips more }assumption{s n} of simulators: no node "
	    "moves when one varies over its range\n}{?left {left} "
	    "assumption{s left} of simulators not varied for lack of time "
	    "(--sensitivity does it)\n}",
	    T("any", s->n), T("n", s->n - nflips), T("flips", nflips),
	    T("left", s->nleft));
}

static void
tell_proof(const struct plan *p, struct answer *a)
{
	const uint32_t unsized = plan_unsized(p);

	ANSWER(a,
	    "plan: {?unsized at least }{cost_ns:t} {basis}, {?proven proven "
	    "{?among_regions among {among_regions} region{s "
	    "among_regions}}{!among_regions optimal} at these "
	    "prices}{!proven {?lower_bound_ns not proven {?among_regions among "
	    "{among_regions} region{s among_regions}}{!among_regions "
	    "optimal}: lower bound "
	    "{lower_bound_ns:t}, gap {gap:.3g} %}{!lower_bound_ns by "
	    "{searcher} (no lower bound, so not proven optimal)}}\n",
	    T("unsized", unsized), F("cost_ns", p->cost),
	    F("basis", plan_basis(p)), F("lower_bound_ns", p->lower_bound),
	    F("proven", p->proven), F("searcher", p->searcher),
	    F("among_regions", plan_among(p)),
	    T("gap",
	        100.0 * (double)(p->cost - p->lower_bound)
	            / (double)(p->cost ? p->cost : 1)));
	ANSWER(a,
	    "{?unpriced   {unpriced} of its prices {are} estimated, not measured "
	    "yet\n}{?guessed   some of its prices are estimates\n}"
	    "{?unsized   {unsized} of its prices {leave} out sizes, branches or "
	    "steps that only a run tells\n}"
	    "{?moved   {moved} region{s moved} priced as units, {rounds} more "
	    "search round{s rounds}\n}",
	    F("unpriced", plan_unpriced(p)),
	    T("are", plan_unpriced(p) == 1 ? "is" : "are"),
	    T("guessed",
	        !plan_unpriced(p) && strcmp(plan_basis(p), "estimated") == 0),
	    T("unsized", unsized),
	    T("leave", unsized == 1 ? "leaves" : "leave"),
	    T("moved", p->nmoved), T("rounds", p->rounds));
}

static void
tell_counts(
    const struct pricer_counts *n, const struct plan *p, struct answer *a)
{
	ANSWER(a,
	    "prices: {distinct} distinct: {reused} from the database{?accepted  "
	    "({accepted} of other environments)}, {measured} measured, "
	    "{simulated} simulated, {estimated} estimated{?probed , {probed} "
	    "probed}{?failed , {failed} failed}\n",
	    T("distinct", n->distinct), F("reused", n->exact + n->accepted),
	    T("accepted", n->accepted), F("measured", n->measured),
	    T("simulated", n->simulated), T("estimated", n->estimated),
	    F("probed", n->probed), F("failed", n->failed));
	ANSWER(a,
	    "{?refused {refused} candidate{s refused} and conversions left out: "
	    "no price of them {?elsewhere on the machine they are "
	    "for}{!elsewhere on record}{!proven ; --want lists what may make "
	    "the plan cheaper}\n}",
	    F("refused", n->refused), T("elsewhere", p->prices->board != NULL),
	    T("proven", p->proven));
	ANSWER(a, NULL, F("distinct_candidates", n->candidates),
	    F("measured_candidates", n->measured_candidates),
	    F("probed_again", n->probed_again),
	    F("probing_ms", n->probing_ns / 1000000),
	    F("measuring_ms", n->measuring_ns / 1000000),
	    F("bounded", n->bounded), F("broken_bounds", n->broken));
}

/* Which machines the plan's prices are of, where not all were measured on this
 * one. */
static void
tell_machines(const struct plan *p, struct answer *a, struct arena *arena)
{
	const struct board *b = p->prices->board;
	uint32_t n;
	const struct plan_origin *o = plan_origins(p, &n, arena);
	bool told = b || n > 1 || (n && strcmp(o->class, "exact") != 0);

	ANSWER(a, "{?machine prices for {machine}, {processor}\n}",
	    F("machine", b ? b->name : ""), F("processor", b ? b->words : ""));
	answer_list(a, "origins");
	for (uint32_t i = 0; i < n; i++)
		ANSWER_LINE(a,
		    "{?told   {prices} price{s prices} of the plan {class}, of "
		    "{machine}\n}",
		    F("class", o[i].class), F("machine", o[i].machine),
		    F("prices", o[i].n), T("told", told));
	answer_close(a);
}

/* How many choices were closer than their noise, and what became of them. */
static void
tell_ties(const struct plan *p, struct answer *a)
{
	uint32_t tied = 0;

	for (uint32_t i = 0; i < p->nties; i++)
		tied += p->tie[i].tied;
	ANSWER(a,
	    "{?n near ties: {n} pair{s n} measured side by side, {decided} "
	    "decided, {tied} still tied (fewer boundaries win)\n}",
	    T("n", p->nties), T("decided", p->nties - tied), T("tied", tied));
}

/* What is new about this model, to somebody who has searched its last version;
 * nothing when nothing had to be measured. */
static void
tell_reuse(const struct pricer_counts *n, struct answer *a)
{
	const uint32_t others = n->compatible + n->stale;

	ANSWER(a,
	    "{?told database: {reused} of {stored} candidates reused; new because "
	    "of their shape {shape_changed}, attributes {attribute_changed}, "
	    "operator {operator_changed}{?elsewhere , {elsewhere} in other "
	    "environments}\n}{?canaries canaries: {canaries} stored "
	    "price{s canaries} measured again, {drift:.3f} times the old\n}",
	    F("shape_changed", n->shape_changed),
	    F("attribute_changed", n->attribute_changed),
	    F("operator_changed", n->operator_changed),
	    T("told", n->measured && n->reused), T("reused", n->reused),
	    T("stored", n->stored),
	    T("elsewhere", others > n->accepted ? others - n->accepted : 0),
	    T("canaries", n->canaries),
	    T("drift", (double)n->drift_permille / 1000));
}

static void
tell_times(const struct job_times *t, struct answer *a)
{
	ANSWER(a,
	    "time: import {import:t}, candidates {candidates:t}, prices "
	    "{prices:t}, search {search:t}, emit {emit:t}\n",
	    T("import", t->import_ns), T("candidates", t->candidates_ns),
	    T("prices", t->prices_ns), T("search", t->search_ns),
	    T("emit", t->emit_ns));
}

void
summary_print(const struct job *j, const char *out)
{
	struct answer a;

	answer_begin(&a, j->args->cli, "marq.search/2");
	if (j->args->cli->verbosity < 0)
		a.out = NULL;
	ANSWER(&a,
	    "{model}: {?bound {bound}; }{nodes} node{s nodes}, {targets} "
	    "target{s targets}, {candidates} candidate{s candidates}\n",
	    F("model", j->args->model), F("nodes", j->model.graph->nnodes),
	    F("candidates", j->candidates.n), T("bound", j->bound),
	    T("targets", j->mix.n));
	tell_counts(&j->counts, &j->plan, &a);
	tell_machines(&j->plan, &a, j->arena);
	tell_reuse(&j->counts, &a);
	tell_ties(&j->plan, &a);
	tell_proof(&j->plan, &a);
	tell_shares(j, &a);
	tell_verified(j, &a);
	tell_confirmation(&j->confirmation, &a);
	tell_nan(&j->plan, &a);
	tell_opaque(&j->plan, &a);
	precision_tell(j, &a);
	tell_baselines(j, &a);
	tell_gain(j, &a);
	tell_sensitivity(j, &a);
	top_tell(j, &a);
	tell_times(&j->times, &a);
	ANSWER(
	    &a, "{?output wrote {output}\n}", F("output", out), F("exit", 0));
	answer_end(&a);
}

static void
tell_forecast(struct answer *a, uint32_t missing, uint64_t ns, uint32_t workers,
    uint64_t attempts)
{
	ANSWER(a,
	    "{!to_measure nothing to measure}{?to_measure at most {to_measure} to "
	    "measure{!attempts_on_record ; no time estimate: the database holds "
	    "no measurements}{?attempts_on_record , about {measuring_ns:t} in "
	    "{workers} process{es workers}, from {attempts_on_record} "
	    "measurement{s attempts_on_record} in the database}}\n",
	    F("to_measure", missing), F("measuring_ns", ns),
	    F("workers", workers), F("attempts_on_record", attempts));
}

void
forecast_print(
    uint32_t missing, uint64_t ns, uint32_t workers, uint64_t attempts)
{
	struct answer a = {.out = stdout};

	tell_forecast(&a, missing, ns, workers, attempts);
}

static void
tell_unpriced(struct answer *a, const struct forecast *f)
{
	char key[33];

	answer_list(a, "unpriced");
	for (uint32_t i = 0; i < f->n; i++) {
		hash128_print(f->item[i].key, key);
		ANSWER_LINE(
		    a, NULL, F("key", key), F("ns", f->item[i].span_ns));
	}
	answer_close(a);
}

bool
summary_dry_run(struct job *j, const char *out, struct err *err)
{
	struct forecast f;
	struct answer a;

	if (!job_prices(j, err)
	    || !pricer_forecast(j->pricer, &f, j->arena, err))
		return false;
	answer_begin(&a, j->args->cli, "marq.dry-run/1");
	ANSWER(&a,
	    "{model}: {nodes} node{s nodes}, {targets} target{s targets}: "
	    "{candidates} candidate{s candidates}, {distinct} distinct; {reused} "
	    "from the database\n",
	    F("model", j->args->model), F("nodes", j->model.graph->nnodes),
	    T("targets", j->mix.n), F("candidates", j->candidates.n),
	    F("distinct", j->counts.distinct),
	    F("reused", j->counts.exact + j->counts.accepted));
	tell_forecast(&a, f.n, forecast_ns(&f), f.workers, f.attempts);
	tell_unpriced(&a, &f);
	ANSWER(&a, "{?output would write {what}\n}", F("output", out),
	    T("what", out && strcmp(out, "none") == 0 ? "nothing" : out),
	    F("exit", 0));
	answer_end(&a);
	return true;
}
