#include "targets/candidates.h"
#include "targets/known.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/order.h"
#include "targets/idiom_find.h"
#include "targets/widened.h"

/* TUNING: ways one pattern may fit at one node, and ways to run a match; both
 * are far above what any backend here has. */
#define MATCHES 64
#define IMPLEMENTATIONS 64

struct candidate_finder {
	const struct graph *graph; /* as targets see it */
	const struct graph *model; /* as it is */
	const struct widened_graph *wide; /* NULL: the two are one */
	struct widened_graph widened;
	const struct idioms *model_idioms, *widened_idioms;
	bool keep_refusals; /* of what is looked at now */
	struct mix *mix;
	const struct candidate_options *options;
	struct arena *arena, *scratch;
	struct uses uses;
	const struct idioms *idioms;
	const struct target_kind *host;
	const void *prepared; /* of the target at hand */
	struct bitset rare; /* see struct match_in */
	struct bitset *unoffered; /* see struct candidates */
	struct condition_counts counts;
	struct bitset covered; /* nodes */
	struct bitset common; /* nodes of measured candidates, but the host's */
	struct candidate *candidate;
	struct refusal *refusal;
	uint32_t n, cap, nrefusals, refusal_cap;
	struct match match[MATCHES];
	struct arena matched; /* what they point to */
};

/* What a match reads and gives, before formats. */
struct boundary {
	uint32_t ninputs, noutputs;
	value_id *input, *output; /* ascending */
};

/* ---- validity ---- */

struct path_walk {
	const struct graph *graph;
	const struct uses *uses;
	struct arena *arena;
	struct bitset in, seen;
	node_id last, *stack;
	uint32_t top, cap;
};

/* Push the users of v that lie outside the set and before its last node (ids
 * are a topological order). false: one lies in the set and `outside` says v
 * does not come from it. */
static bool
push_users(struct path_walk *w, value_id v, bool outside)
{
	for (uint32_t k = w->uses->start[v]; k < w->uses->start[v + 1]; k++) {
		node_id to = w->uses->user[k];

		if (bitset_has(w->in, to)) {
			if (outside)
				return false;
			continue;
		}
		if (to > w->last || bitset_has(w->seen, to))
			continue;
		bitset_add(w->seen, to);
		w->stack = (node_id *)arena_grow(
		    w->arena, w->stack, &w->cap, w->top + 1, sizeof *w->stack);
		w->stack[w->top++] = to;
	}
	return true;
}

static bool
push_outputs(struct path_walk *w, node_id id, bool outside)
{
	const struct node *n = graph_node(w->graph, id);

	for (uint32_t o = 0; o < n->noutputs; o++)
		if (n->output[o] != VALUE_NONE
		    && !push_users(w, n->output[o], outside))
			return false;
	return true;
}

bool
nodes_are_convex(const struct graph *g, const struct uses *u,
    const node_id *node, uint32_t n, struct arena *scratch)
{
	struct path_walk w = {.graph = g, .uses = u, .arena = scratch};

	w.in = bitset_new(scratch, g->nnodes);
	w.seen = bitset_new(scratch, g->nnodes);
	w.last = n ? node[n - 1] : 0;
	for (uint32_t i = 0; i < n; i++)
		bitset_add(w.in, node[i]);
	for (uint32_t i = 0; i < n; i++)
		push_outputs(&w, node[i], false);
	while (w.top > 0)
		if (!push_outputs(&w, w.stack[--w.top], true))
			return false;
	return true;
}

static bool
used_outside(
    const struct candidate_finder *f, const struct match *m, value_id v)
{
	if (graph_value(f->graph, v)->flags & VALUE_OUTPUT)
		return true;
	for (uint32_t k = f->uses.start[v]; k < f->uses.start[v + 1]; k++)
		if (!match_has(m, f->uses.user[k]))
			return true;
	return false;
}

static bool
is_read_from_outside(
    const struct candidate_finder *f, const struct match *m, value_id v)
{
	const struct value *value;

	if (v == VALUE_NONE)
		return false;
	value = graph_value(f->graph, v);
	if (value->constant)
		return false;
	return value->producer == NODE_NONE || !match_has(m, value->producer);
}

static bool
reads_something(const struct candidate_finder *f, const struct match *m)
{
	for (uint32_t i = 0; i < m->nnodes; i++) {
		const struct node *n = graph_node(f->graph, m->node[i]);

		for (uint32_t k = 0; k < n->ninputs + n->nimplicit; k++)
			if (is_read_from_outside(f, m, n->input[k]))
				return true;
	}
	return false;
}

static bool
match_is_legal(const struct candidate_finder *f, const struct target *t,
    const struct rule *rule, const struct match *m, struct why *why)
{
	const struct graph *g = f->graph;
	bool used = false, legal = true;

	for (uint32_t i = 0; i < m->nnodes; i++) {
		const struct node *n = graph_node(g, m->node[i]);

		for (uint32_t o = 0; m->node[i] != m->root && o < n->noutputs;
		     o++) {
			value_id v = n->output[o];

			if (v == VALUE_NONE || !used_outside(f, m, v))
				continue;
			used = true;
			if (!rule->multi_output)
				legal = why_need(why, false,
				    "interior_used_inside_only",
				    "used by the composite only",
				    "'%s' is used outside", g->value[v].name);
		}
	}
	if (t->kind->needs_input && !reads_something(f, m))
		legal = why_need(why, false, "reads_an_input",
		    "an input that is no constant", "constants only");
	/* With the root as the only way out, a way back in would be a cycle. */
	if (legal && used) {
		struct arena_mark mark = arena_mark(f->scratch);

		legal = why_need(why,
		    nodes_are_convex(
		        g, &f->uses, m->node, m->nnodes, f->scratch),
		    "convex", "no path leaves and comes back", "%u nodes",
		    (unsigned)m->nnodes);
		arena_back(f->scratch, mark);
	}
	return legal;
}

/* ---- ports ---- */

static uint32_t
sort_unique(value_id *v, uint32_t n)
{
	uint32_t kept = 0;

	if (n > 1)
		qsort(v, n, sizeof *v, by_u32);
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || v[i] != v[kept - 1])
			v[kept++] = v[i];
	return kept;
}

static struct boundary
find_boundary(
    const struct candidate_finder *f, const struct match *m, struct arena *a)
{
	struct boundary b = {0};
	uint32_t in_cap = 0, out_cap = 0;

	for (uint32_t i = 0; i < m->nnodes; i++) {
		const struct node *n = graph_node(f->graph, m->node[i]);

		for (uint32_t k = 0; k < n->ninputs + n->nimplicit; k++) {
			if (!is_read_from_outside(f, m, n->input[k]))
				continue;
			b.input = (value_id *)arena_grow(a, b.input, &in_cap,
			    b.ninputs + 1, sizeof *b.input);
			b.input[b.ninputs++] = n->input[k];
		}
		for (uint32_t k = 0; k < n->noutputs; k++) {
			value_id v = n->output[k];

			if (v == VALUE_NONE || !used_outside(f, m, v))
				continue;
			b.output = (value_id *)arena_grow(a, b.output, &out_cap,
			    b.noutputs + 1, sizeof *b.output);
			b.output[b.noutputs++] = v;
		}
	}
	b.ninputs = sort_unique(b.input, b.ninputs);
	b.noutputs = sort_unique(b.output, b.noutputs);
	return b;
}

/* Ports of values as graph g has them, in a graph that `seen` is shown of. */
static const struct port *
make_ports(const struct candidate_finder *f, const struct graph *g,
    const value_id *v, uint32_t n, format_id format)
{
	struct port *port = arena_new(f->arena, struct port, n);

	for (uint32_t i = 0; i < n; i++) {
		const struct type *t = &graph_value(g, v[i])->type;
		struct format own = f->mix->formats.format[format];

		if (t->kind != TYPE_TENSOR || t->rank != 4)
			own.layout = LAYOUT_PLAIN;
		if (t->dtype != graph_value(f->graph, v[i])->type.dtype)
			own.dtype = DT_FLOAT;
		port[i].value = v[i];
		port[i].format = format_intern(&f->mix->formats, own);
	}
	return port;
}

/* What was made of the graph that is shown, as one of the model's. */
static struct candidate
as_in_model(const struct candidate_finder *f, const struct candidate *seen,
    const struct boundary *b, const struct implementation *impl)
{
	struct widened *w = arena_new(f->arena, struct widened, 1);
	struct candidate c = *seen;

	*w = (struct widened){f->graph, *seen};
	c.widened = w;
	c.implementation_name = arena_printf(
	    f->arena, "%s%sf32", impl->name, impl->name[0] ? "/" : "");
	c.input = make_ports(f, f->model, b->input, b->ninputs, impl->input);
	c.output =
	    make_ports(f, f->model, b->output, b->noutputs, impl->output);
	return c;
}

/* ---- enumeration ---- */

static void
add_candidate(struct candidate_finder *f, const struct match_in *in,
    const struct boundary *b, const struct implementation *impl)
{
	const struct target *t = in->target;
	const struct match *m = in->match;
	struct candidate c = {
	    .target = t->index,
	    .rule = in->rule,
	    .implementation = impl->number,
	    .implementation_name = impl->name,
	    .in_place = impl->in_place,
	    .loses_nan = impl->loses_nan,
	    .known = impl->guarded && !f->wide && known_match(f->graph, m),
	    .transforms = impl->transforms,
	    .opaque = impl->opaque,
	    .own_weights = impl->own_weights,
	    .resident = impl->resident,
	    .group = impl->group,
	    .match = m,
	    .nnodes = m->nnodes,
	    .node = m->node,
	    .ninputs = b->ninputs,
	    .noutputs = b->noutputs,
	};

	c.input = make_ports(f, f->graph, b->input, b->ninputs, impl->input);
	c.output =
	    make_ports(f, f->graph, b->output, b->noutputs, impl->output);
	if (f->wide)
		c = as_in_model(f, &c, b, impl);
	f->candidate = (struct candidate *)arena_grow(
	    f->arena, f->candidate, &f->cap, f->n + 1, sizeof c);
	f->candidate[f->n++] = c;
	for (uint32_t i = 0; i < m->nnodes; i++)
		bitset_add(f->covered, m->node[i]);
	if (t->source == PRICE_MEASURED && t->kind != f->host)
		for (uint32_t i = 0; i < m->nnodes; i++)
			bitset_add(f->common, m->node[i]);
}

static void
refuse(struct candidate_finder *f, const struct target *t, uint32_t rule,
    const struct match *m, const struct why *why)
{
	f->refusal = (struct refusal *)arena_grow(f->arena, f->refusal,
	    &f->refusal_cap, f->nrefusals + 1, sizeof *f->refusal);
	f->refusal[f->nrefusals++] = (struct refusal){
	    .target = t->index,
	    .rule = rule,
	    .match = match_keep(m, f->arena),
	    .reason = why->reason,
	    .nreasons = why->n,
	};
}

static bool
accepts(struct candidate_finder *f, const struct target *t,
    const struct rule *rule, const struct match *m, struct arena *words,
    struct why *why)
{
	struct match_in in = {
	    t, f->graph, &f->uses, m, 0, f->prepared, false, f->rare};
	bool ok;

	in.rule = (uint32_t)(rule - t->kind->rule);
	why_init(why, words);
	why->target = t->index;
	why->assume = f->options->assume;
	why->nassume = f->options->nassume;
	why->failures_only = f->options->failures_only;
	if (f->keep_refusals && !words)
		why->counts = &f->counts;
	ok = !rule->accepts || rule->accepts(&in, why);
	/* What makes a match a match is not for anybody to assume. */
	why->nassume = 0;
	why->counts = NULL;
	return match_is_legal(f, t, rule, m, why) && ok;
}

/* Leave the implementations that keep NaN, and are exact where that is wanted; how
 * many they are. */
static uint32_t
leave_wanted(const struct candidate_finder *f, struct why *why,
    struct implementation *impl, uint32_t n)
{
	const bool nan = f->options->keep_nan, exact = f->options->exact;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++)
		if (why_need(why, !nan || !impl[i].loses_nan, "keeps_nan",
		        "NaN stays NaN, or --nan=ignore",
		        "'%s' may turn NaN into a number", impl[i].name)
		    && why_need(why, !exact || !impl[i].transforms, "exact",
		        "sums of the products that are defined, or no "
		        "--exact-convolutions",
		        "'%s' transforms them", impl[i].name))
			impl[kept++] = impl[i];
	return kept;
}

static uint32_t
keep_wanted(struct candidate_finder *f, const struct target *t, uint32_t rule,
    const struct match *m, struct implementation *impl, uint32_t n)
{
	struct why why;
	uint32_t kept;

	if (!f->options->keep_nan && !f->options->exact)
		return n;
	why_init(&why, NULL);
	why.target = t->index;
	why.assume = f->options->assume;
	why.nassume = f->options->nassume;
	if (f->keep_refusals)
		why.counts = &f->counts;
	kept = leave_wanted(f, &why, impl, n);
	if (kept > 0 || n == 0 || !f->keep_refusals)
		return kept;
	why.counts = NULL; /* again, this time in words */
	why.arena = f->arena;
	leave_wanted(f, &why, impl, n);
	refuse(f, t, rule, m, &why);
	return 0;
}

/* A match that the rule accepts. */
static void
add_implementations(struct candidate_finder *f, const struct target *t,
    uint32_t number, const struct match *m)
{
	struct implementation impl[IMPLEMENTATIONS] = {{.name = ""}};
	struct match_in in = {t, f->graph, &f->uses, NULL, number, f->prepared,
	    f->options->keep_nan, f->rare};
	struct arena_mark mark;
	struct boundary b;
	uint32_t n = 1;

	in.match = match_keep(m, f->arena);
	if (t->kind->implementations)
		n = t->kind->implementations(
		    &in, &f->mix->formats, impl, IMPLEMENTATIONS);
	n = keep_wanted(f, t, number, m, impl, n);
	mark = arena_mark(f->scratch);
	b = find_boundary(f, m, f->scratch);
	for (uint32_t i = 0; i < n; i++)
		add_candidate(f, &in, &b, &impl[i]);
	arena_back(f->scratch, mark);
}

static void
take_match(struct candidate_finder *f, const struct target *t, uint32_t number,
    const struct match *m)
{
	const struct rule *rule = &t->kind->rule[number];
	struct why why;

	if (f->wide && !widened_fits(f->wide, m->node, m->nnodes))
		return;
	if (!accepts(f, t, rule, m, NULL, &why)) {
		/* again, this time in words */
		if (f->keep_refusals && !accepts(f, t, rule, m, f->arena, &why))
			refuse(f, t, number, m, &why);
		return;
	}
	add_implementations(f, t, number, m);
}

static void
run_rule(struct candidate_finder *f, const struct target *t, uint32_t number)
{
	const struct rule *rule = &t->kind->rule[number];
	const struct matches matches = {
	    f->match, MATCHES, &f->matched, f->scratch, f->idioms};
	struct bitset roots = bitset_new(f->scratch, NOP);

	if (rule_of_sets(t->kind, number))
		return;
	pattern_roots(rule->pattern, f->idioms, roots);
	for (node_id id = 0; id < f->graph->nnodes; id++) {
		const struct arena_mark mark = arena_mark(&f->matched);
		uint32_t n;

		if (!bitset_has(roots, graph_node(f->graph, id)->op))
			continue;
		n = pattern_match(rule->pattern, f->graph, id, &matches);
		for (uint32_t i = 0; i < n; i++)
			take_match(f, t, number, &f->match[i]);
		arena_back(&f->matched, mark);
	}
}

/* What the kind says may run as one. */
static void
take_sets(struct candidate_finder *f, const struct target *t,
    const struct node_sets *sets)
{
	for (uint32_t i = 0; i < sets->n; i++) {
		const struct node_set *set = &sets->set[i];
		const struct match m = {.root = set->node[set->n - 1],
		    .node = set->node,
		    .nnodes = set->n};

		for (uint32_t r = 0; r < t->kind->nrules; r++)
			if (rule_of_sets(t->kind, r))
				take_match(f, t, r, &m);
	}
	f->unoffered[t->index] = sets->of;
}

static bool
run_on(struct candidate_finder *f, const struct target *t, struct err *err)
{
	const struct match_in in = {
	    t, f->graph, &f->uses, NULL, 0, NULL, false, f->rare};
	struct survey survey = {.prepared = NULL};

	if (t->kind->survey && !t->kind->survey(&in, &survey, f->arena, err))
		return err_in(err, "target '%s'", t->text);
	f->prepared = survey.prepared;
	for (uint32_t r = 0; r < t->kind->nrules; r++)
		run_rule(f, t, r);
	take_sets(f, t, &survey.sets);
	return true;
}

/* The graph with halves as floats, or (NULL) the model itself. */
static void
show(struct candidate_finder *f, const struct widened_graph *wide)
{
	f->wide = wide;
	f->graph = wide ? wide->graph : f->model;
	f->idioms = wide ? f->widened_idioms : f->model_idioms;
	f->keep_refusals = f->options->keep_refusals && !wide;
}

/* The host widens for the sake of others' composites beside it. */
static bool
mix_widens(const struct candidate_finder *f)
{
	for (uint32_t i = 0; i < f->mix->n; i++)
		if (f->mix->target[i].kind != f->host
		    && f->mix->target[i].kind->widens)
			return true;
	return false;
}

static void
open_widened(struct candidate_finder *f)
{
	if (!f->options->exact_halves && mix_widens(f)
	    && graph_widen(&f->widened, f->model, f->arena))
		f->widened_idioms =
		    idioms_find(f->widened.graph, &f->uses, f->arena);
}

static bool
run_target(struct candidate_finder *f, const struct target *t, struct err *err)
{
	bool ok;

	if (!run_on(f, t, err))
		return false;
	if (!f->widened.graph || !t->kind->widens)
		return true;
	show(f, &f->widened);
	ok = run_on(f, t, err);
	show(f, NULL);
	return ok;
}

/* Those that ask what others take come after them. */
static bool
run_targets(struct candidate_finder *f, struct err *err)
{
	const struct mix *m = f->mix;

	for (uint32_t t = 0; t < m->n; t++)
		if (!m->target[t].kind->nset_rules
		    && !run_target(f, &m->target[t], err))
			return false;
	f->rare = bitset_new(f->scratch, f->graph->nnodes);
	for (node_id id = 0; id < f->graph->nnodes; id++)
		if (!bitset_has(f->common, id))
			bitset_add(f->rare, id);
	for (uint32_t t = 0; t < m->n; t++)
		if (m->target[t].kind->nset_rules
		    && !run_target(f, &m->target[t], err))
			return false;
	return true;
}

/* By target, as they were asked for. */
static void
sort_by_target(struct candidate_finder *f)
{
	struct candidate *sorted = arena_new(f->arena, struct candidate, f->n);
	struct refusal *refusal =
	    arena_new(f->arena, struct refusal, f->nrefusals);
	uint32_t n = 0, nrefusals = 0;

	for (uint32_t t = 0; t < f->mix->n; t++) {
		for (uint32_t i = 0; i < f->n; i++)
			if (f->candidate[i].target == t)
				sorted[n++] = f->candidate[i];
		for (uint32_t i = 0; i < f->nrefusals; i++)
			if (f->refusal[i].target == t)
				refusal[nrefusals++] = f->refusal[i];
	}
	assert(n == f->n && nrefusals == f->nrefusals);
	f->candidate = sorted;
	f->refusal = refusal;
}

static bool
asks_others(const struct mix *m)
{
	for (uint32_t t = 0; t < m->n; t++)
		if (m->target[t].kind->nset_rules)
			return true;
	return false;
}

/* What holds the place of an operator nobody knows gives way to a target that
 * does. */
static void
drop_opaque(struct candidate_finder *f)
{
	struct bitset known = bitset_new(f->scratch, f->graph->nnodes);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < f->n; i++)
		for (uint32_t k = 0; k < f->candidate[i].nnodes; k++)
			if (!f->candidate[i].opaque)
				bitset_add(known, f->candidate[i].node[k]);
	for (uint32_t i = 0; i < f->n; i++)
		if (!f->candidate[i].opaque
		    || !bitset_has(known, f->candidate[i].node[0]))
			f->candidate[kept++] = f->candidate[i];
	f->n = kept;
}

static uint32_t
count_regions(const struct candidate_finder *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		const struct candidate *c = &f->candidate[i];

		n += rule_of_sets(f->mix->target[c->target].kind, c->rule);
	}
	return n;
}

/* The first node nothing covers, and the first reason why. */
static bool
check_cover(struct candidate_finder *f, struct err *err)
{
	node_id id = 0;
	const char *label, *type;
	const struct node *n;
	const struct value *v;

	while (id < f->graph->nnodes && bitset_has(f->covered, id))
		id++;
	if (id == f->graph->nnodes)
		return true;
	label = node_label(f->graph, id, f->scratch);
	n = graph_node(f->graph, id);
	v = node_in(f->graph, n, 0);
	type = n->op_type;
	for (uint32_t i = f->nrefusals; i-- > 0;) {
		const struct refusal *r = &f->refusal[i];
		const struct target *t = &f->mix->target[r->target];

		for (uint32_t k = 0; k < r->nreasons; k++)
			if (match_has(r->match, id) && !r->reason[k].holds)
				return err_set(err, ERR_NO_COVER,
				    "node '%s' (#%u, %s): no target takes it; "
				    "%s: %s, needs %s",
				    label, id, type, t->text,
				    r->reason[k].actual, r->reason[k].required);
	}
	return err_set(err, ERR_UNSUPPORTED,
	    "node '%s' (#%u, %s): no target takes it; the host has no kernel for "
	    "it (opset %u, %s)",
	    label, id, type, n->opset,
	    v ? dtype_name(v->type.dtype) : "no input");
}

bool
candidates_find(struct candidates *out, const struct graph *g, struct mix *m,
    const struct candidate_options *o, struct arena *a, struct err *err)
{
	static const struct candidate_options defaults = {.assume = NULL};
	struct arena scratch;
	struct candidate_finder f = {
	    .graph = g,
	    .model = g,
	    .mix = m,
	    .options = o ? o : &defaults,
	    .arena = a,
	    .scratch = &scratch,
	    .counts = {.arena = a},
	};
	bool ok;

	arena_init(&scratch);
	arena_init(&f.matched);
	arena_alloc(&f.matched, 1); /* so that its first block stays */
	f.uses = graph_uses(g, &scratch);
	f.model_idioms = idioms_find(g, &f.uses, a);
	f.host = target_kind_find("host");
	if (f.options->keep_nan)
		known_find(g);
	open_widened(&f);
	show(&f, NULL);
	f.covered = bitset_new(&scratch, g->nnodes);
	f.common = bitset_new(&scratch, g->nnodes);
	f.unoffered = arena_new(a, struct bitset, m->n);
	ok = run_targets(&f, err);
	if (asks_others(m))
		sort_by_target(&f);
	drop_opaque(&f);
	*out = (struct candidates){f.candidate, f.n, f.refusal, f.nrefusals,
	    f.counts.item, f.counts.n, f.idioms, count_regions(&f), f.unoffered,
	    f.options->keep_nan, f.options->exact, f.options->exact_halves,
	    f.widened.graph, f.widened_idioms};
	ok = ok && check_cover(&f, err);
	arena_release(&f.matched);
	arena_release(&scratch);
	return ok;
}
