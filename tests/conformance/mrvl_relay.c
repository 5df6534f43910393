/* What TVM's importer, passes and Marvell's partitioner made of graphs, against
 * ours: regions with their layers and files, and the host program.
 *
 * Argument: a folder with <case>/{model.onnx,tvm.json}. tvm.json has `error`
 * where upstream throws, or `regions` (symbol, inputs, layers {c, out},
 * noutputs, codegen, and nodes and consts where that is "ok"), `cpu` {op, out}
 * and `steps`, names in order. */
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

/* ---- ours, in the form of theirs ---- */

static cJSON *
dims_json(const struct dims *d)
{
	cJSON *list = cJSON_CreateArray();

	for (uint32_t i = 0; i < d->rank; i++)
		cJSON_AddItemToArray(
		    list, cJSON_CreateNumber((double)d->dim[i]));
	return list;
}

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

static cJSON *
layer_json(const struct layer *l)
{
	cJSON *layer = cJSON_CreateObject();
	const char *name = layer_info(l->kind)->composite;

	if (l->kind == LAYER_LAYOUT)
		name = "layout_transform";
	else if (l->kind == LAYER_BARE)
		name = l->bare;
	cJSON_AddStringToObject(layer, "c", name);
	cJSON_AddItemToObject(layer, "out", dims_json(&l->out));
	return layer;
}

static cJSON *
region_json(const struct layers *l)
{
	cJSON *region = cJSON_CreateObject();
	cJSON *inputs = cJSON_AddArrayToObject(region, "inputs");
	cJSON *layers = cJSON_AddArrayToObject(region, "layers");
	bool refused = legacy_refusal(l) != NULL;

	cJSON_AddStringToObject(region, "symbol", l->symbol);
	for (uint32_t i = 0; i < l->ninputs; i++)
		cJSON_AddItemToArray(inputs, dims_json(&l->input[i].dims));
	for (uint32_t i = 0; i < l->nlayers; i++)
		cJSON_AddItemToArray(layers, layer_json(&l->layer[i]));
	cJSON_AddNumberToObject(region, "noutputs", l->noutputs);
	cJSON_AddStringToObject(region, "codegen", refused ? "error" : "ok");
	if (refused)
		return region;
	cJSON_AddItemToObject(region, "nodes", json_written(write_nodes, l));
	cJSON_AddItemToObject(region, "consts", json_written(write_consts, l));
	return region;
}

/* One shape, or a list of them. */
static cJSON *
step_json(const struct legacy_step *s)
{
	cJSON *step = cJSON_CreateObject(), *out = dims_json(&s->out), *all;

	cJSON_AddStringToObject(step, "op", s->op);
	if (s->nmore) {
		all = cJSON_CreateArray();
		cJSON_AddItemToArray(all, out);
		for (uint32_t i = 0; i < s->nmore; i++)
			cJSON_AddItemToArray(all, dims_json(&s->more[i]));
		out = all;
	}
	cJSON_AddItemToObject(step, "out", out);
	return step;
}

static cJSON *
program_json(const struct legacy *l)
{
	cJSON *doc = cJSON_CreateObject();
	cJSON *regions = cJSON_AddArrayToObject(doc, "regions");
	cJSON *cpu = cJSON_AddArrayToObject(doc, "cpu");
	cJSON *steps = cJSON_AddArrayToObject(doc, "steps");

	for (uint32_t i = 0; i < l->nregions; i++)
		cJSON_AddItemToArray(regions, region_json(&l->region[i]));
	for (uint32_t i = 0; i < l->nsteps; i++) {
		const struct legacy_step *s = &l->step[i];

		cJSON_AddItemToArray(steps, cJSON_CreateString(s->op));
		if (!s->is_region)
			cJSON_AddItemToArray(cpu, step_json(s));
	}
	return doc;
}

/* ---- comparing ---- */

enum relay_outcome { FAILED, PASSED, DOCUMENTED, NRELAY_OUTCOME };

static const char *const kinds[] = {"kernel_const", "bias_const", "gamma_const",
    "beta_const", "mean_const", "var_const"};

/* Files that cannot be are not compared: what upstream says of them is words.
 */
static void
strip_refusals(cJSON *want)
{
	cJSON *region;

	cJSON_ArrayForEach(
	    region, cJSON_GetObjectItemCaseSensitive(want, "regions"))
	{
		cJSON *c = cJSON_GetObjectItemCaseSensitive(region, "codegen");

		if (cJSON_IsString(c)
		    && strncmp(c->valuestring, "error", 5) == 0)
			cJSON_ReplaceItemInObjectCaseSensitive(
			    region, "codegen", cJSON_CreateString("error"));
	}
}

/* D1 of targets/mrvl/DIVERGENCES.md: with a constant that no layer names,
 * upstream gives layers each other's constants. Taken out of both: what the
 * constants are. False when no constant is nameless. */
static bool
strip_shifted_constants(cJSON *program)
{
	cJSON *region, *node, *attrs, *consts;
	bool any = false;

	cJSON_ArrayForEach(region, cJSON_GetObjectItem(program, "regions"))
	{
		int named = 0;

		consts = cJSON_DetachItemFromObject(region, "consts");
		cJSON_ArrayForEach(node,
		    cJSON_GetObjectItem(
		        cJSON_GetObjectItem(region, "nodes"), "nodes"))
		{
			attrs = cJSON_GetObjectItem(node, "attrs");
			for (size_t i = 0; i < sizeof kinds / sizeof *kinds;
			     i++) {
				cJSON *k =
				    cJSON_DetachItemFromObject(attrs, kinds[i]);

				named += cJSON_HasObjectItem(k, "name");
				cJSON_Delete(k);
			}
		}
		any |= cJSON_GetArraySize(consts) > named;
		cJSON_Delete(consts);
	}
	return any;
}

static enum relay_outcome
same_program(cJSON *want, const struct legacy *l)
{
	cJSON *have = program_json(l);
	enum relay_outcome outcome = FAILED;
	char ignored[256];

	strip_refusals(want);
	/* what runs where says most about a difference: it comes first */
	if (same_json(cJSON_GetObjectItemCaseSensitive(want, "steps"),
	        cJSON_GetObjectItemCaseSensitive(have, "steps"), "steps",
	        complaint, sizeof complaint)
	    && same_json(want, have, "", complaint, sizeof complaint))
		outcome = PASSED;
	else if (strip_shifted_constants(want) && strip_shifted_constants(have)
	    && same_json(want, have, "", ignored, sizeof ignored))
		outcome = DOCUMENTED;
	cJSON_Delete(have);
	return outcome;
}

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

static enum relay_outcome
compare(const char *path, cJSON *want, struct arena *a)
{
	bool throws = cJSON_HasObjectItem(want, "error");
	enum relay_outcome outcome = FAILED;
	struct err err = {.kind = ERR_NONE};
	struct legacy legacy;
	struct model m;

	if (!read_graph(&m, path, a, &err)) {
		complain("%s", err.text);
		return throws ? PASSED : FAILED;
	}
	if (!mrvl_legacy(&legacy, m.graph, a, &err)) {
		complain("%s", err.text);
		outcome = throws ? PASSED : FAILED;
	} else if (throws) {
		complain("upstream throws, this does not");
	} else {
		outcome = same_program(want, &legacy);
	}
	model_close(&m);
	return outcome;
}

static enum relay_outcome
run_case(const char *root, const char *name)
{
	static const char *const word[NRELAY_OUTCOME] = {
	    [FAILED] = "FAILED", [DOCUMENTED] = "DIVERGES as documented (D1)"};
	struct err err = {.kind = ERR_NONE};
	enum relay_outcome outcome = FAILED;
	const char *model, *tvm;
	struct arena a;
	cJSON *want;

	arena_init(&a);
	model = arena_printf(&a, "%s/%s/model.onnx", root, name);
	tvm = arena_printf(&a, "%s/%s/tvm.json", root, name);
	want = jsonin_open(tvm, LIMIT_READ_RESULT, &err);
	if (want)
		outcome = compare(model, want, &a);
	else
		complain("%s", err.text);
	if (word[outcome])
		printf("%s %s: %s\n", word[outcome], name, complaint);
	jsonin_close(want);
	arena_release(&a);
	return outcome;
}

static bool
is_case(const char *root, const char *name)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/%s/tvm.json", root, name);
	return access(path, R_OK) == 0;
}

int
main(int argc, char **argv)
{
	struct dirent **entry;
	unsigned count[NRELAY_OUTCOME] = {0};
	int n;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	n = scandir(argv[1], &entry, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		if (is_case(argv[1], entry[i]->d_name))
			count[run_case(argv[1], entry[i]->d_name)]++;
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
	if (count[DOCUMENTED])
		printf("%u diverge as documented\n", count[DOCUMENTED]);
	printf("%u passed, %u failed\n", count[PASSED], count[FAILED]);
	return count[FAILED] || !count[PASSED];
}
