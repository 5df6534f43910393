/* mod.json: the graph of TVM's graph executor; map.json: what each of its nodes
 * is of. Inputs come first, then params, then functions, so that the driver,
 * which takes a node's number for its entry's, finds the inputs' shapes. */
#include <inttypes.h>

#include "ir/base/json.h"
#include "targets/mrvl/device.h"

/* SOURCE: dlpack, kDLCPU. */
#define DEVICE_CPU 1

static void
write_source(struct json *j, const struct device_source *s)
{
	json_object(j);
	json_key_str(j, "op", "null");
	json_key_str(j, "name", s->name);
	json_key(j, "inputs");
	json_array(j);
	json_close(j);
	json_close(j);
}

static void
write_ref(struct json *j, const struct device *d, struct device_ref r)
{
	json_inline_array(j);
	json_uint(j, device_node(d, r));
	json_uint(j, r.output);
	json_uint(j, 0);
	json_close(j);
}

static void
write_number(struct json *j, const char *key, uint32_t n)
{
	json_key(j, key);
	json_strf(j, "%u", n);
}

static void
write_node(
    struct json *j, const struct device *d, const struct device_function *f)
{
	json_object(j);
	json_key_str(j, "op", "tvm_op");
	json_key_str(j, "name", f->name);
	json_key(j, "attrs");
	json_inline_object(j);
	json_key_str(j, "func_name", f->name);
	json_key_str(j, "flatten_data", "0");
	write_number(j, "num_inputs", f->ninputs);
	write_number(j, "num_outputs", f->noutputs);
	if (f->region != DEVICE_NO_REGION) {
		json_key_str(j, "Compiler", "mrvl");
		json_key_str(j, "global_symbol", f->name);
		json_key_str(j, "mode", "hw");
		json_key_str(
		    j, "compiler_opts_string", d->region[f->region].options);
	}
	json_close(j);
	json_key(j, "inputs");
	json_inline_array(j);
	for (uint32_t i = 0; i < f->ninputs; i++)
		write_ref(j, d, f->input[i]);
	json_close(j);
	json_close(j);
}

static void
write_nodes(struct json *j, const struct device *d)
{
	json_key(j, "nodes");
	json_array(j);
	for (uint32_t i = 0; i < d->ninputs; i++)
		write_source(j, &d->input[i]);
	for (uint32_t i = 0; i < d->nparams; i++)
		write_source(j, &d->param[i]);
	for (uint32_t i = 0; i < d->nfunctions; i++)
		write_node(j, d, &d->function[i]);
	json_close(j);
	json_key(j, "arg_nodes");
	json_inline_array(j);
	for (uint32_t i = 0; i < d->ninputs + d->nparams; i++)
		json_uint(j, i);
	json_close(j);
	json_key(j, "heads");
	json_inline_array(j);
	for (uint32_t i = 0; i < d->nheads; i++)
		write_ref(j, d, d->head[i]);
	json_close(j);
}

/* An attribute of every entry. */
enum list { LIST_SHAPE, LIST_STORAGE, LIST_DEVICE, LIST_TYPE };

static void
write_item(struct json *j, enum list what, const struct device_type *t,
    uint32_t storage)
{
	switch (what) {
	case LIST_SHAPE:
		json_array(j);
		for (uint32_t i = 0; i < t->dims.rank; i++)
			json_int(j, t->dims.dim[i]);
		json_close(j);
		break;
	case LIST_STORAGE:
		json_uint(j, storage);
		break;
	case LIST_DEVICE:
		json_uint(j, DEVICE_CPU);
		break;
	case LIST_TYPE:
		json_str(j, dtype_name(t->dtype));
		break;
	}
}

static void
write_list(struct json *j, const struct device *d, enum list what)
{
	static const struct {
		const char *key, *kind;
	} words[] = {
	    [LIST_SHAPE] = {"shape", "list_shape"},
	    [LIST_STORAGE] = {"storage_id", "list_int"},
	    [LIST_DEVICE] = {"device_index", "list_int"},
	    [LIST_TYPE] = {"dltype", "list_str"},
	};
	uint32_t entry = 0;

	json_key(j, words[what].key);
	json_inline_array(j);
	json_str(j, words[what].kind);
	json_array(j);
	for (uint32_t i = 0; i < d->ninputs; i++, entry++)
		write_item(j, what, &d->input[i].type, entry);
	for (uint32_t i = 0; i < d->nparams; i++, entry++)
		write_item(j, what, &d->param[i].type, entry);
	for (uint32_t i = 0; i < d->nfunctions; i++)
		for (uint32_t k = 0; k < d->function[i].noutputs; k++)
			write_item(j, what, &d->function[i].output[k].type,
			    d->function[i].output[k].storage);
	json_close(j);
	json_close(j);
}

void
device_write_json(FILE *f, const struct device *d)
{
	uint32_t entry = d->ninputs + d->nparams;
	struct json j;

	json_init(&j, f, 1);
	json_object(&j);
	write_nodes(&j, d);
	json_key(&j, "attrs");
	json_object(&j);
	for (enum list l = LIST_SHAPE; l <= LIST_TYPE; l++)
		write_list(&j, d, l);
	json_close(&j);
	json_key(&j, "node_row_ptr");
	json_inline_array(&j);
	for (uint32_t i = 0; i <= entry; i++)
		json_uint(&j, i);
	for (uint32_t i = 0; i < d->nfunctions; i++)
		json_uint(&j, entry += d->function[i].noutputs);
	json_close(&j);
	json_close(&j);
}

static void
write_refs(
    struct json *j, const struct device *d, const struct device_function *f)
{
	const struct graph *g = d->graph;

	json_key(j, "nodes");
	json_array(j);
	for (uint32_t i = 0; i < f->nnodes; i++)
		json_uint(j, f->node[i]);
	json_close(j);
	json_key(j, "onnx");
	json_array(j);
	for (uint32_t i = 0; i < f->nnodes; i++) {
		const struct node *n = graph_node(g, f->node[i]);

		for (uint32_t k = 0; k < n->norigins; k++)
			json_uint(j, n->origin[k].onnx);
	}
	json_close(j);
}

void
device_write_map(FILE *f, const struct device *d)
{
	struct json j;

	json_init(&j, f, 1);
	json_object(&j);
	json_key_str(&j, "schema", "marq.device-map/1");
	json_key(&j, "functions");
	json_array(&j);
	for (uint32_t i = 0; i < d->nfunctions; i++) {
		const struct device_function *u = &d->function[i];
		struct device_ref r = {DEVICE_FUNCTION, i, 0};
		bool region = u->region != DEVICE_NO_REGION;

		json_inline_object(&j);
		json_key_uint(&j, "node", device_node(d, r));
		json_key_str(&j, "name", u->name);
		json_key_str(&j, "kind", region ? "region" : "cpu");
		if (!region)
			json_key_str(&j, "operation", u->operation);
		json_key_uint(&j, "region", u->plan_region);
		write_refs(&j, d, u);
		json_close(&j);
	}
	json_close(&j);
	json_key(&j, "params");
	json_array(&j);
	for (uint32_t i = 0; i < d->nparams; i++) {
		const struct device_source *s = &d->param[i];

		json_inline_object(&j);
		json_key_str(&j, "name", s->name);
		json_key_str(&j, "value",
		    s->value == VALUE_NONE
		        ? NULL
		        : graph_value(d->graph, s->value)->name);
		json_close(&j);
	}
	json_close(&j);
	json_close(&j);
}
