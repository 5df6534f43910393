#include "cli/explain_result.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/explain_cost.h"
#include "cli/explain_origin.h"
#include "cli/members.h"
#include "cli/units.h"
#include "emit/report/page.h"
#include "ir/base/file.h"
#include "ir/base/jsonin.h"
#include "ir/base/map.h"
#include "ir/base/nearest.h"

/* TUNING: a result of 100,000 nodes is below */

/* An array of a document, to be indexed (cJSON's are linked lists). */
struct list {
	const cJSON **item;
	int n;
};

/* The documents and what of them is looked up again and again. */
struct told {
	const struct cli *cli;
	struct arena *arena;
	const char *folder;
	cJSON *result, *map, *provenance, *others; /* the last may be NULL */
	const cJSON *nodes, *conversions;
	struct list mix, composites, regions;
	struct list onnx, mapped, parts; /* of the map */
	struct list made; /* provenance of each composite */
	struct list other; /* alternatives of each composite */
	struct modules modules; /* what --at means */
	const cJSON *line; /* what --line means */
};

/* ---- reading: page_check() has seen that what is required is there ---- */

static int
index_of(const cJSON *object, const char *key)
{
	double x = number_of(object, key);

	return x < 1e9 ? (int)x : -1;
}

static struct list
list_of(const cJSON *object, const char *key, struct arena *a)
{
	const cJSON *array = member(object, key), *x;
	struct list l = {.n = 0};

	l.item = arena_new(a, const cJSON *, (size_t)cJSON_GetArraySize(array));
	cJSON_ArrayForEach(x, array) l.item[l.n++] = x;
	return l;
}

static const cJSON *
at(const struct list *l, int i)
{
	return i >= 0 && i < l->n ? l->item[i] : NULL;
}

static bool
open_doc(cJSON **doc, const struct told *t, const char *name, struct err *err)
{
	*doc = jsonin_open(arena_printf(t->arena, "%s/%s", t->folder, name),
	    LIMIT_READ_RESULT, err);
	return *doc != NULL;
}

/* --emit may have left alternatives out. */
static bool
open_docs(struct told *t, struct err *err)
{
	const cJSON *plan;

	if (!open_doc(&t->result, t, "result.json", err)
	    || !open_doc(&t->map, t, "map.json", err)
	    || !open_doc(&t->provenance, t, "provenance.json", err)
	    || !page_check(t->result, t->map, err))
		return false;
	if (!file_is_absent(
	        arena_printf(t->arena, "%s/alternatives.json", t->folder))
	    && !open_doc(&t->others, t, "alternatives.json", err))
		return false;
	plan = member(t->result, "plan");
	t->nodes = member(t->result, "nodes");
	t->conversions = member(plan, "conversions");
	t->mix = list_of(t->result, "mix", t->arena);
	t->composites = list_of(plan, "composites", t->arena);
	t->regions = list_of(plan, "regions", t->arena);
	t->onnx = list_of(t->map, "onnx", t->arena);
	t->parts = list_of(t->map, "parts", t->arena);
	t->mapped = list_of(t->map, "nodes", t->arena);
	t->made = list_of(t->provenance, "composites", t->arena);
	t->other = list_of(t->others, "composites", t->arena);
	return true;
}

static void
close_docs(struct told *t)
{
	cJSON *doc[] = {t->result, t->map, t->provenance, t->others};

	for (size_t i = 0; i < sizeof doc / sizeof doc[0]; i++)
		if (doc[i])
			jsonin_close(doc[i]);
}

static const cJSON *
composite_of(const struct told *t, const cJSON *node)
{
	return at(&t->composites, index_of(node, "composite"));
}

static const cJSON *
target_of(const struct told *t, const cJSON *composite)
{
	return at(&t->mix, index_of(composite, "target"));
}

/* ---- which nodes ---- */

static bool
is_word(const cJSON *object, const char *key, const char *word)
{
	return strcmp(text_of(object, key), word) == 0;
}

static bool
onnx_fits(
    const struct told *t, const cJSON *onnx, const struct node_filter *filter)
{
	const cJSON *output = cJSON_GetArrayItem(member(onnx, "outputs"), 0);

	if (filter->node && !is_word(onnx, "name", filter->node)
	    && (!cJSON_IsString(output)
	        || strcmp(output->valuestring, filter->node) != 0))
		return false;
	if (filter->op && !is_word(onnx, "op_type", filter->op))
		return false;
	if (filter->index
	    && (text_of(onnx, "graph")[0]
	        || index_of(onnx, "index") != atoi(filter->index)))
		return false;
	if (filter->at
	    && !cost_is_in_module(
	        t->map, onnx, filter->at, t->modules.is_whole))
		return false;
	return !filter->line || cost_is_of_line(t->map, onnx, filter->line);
}

/* Is one of the ONNX nodes that this one is made of meant? */
static bool
origin_fits(
    const struct told *t, const cJSON *node, const struct node_filter *filter)
{
	const cJSON *mapped = at(&t->mapped, index_of(node, "id"));
	const cJSON *origin;

	cJSON_ArrayForEach(origin, member(mapped, "onnx"))
	{
		const cJSON *onnx = at(&t->onnx, index_of(origin, "id"));

		if (onnx && onnx_fits(t, onnx, filter))
			return true;
	}
	return false;
}

static bool
name_fits(const cJSON *node, const char *name)
{
	if (name[0] == '#')
		return name[1] >= '0' && name[1] <= '9'
		    && atoi(name + 1) == index_of(node, "id");
	if (strncmp(name, "op:", 3) == 0)
		return is_word(node, "op_type", name + 3);
	return is_word(node, "label", name) || is_word(node, "ref", name);
}

static bool
fits(const struct told *t, const cJSON *node, const struct node_filter *filter)
{
	struct node_filter rest = *filter;

	if (filter->node && name_fits(node, filter->node))
		rest.node = NULL;
	if (filter->op && is_word(node, "op_type", filter->op))
		rest.op = NULL;
	return (!rest.node && !rest.op && !rest.index && !rest.at && !rest.line)
	    || origin_fits(t, node, &rest);
}

static bool
runs_on(const struct told *t, const cJSON *node, const char *target)
{
	const cJSON *there = target_of(t, composite_of(t, node));

	return is_word(there, "kind", target) || is_word(there, "text", target);
}

static bool
check_target(const struct told *t, const char *name, struct err *err)
{
	struct nearest near = {.word = name};

	for (int i = 0; i < t->mix.n; i++) {
		const cJSON *target = t->mix.item[i];

		if (is_word(target, "kind", name)
		    || is_word(target, "text", name))
			return true;
		nearest_try(&near, text_of(target, "kind"));
	}
	return err_set(err, ERR_USAGE,
	    "no target of the result is called '%s'%s", name,
	    nearest_text(&near, t->arena));
}

/* ---- one node ---- */

/* Where it stands in the body of a function; "". */
static const char *
path_of(const struct told *t, const cJSON *node)
{
	const cJSON *mapped = at(&t->mapped, index_of(node, "id"));
	const cJSON *first = cJSON_GetArrayItem(member(mapped, "onnx"), 0);

	return cJSON_IsNumber(member(first, "part"))
	    ? text_of(at(&t->parts, index_of(first, "part")), "path")
	    : "";
}

static void
tell_place(struct answer *a, const struct told *t, const cJSON *node)
{
	const cJSON *composite = composite_of(t, node);

	ANSWER(a,
	    "{node} ({op_type}, #{id}) runs on {runs_on}{?path , written out "
	    "from {path}}\n",
	    F("node", text_of(node, "label")), F("id", exact_of(node, "id")),
	    F("op_type", text_of(node, "op_type")),
	    F("runs_on", text_of(target_of(t, composite), "text")),
	    F("path", path_of(t, node)));
}

/* What a run has of the processors, where that is another time. */
static cost_ns
busy_of(const cJSON *price)
{
	const double cpu = number_of(price, "cpu_ns");

	return cpu > 1.1 * number_of(price, "ns") ? exact_of(price, "cpu_ns")
	                                          : 0;
}

static void
tell_price(struct answer *a, const struct told *t, const cJSON *composite)
{
	const cJSON *price = member(composite, "price");
	const cJSON *made = at(&t->made, index_of(composite, "id"));
	const char *origin = text_of(made, "origin");

	ANSWER(a,
	    "  as {rule}{?implementation , }{implementation}, {n} node{s n}: "
	    "{cost_ns:t} {source}{?range , {low:t} .. {high:t}}{?cpu , "
	    "processor time {cpu:t}}{?origin ; "
	    "{origin}}{?when , {when}}{detail}\n",
	    F("rule", text_of(composite, "rule")),
	    F("implementation", text_of(composite, "implementation")),
	    F("cost_ns", exact_of(composite, "cost_ns")),
	    F("source", text_of(price, "source")),
	    T("n", (unsigned)cJSON_GetArraySize(member(composite, "nodes"))),
	    T("range",
	        number_of(price, "low_ns") != number_of(price, "high_ns")),
	    T("low", exact_of(price, "low_ns")),
	    T("high", exact_of(price, "high_ns")), T("cpu", busy_of(price)),
	    T("origin", strncmp(origin, "database", 8) == 0 ? origin : ""),
	    T("when", text_of(made, "when")),
	    T("detail", price_detail(text_of(price, "rests_on"), t->arena)));
}

static bool
has_port(const cJSON *ports, const cJSON *conversion, const char *format)
{
	const cJSON *port;

	cJSON_ArrayForEach(port,
	    ports) if (is_word(port, "value", text_of(conversion, "value"))
	    && is_word(
	        port, "format", text_of(conversion, format))) return true;
	return false;
}

static void
tell_boundary(struct answer *a, const struct told *t, const cJSON *composite)
{
	const cJSON *x;

	cJSON_ArrayForEach(x, t->conversions)
	{
		bool in = has_port(member(composite, "inputs"), x, "to");

		if (in || has_port(member(composite, "outputs"), x, "from"))
			ANSWER(a,
			    "  its {end} '{value}' is converted {from} -> {to}, "
			    "{cost:t}\n",
			    T("end", in ? "input" : "output"),
			    T("value", text_of(x, "value")),
			    T("from", text_of(x, "from")),
			    T("to", text_of(x, "to")),
			    T("cost", exact_of(x, "cost_ns")));
	}
}

static void
tell_region(struct answer *a, const struct told *t, const cJSON *composite)
{
	const cJSON *r = at(&t->regions, index_of(composite, "region"));

	if (index_of(r, "composites") > 1)
		ANSWER(a,
		    "  in region {name} of {n} composites, {cost:t}{?launch , "
		    "launched once for {launch:t}}\n",
		    T("name", text_of(r, "name")),
		    T("n", index_of(r, "composites")),
		    T("cost", exact_of(r, "cost_ns")),
		    T("launch", exact_of(r, "launch_ns")));
}

static const cJSON *
others_of(const struct told *t, const cJSON *composite)
{
	return at(&t->other, index_of(composite, "id"));
}

/* Of another target: the cheapest candidate for the same nodes, or for some of
 * them; NULL: none is on record. */
static const cJSON *
best_on(const struct told *t, const cJSON *composite, int target)
{
	const cJSON *best = NULL, *x;

	cJSON_ArrayForEach(x, member(others_of(t, composite), "others"))
	{
		bool same = cJSON_IsTrue(member(x, "same"));

		if (index_of(x, "target") != target)
			continue;
		if (!best || (same && !cJSON_IsTrue(member(best, "same")))
		    || (same == (bool)cJSON_IsTrue(member(best, "same"))
		        && number_of(x, "ns") < number_of(best, "ns")))
			best = x;
	}
	return best;
}

/* The next refusal of the node by the target, after `x` (NULL: the first). */
static const cJSON *
next_refusal(const struct told *t, const cJSON *x, int node, int target)
{
	x = x ? x->next : member(t->others, "refusals");
	if (x && cJSON_IsArray(x))
		x = x->child;
	while (x
	    && (index_of(x, "node") != node || index_of(x, "target") != target))
		x = x->next;
	return x;
}

/* What a price is, in one word; results before version 2 told of bounds only. */
static const char *
basis_of(const cJSON *x)
{
	const char *basis = text_of(x, "basis");

	return *basis                      ? basis
	    : is_word(x, "state", "bound") ? "bound"
	                                   : "known";
}

/* Two figures side by side, each with what it is of and what it rests on. */
static void
tell_best(struct answer *a, const cJSON *best, const cJSON *composite)
{
	const unsigned here =
	    (unsigned)cJSON_GetArraySize(member(composite, "nodes"));

	ANSWER(a,
	    "{rule} takes {?same_nodes the same {?many {many} }node{s here}}"
	    "{!same_nodes {n} node{s n}} for {?bound at least }{ns:t}"
	    "{!bound  {basis}}; here {!same_nodes {here} node{s here} for }"
	    "{cost:t} {source}\n",
	    F("rule", text_of(best, "rule")),
	    IS("same_nodes", cJSON_IsTrue(member(best, "same"))),
	    F("state", text_of(best, "state")), F("ns", exact_of(best, "ns")),
	    F("basis", basis_of(best)),
	    T("bound", is_word(best, "state", "bound")),
	    T("n", exact_of(best, "nodes")), T("here", here),
	    T("many", here > 1 ? here : 0),
	    T("cost", exact_of(composite, "cost_ns")),
	    T("source", text_of(member(composite, "price"), "source")));
}

static void
tell_refusal(struct answer *a, const cJSON *refusal, bool said)
{
	const cJSON *f;

	answer_row(a);
	ANSWER(a, said ? "    {rule} matches, but:\n" : NULL,
	    F("rule", text_of(refusal, "rule")));
	answer_list(a, "conditions");
	cJSON_ArrayForEach(f, member(refusal, "failed")) ANSWER_LINE(a,
	    said ? "      {condition:-28} {actual}, need {required}\n" : NULL,
	    F("condition", text_of(f, "condition")),
	    F("actual", text_of(f, "actual")),
	    F("required", text_of(f, "required")));
	answer_close(a);
	answer_close(a);
}

/* Text says of other targets only, and refusals where nothing is legal. */
static void
tell_target(
    struct answer *a, const struct told *t, const cJSON *node, int target)
{
	const cJSON *composite = composite_of(t, node);
	const cJSON *best = best_on(t, composite, target);
	const int id = index_of(node, "id");
	const cJSON *x = next_refusal(t, NULL, id, target);
	const bool runs = target == index_of(composite, "target");

	if (runs && !a->is_json)
		return;
	answer_row(a);
	ANSWER(a, "  {target}: {said}",
	    F("target", text_of(at(&t->mix, target), "text")),
	    F("verdict",
	        runs       ? "runs"
	            : best ? "legal"
	            : x    ? "refused"
	                   : "not_on_record"),
	    T("said",
	        !t->others ? "the result holds no alternatives (--emit)\n"
	            : best ? ""
	            : x    ? "refused\n"
	                   : "none of its rules matches here\n"));
	if (best && !runs)
		tell_best(a, best, composite);
	answer_list(a, "refusals");
	for (; x; x = next_refusal(t, x, id, target))
		tell_refusal(a, x, !best);
	answer_close(a);
	answer_close(a);
}

static void
tell_node(struct answer *a, const struct told *t, const cJSON *node)
{
	const cJSON *composite = composite_of(t, node);

	answer_row(a);
	tell_place(a, t, node);
	tell_price(a, t, composite);
	tell_region(a, t, composite);
	tell_boundary(a, t, composite);
	answer_list(a, "targets");
	for (int i = 0; i < t->mix.n; i++)
		tell_target(a, t, node, i);
	answer_close(a);
	answer_close(a);
}

/* ---- a module, a line: in short ---- */

/* How nodes stand with a target. */
struct standing {
	uint32_t run, legal, refused, unmatched;
	/* Of the first condition that fails, in words, and how often. */
	struct map by_reason;
	const char **reason;
	uint32_t *times, nreasons;
};

static const char *
reason_of(const struct told *t, const cJSON *refusal)
{
	const cJSON *f = cJSON_GetArrayItem(member(refusal, "failed"), 0);

	return f ? arena_printf(t->arena, "%s, need %s", text_of(f, "actual"),
	           text_of(f, "required"))
	         : "";
}

static void
count_reason(struct standing *s, const char *reason)
{
	const uint32_t at =
	    map_add(&s->by_reason, reason, strlen(reason), s->nreasons);

	if (at == s->nreasons)
		s->reason[s->nreasons++] = reason;
	s->times[at]++;
}

static void
stand(struct standing *s, const struct told *t, const cJSON *node, int target)
{
	const cJSON *composite = composite_of(t, node), *x;

	if (target == index_of(composite, "target")) {
		s->run++;
	} else if (best_on(t, composite, target)) {
		s->legal++;
	} else if ((x = next_refusal(t, NULL, index_of(node, "id"), target))) {
		s->refused++;
		count_reason(s, reason_of(t, x));
	} else {
		s->unmatched++;
	}
}

static void
tell_standing(struct answer *a, const struct told *t, const struct standing *s,
    int target, uint32_t n)
{
	const char *most = NULL;
	uint32_t times = 0;

	for (uint32_t i = 0; i < s->nreasons; i++)
		if (s->times[i] > times) {
			times = s->times[i];
			most = s->reason[i];
		}
	ANSWER_LINE(a,
	    "  {target}: runs {?all all}{!all {?runs {runs}}{!runs none}}"
	    "{?could , could run {could}}{?no , refuses {no}{?most  "
	    "({?mixed {times} of them: }{most})}}{?unmatched , has no rule for "
	    "{unmatched}}\n",
	    F("target", text_of(at(&t->mix, target), "text")),
	    F("runs", s->run), T("all", s->run == n), F("legal", s->legal),
	    T("could", s->legal), F("refused", s->refused), T("no", s->refused),
	    F("not_on_record", s->unmatched),
	    T("unmatched", t->others ? s->unmatched : 0), F("most", most),
	    F("times", times), T("mixed", times != s->refused));
}

/* What is asked about: the module or modules, the line and its text. */
static const char *
asked_of(const struct told *t, const struct node_filter *filter)
{
	const struct modules *m = &t->modules;
	const char *text = t->line ? text_of(t->line, "text") : "";

	if (filter->line)
		return arena_printf(t->arena, "%s:%.0f%s%s%s",
		    text_of(t->line, "file"), number_of(t->line, "line"),
		    text[0] ? ", \"" : "", text, text[0] ? "\"" : "");
	if (m->n > 1)
		return arena_printf(
		    t->arena, "%s, which %u modules end in", filter->at, m->n);
	return arena_printf(t->arena, "%s%s%s",
	    text_of(m->first, "path")[0] ? text_of(m->first, "path")
	                                 : "the model",
	    text_of(m->first, "class")[0] ? ", a " : "",
	    text_of(m->first, "class"));
}

/* Their sum, each counted once. */
static uint64_t
cost_of_marked(const struct told *t, const bool *marked, uint32_t *n)
{
	uint64_t sum = 0;

	*n = 0;
	for (int i = 0; i < t->composites.n; i++)
		if (marked[i]) {
			sum += exact_of(t->composites.item[i], "cost_ns");
			++*n;
		}
	return sum;
}

static void
tell_short(
    struct answer *a, const struct told *t, const struct node_filter *filter)
{
	bool *marked = arena_new(t->arena, bool, (size_t)t->composites.n);
	struct standing *s =
	    arena_new(t->arena, struct standing, (size_t)t->mix.n);
	const size_t all = (size_t)cJSON_GetArraySize(t->nodes);
	const double total = number_of(member(t->result, "total"), "cost_ns");
	const cJSON *node;
	uint32_t n = 0, held;
	uint64_t cost;

	for (int i = 0; i < t->mix.n; i++) {
		map_init(&s[i].by_reason, t->arena);
		s[i].reason = arena_new(t->arena, const char *, all);
		s[i].times = arena_new(t->arena, uint32_t, all);
	}
	cJSON_ArrayForEach(node, t->nodes)
	{
		const int at = index_of(node, "composite");

		if (!fits(t, node, filter))
			continue;
		n++;
		if (at >= 0 && at < t->composites.n)
			marked[at] = true;
		for (int i = 0; i < t->mix.n; i++)
			stand(&s[i], t, node, i);
	}
	cost = cost_of_marked(t, marked, &held);
	answer_object(a, "asked");
	ANSWER(a,
	    "{asked}:\n  {nodes} node{s nodes} in {composites} composite{s "
	    "composites}, which take {cost_ns:t}, {share:.1f} % of the plan\n",
	    F("asked", asked_of(t, filter)), F("nodes", n),
	    F("composites", held), F("cost_ns", cost),
	    T("share", total > 0 ? 100 * (double)cost / total : 0.0));
	answer_list(a, "targets");
	for (int i = 0; i < t->mix.n; i++)
		tell_standing(a, t, &s[i], i, n);
	answer_close(a);
	answer_close(a);
}

/* ---- all of it ---- */

/* ONNX nodes that are meant and run nowhere; their number. */
static uint32_t
tell_gone(
    struct answer *a, const struct told *t, const struct node_filter *filter)
{
	const bool asked = filter->node || filter->op || filter->index
	    || filter->at || filter->line;
	const cJSON *x;
	uint32_t n = 0;

	answer_list(a, "nowhere");
	cJSON_ArrayForEach(x, member(t->map, "onnx"))
	{
		const char *fate = text_of(x, "fate");
		const bool folded = strcmp(fate, "folded") == 0;
		const cJSON *into = folded && cJSON_IsNumber(member(x, "into"))
		    ? at(&t->onnx, index_of(x, "into"))
		    : NULL;

		if (!asked || strcmp(fate, "covered") == 0
		    || !onnx_fits(t, x, filter))
			continue;
		n++;
		ANSWER_LINE(a,
		    "{node} ({op_type}, ONNX node {index}) runs nowhere: "
		    "{how}{?into  that {into} reads}\n",
		    F("node", text_of(x, "name")),
		    F("op_type", text_of(x, "op_type")), F("fate", fate),
		    T("index", index_of(x, "index")),
		    T("how", folded ? "folded into a constant" : fate),
		    F("into", into ? text_of(into, "name") : ""));
	}
	answer_close(a);
	return n;
}

static bool
say_none(
    const struct told *t, const struct node_filter *filter, struct err *err)
{
	struct nearest near = {
	    .word = filter->node ? filter->node : filter->op};
	const cJSON *node;

	cJSON_ArrayForEach(node, t->nodes) if (near.word) nearest_try(
	    &near, text_of(node, filter->node ? "label" : "op_type"));
	if (!near.word && !filter->index)
		return err_set(
		    err, ERR_USAGE, "no node of the result is there");
	return err_set(err, ERR_USAGE, "no node of the result is %s '%s'%s",
	    filter->node     ? "called"
	        : filter->op ? "of type"
	                     : "number",
	    near.word ? near.word : filter->index,
	    near.word ? nearest_text(&near, t->arena) : "");
}

static bool
tell(struct answer *a, const struct told *t, const struct node_filter *filter,
    struct err *err)
{
	uint32_t n = 0, fit = 0;
	const cJSON *node;

	answer_list(a, "nodes");
	cJSON_ArrayForEach(node, t->nodes)
	{
		if (!fits(t, node, filter))
			continue;
		fit++;
		if (filter->not_on && runs_on(t, node, filter->not_on))
			continue;
		n++;
		tell_node(a, t, node);
	}
	answer_close(a);
	fit += tell_gone(a, t, filter);
	if (fit == 0 && cJSON_GetArraySize(t->nodes) > 0)
		return say_none(t, filter, err);
	if (n == 0 && filter->not_on)
		ANSWER(a, "every node asked about runs on {target}\n",
		    T("target", filter->not_on));
	return true;
}

static bool
answer(struct told *t, const struct node_filter *filter, struct err *err)
{
	struct answer a;

	if ((filter->not_on && !check_target(t, filter->not_on, err))
	    || (filter->at
	        && !cost_has_module(
	            t->map, filter->at, &t->modules, t->arena, err))
	    || (filter->line
	        && !cost_has_line(t->map, filter->line, &t->line, err)))
		return false;
	answer_begin(&a, t->cli, "marq.explain/2");
	ANSWER(&a, NULL, F("result", t->folder),
	    F("model", text_of(member(t->result, "model"), "path")),
	    F("plan_cost_ns", exact_of(member(t->result, "total"), "cost_ns")));
	if (filter->at || filter->line)
		tell_short(&a, t, filter);
	if (!tell(&a, t, filter, err))
		return false;
	answer_end(&a);
	return true;
}

bool
explain_result(const struct cli *c, const char *folder,
    const struct result_question *q, struct err *err)
{
	struct told t = {.cli = c, .arena = c->run, .folder = folder};
	uint32_t index;
	bool ok;

	if (!node_filter_index(q->filter, &index, err)
	    || (q->by && !explain_cost_check(q->by, err)))
		return false;
	ok = open_docs(&t, err)
	    && (q->origin   ? explain_origin(c, t.map, q->origin, err)
	            : q->by ? explain_cost(c,
	                  &(struct cost_docs){t.result, t.map, q->run}, q->by,
	                  err)
	                    : answer(&t, q->filter, err));
	close_docs(&t);
	return ok || strstr(err->text, folder)
	        || (q->run && strstr(err->text, q->run))
	        || err->kind == ERR_USAGE
	    ? ok
	    : err_in(err, "%s", folder);
}
