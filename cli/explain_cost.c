#include "cli/explain_cost.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/members.h"
#include "cli/run_times.h"
#include "ir/base/json.h"
#include "ir/base/map.h"
#include "ir/base/nearest.h"
#include "ir/op.h"

/* A list of a document, to be indexed. */
struct items {
	const cJSON **item;
	uint32_t n;
};

struct cost_row {
	const char *name;
	const char *note; /* class of a module, text of a line */
	uint32_t parent, depth;
	double inclusive, exclusive; /* ns */
	double predicted; /* of inclusive, where a run is told of */
	uint32_t composites; /* of exclusive */
	uint32_t seen; /* the composite that counted it last, from 1 */
};

struct cost {
	struct arena *arena;
	struct items scopes, lines, onnx, nodes, composites, targets;
	const double *price, *ns; /* of composites: predicted, and told of */
	bool is_run; /* ns were measured in a run */
	double conversions, launches, total;
	struct cost_row *row;
	uint32_t nrows;
	struct map by_name;
	const cJSON **origin; /* of one composite */
};

/* ---- reading ---- */

/* Of a list, by the number in a member; NULL: none. */
static const cJSON *
item_of(const struct items *l, const cJSON *object, const char *key)
{
	const cJSON *item = object ? member(object, key) : NULL;
	double x = cJSON_IsNumber(item) ? item->valuedouble : -1;

	return x >= 0 && x < (double)l->n ? l->item[(uint32_t)x] : NULL;
}

static struct items
items_of(const cJSON *object, const char *key, struct arena *a)
{
	const cJSON *list = member(object, key), *x;
	struct items l = {.n = 0};

	l.item = arena_new(a, const cJSON *, (size_t)cJSON_GetArraySize(list));
	cJSON_ArrayForEach(x, list) l.item[l.n++] = x;
	return l;
}

static uint32_t
scope_id(const cJSON *onnx)
{
	return (uint32_t)exact_of(onnx, "scope");
}

static const double *
prices_of(const struct items *composites, struct arena *a)
{
	double *ns = arena_new(a, double, composites->n);

	for (uint32_t i = 0; i < composites->n; i++)
		ns[i] = number_of(composites->item[i], "cost_ns");
	return ns;
}

static void
open_cost(struct cost *c, const struct cost_docs *d, struct arena *a)
{
	const cJSON *plan = member(d->result, "plan");
	const cJSON *total = member(d->result, "total");

	*c = (struct cost){
	    .arena = a,
	    .scopes = items_of(d->map, "scopes", a),
	    .lines = items_of(d->map, "lines", a),
	    .onnx = items_of(d->map, "onnx", a),
	    .nodes = items_of(d->map, "nodes", a),
	    .composites = items_of(plan, "composites", a),
	    .targets = items_of(d->result, "mix", a),
	    .conversions = number_of(total, "conversions_ns"),
	    .launches = number_of(total, "launches_ns"),
	    .total = number_of(total, "cost_ns"),
	};
	c->price = c->ns = prices_of(&c->composites, a);
	c->origin = arena_new(a, const cJSON *, c->onnx.n);
	map_init(&c->by_name, a);
}

/* What a run took instead of what was predicted. */
static bool
take_run(struct cost *c, const struct cost_docs *d, struct err *err)
{
	struct run_times t;
	double parts = 0;

	if (!run_times_read(&t, d->run, c->composites.item, c->composites.n,
	        member(d->result, "mix"), c->arena, err))
		return false;
	for (uint32_t i = 0; i < c->composites.n; i++)
		parts += t.composite[i];
	c->ns = t.composite;
	c->is_run = true;
	c->conversions = t.conversions;
	c->total = t.total;
	c->launches = t.total - parts - t.conversions;
	return true;
}

/* The ONNX nodes of a composite; how many. */
static uint32_t
origins_of(struct cost *c, const cJSON *composite)
{
	const cJSON *id, *link;
	uint32_t n = 0;

	cJSON_ArrayForEach(id, member(composite, "node_ids"))
	{
		const cJSON *node = cJSON_IsNumber(id) && id->valuedouble >= 0
		        && id->valuedouble < (double)c->nodes.n
		    ? c->nodes.item[(uint32_t)id->valuedouble]
		    : NULL;

		const cJSON *links = node ? member(node, "onnx") : NULL;

		cJSON_ArrayForEach(link, links)
		{
			const cJSON *x = item_of(&c->onnx, link, "id");

			if (x && n < c->onnx.n)
				c->origin[n++] = x;
		}
	}
	return n;
}

/* The node that a composite is known by: of the highest class of fusion, the
 * first. */
static const cJSON *
anchor_of(const struct cost *c, uint32_t n)
{
	const cJSON *best = NULL;
	int most = -1;

	for (uint32_t i = 0; i < n; i++) {
		enum op op = op_find_in(text_of(c->origin[i], "domain"),
		    text_of(c->origin[i], "op_type"));
		int class =
		    op == OP_CUSTOM ? FUSE_ANCHOR : (int)op_get(op)->fusion;

		if (class > most) {
			best = c->origin[i];
			most = class;
		}
	}
	return best;
}

/* ---- rows ---- */

static struct cost_row *
add_row(struct cost *c, const char *name)
{
	uint32_t id = map_find(&c->by_name, name, strlen(name));

	if (id != MAP_NONE)
		return &c->row[id];
	map_put(&c->by_name, name, strlen(name), c->nrows);
	c->row[c->nrows] = (struct cost_row){.name = name, .note = ""};
	return &c->row[c->nrows++];
}

/* The i-th composite, with all it takes. */
static void
count(const struct cost *c, struct cost_row *r, uint32_t i)
{
	r->inclusive += c->ns[i];
	r->exclusive += c->ns[i];
	r->predicted += c->price[i];
	r->composites++;
}

/* The module that holds all n nodes. */
static uint32_t
common_scope(const struct cost *c, uint32_t n)
{
	uint32_t at = n ? scope_id(c->origin[0]) : 0;

	for (uint32_t i = 1; i < n; i++) {
		uint32_t other = scope_id(c->origin[i]);

		while (at != other)
			if (c->row[at].depth >= c->row[other].depth)
				at = c->row[at].parent;
			else
				other = c->row[other].parent;
	}
	return at;
}

/* A row for each module; parents come first in the map. */
static void
rows_of_scopes(struct cost *c)
{
	for (uint32_t i = 0; i < c->scopes.n; i++) {
		const cJSON *s = c->scopes.item[i];
		uint32_t parent = (uint32_t)exact_of(s, "parent");

		c->row[i] = (struct cost_row){
		    .name = text_of(s, "path"),
		    .note = text_of(s, "class"),
		    .parent = parent,
		    .depth = i ? c->row[parent].depth + 1 : 0,
		};
	}
	c->nrows = c->scopes.n;
}

static void
by_module(struct cost *c)
{
	rows_of_scopes(c);
	for (uint32_t i = 0; i < c->composites.n; i++) {
		const cJSON *x = c->composites.item[i];
		uint32_t at = common_scope(c, origins_of(c, x));

		c->row[at].exclusive += c->ns[i];
		c->row[at].composites++;
		for (;; at = c->row[at].parent) {
			c->row[at].inclusive += c->ns[i];
			c->row[at].predicted += c->price[i];
			if (at == 0)
				break;
		}
	}
}

static const char *
line_name(const struct cost *c, const cJSON *line)
{
	return arena_printf(c->arena, "%s:%.0f", text_of(line, "file"),
	    number_of(line, "line"));
}

static void
count_lines(struct cost *c, const cJSON *onnx, uint32_t composite)
{
	const cJSON *id;

	cJSON_ArrayForEach(id, member(onnx, "lines"))
	{
		const cJSON *line = cJSON_IsNumber(id) && id->valuedouble >= 0
		        && id->valuedouble < (double)c->lines.n
		    ? c->lines.item[(uint32_t)id->valuedouble]
		    : NULL;
		struct cost_row *r;

		if (!line)
			continue;
		r = add_row(c, line_name(c, line));
		r->note = text_of(line, "text");
		if (r->seen == composite + 1)
			continue;
		r->inclusive += c->ns[composite];
		r->predicted += c->price[composite];
		r->seen = composite + 1;
	}
}

static void
by_line(struct cost *c)
{
	for (uint32_t i = 0; i < c->composites.n; i++) {
		const cJSON *x = c->composites.item[i], *line;
		uint32_t n = origins_of(c, x);

		for (uint32_t k = 0; k < n; k++)
			count_lines(c, c->origin[k], i);
		line = item_of(&c->lines, anchor_of(c, n), "line");
		if (!line) {
			count(c, add_row(c, "(no line)"), i);
			continue;
		}
		add_row(c, line_name(c, line))->exclusive += c->ns[i];
		add_row(c, line_name(c, line))->composites++;
	}
}

static void
by_op(struct cost *c)
{
	for (uint32_t i = 0; i < c->composites.n; i++) {
		const cJSON *x = c->composites.item[i];
		const cJSON *anchor = anchor_of(c, origins_of(c, x));

		count(c,
		    add_row(c, anchor ? text_of(anchor, "op_type") : "(none)"),
		    i);
	}
}

static void
by_target(struct cost *c)
{
	for (uint32_t i = 0; i < c->composites.n; i++) {
		const cJSON *x = c->composites.item[i];

		count(c,
		    add_row(
		        c, text_of(item_of(&c->targets, x, "target"), "text")),
		    i);
	}
}

/* ---- printing ---- */

static int
compare_rows(const void *a, const void *b)
{
	const struct cost_row *x = a, *y = b;

	if (x->exclusive != y->exclusive)
		return x->exclusive < y->exclusive ? 1 : -1;
	if (x->inclusive != y->inclusive)
		return x->inclusive < y->inclusive ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void
tell_row(struct answer *a, const struct cost *c, const struct cost_row *r,
    const char *label)
{
	if (c->is_run) {
		ANSWER_LINE(a,
		    "{inclusive_ns:10t} {exclusive_ns:10t} {share:6.1f} % "
		    "{predicted_ns:10t}  {label}{?note   {note}}\n",
		    F("name", r->name), T("label", label), F("note", r->note),
		    F("inclusive_ns", (uint64_t)r->inclusive),
		    F("exclusive_ns", (uint64_t)r->exclusive),
		    T("share",
		        c->total > 0 ? 100 * r->inclusive / c->total : 0.0),
		    F("predicted_ns", (uint64_t)r->predicted),
		    F("composites", r->composites));
		return;
	}
	ANSWER_LINE(a,
	    "{inclusive_ns:10t} {exclusive_ns:10t} {share:6.1f} %  "
	    "{label}{?note   {note}}\n",
	    F("name", r->name), T("label", label), F("note", r->note),
	    F("inclusive_ns", (uint64_t)r->inclusive),
	    F("exclusive_ns", (uint64_t)r->exclusive),
	    T("share", c->total > 0 ? 100 * r->inclusive / c->total : 0.0),
	    F("composites", r->composites));
}

static void
tell_module(struct answer *a, const struct cost *c, uint32_t id,
    const uint32_t *first, const uint32_t *next)
{
	const struct cost_row *r = &c->row[id];

	if (r->inclusive == 0 && id)
		return;
	tell_row(a, c, r,
	    arena_printf(c->arena, "%*s%s", (int)(2 * r->depth), "",
	        id ? text_of(c->scopes.item[id], "name") : "(model)"));
	for (uint32_t k = first[id]; k != UINT32_MAX; k = next[k])
		tell_module(a, c, k, first, next);
}

/* Depth first, children in the order of the model. */
static void
tell_modules(struct answer *a, const struct cost *c)
{
	uint32_t *first = arena_new(c->arena, uint32_t, c->nrows);
	uint32_t *next = arena_new(c->arena, uint32_t, c->nrows);

	memset(first, 0xff, c->nrows * sizeof *first);
	for (uint32_t i = c->nrows; i-- > 1;) {
		next[i] = first[c->row[i].parent];
		first[c->row[i].parent] = i;
	}
	tell_module(a, c, 0, first, next);
}

static void
tell_rows(struct answer *a, struct cost *c, const char *by)
{
	if (strcmp(by, "module") == 0) {
		tell_modules(a, c);
		return;
	}
	qsort(c->row, c->nrows, sizeof *c->row, compare_rows);
	for (uint32_t i = 0; i < c->nrows; i++)
		tell_row(a, c, &c->row[i], c->row[i].name);
}

static void
tell_cost(
    struct cost *c, const struct cli *cli, const char *model, const char *by)
{
	struct answer a;

	answer_begin(&a, cli, "marq.explain/2");
	ANSWER(&a, " inclusive     itself    share  {?run  predicted  }{by}\n",
	    F("model", model), F("by", by), T("run", c->is_run));
	answer_list(&a, "rows");
	tell_rows(&a, c, by);
	answer_close(&a);
	ANSWER(&a,
	    "{conversions_ns:10t}            conversions\n"
	    "{launches_ns:10t}            launches{?run  and what is between}\n"
	    "{plan_cost_ns:10t}            the plan, {?run as it was run}"
	    "{!run at the result's own prices}\n",
	    T("run", c->is_run), F("conversions_ns", (uint64_t)c->conversions),
	    F("launches_ns", (uint64_t)c->launches),
	    F("plan_cost_ns", (uint64_t)c->total));
	answer_end(&a);
}

/* ---- flame graphs ---- */

/* A module and all it is in, "model;layers.0;attn". */
static const char *
stack_of(struct cost *c, uint32_t scope)
{
	const char *name;

	if (scope == 0)
		return "model";
	name = text_of(c->scopes.item[scope], "name");
	return arena_printf(
	    c->arena, "%s;%s", stack_of(c, c->row[scope].parent), name);
}

/* The frames of a composite: modules, then its operator. */
static const char *
stack_of_composite(struct cost *c, const cJSON *composite)
{
	uint32_t n = origins_of(c, composite);
	const cJSON *anchor = anchor_of(c, n);

	return arena_printf(c->arena, "%s;%s", stack_of(c, common_scope(c, n)),
	    anchor ? text_of(anchor, "op_type") : "(none)");
}

/* SOURCE: flamegraph.pl, "frame;frame;frame count". */
static void
print_folded(struct cost *c)
{
	for (uint32_t i = 0; i < c->composites.n; i++)
		printf("%s %.0f\n",
		    stack_of_composite(c, c->composites.item[i]), c->ns[i]);
	if (c->conversions > 0)
		printf("model;(conversions) %.0f\n", c->conversions);
	if (c->launches > 0)
		printf("model;(launches) %.0f\n", c->launches);
}

/* The frames of a stack as indices; new names are rows. */
static void
write_sample(struct cost *c, struct json *j, const char *stack)
{
	json_inline_array(j);
	while (*stack) {
		size_t n = strcspn(stack, ";");
		const char *name =
		    arena_printf(c->arena, "%.*s", (int)n, stack);

		json_uint(j, (uint64_t)(add_row(c, name) - c->row));
		stack += n + (stack[n] == ';');
	}
	json_close(j);
}

/* One profile: composites, conversions, launches. */
static void
write_profile(struct cost *frames, struct json *j, const char *name,
    const double *ns, const double rest[2], const char *const *stack)
{
	double total = rest[0] + rest[1];

	for (uint32_t i = 0; i < frames->composites.n; i++)
		total += ns[i];
	json_object(j);
	json_key_str(j, "type", "sampled");
	json_key_str(j, "name", name);
	json_key_str(j, "unit", "nanoseconds");
	json_key_uint(j, "startValue", 0);
	json_key_uint(j, "endValue", (uint64_t)total);
	json_key(j, "samples");
	json_array(j);
	for (uint32_t i = 0; i < frames->composites.n; i++)
		write_sample(frames, j, stack[i]);
	write_sample(frames, j, "model;(conversions)");
	write_sample(frames, j, "model;(launches)");
	json_close(j);
	json_key(j, "weights");
	json_inline_array(j);
	for (uint32_t i = 0; i < frames->composites.n; i++)
		json_uint(j, (uint64_t)ns[i]);
	json_uint(j, (uint64_t)rest[0]);
	json_uint(j, (uint64_t)rest[1]);
	json_close(j);
	json_close(j);
}

static void
write_profiles(
    struct cost *frames, struct json *j, struct cost *c, const cJSON *predicted)
{
	const char **stack = arena_new(c->arena, const char *, c->composites.n);
	const double run[2] = {c->conversions, c->launches};
	const double told[2] = {number_of(predicted, "conversions_ns"),
	    number_of(predicted, "launches_ns")};

	for (uint32_t i = 0; i < c->composites.n; i++)
		stack[i] = stack_of_composite(c, c->composites.item[i]);
	json_key(j, "profiles");
	json_array(j);
	write_profile(frames, j, "predicted", c->price, told, stack);
	if (c->is_run)
		write_profile(frames, j, "measured", c->ns, run, stack);
	json_close(j);
}

/* SOURCE: speedscope's file-format-spec, sampled profiles. */
static void
write_speedscope(struct cost *c, const struct cJSON *result, const char *model)
{
	struct cost frames = *c;
	struct json j;

	frames.row = arena_new(c->arena, struct cost_row,
	    (size_t)c->scopes.n + c->composites.n + 4);
	frames.nrows = 0;
	json_init(&j, stdout, 1);
	json_object(&j);
	json_key_str(&j, "$schema",
	    "https://www.speedscope.app/file-format-schema.json");
	json_key_str(&j, "name", model);
	write_profiles(&frames, &j, c, member(result, "total"));
	json_key(&j, "shared");
	json_object(&j);
	json_key(&j, "frames");
	json_array(&j);
	for (uint32_t i = 0; i < frames.nrows; i++) {
		json_inline_object(&j);
		json_key_str(&j, "name", frames.row[i].name);
		json_close(&j);
	}
	json_close(&j);
	json_close(&j);
	json_close(&j);
	putchar('\n');
}

/* ---- what is asked ---- */

static const struct {
	const char *name;
	void (*add)(struct cost *c);
} ways[] = {
    {"module", by_module},
    {"line", by_line},
    {"op", by_op},
    {"target", by_target},
    {"folded", by_module},
    {"speedscope", by_module},
};

bool
explain_cost_check(const char *by, struct err *err)
{
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
		if (strcmp(ways[i].name, by) == 0)
			return true;
	return err_set(err, ERR_USAGE,
	    "--by takes module, line, op, target, folded or speedscope, not "
	    "'%s'",
	    by);
}

/* What no model nests, and what recursion stands. */
#define MOST_DEPTH 256u

/* Results of earlier versions have no modules. */
static bool
check_scopes(const struct cost *c, struct err *err)
{
	uint32_t *depth = arena_new(c->arena, uint32_t, c->scopes.n);

	for (uint32_t i = 0; i < c->scopes.n; i++) {
		double parent = number_of(c->scopes.item[i], "parent");

		if (parent >= (i ? i : 1))
			return err_set(err, ERR_INPUT,
			    "map.json: scopes[%u]: its parent comes later", i);
		depth[i] = i ? depth[(uint32_t)parent] + 1 : 0;
		if (depth[i] > MOST_DEPTH)
			return err_set(err, ERR_INPUT,
			    "map.json: scopes[%u] is deeper than %u", i,
			    MOST_DEPTH);
	}
	for (uint32_t i = 0; i < c->onnx.n && c->scopes.n; i++)
		if (!item_of(&c->scopes, c->onnx.item[i], "scope"))
			return err_set(err, ERR_INPUT,
			    "map.json: onnx[%u]: it has no scope", i);
	return c->scopes.n > 0
	    || err_set(err, ERR_INPUT,
	        "map.json has no modules: the result is of an earlier "
	        "version, search again");
}

bool
explain_cost(const struct cli *cli, const struct cost_docs *d, const char *by,
    struct err *err)
{
	const char *model = text_of(member(d->result, "model"), "path");
	struct cost c;

	open_cost(&c, d, cli->run);
	if (!check_scopes(&c, err) || (d->run && !take_run(&c, d, err)))
		return false;
	c.row = arena_new(c.arena, struct cost_row,
	    (size_t)c.scopes.n + c.lines.n + c.composites.n + 1);
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
		if (strcmp(ways[i].name, by) == 0)
			ways[i].add(&c);
	if (strcmp(by, "folded") == 0)
		print_folded(&c);
	else if (strcmp(by, "speedscope") == 0)
		write_speedscope(&c, d->result, model);
	else
		tell_cost(&c, cli, model, by);
	return true;
}

/* ---- modules and lines as names ---- */

static bool
begins_with(const char *path, const char *name)
{
	const size_t n = strlen(name);

	return strncmp(path, name, n) == 0
	    && (path[n] == '\0' || path[n] == '.' || n == 0);
}

/* Behind the next dot; NULL: there is none. */
static const char *
inner(const char *path)
{
	const char *dot = strchr(path, '.');

	return dot ? dot + 1 : NULL;
}

/* Where a path says the name: "layers.0" is in "model.layers.0.attn"; NULL:
 * nowhere. */
static const char *
named_in(const char *path, const char *name)
{
	while (path && !begins_with(path, name))
		path = inner(path);
	return path;
}

/* By its number; lists of cJSON are linked. */
static const cJSON *
numbered(const cJSON *map, const char *key, const cJSON *id)
{
	return cJSON_IsNumber(id) && id->valuedouble >= 0
	        && id->valuedouble < 1e9
	    ? cJSON_GetArrayItem(member(map, key), (int)id->valuedouble)
	    : NULL;
}

bool
cost_is_in_module(
    const cJSON *map, const cJSON *onnx, const char *name, bool whole)
{
	const cJSON *s = numbered(map, "scopes", member(onnx, "scope"));
	const char *path = s ? text_of(s, "path") : NULL;

	return path
	    && (whole ? begins_with(path, name) : named_in(path, name) != NULL);
}

/* "file.py:212" or the end of a longer path, behind a slash. */
static bool
is_line(const cJSON *line, const char *name)
{
	const char *colon = strrchr(name, ':'), *file = text_of(line, "file");
	size_t n = colon ? (size_t)(colon - name) : 0, have = strlen(file);

	if (!colon || n == 0 || n > have
	    || atof(colon + 1) != number_of(line, "line"))
		return false;
	return strncmp(file + have - n, name, n) == 0
	    && (n == have || file[have - n - 1] == '/');
}

bool
cost_is_of_line(const cJSON *map, const cJSON *onnx, const char *line)
{
	const cJSON *id;

	cJSON_ArrayForEach(id, member(onnx, "lines"))
	{
		const cJSON *l = numbered(map, "lines", id);

		if (l && is_line(l, line))
			return true;
	}
	return false;
}

bool
cost_has_module(const cJSON *map, const char *name, struct modules *out,
    struct arena *a, struct err *err)
{
	struct nearest near = {.word = name};
	const cJSON *s;

	*out = (struct modules){.n = 0};
	cJSON_ArrayForEach(s, member(map, "scopes"))
	{
		const char *path = text_of(s, "path"),
		           *at = named_in(path, name);

		if (strcmp(path, name) == 0) {
			*out = (struct modules){1, true, s};
			return true;
		}
		if (at && strcmp(at, name) == 0) {
			out->n++;
			out->first = out->first ? out->first : s;
		}
		for (; path; path = inner(path))
			nearest_try(&near, path);
	}
	return out->n > 0
	    || err_set(err, ERR_USAGE,
	        "no module of the result is called '%s'%s", name,
	        nearest_text(&near, a));
}

bool
cost_has_line(
    const cJSON *map, const char *line, const cJSON **first, struct err *err)
{
	const char *colon = strrchr(line, ':');
	const cJSON *l;

	if (!colon || colon == line || colon[1] < '0' || colon[1] > '9')
		return err_set(
		    err, ERR_USAGE, "--line takes FILE:NUMBER, not '%s'", line);
	cJSON_ArrayForEach(l, member(map, "lines"))
	{
		*first = l;
		if (is_line(l, line))
			return true;
	}
	return err_set(err, ERR_USAGE,
	    cJSON_GetArraySize(member(map, "lines")) > 0
	        ? "no node comes from line '%s'"
	        : "no line is known, '%s' neither: the exporter wrote no stack "
	          "traces",
	    line);
}
