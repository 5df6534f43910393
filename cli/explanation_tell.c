#include "cli/explanation.h"
#include "cli/plan_diff.h"
#include "cli/units.h"

/* TUNING: conversions, nodes that move: enough to see what it is */
#define LINES 4u

static void
tell_conditions(struct answer *a, const struct refusal *r, bool brief, bool all)
{
	answer_list(a, "conditions");
	for (uint32_t i = 0; i < r->nreasons; i++)
		ANSWER_LINE(a,
		    !brief && (!r->reason[i].holds || all)
		        ? "      {mark} {condition:-28} {actual}, need "
		          "{required}\n"
		        : NULL,
		    F("condition", r->reason[i].condition),
		    IS("holds", r->reason[i].holds),
		    F("actual", r->reason[i].actual),
		    F("required", r->reason[i].required),
		    T("mark", r->reason[i].holds ? "ok " : "NO "));
	answer_close(a);
}

/* said: 0 not in text; 1 where its conditions decide; 2 also where its pattern
 * does not fit. */
static void
tell_rule(struct answer *a, const struct rule_explanation *r, int said,
    bool all, struct arena *arena)
{
	struct arena_mark mark = arena_mark(arena);

	answer_row(a);
	ANSWER(a,
	    said && r->refusal
	        ? "    {rule} matches; {failed} of {n} condition{s n} not met:\n"
	        : said == 2 ? "    {rule} does not match here: {pattern}\n"
	                    : NULL,
	    F("rule", r->rule->name),
	    F("pattern", pattern_print(r->rule->pattern, arena)),
	    IS("matches", r->refusal != NULL),
	    T("failed", r->refusal ? refusal_failures(r->refusal) : 0),
	    T("n", r->refusal ? r->refusal->nreasons : 0));
	if (r->refusal)
		tell_conditions(a, r->refusal, !said, all);
	answer_close(a);
	arena_back(arena, mark);
}

/* Of a rule list: how many only mention the operator. */
static uint32_t
count_mentions(const struct target_explanation *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nrules; i++)
		n += s->rule[i].mentions;
	return n;
}

static void
tell_costlier(
    struct answer *a, const struct target_explanation *s, const struct job *j)
{
	const struct plan_shift *d = &s->shift;

	ANSWER(a,
	    "legal, {?more but {how} by {more:t} (plan cost {plan_cost_ns:t} "
	    "{basis}, not {was:t} {was_basis}, x{ratio:.4f}; {noise}):}{!more "
	    "at the same cost: {plan_cost_ns:t} {basis}}\n",
	    F("plan_cost_ns", d->to->cost), T("basis", plan_basis(d->to)),
	    T("was", d->from->cost), T("was_basis", plan_basis(d->from)),
	    T("how", d->delta > 0 ? "costlier" : "not chosen though cheaper"),
	    T("more", (uint64_t)(d->delta < 0 ? -d->delta : d->delta)),
	    T("ratio",
	        (double)d->to->cost / (double)(d->from->cost + !d->from->cost)),
	    T("noise", shift_noise_text(d, j->arena)));
	shift_tell(a, d, 6, j->args->cli->verbosity > 0 ? UINT32_MAX : LINES);
}

static const struct {
	const char *word, *text;
} verdicts[] = {
    [VERDICT_RUNS] = {"runs", "runs there; its other rules:\n"},
    [VERDICT_COSTLIER] = {"costlier", NULL},
    [VERDICT_NO_PLAN] = {"no_plan", "legal on its own, but in no legal plan\n"},
    [VERDICT_LEGAL] = {"legal", "legal, not chosen\n"},
    [VERDICT_REFUSED] = {"refused", "refused\n"},
    [VERDICT_NO_MATCH] = {"no_match",
        "{n} of its patterns contain{?one s} {type}, none matches here:\n"},
    [VERDICT_UNKNOWN] = {"unknown_operator",
        "none of its patterns contains {type}\n"},
};

/* With -v also rules that are not what decides: of targets that could run the
 * node by another rule, and patterns that do not fit. */
static void
tell_target(const struct target_explanation *s, const struct explanation *n,
    const struct job *j, struct answer *a)
{
	const bool all = j->args->cli->verbosity > 0;
	const bool fits = s->verdict != VERDICT_NO_MATCH;
	const bool decides = s->verdict == VERDICT_REFUSED || !fits;
	const uint32_t mentions = count_mentions(s);

	if (!a->is_json && s->verdict == VERDICT_RUNS && (!all || !s->nrules))
		return;
	answer_row(a);
	ANSWER(a, "  {target}: ", F("target", s->target->text),
	    F("verdict", verdicts[s->verdict].word));
	ANSWER(a, verdicts[s->verdict].text, T("n", mentions),
	    T("one", mentions == 1),
	    T("type", graph_node(j->model.graph, n->node)->op_type));
	if (s->verdict == VERDICT_COSTLIER)
		tell_costlier(a, s, j);
	answer_list(a, "rules");
	for (uint32_t i = 0; i < s->nrules; i++)
		tell_rule(a, &s->rule[i],
		    !decides && !all   ? 0
		        : all || !fits ? 2
		                       : 1,
		    all, j->arena);
	answer_close(a);
	answer_close(a);
}

/* ---- where it runs ---- */

static const char *
type_of(const struct value *v, const struct job *j)
{
	return v ? type_text(&v->type, j->model.graph->symbol, j->arena) : NULL;
}

static void
tell_node(const struct explanation *s, const struct job *j, struct answer *a)
{
	const struct graph *g = j->model.graph;
	const struct node *n = graph_node(g, s->node);
	const struct target *t = &j->mix.target[s->candidate->target];

	ANSWER(a,
	    "{node} ({op_type}, #{id}{?in , {in}}{?out  -> {out}}) runs on "
	    "{runs_on}\n",
	    F("node", node_label(g, s->node, j->arena)), F("id", s->node),
	    F("op_type", n->op_type), F("runs_on", t->text),
	    T("in", type_of(node_in(g, n, 0), j)),
	    T("out", type_of(node_out(g, n, 0), j)));
}

/* Which ONNX nodes it is made of, where it is not just the one. */
static void
tell_origins(const struct explanation *s, const struct job *j, struct answer *a)
{
	const struct graph *g = j->model.graph;
	const struct node *n = graph_node(g, s->node);

	for (uint32_t i = 0; n->norigins > 1 && i < n->norigins; i++) {
		const struct onnx_node *o =
		    &g->origin_table->node[n->origin[i].onnx];

		ANSWER(a, "{?i , }{!i   made of }{name} ({type}){?last \n}",
		    T("i", i),
		    T("name",
		        o->name[0]        ? o->name
		            : o->noutputs ? o->outputs[0]
		                          : "?"),
		    T("type", o->op_type), T("last", i + 1 == n->norigins));
	}
}

static void
tell_price(const struct explanation *s, const struct job *j, struct answer *a)
{
	const struct candidate *c = s->candidate;
	const struct price *p = s->price;

	ANSWER(a,
	    "  as {rule}{?implementation , }{implementation}, {n} node{s n}: "
	    "{ns:t} {source}{?samples , n={samples}}{?range , {low:t} .. "
	    "{high:t}}{?when , {when}}{detail}\n",
	    F("rule", j->mix.target[c->target].kind->rule[c->rule].name),
	    F("implementation", c->implementation_name),
	    F("cost_ns", s->composite->cost),
	    F("source", price_source_text(p->source)), T("n", c->nnodes),
	    T("ns", p->ns), T("samples", p->samples),
	    T("range", p->low != p->high), T("low", p->low), T("high", p->high),
	    T("when", p->when), T("detail", price_detail(p->detail, j->arena)));
}

static void
tell_region(const struct explanation *s, const struct job *j, struct answer *a)
{
	const struct plan_region *r = &j->plan.region[s->composite->region];

	if (r->ncomposites > 1)
		ANSWER(a,
		    "  in a region of {n} composites, {cost:t}{?launch , launched "
		    "once for {launch:t}}\n",
		    T("n", r->ncomposites), T("cost", r->cost),
		    T("launch", r->launch));
}

static bool
has_port(const struct port *port, uint32_t n, value_id v, format_id f)
{
	for (uint32_t i = 0; i < n; i++)
		if (port[i].value == v && port[i].format == f)
			return true;
	return false;
}

/* The conversions at its composite's boundary. */
static void
tell_boundary(
    const struct explanation *s, const struct job *j, struct answer *a)
{
	const struct plan *p = &j->plan;
	const struct format *f = p->mix->formats.format;
	const struct candidate *c = s->candidate;

	for (uint32_t i = 0; i < p->nconversions; i++) {
		const struct plan_conversion *x = &p->conversion[i];
		bool in = has_port(c->input, c->ninputs, x->value, x->to);

		if (in || has_port(c->output, c->noutputs, x->value, x->from))
			ANSWER(a,
			    "  its {end} '{value}' is converted {from} -> {to}, "
			    "{cost:t}\n",
			    T("end", in ? "input" : "output"),
			    T("value", graph_value(p->graph, x->value)->name),
			    T("from", format_text(f[x->from], j->arena)),
			    T("to", format_text(f[x->to], j->arena)),
			    T("cost", x->cost));
	}
}

void
explanation_tell(
    const struct explanation *s, const struct job *j, struct answer *a)
{
	struct arena_mark mark = arena_mark(j->arena);

	answer_row(a);
	tell_node(s, j, a);
	tell_origins(s, j, a);
	tell_price(s, j, a);
	tell_region(s, j, a);
	tell_boundary(s, j, a);
	answer_list(a, "targets");
	for (uint32_t i = 0; i < s->ntargets; i++)
		tell_target(&s->target[i], s, j, a);
	answer_close(a);
	answer_close(a);
	arena_back(j->arena, mark);
}
