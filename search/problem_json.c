#include "search/problem_json.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <string.h>

#include "ir/base/file.h"
#include "ir/base/jsonlist.h"
#include "search/problem_index.h"

/* What there may be many of. */
enum { VALUES, NODES, CANDIDATES, NLISTS };

struct problem_reader {
	struct problem *p;
	struct arena *a;
	struct jsonlist list[NLISTS];
};

/* The array under `key` and its length; an absent one is empty if `optional`. */
static bool
array(const cJSON *object, const char *key, bool optional, const cJSON **out,
    uint32_t *n, struct err *err)
{
	*out = NULL;
	*n = 0;
	if (optional && !jsonin_has(object, key))
		return true;
	if (!jsonin_array(object, key, out, err))
		return false;
	*n = (uint32_t)cJSON_GetArraySize(*out);
	return true;
}

/* A whole number, exactly; null is COST_NEVER where that is allowed. */
static bool
whole(const cJSON *item, bool null_is_never, uint64_t *out, struct err *err)
{
	if (null_is_never && cJSON_IsNull(item)) {
		*out = COST_NEVER;
		return true;
	}
	if (!jsonin_is_u62(item, out))
		return err_set(err, ERR_INPUT,
		    "not an integer from 0 to 2^62%s",
		    null_is_never ? " or null" : "");
	return true;
}

static bool
id(const cJSON *item, uint32_t *out, struct err *err)
{
	uint64_t x;

	if (!whole(item, false, &x, err))
		return false;
	if (x >= UINT32_MAX)
		return err_set(err, ERR_INPUT, "%" PRIu64 " is no id", x);
	*out = (uint32_t)x;
	return true;
}

/* The ids under `key`; absent is none. */
static bool
ids(struct problem_reader *r, const cJSON *object, const char *key,
    const uint32_t **out, uint32_t *n, struct err *err)
{
	const cJSON *list, *item;
	uint32_t *to, i = 0;

	if (!array(object, key, true, &list, n, err))
		return false;
	to = arena_new(r->a, uint32_t, *n);
	*out = to;
	cJSON_ArrayForEach(item, list)
	{
		if (!id(item, &to[i++], err))
			return err_in(err, "%s[%" PRIu32 "]", key, i - 1);
	}
	return true;
}

static bool
format_mask(struct problem_reader *r, const cJSON *object, const char *key,
    uint32_t *mask, struct err *err)
{
	const uint32_t *format;
	uint32_t n;

	*mask = 0;
	if (!ids(r, object, key, &format, &n, err))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (format[i] >= FORMATS_MAX)
			return err_set(err, ERR_INPUT,
			    "%s: format %" PRIu32 " is beyond %u", key,
			    format[i], FORMATS_MAX - 1);
		*mask |= UINT32_C(1) << format[i];
	}
	return true;
}

/* A target's launch: absent is free, null is COST_NEVER. */
static bool
launch(const cJSON *target, cost_ns *out, struct err *err)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(target, "launch");

	*out = 0;
	return !item || whole(item, true, out, err) || err_in(err, "launch");
}

/* An optional number with a default. */
static bool
number(const cJSON *object, const char *key, uint64_t otherwise, uint64_t *out,
    struct err *err)
{
	*out = otherwise;
	if (!jsonin_has(object, key))
		return true;
	return whole(cJSON_GetObjectItemCaseSensitive(object, key), false, out,
	           err)
	    || err_in(err, "%s", key);
}

static bool
limit(const cJSON *object, const char *key, uint32_t *out, struct err *err)
{
	uint64_t x;

	if (!number(object, key, NO_LIMIT, &x, err))
		return false;
	*out = x < NO_LIMIT ? (uint32_t)x : NO_LIMIT;
	return true;
}

static bool
flag(const cJSON *object, const char *key)
{
	return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, key));
}

static bool
read_target(
    struct problem_reader *r, const cJSON *item, uint32_t i, struct err *err)
{
	static const char *const known[] = {"name", "launch", "max_runs",
	    "max_run_nodes", "fed_only", "capacity", "part_of", NULL};
	struct problem_target *t = &r->p->target[i];
	const char *name;
	uint32_t part_of;

	if (!jsonin_only(item, known, err)
	    || !jsonin_str(item, "name", &name, err)
	    || !launch(item, &t->launch, err)
	    || !limit(item, "max_runs", &t->max_runs, err)
	    || !limit(item, "max_run_nodes", &t->max_run_nodes, err)
	    || !number(item, "capacity", UINT64_MAX, &t->capacity, err)
	    || !limit(item, "part_of", &part_of, err))
		return false;
	t->part_of = part_of == NO_LIMIT ? 0 : part_of + 1;
	t->name = arena_str(r->a, name);
	t->fed_only = flag(item, "fed_only");
	return true;
}

static bool
read_value(
    struct problem_reader *r, const cJSON *item, uint32_t i, struct err *err)
{
	static const char *const known[] = {
	    "class", "initial", "required", "mark", NULL};
	struct problem_value *v = &r->p->value[i];

	v->producer = NO_NODE;
	v->class = NO_CLASS;
	v->mark = flag(item, "mark");
	if (!jsonin_only(item, known, err)
	    || (jsonin_has(item, "class")
	        && !jsonin_u32(item, "class", &v->class, err)))
		return false;
	return format_mask(r, item, "initial", &v->initial, err)
	    && format_mask(r, item, "required", &v->required, err);
}

static bool
read_node(
    struct problem_reader *r, const cJSON *item, uint32_t i, struct err *err)
{
	static const char *const known[] = {"name", "inputs", "outputs", NULL};
	struct problem_node *n = &r->p->node[i];

	if (!jsonin_only(item, known, err)
	    || !ids(r, item, "inputs", &n->input, &n->ninputs, err)
	    || !ids(r, item, "outputs", &n->output, &n->noutputs, err))
		return false;
	if (jsonin_has(item, "name")) {
		if (!jsonin_str(item, "name", &n->name, err))
			return false;
		n->name = arena_str(r->a, n->name);
	}
	for (uint32_t k = 0; k < n->noutputs; k++) {
		if (n->output[k] >= r->p->nvalues)
			return err_set(err, ERR_INPUT,
			    "output %" PRIu32 " of %" PRIu32 " values",
			    n->output[k], r->p->nvalues);
		if (r->p->value[n->output[k]].producer != NO_NODE)
			return err_set(err, ERR_INPUT,
			    "value %" PRIu32 " has two producers",
			    n->output[k]);
		r->p->value[n->output[k]].producer = i;
	}
	return true;
}

static bool
read_ports(struct problem_reader *r, const cJSON *item, const char *key,
    const struct problem_port **out, uint32_t *n, struct err *err)
{
	const cJSON *list, *pair;
	struct problem_port *port;
	uint32_t i = 0;

	if (!array(item, key, true, &list, n, err))
		return false;
	port = arena_new(r->a, struct problem_port, *n);
	*out = port;
	cJSON_ArrayForEach(pair, list)
	{
		if (!cJSON_IsArray(pair) || cJSON_GetArraySize(pair) != 2)
			return err_set(err, ERR_INPUT,
			    "%s[%" PRIu32 "]: want [value, format]", key, i);
		if (!id(pair->child, &port[i].value, err)
		    || !id(pair->child->next, &port[i].format, err))
			return err_in(err, "%s[%" PRIu32 "]", key, i);
		i++;
	}
	return true;
}

static bool
read_candidate(
    struct problem_reader *r, const cJSON *item, uint32_t i, struct err *err)
{
	static const char *const known[] = {"target", "cost", "nodes", "inputs",
	    "outputs", "resource", "class", "banned", NULL};
	struct problem_candidate *c = &r->p->candidate[i];
	const cJSON *cost = cJSON_GetObjectItemCaseSensitive(item, "cost");
	const cJSON *nodes;

	c->class = i;
	c->banned = flag(item, "banned");
	if (!jsonin_only(item, known, err)
	    || !jsonin_u32(item, "target", &c->target, err)
	    || !number(item, "resource", 0, &c->resource, err)
	    || (jsonin_has(item, "class")
	        && !jsonin_u32(item, "class", &c->class, err)))
		return false;
	if (!whole(cost, true, &c->cost, err))
		return err_in(err, "cost");
	return jsonin_array(item, "nodes", &nodes, err)
	    && ids(r, item, "nodes", &c->node, &c->nnodes, err)
	    && read_ports(r, item, "inputs", &c->input, &c->ninputs, err)
	    && read_ports(r, item, "outputs", &c->output, &c->noutputs, err);
}

static bool
read_class(
    struct problem_reader *r, const cJSON *item, uint32_t i, struct err *err)
{
	const uint32_t n = r->p->nformats;
	const cJSON *row, *cell;
	uint32_t from = 0;

	if (!cJSON_IsArray(item) || (uint32_t)cJSON_GetArraySize(item) != n)
		return err_set(
		    err, ERR_INPUT, "want %" PRIu32 " rows of costs", n);
	cJSON_ArrayForEach(row, item)
	{
		uint32_t to = 0;

		if (!cJSON_IsArray(row)
		    || (uint32_t)cJSON_GetArraySize(row) != n)
			return err_set(err, ERR_INPUT,
			    "row %" PRIu32 ": want %" PRIu32 " costs", from, n);
		cJSON_ArrayForEach(cell, row)
		{
			if (!whole(cell, true,
			        &r->p->conversion[((size_t)i * n + from) * n
			            + to++],
			        err))
				return err_in(err, "row %" PRIu32, from);
		}
		from++;
	}
	return true;
}

typedef bool (*entry_reader)(
    struct problem_reader *r, const cJSON *item, uint32_t i, struct err *err);

static bool
read_entry(struct problem_reader *r, const cJSON *item, uint32_t i,
    const char *key, entry_reader read, struct err *err)
{
	if (read != read_class && !cJSON_IsObject(item))
		return err_set(
		    err, ERR_INPUT, "%s[%" PRIu32 "] is not an object", key, i);
	return read(r, item, i, err) || err_in(err, "%s[%" PRIu32 "]", key, i);
}

static bool
read_all(struct problem_reader *r, const cJSON *list, const char *key,
    entry_reader read, struct err *err)
{
	const cJSON *item;
	uint32_t i = 0;

	cJSON_ArrayForEach(item, list)
	{
		if (!read_entry(r, item, i++, key, read, err))
			return false;
	}
	return true;
}

static bool
read_many(struct problem_reader *r, struct jsonlist *l, entry_reader read,
    struct err *err)
{
	const cJSON *item;

	for (uint32_t i = 0;; i++) {
		if (!jsonlist_next(l, &item, err))
			return false;
		if (!item)
			return true;
		if (!read_entry(r, item, i, l->key, read, err))
			return false;
	}
}

static bool
read_formats(struct problem_reader *r, const cJSON *list, struct err *err)
{
	const char **name = arena_new(r->a, const char *, r->p->nformats);
	const cJSON *item;
	uint32_t i = 0;

	cJSON_ArrayForEach(item, list)
	{
		if (!cJSON_IsString(item))
			return err_set(err, ERR_INPUT,
			    "formats[%" PRIu32 "] is not a string", i);
		name[i++] = arena_str(r->a, item->valuestring);
	}
	r->p->format_name = name;
	return true;
}

static bool
read_document(struct problem_reader *r, const cJSON *doc, struct err *err)
{
	static const char *const known[] = {"schema", "formats", "local",
	    "targets", "conversions", "values", "nodes", "candidates", NULL};
	const cJSON *formats, *targets, *classes;
	struct jsonlist *list = r->list;
	struct problem *p = r->p;
	const char *schema;

	if (!jsonin_str(doc, "schema", &schema, err))
		return false;
	if (strcmp(schema, PROBLEM_SCHEMA) != 0)
		return err_set(err, ERR_INPUT, "schema '%s', want '%s'", schema,
		    PROBLEM_SCHEMA);
	if (!jsonin_only(doc, known, err)
	    || !array(doc, "formats", false, &formats, &p->nformats, err)
	    || !format_mask(r, doc, "local", &p->local, err)
	    || !array(doc, "targets", false, &targets, &p->ntargets, err)
	    || !array(doc, "conversions", true, &classes, &p->nclasses, err)
	    || !jsonlist_begin(&list[VALUES], doc, &p->nvalues, err)
	    || !jsonlist_begin(&list[NODES], doc, &p->nnodes, err)
	    || !jsonlist_begin(&list[CANDIDATES], doc, &p->ncandidates, err))
		return false;
	if (p->nformats > FORMATS_MAX)
		return err_set(err, ERR_INPUT,
		    "%" PRIu32 " formats; at most %u can be", p->nformats,
		    FORMATS_MAX);
	p->target = arena_new(r->a, struct problem_target, p->ntargets);
	p->conversion = arena_new(
	    r->a, cost_ns, (size_t)p->nclasses * p->nformats * p->nformats);
	p->value = arena_new(r->a, struct problem_value, p->nvalues);
	p->node = arena_new(r->a, struct problem_node, p->nnodes);
	p->candidate =
	    arena_new(r->a, struct problem_candidate, p->ncandidates);
	return read_formats(r, formats, err)
	    && read_all(r, targets, "targets", read_target, err)
	    && read_all(r, classes, "conversions", read_class, err)
	    && read_many(r, &list[VALUES], read_value, err)
	    && read_many(r, &list[NODES], read_node, err)
	    && read_many(r, &list[CANDIDATES], read_candidate, err)
	    && problem_index(p, r->a, err);
}

bool
problem_parse(struct problem *out, const char *text, size_t n, const char *name,
    struct arena *a, struct err *err)
{
	struct problem_reader r = {.p = out,
	    .a = a,
	    .list = {[VALUES] = {.key = "values"},
	        [NODES] = {.key = "nodes"},
	        [CANDIDATES] = {.key = "candidates"}}};
	cJSON *doc = jsonlist_parse(r.list, NLISTS, text, n, name, err);
	bool ok;

	*out = (struct problem){0};
	if (!doc)
		return false;
	ok = cJSON_IsObject(doc)
	    ? read_document(&r, doc, err)
	    : err_set(err, ERR_INPUT, "the document is not an object");
	for (uint32_t i = 0; i < NLISTS; i++)
		jsonlist_close(&r.list[i]);
	jsonin_close(doc);
	return ok || err_in(err, "%s", name);
}

bool
problem_read(
    struct problem *out, const char *path, struct arena *a, struct err *err)
{
	struct arena scratch;
	const char *text;
	size_t n;
	bool ok;

	arena_init(&scratch);
	ok = file_read(&text, &n, path, LIMIT_READ_PROBLEM, &scratch, err)
	    && problem_parse(out, text, n, path, a, err);
	arena_release(&scratch);
	return ok;
}
