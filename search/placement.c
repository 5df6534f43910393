#include "search/placement.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>

#include "ir/base/jsonin.h"
#include "search/placement_graph.h"
#include "search/problem_index.h"

/* TUNING: neither the files nor their documentation state a unit; taken for
 * milliseconds. All costs scale alike. */
#define NS_PER_MS 1e6
#define WHOLE_MAX (UINT64_C(1) << 53) /* so that doubles and JSON are exact */

static bool
read_ms(const cJSON *object, const char *key, cost_ns *out, struct err *err)
{
	double ms;

	if (!jsonin_real(object, key, &ms, err))
		return false;
	if (!isfinite(ms) || ms < 0 || ms * NS_PER_MS > (double)WHOLE_MAX)
		return err_set(err, ERR_INPUT,
		    "%s is %g: want milliseconds, 0 or more, below 2^53 ns",
		    key, ms);
	*out = (cost_ns)llround(ms * NS_PER_MS);
	return true;
}

/* Bytes; a fraction counts against who asks for it. */
static bool
read_bytes(const cJSON *object, const char *key, bool up, uint64_t *out,
    struct err *err)
{
	double bytes;

	if (!jsonin_real(object, key, &bytes, err))
		return false;
	if (!isfinite(bytes) || bytes < 0 || bytes > (double)WHOLE_MAX)
		return err_set(err, ERR_INPUT,
		    "%s is %g: want bytes from 0 to 2^53", key, bytes);
	*out = (uint64_t)(up ? ceil(bytes) : floor(bytes));
	return true;
}

/* true, false, 1 or 0. */
static bool
read_flag(const cJSON *object, const char *key, bool *out, struct err *err)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	if (!cJSON_IsBool(item)
	    && !(cJSON_IsNumber(item)
	        && (item->valueint == 0 || item->valueint == 1)
	        && item->valuedouble == item->valueint))
		return err_set(
		    err, ERR_INPUT, "key '%s' is not true, false, 1 or 0", key);
	*out =
	    cJSON_IsTrue(item) || (cJSON_IsNumber(item) && item->valueint == 1);
	return true;
}

static bool
add_within(uint64_t *total, uint64_t x, const char *what, struct err *err)
{
	if (x > WHOLE_MAX - *total)
		return err_set(err, ERR_INPUT,
		    "%s of all nodes so far is beyond 2^53", what);
	*total += x;
	return true;
}

static bool
add_cost(struct placement *im, const cJSON *item, int device, const char *key,
    struct placement_node *place, struct err *err)
{
	cost_ns cost;

	if (!read_ms(item, key, &cost, err)
	    || !add_within(&im->total[device], cost, key, err))
		return false;
	place->cost[device] = cost;
	im->group[place->group].cost[device] += cost;
	return true;
}

/* The group of a place: that of its colour, or one of its own. */
static bool
join_group(struct placement *im, const cJSON *item, uint32_t i, struct err *err)
{
	struct placement_node *place = &im->place[i];

	place->group = im->ngroups;
	if (jsonin_has(item, "colorClass")) {
		if (!jsonin_i64(item, "colorClass", &place->colour, err))
			return false;
		place->group = map_add(&im->by_colour, &place->colour,
		    sizeof place->colour, im->ngroups);
	}
	if (place->group == im->ngroups)
		im->group[im->ngroups++] = (struct colour_group){
		    .place = NONE, .link = NONE, .supported = true};
	im->group[place->group].nplaces++;
	return true;
}

/* What the node adds to its group. */
static bool
read_load(struct placement *im, const cJSON *item, struct placement_node *place,
    struct err *err)
{
	struct colour_group *g = &im->group[place->group];
	bool supported = false, backward = false;
	uint64_t size;

	if (!read_flag(item, "supportedOnFpga", &supported, err)
	    || (jsonin_has(item, "isBackwardNode")
	        && !read_flag(item, "isBackwardNode", &backward, err))
	    || !add_cost(im, item, CPU, "cpuLatency", place, err)
	    || (supported
	        && !add_cost(im, item, ACCELERATOR, "fpgaLatency", place, err))
	    || !read_bytes(item, "size", true, &size, err)
	    || !add_within(&im->bytes, size, "size", err))
		return false;
	if (backward)
		return err_set(err, ERR_UNSUPPORTED,
		    "isBackwardNode: graphs for training have no latency");
	g->size += size;
	g->supported &= supported;
	return true;
}

static bool
read_place(struct placement *im, const cJSON *item, uint32_t i, struct err *err)
{
	struct placement_node *place = &im->place[i];

	place->value = NONE;
	if (!jsonin_i64(item, "id", &place->id, err))
		return false;
	if (map_add(&im->by_id, &place->id, sizeof place->id, i) != i)
		return err_set(
		    err, ERR_INPUT, "a second node %" PRId64, place->id);
	return (join_group(im, item, i, err) && read_load(im, item, place, err))
	    || err_in(err, "node %" PRId64, place->id);
}

static bool
read_end(const struct placement *im, const cJSON *item, const char *key,
    uint32_t *out, struct err *err)
{
	int64_t id;

	if (!jsonin_i64(item, key, &id, err))
		return false;
	*out = map_find(&im->by_id, &id, sizeof id);
	if (*out == MAP_NONE)
		return err_set(err, ERR_INPUT, "%s: no node %" PRId64, key, id);
	return true;
}

/* One transfer cost per producer, to within a rounding. */
static bool
read_link(struct placement *im, const cJSON *item, uint32_t i, struct err *err)
{
	struct link *link = &im->link[i];
	struct placement_node *from;
	cost_ns cost;

	if (!read_end(im, item, "sourceId", &link->from, err)
	    || !read_end(im, item, "destId", &link->to, err)
	    || !read_ms(item, "cost", &cost, err))
		return false;
	from = &im->place[link->from];
	if (link->from == link->to)
		return err_set(
		    err, ERR_INPUT, "node %" PRId64 " feeds itself", from->id);
	if (!from->priced)
		from->transfer = cost;
	from->priced = true;
	if (from->transfer > cost + 1 || cost > from->transfer + 1)
		return err_set(err, ERR_INPUT,
		    "cost is %" PRIu64 " ns, and %" PRIu64
		    " ns on an earlier edge out of node %" PRId64,
		    cost, from->transfer, from->id);
	return true;
}

typedef bool (*entry_reader)(
    struct placement *im, const cJSON *item, uint32_t i, struct err *err);

static bool
read_all(struct placement *im, const cJSON *list, const char *key,
    entry_reader read, struct err *err)
{
	const cJSON *item;
	uint32_t i = 0;

	cJSON_ArrayForEach(item, list)
	{
		if (!cJSON_IsObject(item))
			return err_set(err, ERR_INPUT,
			    "%s[%" PRIu32 "] is not an object", key, i);
		if (!read(im, item, i, err))
			return err_in(err, "%s[%" PRIu32 "]", key, i);
		i++;
	}
	return true;
}

static bool
read_devices(struct placement *im, const cJSON *doc, struct err *err)
{
	static const char *const name[NDEVICES] = {"cpu", "accelerator"};
	struct problem *p = im->p;

	p->ntargets = p->nformats = NDEVICES;
	p->target = arena_new(im->a, struct problem_target, NDEVICES);
	for (int d = 0; d < NDEVICES; d++)
		p->target[d] = (struct problem_target){.name = name[d],
		    .max_runs = NO_LIMIT,
		    .max_run_nodes = NO_LIMIT,
		    .capacity = UINT64_MAX};
	p->format_name = arena_copy(im->a, name, sizeof name);
	if (!jsonin_i64(doc, "maxFPGAs", &im->naccelerators, err))
		return false;
	if (im->naccelerators < 1)
		return err_set(err, ERR_INPUT,
		    "maxFPGAs is %" PRId64 ": want an accelerator",
		    im->naccelerators);
	return read_bytes(doc, "maxSizePerFPGA", false,
	    &p->target[ACCELERATOR].capacity, err);
}

static bool
read_document(struct placement *im, const cJSON *doc, struct err *err)
{
	const cJSON *nodes, *edges;

	if (!read_devices(im, doc, err)
	    || !jsonin_array(doc, "nodes", &nodes, err)
	    || !jsonin_array(doc, "edges", &edges, err))
		return false;
	im->nplaces = (uint32_t)cJSON_GetArraySize(nodes);
	im->nlinks = (uint32_t)cJSON_GetArraySize(edges);
	im->place = arena_new(im->a, struct placement_node, im->nplaces);
	im->group = arena_new(im->a, struct colour_group, im->nplaces);
	im->link = arena_new(im->a, struct link, im->nlinks);
	map_init(&im->by_id, im->a);
	map_init(&im->by_colour, im->a);
	if (!read_all(im, nodes, "nodes", read_place, err)
	    || !read_all(im, edges, "edges", read_link, err))
		return false;
	return placement_build(im, err) && problem_index(im->p, im->a, err);
}

/* Fill the problem from a document, which is closed; NULL: err is set. */
static bool
take_document(struct placement_file *out, cJSON *doc, const char *name,
    struct arena *a, struct err *err)
{
	struct placement *im = arena_new(a, struct placement, 1);
	bool ok;

	*out = (struct placement_file){.graph = im};
	*im = (struct placement){.p = &out->problem, .a = a};
	if (!doc)
		return false;
	ok = cJSON_IsObject(doc)
	    ? read_document(im, doc, err)
	    : err_set(err, ERR_INPUT, "the document is not an object");
	jsonin_close(doc);
	return ok || err_in(err, "%s", name);
}

int64_t
placement_accelerators(const struct placement *graph)
{
	return graph->naccelerators;
}

bool
placement_parse(struct placement_file *out, const char *text, size_t n,
    const char *name, struct arena *a, struct err *err)
{
	return take_document(
	    out, jsonin_parse(text, n, name, err), name, a, err);
}

bool
placement_read(struct placement_file *out, const char *path, struct arena *a,
    struct err *err)
{
	return take_document(
	    out, jsonin_open(path, LIMIT_READ_PROBLEM, err), path, a, err);
}
