/* The reader's own: nothing here is shared with what writes, so that the two
 * can disagree. SOURCE: TVM, graph_executor.h (Load); DPDK, tvmrt_ml_model.c. */
#include "targets/mrvl/device_read.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/file.h"
#include "ir/base/jsonin.h"
#include "ir/base/map.h"
#include "targets/mrvl/device.h"
#include "targets/mrvl/device_params_read.h"

struct read_entry {
	const cJSON *shape;
	const char *dtype;
	uint64_t bytes;
	uint32_t storage, node;
	uint32_t last; /* node that reads it last */
	bool head;
};

struct read_node {
	const char *name;
	bool is_function, is_region;
	uint32_t first, noutputs;
	const cJSON *inputs;
};

struct device_reading {
	struct arena arena;
	struct device_facts *facts;
	struct read_node *node;
	struct read_entry *entry;
	uint32_t nnodes, nentries;
	struct map names; /* of all nodes */
	struct err *err;
};

static bool
wrong(struct device_reading *r, const struct read_node *n, const char *rule,
    const char *value)
{
	return err_set(r->err, ERR_INPUT, "node '%.64s': %s, it is %.64s",
	    n->name, rule, value);
}

/* A whole number below `end`. */
static bool
number(struct device_reading *r, const cJSON *item, uint64_t end,
    const char *what, uint32_t *out)
{
	uint64_t x;

	if (!item || !jsonin_is_u62(item, &x) || x >= end)
		return err_set(r->err, ERR_INPUT,
		    "%s must be a whole number below %" PRIu64, what, end);
	*out = (uint32_t)x;
	return true;
}

static bool
list_of(
    struct device_reading *r, const cJSON *item, uint32_t n, const char *what)
{
	if (cJSON_IsArray(item) && (uint32_t)cJSON_GetArraySize(item) == n)
		return true;
	return err_set(r->err, ERR_INPUT,
	    "%s must be a list of %u entries, it has %d", what, n,
	    cJSON_IsArray(item) ? cJSON_GetArraySize(item) : -1);
}

/* ---- nodes ---- */

/* Attributes are strings; those of a number say it in decimals. */
static bool
attribute_number(struct device_reading *r, const struct read_node *n,
    const cJSON *attrs, const char *key, uint32_t *out)
{
	const char *text;
	char *end;
	unsigned long x;

	if (!jsonin_str(attrs, key, &text, r->err))
		return err_in(r->err, "node '%.64s'", n->name);
	x = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || x > UINT16_MAX)
		return wrong(r, n, "a number in decimals is needed", text);
	*out = (uint32_t)x;
	return true;
}

static bool
read_attributes(
    struct device_reading *r, struct read_node *n, const cJSON *attrs)
{
	const char *text;
	uint32_t ninputs, flatten;
	const cJSON *item;

	cJSON_ArrayForEach(item, attrs) if (!cJSON_IsString(item)) return wrong(
	    r, n, "attributes must be strings", item->string);
	if (!jsonin_str(attrs, "func_name", &text, r->err))
		return err_in(r->err, "node '%.64s'", n->name);
	if (!attribute_number(r, n, attrs, "num_inputs", &ninputs)
	    || !attribute_number(r, n, attrs, "num_outputs", &n->noutputs)
	    || !attribute_number(r, n, attrs, "flatten_data", &flatten))
		return false;
	if (ninputs != (uint32_t)cJSON_GetArraySize(n->inputs))
		return wrong(
		    r, n, "num_inputs must be the number of inputs", "another");
	if (n->noutputs == 0)
		return wrong(r, n, "a function must have outputs", "0");
	if (jsonin_has(attrs, "Compiler")) {
		if (!jsonin_str(attrs, "Compiler", &text, r->err))
			return false;
		if (strcmp(text, "mrvl") != 0)
			return wrong(r, n, "Compiler must be mrvl", text);
		n->is_region = true;
	}
	return true;
}

static bool
read_kind(struct device_reading *r, struct read_node *n, const cJSON *item)
{
	const char *op;

	if (!jsonin_str(item, "op", &op, r->err))
		return err_in(r->err, "node '%.64s'", n->name);
	n->is_function = strcmp(op, "tvm_op") == 0;
	if (!n->is_function && strcmp(op, "null") != 0)
		return wrong(r, n, "op must be null or tvm_op", op);
	if (n->is_function) {
		const cJSON *attrs;

		return jsonin_object(item, "attrs", &attrs, r->err)
		    && read_attributes(r, n, attrs);
	}
	n->noutputs = 1;
	if (cJSON_GetArraySize(n->inputs) != 0 || jsonin_has(item, "attrs"))
		return wrong(
		    r, n, "an op null has no inputs and attributes", "not so");
	return true;
}

static bool
read_node(struct device_reading *r, uint32_t i, const cJSON *item)
{
	static const char *const known[] = {
	    "op", "name", "attrs", "inputs", NULL};
	struct read_node *n = &r->node[i];

	n->name = "?";
	n->first = r->nentries;
	if (!cJSON_IsObject(item))
		return err_set(
		    r->err, ERR_INPUT, "node %u must be an object", i);
	if (!jsonin_only(item, known, r->err)
	    || !jsonin_str(item, "name", &n->name, r->err)
	    || !jsonin_array(item, "inputs", &n->inputs, r->err))
		return err_in(r->err, "node %u", i);
	if (map_add(&r->names, n->name, strlen(n->name), i) != i)
		return wrong(r, n, "names must differ", "that of two nodes");
	if (!read_kind(r, n, item))
		return false;
	if (n->is_function && r->facts->nfunctions++ >= DEVICE_LAYERS)
		return wrong(r, n, "the driver takes at most 512 functions",
		    "the 513th");
	r->facts->nregions += n->is_region;
	r->nentries += n->noutputs;
	return true;
}

static bool
read_nodes(struct device_reading *r, const cJSON *doc)
{
	const cJSON *list, *item;
	uint32_t i = 0;

	if (!jsonin_array(doc, "nodes", &list, r->err))
		return false;
	r->nnodes = (uint32_t)cJSON_GetArraySize(list);
	r->node = arena_new(&r->arena, struct read_node, r->nnodes);
	cJSON_ArrayForEach(item, list)
	{
		if (!read_node(r, i, item))
			return false;
		i++;
	}
	return r->facts->nfunctions > 0
	    || err_set(r->err, ERR_INPUT, "there is no function");
}

static bool
check_rows(struct device_reading *r, const cJSON *doc)
{
	const cJSON *list =
	                cJSON_GetObjectItemCaseSensitive(doc, "node_row_ptr"),
	            *item;
	uint32_t i = 0, at;

	if (!list_of(r, list, r->nnodes + 1, "node_row_ptr"))
		return false;
	cJSON_ArrayForEach(item, list)
	{
		uint32_t want = i < r->nnodes ? r->node[i].first : r->nentries;

		if (!number(r, item, (uint64_t)r->nentries + 1, "node_row_ptr",
		        &at))
			return false;
		if (at != want)
			return err_set(r->err, ERR_INPUT,
			    "node_row_ptr[%u] must be %u, it is %u", i, want,
			    at);
		i++;
	}
	return true;
}

/* ---- entries ---- */

/* "float32", and the bits of an element. */
static bool
read_dtype(struct device_reading *r, struct read_entry *e, const cJSON *item,
    uint32_t i)
{
	enum dtype t = DT_UNDEFINED;

	if (cJSON_IsString(item))
		t = dtype_find(item->valuestring);
	if (t == DT_UNDEFINED || dtype_bits(t) < 8 || dtype_bits(t) > 64)
		return err_set(r->err, ERR_INPUT,
		    "dltype[%u] must be an element type, it is %.32s", i,
		    cJSON_IsString(item) ? item->valuestring : "no string");
	e->dtype = item->valuestring;
	e->bytes = dtype_bits(t) / 8;
	return true;
}

/* After the element types: bytes is one element's. */
static bool
read_shape(struct device_reading *r, struct read_entry *e, const cJSON *item,
    uint32_t i)
{
	const cJSON *dim;
	uint64_t x;

	if (!cJSON_IsArray(item) || cJSON_GetArraySize(item) > (int)DEVICE_RANK)
		return err_set(r->err, ERR_INPUT,
		    "shape[%u] must be a list of at most %u sizes", i,
		    DEVICE_RANK);
	e->shape = item;
	cJSON_ArrayForEach(dim, item)
	{
		if (!jsonin_is_u62(dim, &x) || x > INT32_MAX
		    || (x && e->bytes > (UINT64_C(1) << 47) / x))
			return err_set(r->err, ERR_INPUT,
			    "shape[%u] has no size or is too large", i);
		e->bytes *= x;
	}
	return true;
}

static bool
read_storage(struct device_reading *r, struct read_entry *e, const cJSON *item,
    uint32_t i)
{
	(void)i;
	return number(r, item, r->nentries, "storage_id", &e->storage);
}

static bool
read_device(struct device_reading *r, struct read_entry *e, const cJSON *item,
    uint32_t i)
{
	uint32_t device;

	(void)e;
	if (!number(r, item, UINT16_MAX, "device_index", &device))
		return false;
	return device == 1
	    || err_set(r->err, ERR_INPUT,
	        "device_index[%u] must be 1, the CPU, it is %u", i, device);
}

/* In the order they are read. */
static const struct {
	const char *key, *kind;
	bool (*read)(struct device_reading *r, struct read_entry *e,
	    const cJSON *item, uint32_t i);
} lists[] = {
    {"dltype", "list_str", read_dtype},
    {"shape", "list_shape", read_shape},
    {"storage_id", "list_int", read_storage},
    {"device_index", "list_int", read_device},
};
#define NLISTS (sizeof lists / sizeof lists[0])

static bool
read_list(struct device_reading *r, const cJSON *attrs, size_t k)
{
	const cJSON *pair =
	                cJSON_GetObjectItemCaseSensitive(attrs, lists[k].key),
	            *kind, *item;
	uint32_t i = 0;

	if (!list_of(r, pair, 2, lists[k].key))
		return false;
	kind = pair->child;
	if (!cJSON_IsString(kind)
	    || strcmp(kind->valuestring, lists[k].kind) != 0)
		return err_set(r->err, ERR_INPUT, "%s must be a %s",
		    lists[k].key, lists[k].kind);
	if (!list_of(r, kind->next, r->nentries, lists[k].key))
		return false;
	cJSON_ArrayForEach(item, kind->next)
	{
		if (!lists[k].read(r, &r->entry[i], item, i))
			return false;
		i++;
	}
	return true;
}

static bool
read_entries(struct device_reading *r, const cJSON *doc)
{
	static const char *const known[] = {
	    "shape", "dltype", "storage_id", "device_index", NULL};
	const cJSON *attrs;

	if (!jsonin_object(doc, "attrs", &attrs, r->err)
	    || !jsonin_only(attrs, known, r->err))
		return false;
	r->entry = arena_new(&r->arena, struct read_entry, r->nentries);
	for (size_t k = 0; k < NLISTS; k++)
		if (!read_list(r, attrs, k))
			return false;
	for (uint32_t i = 0; i < r->nnodes; i++)
		for (uint32_t k = 0; k < r->node[i].noutputs; k++) {
			struct read_entry *e = &r->entry[r->node[i].first + k];

			e->node = e->last = i;
		}
	return true;
}

/* ---- edges ---- */

/* [node, output, version] of a node before `before`: its entry. */
static bool
read_edge(struct device_reading *r, const cJSON *item, uint32_t before,
    const char *what, uint32_t *entry)
{
	uint32_t node, output, version;

	if (!list_of(r, item, 3, what)
	    || !number(r, item->child, before, what, &node)
	    || !number(
	        r, item->child->next, r->node[node].noutputs, what, &output)
	    || !number(r, item->child->next->next, 1, what, &version))
		return false;
	*entry = r->node[node].first + output;
	return true;
}

static bool
read_edges(struct device_reading *r)
{
	for (uint32_t i = 0; i < r->nnodes; i++) {
		const cJSON *item;
		uint32_t e;

		cJSON_ArrayForEach(item, r->node[i].inputs)
		{
			if (!read_edge(r, item, i, "an input", &e))
				return err_in(
				    r->err, "node '%.64s'", r->node[i].name);
			r->entry[e].last = i;
		}
	}
	return true;
}

/* All nodes of op null, in order; the driver takes their numbers for those of
 * their entries. */
static bool
read_arguments(struct device_reading *r, const cJSON *doc)
{
	const cJSON *list, *item;
	uint32_t at = 0, node, n = r->nnodes - r->facts->nfunctions;

	if (!jsonin_array(doc, "arg_nodes", &list, r->err)
	    || !list_of(r, list, n, "arg_nodes"))
		return false;
	cJSON_ArrayForEach(item, list)
	{
		while (at < r->nnodes && r->node[at].is_function)
			at++;
		if (!number(r, item, r->nnodes, "arg_nodes", &node))
			return false;
		if (node != at)
			return err_set(r->err, ERR_INPUT,
			    "arg_nodes must be the nodes of op null in order, "
			    "%u is where %u is due",
			    node, at);
		if (r->node[node].first != node)
			return wrong(r, &r->node[node],
			    "the driver needs its number to be its entry's",
			    "behind a function of several outputs");
		at++;
	}
	return true;
}

static bool
read_heads(struct device_reading *r, const cJSON *doc)
{
	const cJSON *list, *item;
	uint32_t e;

	if (!jsonin_array(doc, "heads", &list, r->err))
		return false;
	cJSON_ArrayForEach(item, list)
	{
		const struct read_node *n;

		if (!read_edge(r, item, r->nnodes, "a head", &e))
			return false;
		n = &r->node[r->entry[e].node];
		if (!n->is_function || r->entry[e].head)
			return wrong(r, n,
			    "an output must be written, for itself alone",
			    n->is_function ? "two outputs" : "an input");
		r->entry[e].head = true;
		if (++r->facts->noutputs > DEVICE_IO)
			return err_set(r->err, ERR_INPUT,
			    "the driver takes at most %u outputs", DEVICE_IO);
	}
	return r->facts->noutputs > 0
	    || err_set(r->err, ERR_INPUT, "there are no heads");
}

/* ---- memory ---- */

/* Is the storage of entry e free for it? */
static bool
check_storage(struct device_reading *r, uint32_t e, uint32_t *holder)
{
	struct read_entry *now = &r->entry[e];
	uint32_t was = holder[now->storage];

	holder[now->storage] = e;
	if (was == UINT32_MAX)
		return true;
	if (now->head || r->entry[was].head || !r->node[now->node].is_function
	    || !r->node[r->entry[was].node].is_function)
		return wrong(r, &r->node[now->node],
		    "inputs, params and outputs share no storage",
		    r->node[r->entry[was].node].name);
	if (r->entry[was].last >= now->node)
		return wrong(r, &r->node[now->node],
		    "its storage must hold nothing that is still read",
		    r->node[r->entry[was].node].name);
	return true;
}

static bool
check_memory(struct device_reading *r)
{
	uint32_t *holder = arena_new(&r->arena, uint32_t, r->nentries);
	uint64_t *bytes = arena_new(&r->arena, uint64_t, r->nentries);

	memset(holder, 0xff, r->nentries * sizeof *holder);
	for (uint32_t e = 0; e < r->nentries; e++) {
		const struct read_entry *now = &r->entry[e];

		if (!check_storage(r, e, holder))
			return false;
		if (now->bytes > bytes[now->storage])
			bytes[now->storage] = now->bytes;
	}
	for (uint32_t s = 0; s < r->nentries; s++) {
		if (holder[s] == UINT32_MAX)
			continue;
		if (s != r->facts->nstorage++)
			return err_set(r->err, ERR_INPUT,
			    "storage_id %u is not used, %u is",
			    r->facts->nstorage - 1, s);
		if (r->facts->pool_bytes > UINT64_MAX - bytes[s])
			return err_set(
			    r->err, ERR_INPUT, "storages are too large");
		r->facts->pool_bytes += bytes[s];
	}
	return true;
}

/* ---- params ---- */

/* A param is an input of its name, shape and element type. */
static bool
check_param(const struct param_array *p, void *context, struct err *err)
{
	struct device_reading *r = (struct device_reading *)context;
	uint32_t i = map_find(&r->names, p->name, p->nname), d = 0;
	const struct read_entry *e;
	const cJSON *dim;
	uint64_t x;

	if (i == MAP_NONE || r->node[i].is_function)
		return err_set(err, ERR_INPUT,
		    "param '%.*s' is no node of op null",
		    (int)(p->nname < 64 ? p->nname : 64), p->name);
	e = &r->entry[r->node[i].first];
	if (e->last == UINT32_MAX)
		return wrong(r, &r->node[i], "a param comes once", "repeated");
	if (strcmp(p->dtype, e->dtype) != 0)
		return wrong(r, &r->node[i],
		    "the array must be of the graph's element type", p->dtype);
	if ((uint32_t)cJSON_GetArraySize(e->shape) != p->rank)
		return wrong(
		    r, &r->node[i], "the array must be of its rank", "not");
	cJSON_ArrayForEach(dim, e->shape)
	{
		if (!jsonin_is_u62(dim, &x) || x != (uint64_t)p->dim[d++])
			return wrong(r, &r->node[i],
			    "the array must be of its shape", "not");
	}
	r->entry[r->node[i].first].last = UINT32_MAX;
	r->facts->nparams++;
	r->facts->param_bytes += p->bytes;
	return true;
}

static bool
check_all(
    struct device_reading *r, const cJSON *doc, const void *params, size_t m)
{
	static const char *const known[] = {
	    "nodes", "arg_nodes", "heads", "attrs", "node_row_ptr", NULL};
	uint32_t nargs;

	if (!cJSON_IsObject(doc))
		return err_set(r->err, ERR_INPUT, "mod.json is no object");
	if (!jsonin_only(doc, known, r->err) || !read_nodes(r, doc)
	    || !check_rows(r, doc) || !read_entries(r, doc) || !read_edges(r)
	    || !read_arguments(r, doc) || !read_heads(r, doc)
	    || !check_memory(r)
	    || !params_read(params, m, check_param, r, r->err))
		return false;
	nargs = r->nnodes - r->facts->nfunctions;
	r->facts->ninputs = nargs - r->facts->nparams;
	return r->facts->ninputs <= DEVICE_IO
	    || err_set(r->err, ERR_INPUT,
	        "the driver takes at most %u inputs, there are %u", DEVICE_IO,
	        r->facts->ninputs);
}

bool
device_check(struct device_facts *out, const char *json, size_t n,
    const void *params, size_t m, struct err *err)
{
	struct device_reading r = {.facts = out, .err = err};
	cJSON *doc;
	bool ok;

	*out = (struct device_facts){0};
	doc = jsonin_parse(json, n, "mod.json", err);
	if (!doc)
		return false;
	arena_init(&r.arena);
	map_init(&r.names, &r.arena);
	ok = check_all(&r, doc, params, m);
	arena_release(&r.arena);
	jsonin_close(doc);
	return ok;
}

bool
device_read(struct device_facts *out, const char *json_path,
    const char *params_path, struct err *err)
{
	struct mapped_file json, params;
	bool ok;

	if (!file_map(&json, json_path, err))
		return false;
	ok = file_map(&params, params_path, err);
	if (ok) {
		ok = device_check(out, (const char *)json.data, json.bytes,
		    params.data, params.bytes, err);
		file_unmap(&params);
	}
	file_unmap(&json);
	return ok;
}
