#include "cli/explain_result.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/units.h"
#include "emit/page.h"
#include "ir/base/json.h"
#include "ir/base/jsonin.h"
#include "ir/base/nearest.h"

/* TUNING: a result of 100,000 nodes is below */
#define DOC_BYTES ((size_t)256 << 20)

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
	struct list onnx, mapped; /* of the map */
	struct list made; /* provenance of each composite */
	struct list other; /* alternatives of each composite */
};

/* ---- reading: page_check() has seen that what is required is there ---- */

static const cJSON *
member(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

static const char *
text_of(const cJSON *object, const char *key)
{
	const cJSON *item = member(object, key);

	return cJSON_IsString(item) ? item->valuestring : "";
}

static double
real_of(const cJSON *object, const char *key)
{
	const cJSON *item = member(object, key);

	return cJSON_IsNumber(item) && item->valuedouble >= 0
	    ? item->valuedouble
	    : 0;
}

static int
index_of(const cJSON *object, const char *key)
{
	double x = real_of(object, key);

	return x < 1e9 ? (int)x : -1;
}

static const char *
duration(const cJSON *object, const char *key, struct arena *a)
{
	char text[32];

	return arena_str(a,
	    format_duration(
	        (uint64_t)fmin(real_of(object, key), 9e18), text, sizeof text));
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
	*doc = jsonin_open(
	    arena_printf(t->arena, "%s/%s", t->folder, name), DOC_BYTES, err);
	return *doc != NULL;
}

/* --emit may have left alternatives out. */
static bool
open_docs(struct told *t, struct err *err)
{
	struct stat st;
	const cJSON *plan;

	if (!open_doc(&t->result, t, "result.json", err)
	    || !open_doc(&t->map, t, "map.json", err)
	    || !open_doc(&t->provenance, t, "provenance.json", err)
	    || !page_check(t->result, t->map, err))
		return false;
	if (stat(arena_printf(t->arena, "%s/alternatives.json", t->folder), &st)
	        == 0
	    && !open_doc(&t->others, t, "alternatives.json", err))
		return false;
	plan = member(t->result, "plan");
	t->nodes = member(t->result, "nodes");
	t->conversions = member(plan, "conversions");
	t->mix = list_of(t->result, "mix", t->arena);
	t->composites = list_of(plan, "composites", t->arena);
	t->regions = list_of(plan, "regions", t->arena);
	t->onnx = list_of(t->map, "onnx", t->arena);
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
onnx_fits(const cJSON *onnx, const struct node_filter *filter)
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
	return true;
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

		if (onnx && onnx_fits(onnx, filter))
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
	return (!rest.node && !rest.op && !rest.index)
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

/* ---- text ---- */

static void
print_price(const struct told *t, const cJSON *composite)
{
	const cJSON *price = member(composite, "price");
	const cJSON *made = at(&t->made, index_of(composite, "id"));
	struct arena *a = t->arena;

	printf("%s %s", duration(composite, "cost_ns", a),
	    text_of(price, "source"));
	if (real_of(price, "low_ns") != real_of(price, "high_ns"))
		printf(", %s .. %s", duration(price, "low_ns", a),
		    duration(price, "high_ns", a));
	if (strncmp(text_of(made, "origin"), "database", 8) == 0)
		printf("; %s", text_of(made, "origin"));
	if (text_of(made, "when")[0])
		printf(", %s", text_of(made, "when"));
	if (text_of(price, "rests_on")[0])
		price_detail_print(text_of(price, "rests_on"));
	putchar('\n');
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
print_boundary(const struct told *t, const cJSON *composite)
{
	const cJSON *x;

	cJSON_ArrayForEach(x, t->conversions)
	{
		bool in = has_port(member(composite, "inputs"), x, "to");

		if (in || has_port(member(composite, "outputs"), x, "from"))
			printf("  its %s '%s' is converted %s -> %s, %s\n",
			    in ? "input" : "output", text_of(x, "value"),
			    text_of(x, "from"), text_of(x, "to"),
			    duration(x, "cost_ns", t->arena));
	}
}

static void
print_region(const struct told *t, const cJSON *composite)
{
	const cJSON *r = at(&t->regions, index_of(composite, "region"));

	if (index_of(r, "composites") < 2)
		return;
	printf("  in region %s of %d composites, %s", text_of(r, "name"),
	    index_of(r, "composites"), duration(r, "cost_ns", t->arena));
	if (real_of(r, "launch_ns") > 0)
		printf(", launched once for %s",
		    duration(r, "launch_ns", t->arena));
	putchar('\n');
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
		        && real_of(x, "ns") < real_of(best, "ns")))
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

static void
print_refusal(const cJSON *refusal)
{
	const cJSON *f;

	printf("    %s matches, but:\n", text_of(refusal, "rule"));
	cJSON_ArrayForEach(f, member(refusal, "failed"))
	    printf("      %-28s %s, need %s\n", text_of(f, "condition"),
	        text_of(f, "actual"), text_of(f, "required"));
}

static void
print_other(const struct told *t, const cJSON *node, int target)
{
	const cJSON *composite = composite_of(t, node);
	const cJSON *best = best_on(t, composite, target), *x = NULL;
	const char *name = text_of(at(&t->mix, target), "text");

	if (!t->others) {
		printf(
		    "  %s: the result holds no alternatives (--emit)\n", name);
		return;
	}
	if (best)
		printf("  %s: %s takes %s for %s%s (here: %s)\n", name,
		    text_of(best, "rule"),
		    cJSON_IsTrue(member(best, "same"))
		        ? "the same nodes"
		        : "only some of these nodes",
		    is_word(best, "state", "bound") ? "at least " : "",
		    duration(best, "ns", t->arena),
		    duration(composite, "cost_ns", t->arena));
	else if (!next_refusal(t, NULL, index_of(node, "id"), target))
		printf("  %s: none of its rules matches here\n", name);
	else
		printf("  %s: refused\n", name);
	while (!best && (x = next_refusal(t, x, index_of(node, "id"), target)))
		print_refusal(x);
}

static void
print_node(const struct told *t, const cJSON *node)
{
	const cJSON *composite = composite_of(t, node);
	int n = cJSON_GetArraySize(member(composite, "nodes"));
	const char *how = text_of(composite, "implementation");

	printf("%s (%s, #%d) runs on %s\n", text_of(node, "label"),
	    text_of(node, "op_type"), index_of(node, "id"),
	    text_of(target_of(t, composite), "text"));
	printf("  as %s%s%s, %d node%s: ", text_of(composite, "rule"),
	    how[0] ? ", " : "", how, n, n == 1 ? "" : "s");
	print_price(t, composite);
	print_region(t, composite);
	print_boundary(t, composite);
	for (int i = 0; i < t->mix.n; i++)
		if (i != index_of(composite, "target"))
			print_other(t, node, i);
}

/* ---- JSON ---- */

static void
write_other(struct json *w, const struct told *t, const cJSON *node, int target)
{
	const cJSON *composite = composite_of(t, node);
	const cJSON *best = best_on(t, composite, target), *x = NULL, *f;
	bool runs = target == index_of(composite, "target");

	json_object(w);
	json_key_str(w, "target", text_of(at(&t->mix, target), "text"));
	x = next_refusal(t, NULL, index_of(node, "id"), target);
	json_key_str(w, "verdict",
	    runs       ? "runs"
	        : best ? "legal"
	        : x    ? "refused"
	               : "not_on_record");
	if (best && !runs) {
		json_key_str(w, "rule", text_of(best, "rule"));
		json_key_bool(
		    w, "same_nodes", cJSON_IsTrue(member(best, "same")));
		json_key_str(w, "state", text_of(best, "state"));
		json_key_uint(w, "ns", (uint64_t)real_of(best, "ns"));
	}
	json_key(w, "refusals");
	json_array(w);
	for (; x; x = next_refusal(t, x, index_of(node, "id"), target)) {
		json_object(w);
		json_key_str(w, "rule", text_of(x, "rule"));
		json_key(w, "conditions");
		json_array(w);
		cJSON_ArrayForEach(f, member(x, "failed"))
		{
			json_inline_object(w);
			json_key_str(w, "condition", text_of(f, "condition"));
			json_key_str(w, "actual", text_of(f, "actual"));
			json_key_str(w, "required", text_of(f, "required"));
			json_close(w);
		}
		json_close(w);
		json_close(w);
	}
	json_close(w);
	json_close(w);
}

static void
write_node(struct json *w, const struct told *t, const cJSON *node)
{
	const cJSON *composite = composite_of(t, node);

	json_object(w);
	json_key_str(w, "node", text_of(node, "label"));
	json_key_uint(w, "id", (uint64_t)real_of(node, "id"));
	json_key_str(w, "op_type", text_of(node, "op_type"));
	json_key_str(w, "runs_on", text_of(target_of(t, composite), "text"));
	json_key_str(w, "rule", text_of(composite, "rule"));
	json_key_str(w, "implementation", text_of(composite, "implementation"));
	json_key_uint(w, "cost_ns", (uint64_t)real_of(composite, "cost_ns"));
	json_key_str(
	    w, "source", text_of(member(composite, "price"), "source"));
	json_key(w, "targets");
	json_array(w);
	for (int i = 0; i < t->mix.n; i++)
		write_other(w, t, node, i);
	json_close(w);
	json_close(w);
}

/* ---- all of it ---- */

/* ONNX nodes that are meant and run nowhere. */
static uint32_t
tell_gone(
    const struct told *t, const struct node_filter *filter, struct json *w)
{
	const cJSON *x;
	uint32_t n = 0;

	if (!filter->node && !filter->op && !filter->index)
		return 0;
	cJSON_ArrayForEach(x, member(t->map, "onnx"))
	{
		const char *fate = text_of(x, "fate");

		if (strcmp(fate, "covered") == 0 || !onnx_fits(x, filter))
			continue;
		n++;
		if (!w) {
			printf("%s (%s, ONNX node %d) runs nowhere: %s\n",
			    text_of(x, "name"), text_of(x, "op_type"),
			    index_of(x, "index"),
			    strcmp(fate, "folded") == 0
			        ? "folded into a constant"
			        : fate);
			continue;
		}
		json_inline_object(w);
		json_key_str(w, "node", text_of(x, "name"));
		json_key_str(w, "op_type", text_of(x, "op_type"));
		json_key_str(w, "fate", fate);
		json_close(w);
	}
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
	return err_set(err, ERR_USAGE, "no node of the result is %s '%s'%s",
	    filter->node     ? "called"
	        : filter->op ? "of type"
	                     : "number",
	    near.word ? near.word : filter->index,
	    near.word ? nearest_text(&near, t->arena) : "");
}

static bool
tell(const struct told *t, const struct node_filter *filter, struct json *w,
    struct err *err)
{
	uint32_t n = 0, fit = 0;
	const cJSON *node;

	cJSON_ArrayForEach(node, t->nodes)
	{
		if (!fits(t, node, filter))
			continue;
		fit++;
		if (filter->not_on && runs_on(t, node, filter->not_on))
			continue;
		n++;
		if (w)
			write_node(w, t, node);
		else
			print_node(t, node);
	}
	if (w) {
		json_close(w);
		json_key(w, "nowhere");
		json_array(w);
	}
	fit += tell_gone(t, filter, w);
	if (fit == 0 && cJSON_GetArraySize(t->nodes) > 0)
		return say_none(t, filter, err);
	if (!w && n == 0 && filter->not_on)
		printf("every node asked about runs on %s\n", filter->not_on);
	return true;
}

static bool
answer(const struct told *t, const struct node_filter *filter, struct err *err)
{
	struct json w;

	if (filter->not_on && !check_target(t, filter->not_on, err))
		return false;
	if (t->cli->format != OUT_JSON)
		return tell(t, filter, NULL, err);
	json_init(&w, stdout, 2);
	json_object(&w);
	json_key_str(&w, "schema", "marq.explain/2");
	json_key_str(&w, "result", t->folder);
	json_key_str(&w, "model", text_of(member(t->result, "model"), "path"));
	json_key_uint(&w, "plan_cost_ns",
	    (uint64_t)real_of(member(t->result, "total"), "cost_ns"));
	json_key(&w, "nodes");
	json_array(&w);
	if (!tell(t, filter, &w, err))
		return false;
	json_close(&w);
	json_close(&w);
	return true;
}

bool
explain_result(const struct cli *c, const char *folder,
    const struct node_filter *filter, struct err *err)
{
	struct told t = {.cli = c, .arena = c->run, .folder = folder};
	uint32_t index;
	bool ok;

	if (!node_filter_index(filter, &index, err))
		return false;
	ok = open_docs(&t, err) && answer(&t, filter, err);
	close_docs(&t);
	return ok || strstr(err->text, folder) || err->kind == ERR_USAGE
	    ? ok
	    : err_in(err, "%s", folder);
}
