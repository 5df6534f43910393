/* What TVM's Marvell partitioner made of graphs, against ours: regions,
 * composites in order, what stays on the CPU, and the two JSON files.
 *
 * Argument: a folder with cases/<case>/{model.onnx,expected.json,nodes.json,
 * consts.json,nodes.fixed.json,...} and networks/<model>.json, whose models lie
 * below ../models. */
#include <cjson/cJSON.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/base/jsonin.h"
#include "ir/normalize.h"
#include "ir/onnx_read.h"
#include "targets/host/host.h"
#include "targets/mrvl/codegen.h"
#include "targets/mrvl/legacy.h"
#include "tests/support/same_json.h"

static char complaint[1024];

#ifdef __GNUC__
__attribute__((format(printf, 1, 2)))
#endif
static bool
complain(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(complaint, sizeof complaint, fmt, ap);
	va_end(ap);
	return false;
}

struct tally {
	unsigned passed, failed;
};

/* ---- comparing regions ---- */

struct run {
	struct arena *arena;
	struct graph *graph;
	struct legacy legacy;
};

static const cJSON *
member(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

static const char *
string_of(const cJSON *object, const char *key)
{
	const cJSON *s = member(object, key);

	return cJSON_IsString(s) ? s->valuestring : "";
}

/* As the expectation names nodes: by name, or by index where there is none. */
static const char *
name_of(const struct run *r, node_id id)
{
	const struct node *n = graph_node(r->graph, id);
	const struct onnx_node *o;

	if (n->norigins == 0)
		return n->name;
	o = &r->graph->origin_table->node[n->origin[0].onnx];
	return o->name[0] ? o->name : arena_printf(r->arena, "n%u", o->index);
}

static bool
same_dims(const cJSON *want, const struct dims *have, const char *where)
{
	bool same = (uint32_t)cJSON_GetArraySize(want) == have->rank;
	const cJSON *item;
	uint32_t i = 0;

	cJSON_ArrayForEach(item, want)
	{
		same = same && (int64_t)item->valuedouble == have->dim[i];
		i++;
	}
	return same
	    || complain("%s: shape of rank %u (%lld,...) differs", where,
	        have->rank, (long long)(have->rank ? have->dim[0] : 0));
}

static bool
same_nodes(const struct run *r, const cJSON *want, const node_id *node,
    uint32_t n, const char *where)
{
	const cJSON *item;
	uint32_t i = 0;

	cJSON_ArrayForEach(item, want)
	{
		if (i == n)
			return complain(
			    "%s: lacks node '%s'", where, item->valuestring);
		if (strcmp(item->valuestring, name_of(r, node[i])) != 0)
			return complain("%s: node '%s', expected '%s'", where,
			    name_of(r, node[i]), item->valuestring);
		i++;
	}
	return i == n
	    || complain("%s: node '%s' too many", where, name_of(r, node[i]));
}

static bool
same_ref(const cJSON *want, struct layer_ref have, const struct layers *l,
    const char *where)
{
	const cJSON *step = member(want, "step");
	char name[64];

	if (step)
		return (!have.is_input && (int)have.index == step->valueint)
		    || complain("%s: reads another layer than %d", where,
		        step->valueint);
	if (have.is_input)
		snprintf(name, sizeof name, "mrvl_%u_i%u", l->number,
		    l->input[have.index].place);
	return (have.is_input && strcmp(name, string_of(want, "input")) == 0)
	    || complain(
	        "%s: does not read %s", where, string_of(want, "input"));
}

/* Constants among a layer's inputs are no data. */
static bool
same_layer_inputs(const cJSON *want, const struct layer *have,
    const struct layers *l, const char *where)
{
	const cJSON *item;
	uint32_t i = 0;

	cJSON_ArrayForEach(item, want)
	{
		if (member(item, "const"))
			continue;
		if (i == have->ninputs)
			return complain("%s: too few inputs", where);
		if (!same_ref(item, have->input[i++], l, where))
			return false;
	}
	return i == have->ninputs || complain("%s: too many inputs", where);
}

static const char *
composite_of(const struct layer *l)
{
	if (l->kind == LAYER_LAYOUT)
		return "layout_transform";
	return l->kind == LAYER_BARE ? l->bare : layer_info(l->kind)->composite;
}

static bool
same_layer(
    const struct run *r, const cJSON *want, const struct layers *l, uint32_t i)
{
	const struct layer *have = &l->layer[i];
	const char *composite = string_of(want, "composite");
	char where[128];

	snprintf(where, sizeof where, "%s layer %u", l->symbol, i);
	if (!composite[0])
		composite = string_of(want, "bare_op");
	if (strcmp(composite, composite_of(have)) != 0)
		return complain("%s: %s, expected %s", where,
		    composite_of(have), composite);
	return same_nodes(r, member(want, "onnx_nodes"), have->node,
	           have->nnodes, where)
	    && same_dims(member(want, "out_shape"), &have->out, where)
	    && same_layer_inputs(member(want, "inputs"), have, l, where);
}

static bool
same_ports(const cJSON *want, const struct layers *l)
{
	const cJSON *item;
	uint32_t i = 0;
	char where[128];

	cJSON_ArrayForEach(item, member(want, "inputs"))
	{
		snprintf(where, sizeof where, "%s input %u", l->symbol, i);
		if (i == l->ninputs)
			return complain("%s: missing", where);
		if (!same_dims(
		        member(item, "shape"), &l->input[i++].dims, where))
			return false;
	}
	if (i != l->ninputs)
		return complain(
		    "%s: %u inputs, expected %u", l->symbol, l->ninputs, i);
	i = 0;
	cJSON_ArrayForEach(item, member(want, "outputs"))
	{
		snprintf(where, sizeof where, "%s output %u", l->symbol, i);
		if (i == l->noutputs)
			return complain("%s: missing", where);
		if (!same_ref(
		        member(item, "ref"), l->output[i++].from, l, where))
			return false;
	}
	return i == l->noutputs
	    || complain(
	        "%s: %u outputs, expected %u", l->symbol, l->noutputs, i);
}

static bool
same_region(const struct run *r, const cJSON *want, const struct layers *l)
{
	const cJSON *item;
	uint32_t i = 0;

	if (strcmp(string_of(want, "symbol"), l->symbol) != 0)
		return complain("region %s, expected %s", l->symbol,
		    string_of(want, "symbol"));
	cJSON_ArrayForEach(item, member(want, "layers"))
	{
		if (i == l->nlayers)
			return complain("%s: %u layers, more expected",
			    l->symbol, l->nlayers);
		if (!same_layer(r, item, l, i++))
			return false;
	}
	if (i != l->nlayers)
		return complain(
		    "%s: %u layers, expected %u", l->symbol, l->nlayers, i);
	return same_ports(want, l);
}

static bool
same_regions(const struct run *r, const cJSON *want)
{
	const cJSON *item;
	uint32_t i = 0;

	cJSON_ArrayForEach(item, want)
	{
		if (i == r->legacy.nregions)
			return complain("%u regions, %d expected", i,
			    cJSON_GetArraySize(want));
		if (!same_region(r, item, &r->legacy.region[i++]))
			return false;
	}
	return i == r->legacy.nregions
	    || complain("%u regions, %u expected", r->legacy.nregions, i);
}

/* ---- comparing the host program ---- */

static bool
same_step_shape(
    const cJSON *want, const struct legacy_step *s, const char *where)
{
	const cJSON *item;
	uint32_t i = 0;

	if (!cJSON_IsArray(want->child))
		return same_dims(want, &s->out, where);
	cJSON_ArrayForEach(item, want)
	{
		if (i > s->nmore
		    || !same_dims(item, i ? &s->more[i - 1] : &s->out, where))
			return complain("%s: shapes differ", where);
		i++;
	}
	return i == s->nmore + 1 || complain("%s: outputs", where);
}

static bool
same_cpu_ops(const struct run *r, const cJSON *want)
{
	const struct legacy *l = &r->legacy;
	const cJSON *item;
	uint32_t i = 0;

	cJSON_ArrayForEach(item, want)
	{
		const struct legacy_step *s;
		char where[128];
		int step = member(item, "step")->valueint;

		while (i < l->nsteps && l->step[i].is_region)
			i++;
		if (i == l->nsteps)
			return complain("cpu step %d: %s is missing", step,
			    string_of(item, "op"));
		s = &l->step[i];
		snprintf(where, sizeof where, "cpu step %d", step);
		if (strcmp(s->op, string_of(item, "op")) != 0)
			return complain("%s: %s, expected %s", where, s->op,
			    string_of(item, "op"));
		if (step != (int)i)
			return complain("%s is step %u", where, i);
		if (!same_nodes(r, member(item, "onnx_nodes"), &s->node,
		        s->node != NODE_NONE, where)
		    || !same_step_shape(member(item, "out_shape"), s, where))
			return false;
		i++;
	}
	while (i < l->nsteps && l->step[i].is_region)
		i++;
	return i == l->nsteps
	    || complain("cpu step %u: %s is too many", i, l->step[i].op);
}

/* ---- the JSON files ---- */

typedef void (*writer)(FILE *f, const void *region);

static void
write_nodes(FILE *f, const void *region)
{
	struct arena a;

	arena_init(&a);
	mrvl_write_nodes(f, (const struct layers *)region, &a);
	arena_release(&a);
}

static void
write_consts(FILE *f, const void *region)
{
	struct arena a;

	arena_init(&a);
	mrvl_write_consts(f, (const struct layers *)region, &a);
	arena_release(&a);
}

/* A document of the list, or the only one. */
static const cJSON *
document(const cJSON *doc, uint32_t i)
{
	if (cJSON_IsArray(doc))
		return cJSON_GetArrayItem(doc, (int)i);
	return i == 0 ? doc : NULL;
}

/* The file holds the regions that upstream's code generator got through. */
static bool
same_documents(
    const struct run *r, const cJSON *doc, const char *kind, writer write)
{
	uint32_t n = 0, want;

	for (uint32_t i = 0; i < r->legacy.nregions; i++) {
		const struct layers *l = &r->legacy.region[i];
		const cJSON *one;
		cJSON *have;
		bool ok;

		if (legacy_refusal(l))
			continue;
		one = document(doc, n++);
		if (!one)
			return complain(
			    "%s: no document for region %s", kind, l->symbol);
		have = json_written(write, l);
		ok = same_json(one, have, kind, complaint, sizeof complaint);
		cJSON_Delete(have);
		if (!ok)
			return false;
	}
	want = cJSON_IsArray(doc) ? (uint32_t)cJSON_GetArraySize(doc) : 1;
	return n == want
	    || complain("%s: %u documents, %u expected", kind, n, want);
}

static bool
same_file(
    const struct run *r, const char *folder, const char *kind, writer write)
{
	struct err err = {.kind = ERR_NONE};
	const char *path =
	    arena_printf(r->arena, "%s/%s.fixed.json", folder, kind);
	cJSON *doc;
	bool ok;

	if (access(path, R_OK) != 0)
		path = arena_printf(r->arena, "%s/%s.json", folder, kind);
	if (access(path, R_OK) != 0)
		return true;
	doc = jsonin_open(path, LIMIT_READ_RESULT, &err);
	if (!doc)
		return complain("%s", err.text);
	ok = same_documents(r, doc, kind, write);
	jsonin_close(doc);
	return ok;
}

/* ---- a case ---- */

static bool
read_graph(struct model *m, const char *path, struct arena *a, struct err *err)
{
	struct onnx_options options = {0};
	struct infer_options infer = {.eval = host_eval};

	if (!onnx_read(m, path, &options, a, err))
		return false;
	infer.notes = &m->notes;
	return normalize(m->graph, &infer, err);
}

static bool
compare(struct run *r, const char *model, const cJSON *want, const char *folder)
{
	struct err err = {.kind = ERR_NONE};
	struct model m;
	const char *status =
	    string_of(member(want, "upstream_status"), "partition");
	bool throws = strncmp(status, "error", 5) == 0, ok;

	if (!read_graph(&m, model, r->arena, &err))
		return complain("%s", err.text);
	r->graph = m.graph;
	ok = mrvl_legacy(&r->legacy, m.graph, r->arena, &err);
	if (throws)
		ok = !ok || complain("upstream throws, this does not");
	else if (!ok)
		complain("%s", err.text);
	else
		ok = same_regions(r, member(want, "regions"))
		    && same_cpu_ops(r, member(want, "cpu_ops"))
		    && (!folder
		        || (same_file(r, folder, "nodes", write_nodes)
		            && same_file(r, folder, "consts", write_consts)));
	model_close(&m);
	return ok;
}

static void
run_one(struct tally *t, const char *name, const char *model,
    const char *expected, const char *folder)
{
	struct arena a;
	struct run r = {.arena = &a};
	struct err err = {.kind = ERR_NONE};
	cJSON *want = jsonin_open(expected, LIMIT_READ_RESULT, &err);
	bool ok;

	arena_init(&a);
	snprintf(complaint, sizeof complaint, "%s", err.text);
	ok = want && compare(&r, model, want, folder);
	if (ok)
		t->passed++;
	else
		t->failed++;
	if (!ok)
		printf("FAILED %s: %s\n", name, complaint);
	jsonin_close(want);
	arena_release(&a);
}

/* ---- finding them ---- */

static void
run_cases(struct tally *t, const char *root)
{
	char folder[2048], model[4096], expected[4096];
	struct dirent **entry;
	int n;

	snprintf(folder, sizeof folder, "%s/cases", root);
	n = scandir(folder, &entry, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		const char *name = entry[i]->d_name;
		char at[3072];

		snprintf(at, sizeof at, "%s/%s", folder, name);
		snprintf(model, sizeof model, "%s/model.onnx", at);
		snprintf(expected, sizeof expected, "%s/expected.json", at);
		if (access(expected, R_OK) == 0)
			run_one(t, name, model, expected, at);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
}

/* "resnet.onnx" is <root>/resnet.onnx or <root>/resnet/model.onnx. */
static bool
find_model(const char *root, const char *file, char *out, size_t n)
{
	const char *dot = strrchr(file, '.');
	int stem = dot ? (int)(dot - file) : (int)strlen(file);

	snprintf(out, n, "%s/%s", root, file);
	if (access(out, R_OK) == 0)
		return true;
	snprintf(out, n, "%s/%.*s/model.onnx", root, stem, file);
	return access(out, R_OK) == 0;
}

static void
run_network(struct tally *t, const char *root, const char *name)
{
	char expected[4096], models[4096], model[8192];
	struct err err = {.kind = ERR_NONE};
	cJSON *want;

	snprintf(expected, sizeof expected, "%s/networks/%s", root, name);
	snprintf(models, sizeof models, "%s/../models", root);
	want = jsonin_open(expected, LIMIT_READ_RESULT, &err);
	if (!want
	    || !find_model(
	        models, string_of(want, "model_file"), model, sizeof model)) {
		printf(
		    "FAILED %s: %s\n", name, want ? "no model file" : err.text);
		t->failed++;
	} else {
		run_one(t, name, model, expected, NULL);
	}
	jsonin_close(want);
}

static void
run_networks(struct tally *t, const char *root)
{
	char folder[2048];
	struct dirent **entry;
	int n;

	snprintf(folder, sizeof folder, "%s/networks", root);
	n = scandir(folder, &entry, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		if (strstr(entry[i]->d_name, ".json"))
			run_network(t, root, entry[i]->d_name);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
}

int
main(int argc, char **argv)
{
	struct tally t = {0};

	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	run_cases(&t, argv[1]);
	run_networks(&t, argv[1]);
	printf("%u passed, %u failed\n", t.passed, t.failed);
	return t.failed || !t.passed;
}
