#include <assert.h>
#include <cJSON.h>
#include <stdint.h>
#include <string.h>

#include "emit/report/page.h"
#include "ir/base/jsonin.h"

static bool
index_below(const cJSON *object, const char *key, int n, struct err *err)
{
	uint32_t x;

	if (!jsonin_u32(object, key, &x, err))
		return false;
	if (x < (uint32_t)n)
		return true;
	return err_set(
	    err, ERR_INPUT, "\"%s\": %u, but there are %d", key, x, n);
}

/* Is member `key` of every entry of `list` an index below n? */
static bool
indices_below(const cJSON *list, const char *what, const char *key, int n,
    struct err *err)
{
	const cJSON *entry;
	int i = 0;

	cJSON_ArrayForEach(entry, list)
	{
		if (!index_below(entry, key, n, err))
			return err_in(err, "%s[%d]", what, i);
		i++;
	}
	return true;
}

/* Is it the schema "NAME/1" or a later version, up to `newest`? */
static bool
has_schema(const cJSON *doc, const char *name, unsigned newest, struct err *err)
{
	const size_t n = strlen(name);
	const char *have;

	if (!jsonin_str(doc, "schema", &have, err))
		return false;
	assert(newest >= 1 && newest <= 9);
	return (strncmp(have, name, n) == 0 && have[n] == '/'
	           && have[n + 1] >= '1' && have[n + 1] <= (char)('0' + newest)
	           && have[n + 2] == '\0')
	    || err_set(err, ERR_INPUT, "schema \"%.60s\", want \"%s/%u\"", have,
	        name, newest);
}

static bool
arrays(const cJSON *object, const char *const *key, struct err *err)
{
	const cJSON *list;

	for (; *key; key++)
		if (!jsonin_array(object, *key, &list, err))
			return false;
	return true;
}

static bool
check_conversions(const cJSON *list, int ncomposites, struct err *err)
{
	const cJSON *c;
	int i = 0;

	cJSON_ArrayForEach(c, list)
	{
		if (jsonin_has(c, "before")
		    && !index_below(c, "before", ncomposites, err))
			return err_in(err, "conversions[%d]", i);
		i++;
	}
	return true;
}

static bool
check_result(const cJSON *result, struct err *err)
{
	static const char *const top[] = {
	    "mix", "baselines", "nodes", "notes", NULL};
	static const char *const of_plan[] = {
	    "targets", "composites", "regions", "conversions", NULL};
	const cJSON *plan, *total, *proof, *model;
	int ncomposites, nregions, nmix;

	if (!has_schema(result, "marq.result", 3, err)
	    || !jsonin_object(result, "model", &model, err)
	    || !jsonin_object(result, "total", &total, err)
	    || !jsonin_object(result, "proof", &proof, err)
	    || !jsonin_object(result, "plan", &plan, err)
	    || !arrays(result, top, err) || !arrays(plan, of_plan, err))
		return false;
	const cJSON *composites = cJSON_GetObjectItem(plan, "composites");
	const cJSON *regions = cJSON_GetObjectItem(plan, "regions");
	ncomposites = cJSON_GetArraySize(composites);
	nregions = cJSON_GetArraySize(regions);
	nmix = cJSON_GetArraySize(cJSON_GetObjectItem(result, "mix"));
	return indices_below(composites, "composites", "id", ncomposites, err)
	    && indices_below(composites, "composites", "region", nregions, err)
	    && indices_below(composites, "composites", "target", nmix, err)
	    && indices_below(regions, "regions", "id", nregions, err)
	    && indices_below(regions, "regions", "target", nmix, err)
	    && indices_below(cJSON_GetObjectItem(result, "nodes"), "nodes",
	        "composite", ncomposites, err)
	    && check_conversions(
	        cJSON_GetObjectItem(plan, "conversions"), ncomposites, err);
}

bool
page_check_onnx(const cJSON *item, int nonnx, int nnodes, struct err *err)
{
	const cJSON *links;

	return index_below(item, "id", nonnx, err)
	    && jsonin_array(item, "nodes", &links, err)
	    && indices_below(links, "onnx nodes", "node", nnodes, err);
}

bool
page_check_node(const cJSON *item, int ncomposites, struct err *err)
{
	return index_below(item, "composite", ncomposites, err);
}

static bool
check_map(const cJSON *map, int ncomposites, struct err *err)
{
	static const char *const top[] = {
	    "onnx", "nodes", "composites", "regions", "layers", NULL};
	const cJSON *onnx, *nodes, *o;
	int nonnx, nnodes, i = 0;

	if (!has_schema(map, "marq.map", 1, err) || !arrays(map, top, err))
		return false;
	onnx = cJSON_GetObjectItem(map, "onnx");
	nodes = cJSON_GetObjectItem(map, "nodes");
	nonnx = cJSON_GetArraySize(onnx);
	nnodes = cJSON_GetArraySize(nodes);
	cJSON_ArrayForEach(o, onnx)
	{
		if (!page_check_onnx(o, nonnx, nnodes, err))
			return err_in(err, "onnx[%d]", i);
		i++;
	}
	return indices_below(nodes, "nodes", "composite", ncomposites, err);
}

bool
page_check(const struct cJSON *result, const struct cJSON *map, struct err *err)
{
	const cJSON *plan;

	if (!check_result(result, err))
		return err_in(err, "result.json");
	plan = cJSON_GetObjectItem(result, "plan");
	if (map
	    && !check_map(map,
	        cJSON_GetArraySize(cJSON_GetObjectItem(plan, "composites")),
	        err))
		return err_in(err, "map.json");
	return true;
}
