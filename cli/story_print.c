/* A node's story as text and as JSON. */
#include <stdio.h>

#include "cli/shift_print.h"
#include "cli/story.h"
#include "cli/units.h"
#include "ir/base/json.h"
#include "ir/base/plural.h"

/* TUNING: conversions, nodes that move: enough to see what it is */
#define LINES 4u

static void
print_price(const struct price *p)
{
	char text[32], low[32], high[32];

	printf("%s %s", format_duration(p->ns, text, sizeof text),
	    price_source_text(p->source));
	if (p->samples)
		printf(", n=%u", p->samples);
	if (p->low != p->high)
		printf(", %s .. %s", format_duration(p->low, low, sizeof low),
		    format_duration(p->high, high, sizeof high));
	if (p->when && p->when[0])
		printf(", %s", p->when);
	if (p->detail && p->detail[0])
		price_detail_print(p->detail);
	putchar('\n');
}

static void
print_reason(const struct reason *r)
{
	printf("      %s %-28s %s, need %s\n", r->holds ? "ok " : "NO ",
	    r->condition, r->actual, r->required);
}

static void
print_rule(const struct rule_story *r, const struct job *j, bool brief)
{
	const struct cli *c = j->args->cli;
	struct arena_mark mark = arena_mark(j->arena);

	if (r->refusal) {
		printf("    %s matches; %u of %u condition%s not met:\n",
		    r->rule->name, story_failures(r->refusal),
		    r->refusal->nreasons, plural(r->refusal->nreasons));
		for (uint32_t i = 0; i < r->refusal->nreasons; i++)
			if (!r->refusal->reason[i].holds || c->verbosity > 0)
				print_reason(&r->refusal->reason[i]);
	} else if (!brief) {
		printf("    %s does not match here: %s\n", r->rule->name,
		    pattern_print(r->rule->pattern, j->arena));
	}
	arena_back(j->arena, mark);
}

/* Of a rule list: how many only mention the operator. */
static uint32_t
count_mentions(const struct target_story *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nrules; i++)
		n += s->rule[i].mentions;
	return n;
}

static void
print_costlier(const struct target_story *s, const struct job *j)
{
	const struct plan_shift *d = &s->shift;
	char cost[32], more[32];

	format_duration(d->to->cost, cost, sizeof cost);
	if (d->delta == 0)
		printf("legal, at the same cost: %s\n", cost);
	else
		printf("legal, but %s by %s (plan cost %s, x%.4f; %s):\n",
		    d->delta > 0 ? "costlier" : "not chosen though cheaper",
		    format_duration(
		        (cost_ns)(d->delta < 0 ? -d->delta : d->delta), more,
		        sizeof more),
		    cost,
		    (double)d->to->cost
		        / (double)(d->from->cost + !d->from->cost),
		    shift_noise_text(d, j->arena));
	shift_print(d, 6, j->args->cli->verbosity > 0 ? UINT32_MAX : LINES);
}

static void
print_verdict(const struct target_story *s, node_id node, const struct job *j)
{
	const char *type = graph_node(j->model.graph, node)->op_type;
	uint32_t n;

	switch (s->verdict) {
	case VERDICT_RUNS:
		puts("runs there; its other rules:");
		break;
	case VERDICT_COSTLIER:
		print_costlier(s, j);
		break;
	case VERDICT_NO_PLAN:
		puts("legal on its own, but in no legal plan");
		break;
	case VERDICT_LEGAL:
		puts("legal, not chosen");
		break;
	case VERDICT_REFUSED:
		puts("refused");
		break;
	case VERDICT_NO_MATCH:
		n = count_mentions(s);
		printf("%u of its patterns contain%s %s, none matches here:\n",
		    n, n == 1 ? "s" : "", type);
		break;
	default:
		printf("none of its patterns contains %s\n", type);
	}
}

/* With -v also rules that are not what decides: of targets that could run the
 * node by another rule, and patterns that do not fit. */
static void
print_target(const struct target_story *s, const struct node_story *n,
    const struct job *j)
{
	bool all = j->args->cli->verbosity > 0;
	bool decides =
	    s->verdict == VERDICT_REFUSED || s->verdict == VERDICT_NO_MATCH;

	if (s->verdict == VERDICT_RUNS && (!all || s->nrules == 0))
		return;
	printf("  %s: ", s->target->text);
	print_verdict(s, n->node, j);
	for (uint32_t i = 0; i < s->nrules; i++)
		if (decides || all)
			print_rule(&s->rule[i], j,
			    !all && s->verdict != VERDICT_NO_MATCH);
}

static void
print_types(const struct node_story *s, const struct job *j)
{
	const struct graph *g = j->model.graph;
	const struct node *n = graph_node(g, s->node);
	struct arena_mark mark = arena_mark(j->arena);
	const struct value *in = node_in(g, n, 0), *out = node_out(g, n, 0);

	printf("%s (%s, #%u", node_label(g, s->node, j->arena), n->op_type,
	    s->node);
	if (in)
		printf(", %s", type_text(&in->type, g->symbol, j->arena));
	if (out)
		printf(" -> %s", type_text(&out->type, g->symbol, j->arena));
	printf(") runs on %s\n", j->mix.target[s->candidate->target].text);
	arena_back(j->arena, mark);
}

/* Which ONNX nodes it is made of, where it is not just the one. */
static void
print_origins(const struct node_story *s, const struct job *j)
{
	const struct graph *g = j->model.graph;
	const struct node *n = graph_node(g, s->node);
	const char *comma = "";

	if (n->norigins < 2)
		return;
	printf("  made of ");
	for (uint32_t i = 0; i < n->norigins; i++) {
		const struct onnx_node *o =
		    &g->origin_table->node[n->origin[i].onnx];

		printf("%s%s (%s)", comma,
		    o->name[0]        ? o->name
		        : o->noutputs ? o->outputs[0]
		                      : "?",
		    o->op_type);
		comma = ", ";
	}
	putchar('\n');
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
print_boundary(const struct node_story *s, const struct job *j)
{
	const struct plan *p = &j->plan;
	const struct format *f = p->mix->formats.format;
	const struct candidate *c = s->candidate;
	struct arena_mark mark = arena_mark(j->arena);
	char text[32];

	for (uint32_t i = 0; i < p->nconversions; i++) {
		const struct plan_conversion *x = &p->conversion[i];
		bool in = has_port(c->input, c->ninputs, x->value, x->to);

		if (!in && !has_port(c->output, c->noutputs, x->value, x->from))
			continue;
		printf("  %s '%s' is converted %s -> %s, %s\n",
		    in ? "its input" : "its output",
		    graph_value(p->graph, x->value)->name,
		    format_text(f[x->from], j->arena),
		    format_text(f[x->to], j->arena),
		    format_duration(x->cost, text, sizeof text));
	}
	arena_back(j->arena, mark);
}

static void
print_region(const struct node_story *s, const struct job *j)
{
	const struct plan_region *r = &j->plan.region[s->composite->region];
	char text[32];

	if (r->ncomposites < 2)
		return;
	printf("  in a region of %u composites, %s", r->ncomposites,
	    format_duration(r->cost, text, sizeof text));
	if (r->launch)
		printf(", launched once for %s",
		    format_duration(r->launch, text, sizeof text));
	putchar('\n');
}

void
story_print(const struct node_story *s, const struct job *j)
{
	const struct target *t = &j->mix.target[s->candidate->target];

	print_types(s, j);
	print_origins(s, j);
	printf(
	    "  as %s%s%s, %u node%s: ", t->kind->rule[s->candidate->rule].name,
	    s->candidate->implementation_name[0] ? ", " : "",
	    s->candidate->implementation_name, s->candidate->nnodes,
	    s->candidate->nnodes == 1 ? "" : "s");
	print_price(s->price);
	print_region(s, j);
	print_boundary(s, j);
	for (uint32_t i = 0; i < s->ntargets; i++)
		print_target(&s->target[i], s, j);
}

static void
write_reasons(struct json *w, const struct refusal *r)
{
	json_key(w, "conditions");
	json_array(w);
	for (uint32_t i = 0; i < r->nreasons; i++) {
		json_inline_object(w);
		json_key_str(w, "condition", r->reason[i].condition);
		json_key_bool(w, "holds", r->reason[i].holds);
		json_key_str(w, "actual", r->reason[i].actual);
		json_key_str(w, "required", r->reason[i].required);
		json_close(w);
	}
	json_close(w);
}

static void
write_target(struct json *w, const struct target_story *s, const struct job *j)
{
	static const char *const word[] = {
	    [VERDICT_RUNS] = "runs",
	    [VERDICT_COSTLIER] = "costlier",
	    [VERDICT_NO_PLAN] = "no_plan",
	    [VERDICT_LEGAL] = "legal",
	    [VERDICT_REFUSED] = "refused",
	    [VERDICT_NO_MATCH] = "no_match",
	    [VERDICT_UNKNOWN] = "unknown_operator",
	};

	json_object(w);
	json_key_str(w, "target", s->target->text);
	json_key_str(w, "verdict", word[s->verdict]);
	if (s->verdict == VERDICT_COSTLIER) {
		json_key_uint(w, "plan_cost_ns", s->shift.to->cost);
		shift_write(w, &s->shift);
	}
	json_key(w, "rules");
	json_array(w);
	for (uint32_t i = 0; i < s->nrules; i++) {
		json_object(w);
		json_key_str(w, "rule", s->rule[i].rule->name);
		json_key_str(w, "pattern",
		    pattern_print(s->rule[i].rule->pattern, j->arena));
		json_key_bool(w, "matches", s->rule[i].refusal != NULL);
		if (s->rule[i].refusal)
			write_reasons(w, s->rule[i].refusal);
		json_close(w);
	}
	json_close(w);
	json_close(w);
}

void
story_write(const struct node_story *s, const struct job *j, struct json *w)
{
	const struct graph *g = j->model.graph;
	const struct target *t = &j->mix.target[s->candidate->target];

	json_object(w);
	json_key_str(w, "node", node_label(g, s->node, j->arena));
	json_key_uint(w, "id", s->node);
	json_key_str(w, "op_type", graph_node(g, s->node)->op_type);
	json_key_str(w, "runs_on", t->text);
	json_key_str(w, "rule", t->kind->rule[s->candidate->rule].name);
	json_key_str(w, "implementation", s->candidate->implementation_name);
	json_key_uint(w, "cost_ns", s->composite->cost);
	json_key_str(w, "source", price_source_text(s->price->source));
	json_key(w, "targets");
	json_array(w);
	for (uint32_t i = 0; i < s->ntargets; i++)
		write_target(w, &s->target[i], j);
	json_close(w);
	json_close(w);
}
