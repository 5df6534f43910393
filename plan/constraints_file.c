/* The constraints file: {"schema": "marq.constraints/1", "pins": [...], ...} */
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <string.h>

#include "ir/base/jsonin.h"
#include "plan/partition.h"

#define SCHEMA "marq.constraints/1"

struct constraint_reader {
	struct constraints *out;
	const struct graph *g;
	const struct mix *m;
	struct arena *a;
};

/* {"node": ..., "target": ...} */
static bool
read_placement(struct constraint_reader *r, const cJSON *entry,
    enum constraint_kind kind, struct err *err)
{
	static const char *const known[] = {"node", "target", NULL};
	struct constraint c = {.kind = kind};
	const char *node, *target;

	if (!cJSON_IsObject(entry))
		return err_set(err, ERR_INPUT, "not an object");
	if (!jsonin_only(entry, known, err)
	    || !jsonin_str(entry, "node", &node, err)
	    || !jsonin_str(entry, "target", &target, err)
	    || !constraint_nodes(&c, node, r->g, r->a, err)
	    || !constraint_targets(&c, target, r->m, r->a, err))
		return false;
	c.text = arena_printf(r->a, "%s %s %s %s",
	    kind == CONSTRAIN_PIN ? "pin" : "forbid", node,
	    kind == CONSTRAIN_PIN ? "to" : "on", target);
	constraints_add(r->out, c, r->a);
	return true;
}

static bool
read_pin(struct constraint_reader *r, const cJSON *entry, struct err *err)
{
	return read_placement(r, entry, CONSTRAIN_PIN, err);
}

static bool
read_forbid(struct constraint_reader *r, const cJSON *entry, struct err *err)
{
	return read_placement(r, entry, CONSTRAIN_FORBID, err);
}

static bool
read_stop(struct constraint_reader *r, const cJSON *entry, struct err *err)
{
	struct constraint c = {.kind = CONSTRAIN_STOP};

	if (!cJSON_IsString(entry))
		return err_set(err, ERR_INPUT, "not a string");
	if (!constraint_nodes(&c, entry->valuestring, r->g, r->a, err))
		return false;
	c.text = arena_printf(r->a, "stop-fusion %s", entry->valuestring);
	constraints_add(r->out, c, r->a);
	return true;
}

/* {"target": ..., "max_regions": N, ...} */
static bool
read_limit(struct constraint_reader *r, const cJSON *entry, struct err *err)
{
	static const struct {
		const char *key;
		enum constraint_kind kind;
	} number[] = {{"max_regions", CONSTRAIN_REGIONS},
	    {"max_region_nodes", CONSTRAIN_REGION_NODES},
	    {"capacity", CONSTRAIN_CAPACITY}};
	static const char *const known[] = {"target", "max_regions",
	    "max_region_nodes", "capacity", "model_inputs_only", NULL};
	struct constraint c = {0};
	const char *target;
	bool inputs_only = false;

	if (!cJSON_IsObject(entry))
		return err_set(err, ERR_INPUT, "not an object");
	if (!jsonin_only(entry, known, err)
	    || !jsonin_str(entry, "target", &target, err)
	    || !constraint_targets(&c, target, r->m, r->a, err))
		return false;
	if (jsonin_has(entry, "model_inputs_only")
	    && !jsonin_bool(entry, "model_inputs_only", &inputs_only, err))
		return false;
	for (size_t i = 0; i < sizeof number / sizeof number[0]; i++) {
		int64_t amount;

		if (!jsonin_has(entry, number[i].key))
			continue;
		if (!jsonin_i64(entry, number[i].key, &amount, err))
			return false;
		if (amount < 0)
			return err_set(err, ERR_INPUT, "key '%s' is negative",
			    number[i].key);
		c.kind = number[i].kind;
		c.amount = (uint64_t)amount;
		c.text = arena_printf(
		    r->a, "%s of %s: %" PRIi64, number[i].key, target, amount);
		constraints_add(r->out, c, r->a);
	}
	c.kind = CONSTRAIN_INPUTS;
	c.text = arena_printf(r->a, "model_inputs_only of %s", target);
	if (inputs_only)
		constraints_add(r->out, c, r->a);
	return true;
}

static bool
read_list(struct constraint_reader *r, const cJSON *doc, const char *key,
    bool (*read)(
        struct constraint_reader *r, const cJSON *entry, struct err *err),
    struct err *err)
{
	const cJSON *list, *entry;
	uint32_t i = 0;

	if (!jsonin_has(doc, key))
		return true;
	if (!jsonin_array(doc, key, &list, err))
		return false;
	cJSON_ArrayForEach(entry, list)
	{
		if (!read(r, entry, err)) {
			err->kind = ERR_INPUT;
			return err_in(err, "%s[%" PRIu32 "]", key, i);
		}
		i++;
	}
	return true;
}

/* {"name": ..., "target": ..., "nodes": [...]} */
static bool
read_partition(struct constraint_reader *r, const cJSON *entry, struct err *err)
{
	static const char *const known[] = {"name", "target", "nodes", NULL};
	bool *inside = arena_new(r->a, bool, r->g->nnodes);
	node_id *node = arena_new(r->a, node_id, r->g->nnodes);
	struct constraint c = {.node = node};
	const char *name, *target;
	const cJSON *list, *text;

	if (!cJSON_IsObject(entry))
		return err_set(err, ERR_INPUT, "not an object");
	if (!jsonin_only(entry, known, err)
	    || !jsonin_str(entry, "name", &name, err)
	    || !jsonin_str(entry, "target", &target, err)
	    || !constraint_targets(&c, target, r->m, r->a, err)
	    || !jsonin_array(entry, "nodes", &list, err))
		return false;
	cJSON_ArrayForEach(text, list)
	{
		struct constraint meant = {.nnodes = 0};

		if (!cJSON_IsString(text))
			return err_set(err, ERR_INPUT, "a node is no string");
		if (!constraint_nodes(
		        &meant, text->valuestring, r->g, r->a, err))
			return false;
		for (uint32_t i = 0; i < meant.nnodes; i++)
			inside[meant.node[i]] = true;
	}
	for (node_id n = 0; n < r->g->nnodes; n++)
		if (inside[n])
			node[c.nnodes++] = n;
	if (c.nnodes == 0)
		return err_set(err, ERR_INPUT, "it has no nodes");
	c.text = arena_printf(r->a, "partition '%s' on %s", name, target);
	return partition_add(r->out, c, r->g, r->a, err);
}

static bool
read_document(struct constraint_reader *r, const cJSON *doc, struct err *err)
{
	static const char *const known[] = {"schema", "pins", "forbids",
	    "stop_fusion", "limits", "partitions", NULL};
	const char *schema;

	if (!jsonin_str(doc, "schema", &schema, err))
		return false;
	if (strcmp(schema, SCHEMA) != 0)
		return err_set(
		    err, ERR_INPUT, "schema '%s', want '%s'", schema, SCHEMA);
	return jsonin_only(doc, known, err)
	    && read_list(r, doc, "pins", read_pin, err)
	    && read_list(r, doc, "forbids", read_forbid, err)
	    && read_list(r, doc, "stop_fusion", read_stop, err)
	    && read_list(r, doc, "limits", read_limit, err)
	    && read_list(r, doc, "partitions", read_partition, err);
}

/* Read a document, which is closed; NULL: err is set. */
static bool
take_document(
    struct constraint_reader *r, cJSON *doc, const char *name, struct err *err)
{
	bool ok;

	if (!doc)
		return false;
	ok = read_document(r, doc, err);
	jsonin_close(doc);
	return ok || err_in(err, "%s", name);
}

bool
constraints_parse(struct constraints *s, const char *text,
    const struct graph *g, const struct mix *m, struct arena *a,
    struct err *err)
{
	const char *name = "constraints";
	struct constraint_reader r = {s, g, m, a};

	return take_document(
	    &r, jsonin_parse(text, strlen(text), name, err), name, err);
}

bool
constraints_read(struct constraints *s, const char *path, const struct graph *g,
    const struct mix *m, struct arena *a, struct err *err)
{
	struct constraint_reader r = {s, g, m, a};

	return take_document(
	    &r, jsonin_open(path, LIMIT_READ_CONSTRAINTS, err), path, err);
}
