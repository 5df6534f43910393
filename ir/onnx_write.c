#include "ir/onnx_write.h"

#include <string.h>

#include "ir/pb.h"

/* Field numbers. SOURCE: the ONNX IR specification. */
enum {
	MODEL_IR_VERSION = 1,
	MODEL_PRODUCER = 2,
	MODEL_GRAPH = 7,
	MODEL_OPSET = 8,
	MODEL_META = 14,
	MODEL_FUNCTION = 25,
	GRAPH_NODE = 1,
	GRAPH_NAME = 2,
	GRAPH_INITIALIZER = 5,
	GRAPH_INPUT = 11,
	GRAPH_OUTPUT = 12,
	GRAPH_VALUE_INFO = 13,
	NODE_INPUT = 1,
	NODE_OUTPUT = 2,
	NODE_NAME = 3,
	NODE_OP_TYPE = 4,
	NODE_ATTRIBUTE = 5,
	NODE_DOMAIN = 7,
	NODE_META = 9,
	ATTRIBUTE_NAME = 1,
	ATTRIBUTE_F = 2,
	ATTRIBUTE_I = 3,
	ATTRIBUTE_S = 4,
	ATTRIBUTE_T = 5,
	ATTRIBUTE_G = 6,
	ATTRIBUTE_FLOATS = 7,
	ATTRIBUTE_INTS = 8,
	ATTRIBUTE_STRINGS = 9,
	ATTRIBUTE_TENSORS = 10,
	ATTRIBUTE_GRAPHS = 11,
	ATTRIBUTE_TP = 14,
	ATTRIBUTE_TYPE_PROTOS = 15,
	ATTRIBUTE_TYPE = 20,
	TENSOR_DIMS = 1,
	TENSOR_DATA_TYPE = 2,
	TENSOR_STRING_DATA = 6,
	TENSOR_NAME = 8,
	TENSOR_RAW_DATA = 9,
	FUNCTION_NAME = 1,
	FUNCTION_INPUT = 4,
	FUNCTION_OUTPUT = 5,
	FUNCTION_NODE = 7,
	FUNCTION_OPSET = 9,
	FUNCTION_DOMAIN = 10,
};

static void put_graph(
    struct pb *out, const struct graph *g, const struct onnx_out *meta);

static void
put_tensor(struct pb *out, const char *name, const struct tensor *t)
{
	pb_init(out);
	for (uint32_t i = 0; i < t->rank; i++)
		pb_int(out, TENSOR_DIMS, t->dim[i]);
	pb_int(out, TENSOR_DATA_TYPE, t->dtype);
	pb_str(out, TENSOR_NAME, name);
	if (t->kind != TENSOR_STRINGS) {
		pb_payload(out, TENSOR_RAW_DATA, t);
		return;
	}
	for (size_t i = 0; i < t->count; i++)
		pb_bytes(
		    out, TENSOR_STRING_DATA, t->string[i].s, t->string[i].n);
}

static void
put_shape(struct pb *out, const struct graph *g, const struct type *t)
{
	pb_init(out);
	for (uint32_t i = 0; i < t->rank; i++) {
		struct pb dim;

		pb_init(&dim);
		if (t->dim[i] >= 0)
			pb_int(&dim, 1, t->dim[i]);
		else if (t->dim[i] != DIM_UNKNOWN)
			pb_str(&dim, 2, g->symbol[DIM_SYMBOL(0) - t->dim[i]]);
		pb_message(out, 1, &dim);
	}
}

/* Types nest as deep as the model's own did; the reader bounds that. */
static void
put_type(struct pb *out, const struct graph *g, const struct type *t)
{
	struct pb inner, part;

	pb_init(out);
	if (t->kind == TYPE_SEQUENCE || t->kind == TYPE_OPTIONAL) {
		pb_init(&inner);
		put_type(&part, g, t->elem);
		pb_message(&inner, 1, &part);
		pb_message(out, t->kind == TYPE_SEQUENCE ? 4 : 9, &inner);
	} else if (t->kind == TYPE_TENSOR) {
		pb_init(&inner);
		pb_int(&inner, 1, t->dtype);
		if (t->rank != RANK_UNKNOWN) {
			put_shape(&part, g, t);
			pb_message(&inner, 2, &part);
		}
		pb_message(out, 1, &inner);
	}
}

static void
put_value_info(struct pb *out, uint32_t field, const struct graph *g,
    const struct value *v)
{
	struct pb info, type;

	pb_init(&info);
	pb_str(&info, 1, v->name);
	if (v->type.kind == TYPE_TENSOR || v->type.kind == TYPE_SEQUENCE
	    || v->type.kind == TYPE_OPTIONAL) {
		put_type(&type, g, &v->type);
		pb_message(&info, 2, &type);
	}
	pb_message(out, field, &info);
}

/* Entry i of an attribute, under the field of its single or its list form. */
static void
put_entry(struct pb *out, const struct graph *g, const struct attr *a,
    uint32_t field, uint32_t i)
{
	struct pb part;

	switch (a->kind) {
	case ATTR_FLOAT:
	case ATTR_FLOATS:
		pb_float(out, field, a->floats[i]);
		return;
	case ATTR_INT:
	case ATTR_INTS:
		pb_int(out, field, a->ints[i]);
		return;
	case ATTR_STRING:
	case ATTR_STRINGS:
		pb_bytes(out, field, a->strings[i].s, a->strings[i].n);
		return;
	case ATTR_TYPE:
	case ATTR_TYPES:
		put_type(&part, g, &a->types[i]);
		break;
	case ATTR_GRAPH:
	case ATTR_GRAPHS:
		put_graph(&part, a->graphs[i], NULL);
		break;
	default:
		put_tensor(&part, NULL, &a->tensors[i]);
	}
	pb_message(out, field, &part);
}

static const uint32_t attr_field[] = {
    [ATTR_FLOAT] = ATTRIBUTE_F,
    [ATTR_INT] = ATTRIBUTE_I,
    [ATTR_STRING] = ATTRIBUTE_S,
    [ATTR_TENSOR] = ATTRIBUTE_T,
    [ATTR_GRAPH] = ATTRIBUTE_G,
    [ATTR_FLOATS] = ATTRIBUTE_FLOATS,
    [ATTR_INTS] = ATTRIBUTE_INTS,
    [ATTR_STRINGS] = ATTRIBUTE_STRINGS,
    [ATTR_TENSORS] = ATTRIBUTE_TENSORS,
    [ATTR_GRAPHS] = ATTRIBUTE_GRAPHS,
    [ATTR_SPARSE] = ATTRIBUTE_T, /* read into dense tensors, written so */
    [ATTR_SPARSES] = ATTRIBUTE_TENSORS,
    [ATTR_TYPE] = ATTRIBUTE_TP,
    [ATTR_TYPES] = ATTRIBUTE_TYPE_PROTOS,
};

static void
put_attr(struct pb *node, const struct graph *g, const struct attr *a)
{
	enum attr_kind kind = a->kind == ATTR_SPARSE ? ATTR_TENSOR
	    : a->kind == ATTR_SPARSES                ? ATTR_TENSORS
	                                             : a->kind;
	struct pb out;

	pb_init(&out);
	pb_str(&out, ATTRIBUTE_NAME, a->name);
	for (uint32_t i = 0; i < a->n; i++)
		put_entry(&out, g, a, attr_field[a->kind], i);
	pb_int(&out, ATTRIBUTE_TYPE, kind);
	pb_message(node, NODE_ATTRIBUTE, &out);
}

static void
put_meta(struct pb *out, uint32_t field, const struct onnx_meta *m)
{
	struct pb entry;

	pb_init(&entry);
	pb_str(&entry, 1, m->key);
	pb_str(&entry, 2, m->value);
	pb_message(out, field, &entry);
}

static void
put_node_meta(struct pb *out, const struct onnx_out *meta, node_id id)
{
	struct onnx_meta entry[16];
	uint32_t n;

	if (!meta || !meta->node_meta)
		return;
	n = meta->node_meta(meta->context, id, entry, 16);
	for (uint32_t i = 0; i < n; i++)
		put_meta(out, NODE_META, &entry[i]);
}

static const char *
name_of(const struct graph *g, value_id v)
{
	return v == VALUE_NONE ? "" : graph_value(g, v)->name;
}

static void
put_node(struct pb *out, uint32_t field, const struct graph *g, node_id id,
    const struct onnx_out *meta)
{
	const struct node *n = graph_node(g, id);
	struct pb node;

	pb_init(&node);
	for (uint32_t i = 0; i < n->ninputs; i++)
		pb_str(&node, NODE_INPUT, name_of(g, n->input[i]));
	for (uint32_t i = 0; i < n->noutputs; i++)
		pb_str(&node, NODE_OUTPUT, name_of(g, n->output[i]));
	if (n->name[0])
		pb_str(&node, NODE_NAME, n->name);
	pb_str(&node, NODE_OP_TYPE, n->op_type);
	for (uint32_t i = 0; i < n->nattrs; i++)
		put_attr(&node, g, &n->attr[i]);
	if (n->domain[0])
		pb_str(&node, NODE_DOMAIN, n->domain);
	put_node_meta(&node, meta, id);
	pb_message(out, field, &node);
}

/* Constants somebody reads, or the caller asked for. */
static bool *
used_constants(const struct graph *g, struct arena *a)
{
	bool *used = arena_new(a, bool, g->nvalues);

	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = &g->node[id];

		for (uint32_t i = 0; i < n->ninputs + n->nimplicit; i++)
			if (n->input[i] != VALUE_NONE)
				used[n->input[i]] = true;
	}
	for (uint32_t i = 0; i < g->noutputs; i++)
		used[g->output[i]] = true;
	for (value_id v = 0; v < g->nvalues; v++)
		used[v] &= g->value[v].constant != NULL;
	return used;
}

static void
put_initializers(struct pb *out, const struct graph *g)
{
	struct arena scratch;
	struct pb tensor;
	const bool *used;

	arena_init(&scratch);
	used = used_constants(g, &scratch);
	for (value_id v = 0; v < g->nvalues; v++) {
		if (!used[v])
			continue;
		put_tensor(&tensor, g->value[v].name, g->value[v].constant);
		pb_message(out, GRAPH_INITIALIZER, &tensor);
	}
	arena_release(&scratch);
}

static void
put_value_infos(struct pb *out, const struct graph *g)
{
	for (value_id v = 0; v < g->nvalues; v++) {
		const struct value *value = &g->value[v];

		if (value->producer != NODE_NONE
		    && !(value->flags & VALUE_OUTPUT)
		    && value->type.kind == TYPE_TENSOR
		    && value->type.dtype != DT_UNDEFINED)
			put_value_info(out, GRAPH_VALUE_INFO, g, value);
	}
}

static void
put_graph(struct pb *out, const struct graph *g, const struct onnx_out *meta)
{
	pb_init(out);
	for (node_id id = 0; id < g->nnodes; id++)
		put_node(out, GRAPH_NODE, g, id, meta);
	pb_str(out, GRAPH_NAME, g->name && g->name[0] ? g->name : "graph");
	put_initializers(out, g);
	for (uint32_t i = 0; i < g->ninputs; i++)
		put_value_info(
		    out, GRAPH_INPUT, g, graph_value(g, g->input[i]));
	for (uint32_t i = 0; i < g->noutputs; i++)
		put_value_info(
		    out, GRAPH_OUTPUT, g, graph_value(g, g->output[i]));
	put_value_infos(out, g);
}

static void
put_opsets(struct pb *out, uint32_t field, const struct onnx_out *o)
{
	struct pb opset;

	for (uint32_t i = 0; i < o->nopsets; i++) {
		pb_init(&opset);
		pb_str(&opset, 1, o->opset[i].domain);
		pb_int(&opset, 2, o->opset[i].version);
		pb_message(out, field, &opset);
	}
}

/* A function has no initialisers: its constants are nodes. */
static void
put_constant_nodes(struct pb *out, const struct graph *g)
{
	struct arena scratch;
	const bool *used;

	arena_init(&scratch);
	used = used_constants(g, &scratch);
	for (value_id v = 0; v < g->nvalues; v++) {
		struct attr value = {
		    .name = "value", .kind = ATTR_TENSOR, .n = 1};
		struct pb node;

		if (!used[v])
			continue;
		value.tensors = g->value[v].constant;
		pb_init(&node);
		pb_str(&node, NODE_OUTPUT, g->value[v].name);
		pb_str(&node, NODE_OP_TYPE, "Constant");
		put_attr(&node, g, &value);
		pb_message(out, FUNCTION_NODE, &node);
	}
	arena_release(&scratch);
}

static void
put_function(
    struct pb *model, const struct onnx_out *o, const struct onnx_function *f)
{
	const struct graph *g = f->body;
	struct pb out;

	pb_init(&out);
	pb_str(&out, FUNCTION_NAME, f->name);
	for (uint32_t i = 0; i < g->ninputs; i++)
		pb_str(&out, FUNCTION_INPUT, name_of(g, g->input[i]));
	for (uint32_t i = 0; i < g->noutputs; i++)
		pb_str(&out, FUNCTION_OUTPUT, name_of(g, g->output[i]));
	put_constant_nodes(&out, g);
	for (node_id id = 0; id < g->nnodes; id++)
		put_node(&out, FUNCTION_NODE, g, id, NULL);
	put_opsets(&out, FUNCTION_OPSET, o);
	pb_str(&out, FUNCTION_DOMAIN, f->domain);
	pb_message(model, MODEL_FUNCTION, &out);
}

bool
onnx_write(FILE *f, const struct onnx_out *o, struct err *err)
{
	struct pb model, graph;
	bool ok;

	pb_init(&model);
	pb_int(&model, MODEL_IR_VERSION, o->ir_version);
	pb_str(&model, MODEL_PRODUCER, "marquetry");
	put_graph(&graph, o->graph, o);
	pb_message(&model, MODEL_GRAPH, &graph);
	put_opsets(&model, MODEL_OPSET, o);
	for (uint32_t i = 0; i < o->nmeta; i++)
		put_meta(&model, MODEL_META, &o->meta[i]);
	for (uint32_t i = 0; i < o->nfunctions; i++)
		put_function(&model, o, &o->function[i]);
	ok = pb_write(f, &model, err);
	pb_release(&model);
	return ok;
}

bool
onnx_write_tensor(
    FILE *f, const char *name, const struct tensor *t, struct err *err)
{
	struct pb tensor;
	bool ok;

	put_tensor(&tensor, name, t);
	ok = pb_write(f, &tensor, err);
	pb_release(&tensor);
	return ok;
}
