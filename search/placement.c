#include "search/placement.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/file.h"
#include "ir/base/jsonin.h"
#include "ir/base/map.h"

#define FILE_LIMIT ((size_t)1 << 30)
/* SOURCE: the files state no unit; the profiles they were made from are in
 * milliseconds (Tarnawski et al., NeurIPS 2020). */
#define NS_PER_MS 1e6
#define WHOLE_MAX (UINT64_C(1) << 53) /* so that doubles and JSON are exact */
#define NONE UINT32_MAX
#define ID_CHARS 21u /* of an int64, and a separator or the end */

enum { CPU, ACCELERATOR, NDEVICES };

/* A node of the file. */
struct place {
	int64_t id, colour;
	uint32_t group;
	uint32_t next; /* of its group, in file order */
	uint32_t value; /* what it sends to other groups, or NONE */
	cost_ns transfer; /* of that value, between the devices */
	bool priced; /* an edge said what the transfer costs */
};

struct link {
	uint32_t from, to; /* places */
	uint32_t next; /* into the same group from another */
};

/* Places of one colour, or one without: a node of the problem. */
struct group {
	uint32_t place, link; /* heads of the lists */
	uint32_t nplaces, nlinks, nvalues;
	uint32_t waiting; /* links to consumers not in the order yet */
	cost_ns cost[NDEVICES];
	uint64_t size;
	bool supported; /* by the accelerator */
};

struct importer {
	struct problem *p;
	struct arena *a;
	struct place *place;
	struct link *link;
	struct group *group;
	uint32_t *order; /* of groups: producers first */
	uint32_t nplaces, nlinks, ngroups;
	struct map by_id, by_colour;
	uint64_t total[NDEVICES], bytes; /* kept within WHOLE_MAX */
};

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
add_cost(struct importer *im, const cJSON *item, int device, const char *key,
    struct group *g, struct err *err)
{
	cost_ns cost;

	if (!read_ms(item, key, &cost, err)
	    || !add_within(&im->total[device], cost, key, err))
		return false;
	g->cost[device] += cost;
	return true;
}

/* The group of a place: that of its colour, or one of its own. */
static bool
join_group(struct importer *im, const cJSON *item, uint32_t i, struct err *err)
{
	struct place *place = &im->place[i];

	place->group = im->ngroups;
	if (jsonin_has(item, "colorClass")) {
		if (!jsonin_i64(item, "colorClass", &place->colour, err))
			return false;
		place->group = map_add(&im->by_colour, &place->colour,
		    sizeof place->colour, im->ngroups);
	}
	if (place->group == im->ngroups)
		im->group[im->ngroups++] = (struct group){
		    .place = NONE, .link = NONE, .supported = true};
	im->group[place->group].nplaces++;
	return true;
}

/* What the node adds to its group. */
static bool
read_load(
    struct importer *im, const cJSON *item, struct group *g, struct err *err)
{
	bool supported = false, backward = false;
	uint64_t size;

	if (!read_flag(item, "supportedOnFpga", &supported, err)
	    || (jsonin_has(item, "isBackwardNode")
	        && !read_flag(item, "isBackwardNode", &backward, err))
	    || !add_cost(im, item, CPU, "cpuLatency", g, err)
	    || (supported
	        && !add_cost(im, item, ACCELERATOR, "fpgaLatency", g, err))
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
read_place(struct importer *im, const cJSON *item, uint32_t i, struct err *err)
{
	struct place *place = &im->place[i];

	place->value = NONE;
	if (!jsonin_i64(item, "id", &place->id, err))
		return false;
	if (map_add(&im->by_id, &place->id, sizeof place->id, i) != i)
		return err_set(
		    err, ERR_INPUT, "a second node %" PRId64, place->id);
	return (join_group(im, item, i, err)
	           && read_load(im, item, &im->group[place->group], err))
	    || err_in(err, "node %" PRId64, place->id);
}

static bool
read_end(const struct importer *im, const cJSON *item, const char *key,
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
read_link(struct importer *im, const cJSON *item, uint32_t i, struct err *err)
{
	struct link *link = &im->link[i];
	struct place *from;
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
    struct importer *im, const cJSON *item, uint32_t i, struct err *err);

static bool
read_all(struct importer *im, const cJSON *list, const char *key,
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

/* Lists of each group's places and of the links into it, in file order. */
static void
chain(struct importer *im)
{
	for (uint32_t i = im->nplaces; i-- > 0;) {
		struct group *g = &im->group[im->place[i].group];

		im->place[i].next = g->place;
		g->place = i;
	}
	for (uint32_t i = im->nlinks; i-- > 0;) {
		struct link *link = &im->link[i];
		struct place *from = &im->place[link->from];
		struct group *g = &im->group[im->place[link->to].group];

		if (g == &im->group[from->group])
			continue;
		link->next = g->link;
		g->link = i;
		g->nlinks++;
		im->group[from->group].waiting++;
		if (from->value == NONE)
			im->group[from->group].nvalues++;
		from->value = 0; /* numbered in number_values() */
	}
}

/* Groups still waiting wait for another such: going from one to the next ends
 * in a circle, and a group of several places on it is to blame. */
static bool
refuse_circle(const struct importer *im, struct err *err)
{
	uint32_t *next = arena_new(im->a, uint32_t, im->ngroups);
	const struct place *place;
	uint32_t at = 0, blamed;

	for (uint32_t i = 0; i < im->nlinks; i++) {
		uint32_t from = im->place[im->link[i].from].group;
		uint32_t to = im->place[im->link[i].to].group;

		if (from != to && im->group[to].waiting)
			next[from] = to;
	}
	while (!im->group[at].waiting)
		at++;
	for (uint32_t i = 0; i < im->ngroups; i++)
		at = next[at];
	blamed = at;
	for (uint32_t g = next[at]; g != at; g = next[g])
		if (im->group[g].nplaces > im->group[blamed].nplaces)
			blamed = g;
	place = &im->place[im->group[blamed].place];
	if (im->group[blamed].nplaces == 1)
		return err_set(err, ERR_INPUT,
		    "node %" PRId64 " waits for its own output", place->id);
	return err_set(err, ERR_UNSUPPORTED,
	    "node %" PRId64 ": nodes outside its colorClass %" PRId64
	    " run between those in it, so they cannot be one",
	    place->id, place->colour);
}

/* From the last group to the first, depth first: what few need comes right
 * before they do, which keeps few values live at a time. */
static bool
order_groups(struct importer *im, struct err *err)
{
	uint32_t *stack = arena_new(im->a, uint32_t, im->ngroups);
	uint32_t depth = 0, left = im->ngroups;

	im->order = arena_new(im->a, uint32_t, im->ngroups);
	for (uint32_t g = 0; g < im->ngroups; g++)
		if (!im->group[g].waiting)
			stack[depth++] = g;
	while (depth > 0) {
		uint32_t g = stack[--depth];

		im->order[--left] = g;
		for (uint32_t l = im->group[g].link; l != NONE;
		     l = im->link[l].next) {
			uint32_t from = im->place[im->link[l].from].group;

			if (--im->group[from].waiting == 0)
				stack[depth++] = from;
		}
	}
	return left == 0 || refuse_circle(im, err);
}

/* A value for each place that sends, and a conversion class per cost. */
static void
number_values(struct importer *im)
{
	struct problem *p = im->p;
	struct map classes;

	map_init(&classes, im->a);
	p->value = arena_new(im->a, struct problem_value, im->nplaces);
	p->conversion = arena_new(
	    im->a, cost_ns, (size_t)im->nplaces * NDEVICES * NDEVICES);
	for (uint32_t n = 0; n < im->ngroups; n++)
		for (uint32_t i = im->group[im->order[n]].place; i != NONE;
		     i = im->place[i].next) {
			struct place *s = &im->place[i];
			uint32_t class;

			if (s->value == NONE)
				continue;
			class = map_add(&classes, &s->transfer,
			    sizeof s->transfer, p->nclasses);
			if (class == p->nclasses) {
				cost_ns *c = &p->conversion[(size_t)4 * class];

				c[1] = c[2] = s->transfer;
				p->nclasses++;
			}
			s->value = p->nvalues++;
			p->value[s->value] = (struct problem_value){
			    .producer = n, .class = class};
		}
}

static const char *
group_name(const struct importer *im, const struct group *g)
{
	size_t room = (size_t)g->nplaces * ID_CHARS, used = 0;
	char *name = arena_alloc(im->a, room);

	for (uint32_t i = g->place; i != NONE; i = im->place[i].next)
		used += (size_t)snprintf(name + used, room - used, "%s%" PRId64,
		    used ? "+" : "", im->place[i].id);
	return name;
}

static int
ascending(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

static void
make_node(struct importer *im, uint32_t n)
{
	const struct group *g = &im->group[im->order[n]];
	uint32_t *input = arena_new(im->a, uint32_t, g->nlinks);
	uint32_t *output = arena_new(im->a, uint32_t, g->nvalues);
	uint32_t ninputs = 0, noutputs = 0, kept = 0;

	for (uint32_t l = g->link; l != NONE; l = im->link[l].next)
		input[ninputs++] = im->place[im->link[l].from].value;
	qsort(input, ninputs, sizeof *input, ascending);
	for (uint32_t i = 0; i < ninputs; i++)
		if (kept == 0 || input[i] != input[kept - 1])
			input[kept++] = input[i];
	for (uint32_t i = g->place; i != NONE; i = im->place[i].next)
		if (im->place[i].value != NONE)
			output[noutputs++] = im->place[i].value;
	im->p->node[n] = (struct problem_node){.name = group_name(im, g),
	    .ninputs = kept,
	    .noutputs = noutputs,
	    .input = input,
	    .output = output};
}

static const struct problem_port *
make_ports(struct arena *a, const uint32_t *value, uint32_t n, uint32_t format)
{
	struct problem_port *port = arena_new(a, struct problem_port, n);

	for (uint32_t i = 0; i < n; i++)
		port[i] = (struct problem_port){value[i], format};
	return port;
}

static void
make_candidate(struct importer *im, uint32_t n, uint32_t device)
{
	const struct problem_node *node = &im->p->node[n];
	const struct group *g = &im->group[im->order[n]];
	uint32_t c = im->p->ncandidates++;

	im->p->candidate[c] = (struct problem_candidate){.target = device,
	    .cost = g->cost[device],
	    .resource = device == ACCELERATOR ? g->size : 0,
	    .class = c,
	    .nnodes = 1,
	    .ninputs = node->ninputs,
	    .noutputs = node->noutputs,
	    .node = arena_copy(im->a, &n, sizeof n),
	    .input = make_ports(im->a, node->input, node->ninputs, device),
	    .output = make_ports(im->a, node->output, node->noutputs, device)};
}

static void
make_problem(struct importer *im)
{
	struct problem *p = im->p;

	number_values(im);
	p->nnodes = im->ngroups;
	p->node = arena_new(im->a, struct problem_node, im->ngroups);
	p->candidate = arena_new(
	    im->a, struct problem_candidate, (size_t)NDEVICES * im->ngroups);
	for (uint32_t n = 0; n < im->ngroups; n++) {
		make_node(im, n);
		make_candidate(im, n, CPU);
		if (im->group[im->order[n]].supported)
			make_candidate(im, n, ACCELERATOR);
	}
}

static bool
read_devices(struct importer *im, const cJSON *doc, struct err *err)
{
	static const char *const name[NDEVICES] = {"cpu", "accelerator"};
	struct problem *p = im->p;
	int64_t accelerators;

	p->ntargets = p->nformats = NDEVICES;
	p->target = arena_new(im->a, struct problem_target, NDEVICES);
	for (int d = 0; d < NDEVICES; d++)
		p->target[d] = (struct problem_target){.name = name[d],
		    .max_runs = NO_LIMIT,
		    .max_run_nodes = NO_LIMIT,
		    .capacity = UINT64_MAX};
	p->format_name = arena_copy(im->a, name, sizeof name);
	if (!jsonin_i64(doc, "maxFPGAs", &accelerators, err))
		return false;
	if (accelerators < 1)
		return err_set(err, ERR_INPUT,
		    "maxFPGAs is %" PRId64 ": want an accelerator",
		    accelerators);
	return read_bytes(doc, "maxSizePerFPGA", false,
	    &p->target[ACCELERATOR].capacity, err);
}

static bool
read_document(struct importer *im, const cJSON *doc, struct err *err)
{
	const cJSON *nodes, *edges;

	if (!read_devices(im, doc, err)
	    || !jsonin_array(doc, "nodes", &nodes, err)
	    || !jsonin_array(doc, "edges", &edges, err))
		return false;
	im->nplaces = (uint32_t)cJSON_GetArraySize(nodes);
	im->nlinks = (uint32_t)cJSON_GetArraySize(edges);
	im->place = arena_new(im->a, struct place, im->nplaces);
	im->group = arena_new(im->a, struct group, im->nplaces);
	im->link = arena_new(im->a, struct link, im->nlinks);
	map_init(&im->by_id, im->a);
	map_init(&im->by_colour, im->a);
	if (!read_all(im, nodes, "nodes", read_place, err)
	    || !read_all(im, edges, "edges", read_link, err))
		return false;
	chain(im);
	if (!order_groups(im, err))
		return false;
	make_problem(im);
	return problem_index(im->p, im->a, err);
}

bool
placement_parse(struct problem *out, const char *text, size_t n,
    const char *name, struct arena *a, struct err *err)
{
	struct importer im = {.p = out, .a = a};
	cJSON *doc = jsonin_parse(text, n, name, err);
	bool ok;

	*out = (struct problem){0};
	if (!doc)
		return false;
	ok = cJSON_IsObject(doc)
	    ? read_document(&im, doc, err)
	    : err_set(err, ERR_INPUT, "the document is not an object");
	jsonin_close(doc);
	return ok || err_in(err, "%s", name);
}

bool
placement_read(
    struct problem *out, const char *path, struct arena *a, struct err *err)
{
	struct arena scratch;
	const char *text;
	size_t n;
	bool ok;

	arena_init(&scratch);
	ok = file_read(&text, &n, path, FILE_LIMIT, &scratch, err)
	    && placement_parse(out, text, n, path, a, err);
	arena_release(&scratch);
	return ok;
}
