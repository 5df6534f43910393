#include "targets/mrvl/codegen.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "ir/base/json.h"
#include "targets/mrvl/build.h"
#include "targets/mrvl/int8.h"
#include "targets/mrvl/layer.h"
#include "targets/mrvl/options.h"
#include "targets/quant.h"
#include "targets/toolchain.h"

/* SOURCE: the schema is that of codegen.cc and mrvl.py of apache/tvm
 * legacy-v0.19.post. Nearly every attribute is a list of strings; the few that
 * are not are written by hand below. Constants get their names here, fresh per
 * use: upstream renames in place, and names collide. */

struct code_writer {
	struct json json;
	const struct layers *layers;
	struct arena *arena;
};

static const char *const const_key[NCONST] = {
    [CONST_KERNEL] = "kernel",
    [CONST_BIAS] = "bias",
    [CONST_GAMMA] = "gamma",
    [CONST_BETA] = "beta",
    [CONST_MEAN] = "mean",
    [CONST_VAR] = "var",
};

/* ---- names and shapes ---- */

static const char *
layer_name(struct code_writer *w, uint32_t i)
{
	return arena_printf(w->arena, "tvmgen_mrvl_main_%u", i);
}

/* Position among the layer's constants, which its name ends with. */
static const char *
const_name(struct code_writer *w, uint32_t layer, uint32_t which)
{
	const struct layer *l = &w->layers->layer[layer];
	uint32_t number = 0;

	for (uint32_t i = 0; i < which; i++)
		number += l->constant[i] != NULL;
	return arena_printf(
	    w->arena, "%s_const_%u", layer_name(w, layer), number);
}

/* Vectors and rank 3 get a leading 1. */
static struct dims
const_dims(const struct packed *k)
{
	struct dims d = {.rank = k->dims.rank};

	if (d.rank != 1 && d.rank != 3)
		return k->dims;
	d.rank++;
	d.dim[0] = 1;
	for (uint32_t i = 1; i < d.rank; i++)
		d.dim[i] = k->dims.dim[i - 1];
	return d;
}

/* Sums are always written as of rank 4, with ones behind. */
static struct dims
shown(const struct layer *l, const struct dims *d)
{
	struct dims out = *d;

	while (l->kind == LAYER_SUM && out.rank < 4)
		out.dim[out.rank++] = 1;
	return out;
}

static const char *
rank_layout(const struct dims *d)
{
	return d->rank == 4 ? "NHWC" : "NC";
}

static const char *
data_layout(const struct layer *l)
{
	switch (l->kind) {
	case LAYER_LAYOUT:
		return l->src_layout;
	case LAYER_FC:
	case LAYER_RESHAPE:
	case LAYER_FLATTEN:
	case LAYER_SQUEEZE:
		return rank_layout(&l->in[0]);
	default:
		return "NHWC";
	}
}

static const char *
out_layout(const struct layer *l)
{
	switch (l->kind) {
	case LAYER_LAYOUT:
		return l->dst_layout;
	case LAYER_FC:
	case LAYER_SQUEEZE:
		return "NC";
	case LAYER_RESHAPE:
	case LAYER_FLATTEN:
		return rank_layout(&l->out);
	default:
		return "NHWC";
	}
}

/* "n1_Conv2D_NHWC", "n3_FC_NHWC2NC", "n3_Sum2D": counted among those that have
 * a name. */
static const char *
func_name(struct code_writer *w, uint32_t i)
{
	const struct layer *l = &w->layers->layer[i];
	const char *from = data_layout(l), *to = out_layout(l), *name;
	uint32_t number = 0;

	for (uint32_t k = 0; k < i; k++)
		number += w->layers->layer[k].kind != LAYER_BARE;
	name = arena_printf(
	    w->arena, "n%u_%s", number, layer_info(l->kind)->layer_name);

	if (l->kind == LAYER_SUM)
		return name;
	if (strcmp(from, to) == 0)
		return arena_printf(w->arena, "%s_%s", name, from);
	return arena_printf(w->arena, "%s_%s2%s", name, from, to);
}

/* Upstream numbers inputs by their places, layers from behind the inputs. */
static uint32_t
node_index(const struct layers *l, struct layer_ref r)
{
	return r.is_input ? l->input[r.index].place : l->ninputs + r.index;
}

/* A constant that no layer names keeps the name that upstream's serialiser
 * gave it, counting all constants of the region. */
static const char *
loose_name(struct code_writer *w, uint32_t layer, uint32_t which)
{
	uint32_t number = which;

	for (uint32_t i = 0; i < layer; i++) {
		number += w->layers->layer[i].nloose;
		for (uint32_t k = 0; k < NCONST; k++)
			number += w->layers->layer[i].constant[k] != NULL;
	}
	return arena_printf(w->arena, "%s_const_%u", w->layers->symbol, number);
}

/* ---- pieces of JSON ---- */

static void
text(struct code_writer *w, const char *key, const char *value)
{
	json_key(&w->json, key);
	json_inline_array(&w->json);
	json_str(&w->json, value);
	json_close(&w->json);
}

static void
texts(struct code_writer *w, const char *key, const int64_t *value, uint32_t n)
{
	json_key(&w->json, key);
	json_inline_array(&w->json);
	for (uint32_t i = 0; i < n; i++)
		json_strf(&w->json, "%" PRIi64, value[i]);
	json_close(&w->json);
}

static void
shape_texts(struct code_writer *w, const char *key, const struct layer *l,
    const struct dims *d)
{
	struct dims s = shown(l, d);

	texts(w, key, s.dim, s.rank);
}

static void
ints(struct code_writer *w, const struct dims *d)
{
	json_inline_array(&w->json);
	for (uint32_t i = 0; i < d->rank; i++)
		json_int(&w->json, d->dim[i]);
	json_close(&w->json);
}

/* "shape": [[...]] */
static void
shape_list(struct code_writer *w, const struct dims *d)
{
	json_key(&w->json, "shape");
	json_inline_array(&w->json);
	ints(w, d);
	json_close(&w->json);
}

static void
flag(struct code_writer *w, const char *key, bool x)
{
	text(w, key, x ? "1" : "0");
}

static void
real_text(struct code_writer *w, const char *key, float x)
{
	json_key(&w->json, key);
	json_strf(&w->json, "%.17g", (double)x);
}

/* ---- attributes of a layer ---- */

static void
write_window(struct code_writer *w, const struct layer *l, const char *kernel)
{
	texts(w, kernel, l->kernel, 2);
	texts(w, "strides", l->stride, 2);
	texts(w, "dilation", l->dilation, 2);
	texts(w, "padding", l->pad, 4);
}

static void
write_norm(struct code_writer *w, const struct layer *l)
{
	if (!l->constant[CONST_GAMMA])
		return;
	text(w, "axis", "3");
	text(w, "epsilon", arena_printf(w->arena, "%.17g", (double)l->epsilon));
	text(w, "center", "1");
	text(w, "scale", "1");
}

static void
write_const_names(struct code_writer *w, uint32_t i)
{
	const struct layer *l = &w->layers->layer[i];

	for (uint32_t k = 0; k < NCONST; k++) {
		const char *layout = k == CONST_KERNEL
		    ? (l->kind == LAYER_CONV ? "OHWI" : "OI")
		    : (k == CONST_BIAS && l->kind == LAYER_CONV ? "---O"
		                                                : "-O");

		if (!l->constant[k])
			continue;
		text(w, arena_printf(w->arena, "%s_const_name", const_key[k]),
		    const_name(w, i, k));
		text(w, arena_printf(w->arena, "%s_layout", const_key[k]),
		    layout);
	}
}

static void
write_conv(struct code_writer *w, const struct layer *l)
{
	write_window(w, l, "kernel_size");
	text(w, "groups", arena_printf(w->arena, "%" PRIi64, l->groups));
	text(w, "channels", arena_printf(w->arena, "%" PRIi64, l->channels));
	text(w, "out_dtype", "");
	write_norm(w, l);
}

static void
write_fc(struct code_writer *w, const struct layer *l)
{
	text(w, "units",
	    l->has_units ? arena_printf(w->arena, "%" PRIi64, l->channels)
	                 : "");
	text(w, "out_dtype", l->out_float32 ? "float32" : "");
	if (l->flattens)
		text(w, "weights_need_transform", "yes");
}

static void
write_pool(struct code_writer *w, const struct layer *l)
{
	text(w, "layout", "NHWC");
	text(w, "kernel_layout", "HW");
	texts(w, "kernel_layout_shape", l->kernel, 2);
	if (l->kind == LAYER_GLOBALAVGPOOL || l->kind == LAYER_GLOBALMAXPOOL)
		return;
	write_window(w, l, "pool_size");
	flag(w, "ceil_mode", l->ceil_mode);
	if (l->kind == LAYER_AVGPOOL)
		flag(w, "count_include_pad", l->count_include_pad);
}

static void
write_own(struct code_writer *w, const struct layer *l)
{
	switch (l->kind) {
	case LAYER_CONV:
		write_conv(w, l);
		break;
	case LAYER_FC:
		write_fc(w, l);
		break;
	case LAYER_MAXPOOL:
	case LAYER_AVGPOOL:
	case LAYER_GLOBALAVGPOOL:
	case LAYER_GLOBALMAXPOOL:
		write_pool(w, l);
		break;
	case LAYER_CONCAT:
		text(w, "axis", "3");
		break;
	case LAYER_LAYOUT:
		text(w, "src_layout", l->src_layout);
		text(w, "dst_layout", l->dst_layout);
		break;
	default:
		break;
	}
	if (l->relu)
		text(w, "activation_type", "relu");
}

static void
write_shapes(struct code_writer *w, const struct layer *l)
{
	/* upstream keeps one entry only beyond four inputs */
	uint32_t tuples = l->ninputs > 4 ? 1 : l->ninputs;

	shape_texts(w, "data_layout_shape", l, &l->in[0]);
	for (uint32_t i = 0; l->ninputs > 1 && i < l->ninputs; i++)
		shape_texts(w,
		    arena_printf(w->arena, "data_layout_shape_%u", i), l,
		    &l->in[i]);
	json_key(&w->json, "from_tuple_idx");
	json_inline_array(&w->json);
	for (uint32_t i = 0; i < tuples; i++)
		json_str(&w->json, "-1");
	json_close(&w->json);
	shape_texts(w, "out_layout_shape", l, &l->out);
}

/* {shape, dtype, min, max, name}; batch norm's have no range. */
static void
write_const_facts(struct code_writer *w, uint32_t i, uint32_t which)
{
	const struct packed *k = w->layers->layer[i].constant[which];
	struct dims d;
	float min, max;

	json_key(
	    &w->json, arena_printf(w->arena, "%s_const", const_key[which]));
	json_object(&w->json);
	if (k) {
		d = const_dims(k);
		json_key(&w->json, "shape");
		ints(w, &d);
		json_key_str(&w->json, "dtype", "float32");
		if (which <= CONST_BIAS) {
			packed_range(k, &min, &max);
			real_text(w, "min", min);
			real_text(w, "max", max);
		}
		json_key_str(&w->json, "name", const_name(w, i, which));
	}
	json_close(&w->json);
}

static void
write_tail(struct code_writer *w, uint32_t i)
{
	const struct layer *l = &w->layers->layer[i];
	struct dims out = shown(l, &l->out);
	uint32_t n = l->ninputs + l->nloose;

	for (uint32_t k = 0; k < NCONST; k++)
		n += l->constant[k] != NULL;
	shape_list(w, &out);
	text(w, "dtype", "float32");
	json_key(&w->json, "num_inputs");
	json_strf(&w->json, "%u", n);
	json_key_str(&w->json, "num_outputs", "1");
	json_key(&w->json, "mrvl_nodes_idx");
	json_inline_array(&w->json);
	json_uint(&w->json, (uint64_t)i + 1);
	json_close(&w->json);
	for (uint32_t k = 0; k < NCONST; k++)
		write_const_facts(w, i, k);
}

/* compat: a convolution or a product that upstream lets through as a bare
 * operator. */
static void
write_bare(struct code_writer *w, const struct layer *l)
{
	if (strcmp(l->bare, "nn.dense") == 0) {
		write_fc(w, l);
		return;
	}
	write_conv(w, l);
	text(w, "data_layout", "NHWC");
	text(w, "kernel_layout", "OHWI");
	text(w, "out_layout", "NHWC");
}

static void
write_attributes(struct code_writer *w, uint32_t i)
{
	const struct layer *l = &w->layers->layer[i];
	const struct layer_info *info = layer_info(l->kind);

	json_key(&w->json, "attrs");
	json_object(&w->json);
	if (l->kind == LAYER_BARE) {
		write_bare(w, l);
	} else {
		text(w, "layer_name", info->layer_name);
		text(w, "func_name", func_name(w, i));
		text(w, "func_node_name", w->layers->symbol);
		if (info->composite)
			text(w, "composite_name", info->composite);
		write_own(w, l);
		text(w, "data_layout", data_layout(l));
		text(w, "out_layout", out_layout(l));
		write_const_names(w, i);
		write_shapes(w, l);
	}
	write_tail(w, i);
	json_close(&w->json);
}

/* ---- nodes ---- */

static void
write_input(struct code_writer *w, uint32_t i)
{
	const struct dims *d = &w->layers->input[i].dims;

	json_object(&w->json);
	json_key_str(&w->json, "op", "input");
	json_key(&w->json, "name");
	json_strf(&w->json, "mrvl_%u_i%u", w->layers->number,
	    w->layers->input[i].place);
	json_key(&w->json, "attrs");
	json_object(&w->json);
	text(w, "dtype", "float32");
	shape_list(w, d);
	text(w, "layer_name", "input");
	/* upstream says so whatever the order of a rank-4 input's bytes */
	text(w, "data_layout", d->rank == 2 ? "NC" : "NCHW");
	json_close(&w->json);
	json_key(&w->json, "inputs");
	json_inline_array(&w->json);
	json_close(&w->json);
	json_key(&w->json, "input_id");
	json_inline_array(&w->json);
	json_strf(&w->json, "%u", w->layers->input[i].place);
	json_close(&w->json);
	json_close(&w->json);
}

static void
write_entry(struct code_writer *w, uint32_t node)
{
	json_inline_array(&w->json);
	json_uint(&w->json, node);
	json_uint(&w->json, 0);
	json_uint(&w->json, 0);
	json_close(&w->json);
}

static void
write_layer(struct code_writer *w, uint32_t i)
{
	const struct layer *l = &w->layers->layer[i];

	json_object(&w->json);
	json_key_str(&w->json, "op", "tvm_op");
	json_key_str(&w->json, "name", layer_name(w, i));
	write_attributes(w, i);
	json_key(&w->json, "inputs");
	json_inline_array(&w->json);
	for (uint32_t k = 0; k < l->ninputs; k++)
		write_entry(w, node_index(w->layers, l->input[k]));
	json_close(&w->json);
	json_close(&w->json);
}

/* Every node's shape and type once more, in order. */
static void
write_summary(struct code_writer *w)
{
	const struct layers *l = w->layers;

	json_key(&w->json, "attrs");
	json_object(&w->json);
	json_key(&w->json, "shape");
	json_inline_array(&w->json);
	json_str(&w->json, "list_shape");
	json_inline_array(&w->json);
	for (uint32_t i = 0; i < l->ninputs; i++)
		ints(w, &l->input[i].dims);
	for (uint32_t i = 0; i < l->nlayers; i++) {
		struct dims d = shown(&l->layer[i], &l->layer[i].out);

		ints(w, &d);
	}
	json_close(&w->json);
	json_close(&w->json);
	json_key(&w->json, "dltype");
	json_inline_array(&w->json);
	json_str(&w->json, "list_str");
	json_inline_array(&w->json);
	for (uint32_t i = 0; i < l->ninputs + l->nlayers; i++)
		json_str(&w->json, "float32");
	json_close(&w->json);
	json_close(&w->json);
	json_close(&w->json);
}

int64_t
mrvl_batch(const struct layers *l)
{
	const struct dims *d = &l->input[l->ninputs - 1].dims;

	return d->rank ? d->dim[0] : 1;
}

void
mrvl_write_nodes(FILE *f, const struct layers *l, struct arena *a)
{
	struct code_writer w = {.layers = l, .arena = a};

	json_init(&w.json, f, 2);
	json_object(&w.json);
	json_key_str(&w.json, "symbol", l->symbol);
	json_key(&w.json, "nodes");
	json_array(&w.json);
	for (uint32_t i = 0; i < l->ninputs; i++)
		write_input(&w, i);
	for (uint32_t i = 0; i < l->nlayers; i++)
		write_layer(&w, i);
	json_close(&w.json);
	json_key(&w.json, "arg_nodes");
	json_inline_array(&w.json);
	for (uint32_t i = 0; i < l->ninputs; i++)
		json_uint(&w.json, l->input[i].place);
	json_close(&w.json);
	json_key(&w.json, "heads");
	json_inline_array(&w.json);
	for (uint32_t i = 0; i < l->noutputs; i++)
		write_entry(&w, node_index(l, l->output[i].from));
	json_close(&w.json);
	json_key(&w.json, "batch_size");
	json_strf(&w.json, "%" PRIi64, mrvl_batch(l));
	json_key(&w.json, "num_subgraph_inputs");
	json_strf(&w.json, "%u", l->ninputs);
	json_key(&w.json, "num_subgraph_outputs");
	json_strf(&w.json, "%u", l->noutputs);
	write_summary(&w);
	json_close(&w.json);
}

/* ---- constants ---- */

static void
write_content(struct code_writer *w, const struct packed *k)
{
	size_t n = dims_count(&k->dims);
	float chunk[3 * 512];

	json_base64_open(&w->json);
	for (size_t done = 0; done < n;) {
		size_t some = n - done;

		if (some > sizeof chunk / sizeof *chunk)
			some = sizeof chunk / sizeof *chunk;
		packed_read(k, done, some, chunk);
		json_base64_more(&w->json, chunk, some * sizeof *chunk);
		done += some;
	}
	json_base64_close(&w->json);
}

static void
write_const(struct code_writer *w, const char *name, const struct packed *c)
{
	struct dims d = const_dims(c);
	float min, max;

	packed_range(c, &min, &max);
	json_key(&w->json, name);
	json_object(&w->json);
	json_key(&w->json, "shape");
	ints(w, &d);
	json_key_str(&w->json, "dtype", "float32");
	real_text(w, "min", min);
	real_text(w, "max", max);
	json_key(&w->json, "data_base64");
	write_content(w, c);
	json_close(&w->json);
}

void
mrvl_write_consts(FILE *f, const struct layers *l, struct arena *a)
{
	struct code_writer w = {.layers = l, .arena = a};

	json_init(&w.json, f, 2);
	json_object(&w.json);
	for (uint32_t i = 0; i < l->nlayers; i++) {
		const struct layer *layer = &l->layer[i];

		for (uint32_t k = 0; k < layer->nloose; k++)
			write_const(&w, loose_name(&w, i, k), layer->loose[k]);
		for (uint32_t k = 0; k < NCONST; k++)
			if (layer->constant[k])
				write_const(&w, const_name(&w, i, k),
				    layer->constant[k]);
	}
	json_close(&w.json);
}

/* ---- the map ---- */

static void
write_onnx(struct code_writer *w, const struct graph *g, const struct layer *l)
{
	json_key(&w->json, "onnx");
	json_array(&w->json);
	for (uint32_t i = 0; i < l->nnodes; i++) {
		const struct node *n = graph_node(g, l->node[i]);

		for (uint32_t k = 0; g->origin_table && k < n->norigins; k++) {
			const struct onnx_node *o =
			    &g->origin_table->node[n->origin[k].onnx];

			json_inline_object(&w->json);
			json_key_str(&w->json, "name", o->name);
			json_key_str(&w->json, "op_type", o->op_type);
			json_key_uint(&w->json, "index", o->index);
			json_key_str(&w->json, "graph", o->path);
			json_key(&w->json, "outputs");
			json_inline_array(&w->json);
			for (uint32_t v = 0; v < o->noutputs; v++)
				json_str(&w->json, o->outputs[v]);
			json_close(&w->json);
			json_close(&w->json);
		}
	}
	json_close(&w->json);
}

static void
write_const_sources(struct code_writer *w, const struct graph *g, uint32_t i)
{
	const struct layer *l = &w->layers->layer[i];

	json_key(&w->json, "consts");
	json_object(&w->json);
	for (uint32_t k = 0; k < NCONST; k++) {
		if (!l->constant[k])
			continue;
		json_key(&w->json, const_name(w, i, k));
		json_inline_array(&w->json);
		for (const struct packed *c = l->constant[k]; c; c = c->plus)
			if (c->value != VALUE_NONE)
				json_str(&w->json, g->value[c->value].name);
		json_close(&w->json);
	}
	json_close(&w->json);
}

static void
write_scale(struct code_writer *w, value_id v)
{
	const struct quant *q = format_quant(w->layers->held, v);

	json_inline_object(&w->json);
	json_key_str(&w->json, "type", q && q->is_unsigned ? "uint8" : "int8");
	json_key_real(&w->json, "scale", q ? (double)q->scale : 0);
	json_key_int(&w->json, "zero_point", q ? q->zero : 0);
	json_close(&w->json);
}

static void
write_weight_scales(struct code_writer *w, const struct layer *l)
{
	const struct formats *f = w->layers->held;
	struct int8_weights weights;

	int8_weights_of(&weights, l, format_quant(f, l->operand[0]),
	    format_quant(f, l->result), w->arena);
	json_key(&w->json, "weight_scales");
	json_inline_array(&w->json);
	for (uint32_t o = 0; o < weights.channels; o++)
		json_real(&w->json, (double)weights.scale[o]);
	json_close(&w->json);
}

/* What 8 bits mean to the layer; no format of the compiler's has a place for it
 * that is known. */
static void
write_scales(struct code_writer *w, const struct layer *l)
{
	json_key(&w->json, "quantization");
	json_object(&w->json);
	json_key(&w->json, "inputs");
	json_array(&w->json);
	for (uint32_t i = 0; i < l->ninputs; i++)
		write_scale(w, l->operand[i]);
	json_close(&w->json);
	json_key(&w->json, "output");
	write_scale(w, l->result);
	if (l->constant[CONST_KERNEL])
		write_weight_scales(w, l);
	json_close(&w->json);
}

static void
write_map_layer(struct code_writer *w, const struct graph *g, uint32_t i)
{
	const struct layer *l = &w->layers->layer[i];
	const char *composite = layer_info(l->kind)->composite;

	json_object(&w->json);
	json_key_uint(&w->json, "mrvl_nodes_idx", (uint64_t)i + 1);
	json_key_str(&w->json, "name", layer_name(w, i));
	if (l->kind != LAYER_BARE)
		json_key_str(&w->json, "func_name", func_name(w, i));
	json_key_str(&w->json, "composite", composite);
	json_key_str(&w->json, "value",
	    l->result == VALUE_NONE ? NULL : g->value[l->result].name);
	json_key(&w->json, "ir_nodes");
	json_inline_array(&w->json);
	for (uint32_t k = 0; k < l->nnodes; k++)
		json_uint(&w->json, l->node[k]);
	json_close(&w->json);
	write_onnx(w, g, l);
	write_const_sources(w, g, i);
	if (w->layers->held)
		write_scales(w, l);
	json_close(&w->json);
}

void
mrvl_write_map(
    FILE *f, const struct layers *l, const struct graph *g, struct arena *a)
{
	struct code_writer w = {.layers = l, .arena = a};

	json_init(&w.json, f, 1);
	json_object(&w.json);
	json_key_str(&w.json, "format", "marquetry-mrvl-map");
	json_key_int(&w.json, "version", 1);
	json_key_str(&w.json, "symbol", l->symbol);
	json_key_str(&w.json, "precision", l->held ? "int8" : "fp16");
	json_key(&w.json, "inputs");
	json_inline_array(&w.json);
	for (uint32_t i = 0; i < l->ninputs; i++)
		json_str(&w.json, g->value[l->input[i].value].name);
	json_close(&w.json);
	json_key(&w.json, "outputs");
	json_inline_array(&w.json);
	for (uint32_t i = 0; i < l->noutputs; i++)
		json_str(&w.json, g->value[l->output[i].value].name);
	json_close(&w.json);
	json_key(&w.json, "layers");
	json_array(&w.json);
	for (uint32_t i = 0; i < l->nlayers; i++)
		write_map_layer(&w, g, i);
	json_close(&w.json);
	json_close(&w.json);
	fputc('\n', f);
}

/* ---- whole regions ---- */

const char *
mrvl_func_name(const struct layers *l, uint32_t layer, struct arena *a)
{
	struct code_writer w = {.layers = l, .arena = a};

	return l->layer[layer].kind == LAYER_BARE ? NULL : func_name(&w, layer);
}

uint32_t
mrvl_constants(const struct layers *l, uint32_t layer,
    struct toolchain_constant *out, struct arena *a)
{
	struct code_writer w = {.layers = l, .arena = a};
	uint32_t n = 0;

	for (uint32_t k = 0; k < NCONST; k++) {
		const struct packed *c = l->layer[layer].constant[k];
		value_id *value;
		uint32_t nvalues = 0;

		if (!c)
			continue;
		out[n].name = const_name(&w, layer, k);
		for (const struct packed *p = c; p; p = p->plus)
			nvalues += p->value != VALUE_NONE;
		value = arena_new(a, value_id, nvalues);
		out[n].value = value;
		out[n++].nvalues = nvalues;
		for (const struct packed *p = c; p; p = p->plus)
			if (p->value != VALUE_NONE)
				*value++ = p->value;
	}
	return n;
}

const char *
mrvl_command(const struct target *t, const struct layers *l, struct arena *a)
{
	return arena_printf(a,
	    "mrvl-tmlc -mn %s -f1 %s-nodes.json -f2 %s-consts.json %s "
	    "-b %" PRIi64,
	    l->symbol, l->symbol, l->symbol,
	    mrvl_compiler_options(mrvl_of(t), a), mrvl_batch(l));
}
