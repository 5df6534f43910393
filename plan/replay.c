#include "plan/replay.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/jsonin.h"
#include "ir/base/map.h"
#include "ir/base/order.h"

#define PLAN_SCHEMA "marq.plan/1"

struct replay {
	const struct graph *graph;
	const struct mix *mix;
	const struct candidates *candidates;
	const cJSON *targets; /* of the file: texts */
	struct map producer; /* of each value name: the node */
	struct arena *arena;
	bool *only;
};

/* What a composite of the file says it is. */
struct wanted {
	uint32_t target; /* index into today's mix */
	const char *rule, *implementation;
	uint32_t nnodes;
	node_id *node; /* [nnodes] ascending */
};

static void
index_values(struct replay *r)
{
	map_init(&r->producer, r->arena);
	for (value_id v = 0; v < r->graph->nvalues; v++) {
		const struct value *value = &r->graph->value[v];

		if (value->producer != NODE_NONE)
			map_add(&r->producer, value->name, strlen(value->name),
			    value->producer);
	}
}

/* Today's target that is written as the file's number `index` was. */
static bool
find_target(
    const struct replay *r, uint32_t index, uint32_t *out, struct err *err)
{
	const cJSON *text = cJSON_GetArrayItem(r->targets, (int)index);

	if (index > INT32_MAX || !cJSON_IsString(text))
		return err_set(
		    err, ERR_INPUT, "target %" PRIu32 " is none", index);
	for (*out = 0; *out < r->mix->n; ++*out)
		if (strcmp(r->mix->target[*out].text, text->valuestring) == 0)
			return true;
	return err_set(err, ERR_VERDICT, "target '%s' is not in the mix (-t)",
	    text->valuestring);
}

static bool
find_nodes(
    struct replay *r, const cJSON *list, struct wanted *w, struct err *err)
{
	const cJSON *name;

	w->node =
	    arena_new(r->arena, node_id, (size_t)cJSON_GetArraySize(list));
	cJSON_ArrayForEach(name, list)
	{
		uint32_t node;

		if (!cJSON_IsString(name))
			return err_set(
			    err, ERR_INPUT, "a node is not a string");
		node = map_find(
		    &r->producer, name->valuestring, strlen(name->valuestring));
		if (node == MAP_NONE)
			return err_set(err, ERR_VERDICT,
			    "the model has no node that makes '%s'",
			    name->valuestring);
		w->node[w->nnodes++] = node;
	}
	if (w->nnodes == 0)
		return err_set(err, ERR_INPUT, "it has no nodes");
	qsort(w->node, w->nnodes, sizeof *w->node, by_u32);
	return true;
}

static bool
is_wanted(
    const struct replay *r, const struct candidate *c, const struct wanted *w)
{
	const struct target_kind *kind = r->mix->target[c->target].kind;

	return c->target == w->target && c->nnodes == w->nnodes
	    && strcmp(c->implementation_name, w->implementation) == 0
	    && strcmp(kind->rule[c->rule].name, w->rule) == 0
	    && memcmp(c->node, w->node, w->nnodes * sizeof *w->node) == 0;
}

static bool
mark_candidate(struct replay *r, const struct wanted *w, struct err *err)
{
	struct arena_mark mark = arena_mark(r->arena);
	const char *label;

	for (uint32_t i = 0; i < r->candidates->n; i++)
		if (is_wanted(r, &r->candidates->candidate[i], w)) {
			r->only[i] = true;
			return true;
		}
	label = node_label(r->graph, w->node[0], r->arena);
	err_set(err, ERR_VERDICT,
	    "%s (%s) on node '%s' and %" PRIu32 " more is no legal candidate "
	    "now",
	    w->rule, w->implementation, label, w->nnodes - 1);
	arena_back(r->arena, mark);
	return false;
}

static bool
take_composite(struct replay *r, const cJSON *item, struct err *err)
{
	struct wanted w = {.nnodes = 0};
	const cJSON *nodes;
	uint32_t target;

	return jsonin_u32(item, "target", &target, err)
	    && find_target(r, target, &w.target, err)
	    && jsonin_str(item, "rule", &w.rule, err)
	    && jsonin_str(item, "implementation", &w.implementation, err)
	    && jsonin_array(item, "nodes", &nodes, err)
	    && find_nodes(r, nodes, &w, err) && mark_candidate(r, &w, err);
}

static bool
take_plan(struct replay *r, const cJSON *plan, struct err *err)
{
	const cJSON *composites, *item;
	const char *schema;
	uint32_t i = 0;

	if (!jsonin_str(plan, "schema", &schema, err))
		return false;
	if (strcmp(schema, PLAN_SCHEMA) != 0)
		return err_set(err, ERR_INPUT, "schema '%s', want '%s'", schema,
		    PLAN_SCHEMA);
	if (!jsonin_array(plan, "targets", &r->targets, err)
	    || !jsonin_array(plan, "composites", &composites, err))
		return false;
	cJSON_ArrayForEach(item, composites)
	{
		if (!take_composite(r, item, err))
			return err_in(err, "composite %" PRIu32, i);
		i++;
	}
	return true;
}

bool
plan_replay(const bool **only, const char *path, const struct plan_request *r,
    struct arena *a, struct err *err)
{
	struct replay replay = {
	    .graph = r->graph,
	    .mix = r->mix,
	    .candidates = r->candidates,
	    .arena = a,
	    .only = arena_new(a, bool, r->candidates->n),
	};
	struct cJSON *doc = jsonin_open(path, LIMIT_READ_RESULT, err);
	const cJSON *plan = doc;
	bool ok;

	if (!doc)
		return false;
	index_values(&replay);
	ok = !jsonin_has(doc, "plan") || jsonin_object(doc, "plan", &plan, err);
	ok = ok && take_plan(&replay, plan, err);
	jsonin_close(doc);
	*only = replay.only;
	return ok || err_in(err, "%s", path);
}
