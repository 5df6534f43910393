#include "cli/story.h"

#include <stdio.h>
#include <string.h>

#include "cli/units.h"
#include "ir/base/json.h"

static bool
has_node(const node_id *node, uint32_t n, node_id id)
{
	for (uint32_t i = 0; i < n; i++)
		if (node[i] == id)
			return true;
	return false;
}

static bool
is_legal_on(const struct job *j, uint32_t target, node_id id)
{
	for (uint32_t i = 0; i < j->candidates.n; i++) {
		const struct candidate *c = &j->candidates.candidate[i];

		if (c->target == target && has_node(c->node, c->nnodes, id))
			return true;
	}
	return false;
}

static uint32_t
failures(const struct refusal *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->nreasons; i++)
		n += !r->reason[i].holds;
	return n;
}

/* Of a rule's refusals that contain the node, the one nearest to legal. */
static const struct refusal *
nearest_refusal(const struct job *j, uint32_t target, uint32_t rule, node_id id)
{
	const struct refusal *best = NULL;

	for (uint32_t i = 0; i < j->candidates.nrefusals; i++) {
		const struct refusal *r = &j->candidates.refusal[i];

		if (r->target != target || r->rule != rule
		    || !has_node(r->match->node, r->match->nnodes, id))
			continue;
		if (!best || failures(r) < failures(best))
			best = r;
	}
	return best;
}

/* Patterns are constants of our own (or bounded by the parser). */
static bool
mentions(const struct pattern *p, enum op op)
{
	if ((p->kind == PATTERN_NODE || p->kind == PATTERN_MAYBE)
	    && p->op == op)
		return true;
	for (uint32_t i = 0; i < p->nargs; i++)
		if (mentions(p->arg[i], op))
			return true;
	return false;
}

static void
tell_rules(
    struct target_story *s, const struct job *j, node_id id, struct arena *a)
{
	const struct target_kind *kind = s->target->kind;
	enum op op = graph_node(j->model.graph, id)->op;
	struct rule_story *rule =
	    arena_new(a, struct rule_story, kind->nrules ? kind->nrules : 1);
	bool refused = false, mentioned = false;

	for (uint32_t i = 0; i < kind->nrules; i++) {
		struct rule_story r = {
		    .rule = &kind->rule[i],
		    .refusal = nearest_refusal(j, s->target->index, i, id),
		};

		r.mentions = !r.refusal && mentions(r.rule->pattern, op);
		refused |= r.refusal != NULL;
		mentioned |= r.mentions;
		if (r.refusal || r.mentions)
			rule[s->nrules++] = r;
	}
	s->rule = rule;
	s->verdict = refused ? VERDICT_REFUSED
	    : mentioned      ? VERDICT_NO_MATCH
	                     : VERDICT_UNKNOWN;
}

static bool
tell_target(struct target_story *s, struct job *j,
    const struct node_story *node, bool ask_cost, struct arena *a,
    struct err *err)
{
	uint32_t t = s->target->index;

	if (node->candidate->target == t) {
		s->verdict = VERDICT_RUNS;
		return true;
	}
	if (!is_legal_on(j, t, node->node)) {
		tell_rules(s, j, node->node, a);
		return true;
	}
	s->verdict = ask_cost ? VERDICT_DEARER : VERDICT_LEGAL;
	return !ask_cost
	    || job_cost_pinned(j, node->node, t, &s->plan_cost, err);
}

bool
story_tell(struct node_story *s, struct job *j, node_id node, bool ask_cost,
    struct arena *a, struct err *err)
{
	const struct plan *p = &j->plan;
	struct target_story *target =
	    arena_new(a, struct target_story, j->mix.n);

	*s = (struct node_story){.node = node, .ntargets = j->mix.n};
	s->composite = &p->composite[p->composite_of[node]];
	s->candidate = &p->candidates->candidate[s->composite->candidate];
	s->price = &p->prices->candidate[s->composite->candidate];
	s->target = target;
	for (uint32_t t = 0; t < j->mix.n; t++) {
		target[t].target = &j->mix.target[t];
		if (!tell_target(&target[t], j, s, ask_cost, a, err))
			return false;
	}
	return true;
}

static const char *
source_word(enum price_source source)
{
	static const char *const word[] = {
	    [PRICE_MEASURED] = "measured",
	    [PRICE_SIMULATED] = "simulated",
	    [PRICE_EXTERNAL] = "told by an external tool",
	    [PRICE_ESTIMATED] = "estimated",
	};

	return word[source];
}

static void
print_price(const struct price *p)
{
	char text[32], low[32], high[32];

	printf("%s %s", format_duration(p->ns, text, sizeof text),
	    source_word(p->source));
	if (p->samples)
		printf(", n=%u", p->samples);
	if (p->low != p->high)
		printf(", %s .. %s", format_duration(p->low, low, sizeof low),
		    format_duration(p->high, high, sizeof high));
	if (p->when && p->when[0])
		printf(", %s", p->when);
	if (p->detail && p->detail[0])
		printf(" (%s)", p->detail);
	putchar('\n');
}

static void
print_reason(const struct reason *r)
{
	printf("      %s %-28s %s, need %s\n", r->holds ? "ok " : "NO ",
	    r->condition, r->actual, r->required);
}

static void
print_rule(const struct rule_story *r, const struct job *j)
{
	const struct cli *c = j->args->cli;
	struct arena_mark mark = arena_mark(j->arena);

	if (r->refusal) {
		printf("    %s matches; %u of %u conditions fail:\n",
		    r->rule->name, failures(r->refusal), r->refusal->nreasons);
		for (uint32_t i = 0; i < r->refusal->nreasons; i++)
			if (!r->refusal->reason[i].holds || c->verbosity > 0)
				print_reason(&r->refusal->reason[i]);
	} else if (c->verbosity > 0) {
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
print_dearer(const struct target_story *s, const struct plan *p)
{
	char cost[32], more[32];

	if (s->plan_cost == COST_NEVER) {
		puts("legal by itself, but no legal plan has it there");
		return;
	}
	printf("legal, but the whole plan would cost %s, %s more (x%.4f)\n",
	    format_duration(s->plan_cost, cost, sizeof cost),
	    format_duration(s->plan_cost > p->cost ? s->plan_cost - p->cost : 0,
	        more, sizeof more),
	    (double)s->plan_cost / (double)(p->cost ? p->cost : 1));
}

static void
print_target(const struct target_story *s, const struct node_story *n,
    const struct job *j)
{
	const char *type = graph_node(j->model.graph, n->node)->op_type;

	if (s->verdict == VERDICT_RUNS)
		return;
	printf("  %s: ", s->target->text);
	switch (s->verdict) {
	case VERDICT_DEARER:
		print_dearer(s, &j->plan);
		break;
	case VERDICT_LEGAL:
		puts("legal, not chosen");
		break;
	case VERDICT_REFUSED:
		puts("refused");
		break;
	case VERDICT_NO_MATCH:
		printf("%u of its patterns have %s, none fits here%s\n",
		    count_mentions(s), type,
		    j->args->cli->verbosity > 0 ? "" : " (-v shows them)");
		break;
	default:
		printf("none of its patterns has %s\n", type);
	}
	for (uint32_t i = 0; i < s->nrules; i++)
		print_rule(&s->rule[i], j);
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

void
story_print(const struct node_story *s, const struct job *j)
{
	const struct target *t = &j->mix.target[s->candidate->target];

	print_types(s, j);
	printf(
	    "  as %s, %s, %u node%s: ", t->kind->rule[s->candidate->rule].name,
	    s->candidate->implementation_name, s->candidate->nnodes,
	    s->candidate->nnodes == 1 ? "" : "s");
	print_price(s->price);
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
	    [VERDICT_DEARER] = "dearer",
	    [VERDICT_LEGAL] = "legal",
	    [VERDICT_REFUSED] = "refused",
	    [VERDICT_NO_MATCH] = "no_match",
	    [VERDICT_UNKNOWN] = "unknown_operator",
	};

	json_object(w);
	json_key_str(w, "target", s->target->text);
	json_key_str(w, "verdict", word[s->verdict]);
	if (s->verdict == VERDICT_DEARER && s->plan_cost != COST_NEVER)
		json_key_uint(w, "plan_cost_ns", s->plan_cost);
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
	json_key_str(w, "source", source_word(s->price->source));
	json_key(w, "targets");
	json_array(w);
	for (uint32_t i = 0; i < s->ntargets; i++)
		write_target(w, &s->target[i], j);
	json_close(w);
	json_close(w);
}
