#include "ir/onnx_write.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "ir/base/limits.h"
#include "ir/wire_out.h"

/* Field numbers of ir/onnx.proto, as far as they are written. */
enum { MODEL_IR = 1, MODEL_PRODUCER = 2, MODEL_GRAPH = 7, MODEL_OPSET = 8 };
enum { MODEL_META = 14, MODEL_FUNCTION = 25 };
enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_INITIALIZER = 5 };
enum { GRAPH_INPUT = 11, GRAPH_OUTPUT = 12, GRAPH_VALUE_INFO = 13 };
enum { GRAPH_META = 16 };
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, NODE_TYPE = 4 };
enum { NODE_ATTRIBUTE = 5, NODE_DOC = 6, NODE_DOMAIN = 7, NODE_META = 9 };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_F = 2, ATTRIBUTE_I = 3, ATTRIBUTE_S = 4 };
enum { ATTRIBUTE_T = 5, ATTRIBUTE_G = 6, ATTRIBUTE_FLOATS = 7 };
enum { ATTRIBUTE_INTS = 8, ATTRIBUTE_STRINGS = 9, ATTRIBUTE_TENSORS = 10 };
enum { ATTRIBUTE_GRAPHS = 11, ATTRIBUTE_TP = 14, ATTRIBUTE_TPS = 15 };
enum { ATTRIBUTE_TYPE = 20 };
enum { TENSOR_DIMS = 1, TENSOR_TYPE = 2, TENSOR_STRING_DATA = 6 };
enum { TENSOR_INT64S = 7, TENSOR_NAME = 8, TENSOR_RAW = 9 };
enum { TENSOR_EXTERNAL = 13, TENSOR_LOCATION = 14 };
enum { FUNCTION_NAME = 1, FUNCTION_INPUT = 4, FUNCTION_OUTPUT = 5 };
enum { FUNCTION_NODE = 7, FUNCTION_OPSET = 9, FUNCTION_DOMAIN = 10 };
enum { PAIR_KEY = 1, PAIR_VALUE = 2 };

/* SOURCE: the ONNX IR specification: nodes have metadata_props since. */
#define IR_NODE_META 10u

/* A graph being written, and what it stands in. */
struct write_scope {
	const struct graph *g;
	const char **name; /* of each value */
	const struct write_scope *outer; /* NULL: main graph or function */
	const struct node *owner; /* of a sub-graph, in outer->g */
	const struct onnx_out *main; /* of the main graph, or NULL */
	const struct onnx_out *out; /* remarks of its nodes, or NULL */
	struct arena *a;
};

/* Tag of holes whose content the caller may make: 1 + a main graph's value. */
#define TAG_NONE 0u

static void write_graph(
    struct wire_out *w, uint32_t field, const struct write_scope *p);

static void
write_pair(struct wire_out *w, uint32_t field, const struct onnx_meta *meta)
{
	struct wire_out pair;

	wire_out_init(&pair);
	wire_out_str(&pair, PAIR_KEY, meta->key);
	wire_out_str(&pair, PAIR_VALUE, meta->value);
	wire_out_message(w, field, &pair);
}

static void
write_opset(struct wire_out *w, uint32_t field, const struct onnx_opset *o)
{
	struct wire_out opset;

	wire_out_init(&opset);
	wire_out_str(&opset, 1, o->domain);
	wire_out_int(&opset, 2, o->version);
	wire_out_message(w, field, &opset);
}

static void
write_tensor_fields(
    struct wire_out *w, const char *name, const struct tensor *t, uint32_t tag)
{
	assert(t->kind != TENSOR_SEQUENCE && t->kind != TENSOR_NONE);
	for (uint32_t i = 0; i < t->rank; i++)
		wire_out_int(w, TENSOR_DIMS, t->dim[i]);
	wire_out_int(w, TENSOR_TYPE, t->dtype);
	if (name[0])
		wire_out_str(w, TENSOR_NAME, name);
	if (t->made_up)
		return; /* the model had none either */
	if (t->kind == TENSOR_STRINGS)
		for (size_t i = 0; i < t->count; i++)
			wire_out_bytes(w, TENSOR_STRING_DATA, t->string[i].s,
			    t->string[i].n);
	else
		wire_out_content(w, TENSOR_RAW, t, tag);
}

static void
write_tensor(struct wire_out *w, uint32_t field, const char *name,
    const struct tensor *t, uint32_t tag)
{
	struct wire_out tensor;

	wire_out_init(&tensor);
	write_tensor_fields(&tensor, name, t, tag);
	wire_out_message(w, field, &tensor);
}

static void
write_shape(struct wire_out *w, const struct graph *g, const struct type *t)
{
	struct wire_out shape;

	wire_out_init(&shape);
	for (uint32_t i = 0; i < t->rank; i++) {
		struct wire_out dim;

		wire_out_init(&dim);
		if (t->dim[i] >= 0)
			wire_out_int(&dim, 1, t->dim[i]);
		else if (t->dim[i] != DIM_UNKNOWN)
			wire_out_str(
			    &dim, 2, g->symbol[DIM_SYMBOL(0) - t->dim[i]]);
		wire_out_message(&shape, 1, &dim);
	}
	wire_out_message(w, 2, &shape);
}

/* Recursion is as deep as the type. */
static void
write_type(struct wire_out *w, uint32_t field, const struct graph *g,
    const struct type *t)
{
	struct wire_out type, inner;

	if (t && t->kind == TYPE_OPAQUE) {
		wire_out_bytes(w, field, t->proto ? t->proto->s : "",
		    t->proto ? t->proto->n : 0);
		return;
	}
	wire_out_init(&type);
	wire_out_init(&inner);
	switch (t ? t->kind : TYPE_UNKNOWN) {
	case TYPE_TENSOR:
		wire_out_int(&inner, 1, t->dtype);
		if (t->rank != RANK_UNKNOWN)
			write_shape(&inner, g, t);
		wire_out_message(&type, 1, &inner);
		break;
	case TYPE_SEQUENCE:
		write_type(&inner, 1, g, t->elem);
		wire_out_message(&type, 4, &inner);
		break;
	case TYPE_OPTIONAL:
		write_type(&inner, 1, g, t->elem);
		wire_out_message(&type, 9, &inner);
		break;
	default:
		wire_out_release(&inner);
	}
	wire_out_message(w, field, &type);
}

/* Is enough known of a type to state it? */
static bool
is_writable(const struct type *t)
{
	return (t->kind == TYPE_TENSOR && t->dtype != DT_UNDEFINED)
	    || t->kind == TYPE_SEQUENCE || t->kind == TYPE_OPTIONAL
	    || (t->proto && t->proto->n > 0);
}

static void
write_value_info(
    struct wire_out *w, uint32_t field, const struct write_scope *p, value_id v)
{
	const struct type *t = &graph_value(p->g, v)->type;
	struct wire_out info;

	wire_out_init(&info);
	wire_out_str(&info, 1, p->name[v]);
	if (is_writable(t))
		write_type(&info, 2, p->g, t);
	wire_out_message(w, field, &info);
}

static const struct write_scope *
inner_place(struct write_scope *in, const struct write_scope *p,
    const struct node *n, const struct graph *g)
{
	*in = (struct write_scope){.g = g, .outer = p, .owner = n, .a = p->a};
	return in;
}

static void
write_string(struct wire_out *w, uint32_t field, const struct string_view *s)
{
	wire_out_bytes(w, field, s->s, s->n);
}

/* A flat switch: one case a kind. */
static void
write_attr_value(struct wire_out *w, const struct write_scope *p,
    const struct node *n, const struct attr *a)
{
	struct write_scope in;

	for (uint32_t i = 0; i < a->n; i++)
		switch (a->kind) {
		case ATTR_FLOAT:
			wire_out_float(w, ATTRIBUTE_F, a->floats[i]);
			break;
		case ATTR_INT:
			wire_out_int(w, ATTRIBUTE_I, a->ints[i]);
			break;
		case ATTR_STRING:
			write_string(w, ATTRIBUTE_S, &a->strings[i]);
			break;
		case ATTR_TENSOR:
		case ATTR_SPARSE:
			write_tensor(
			    w, ATTRIBUTE_T, "", &a->tensors[i], TAG_NONE);
			break;
		case ATTR_GRAPH:
			write_graph(w, ATTRIBUTE_G,
			    inner_place(&in, p, n, a->graphs[i]));
			break;
		case ATTR_FLOATS:
			wire_out_float(w, ATTRIBUTE_FLOATS, a->floats[i]);
			break;
		case ATTR_INTS:
			wire_out_int(w, ATTRIBUTE_INTS, a->ints[i]);
			break;
		case ATTR_STRINGS:
			write_string(w, ATTRIBUTE_STRINGS, &a->strings[i]);
			break;
		case ATTR_TENSORS:
		case ATTR_SPARSES:
			write_tensor(
			    w, ATTRIBUTE_TENSORS, "", &a->tensors[i], TAG_NONE);
			break;
		case ATTR_GRAPHS:
			write_graph(w, ATTRIBUTE_GRAPHS,
			    inner_place(&in, p, n, a->graphs[i]));
			break;
		case ATTR_TYPE:
			write_type(w, ATTRIBUTE_TP, p->g, &a->types[i]);
			break;
		case ATTR_TYPES:
			write_type(w, ATTRIBUTE_TPS, p->g, &a->types[i]);
			break;
		case ATTR_NONE:
			assert(0 && "an attribute without a kind");
		}
}

static void
write_attr(struct wire_out *w, const struct write_scope *p,
    const struct node *n, const struct attr *a)
{
	enum attr_kind kind = a->kind == ATTR_SPARSE ? ATTR_TENSOR
	    : a->kind == ATTR_SPARSES                ? ATTR_TENSORS
	                                             : a->kind;
	struct wire_out attr;

	wire_out_init(&attr);
	wire_out_str(&attr, ATTRIBUTE_NAME, a->name);
	write_attr_value(&attr, p, n, a);
	wire_out_int(&attr, ATTRIBUTE_TYPE, kind);
	wire_out_message(w, NODE_ATTRIBUTE, &attr);
}

/* Is the origin what the node is, or was written out from? */
static bool
is_author(const struct origin *o)
{
	return o->role == ROLE_KEPT || o->role == ROLE_SPLIT;
}

/* What the model's author remarked of a node, or of the call it is written out
 * from; marks are for us, and not handed on. */
static void
write_own_meta(
    struct wire_out *w, const struct write_scope *p, const struct node *n)
{
	const struct onnx_node *o = NULL;

	for (uint32_t i = 0; i < n->norigins && !o; i++)
		if (is_author(&n->origin[i])
		    && n->origin[i].onnx < p->g->origin_table->n)
			o = &p->g->origin_table->node[n->origin[i].onnx];
	for (uint32_t i = 0; o && i < o->nmeta; i++)
		if (strncmp(o->meta[i].key, MARK_PREFIX, strlen(MARK_PREFIX)))
			write_pair(w, NODE_META, &o->meta[i]);
}

static void
write_remark(struct wire_out *w, const struct write_scope *p, node_id id)
{
	struct onnx_meta meta;

	if (!p->out || !p->out->remark)
		return;
	meta = p->out->remark(p->out->context, p->g, id);
	if (!meta.key)
		return;
	if (p->out->ir_version >= IR_NODE_META)
		write_pair(w, NODE_META, &meta);
	else
		wire_out_str(
		    w, NODE_DOC, arena_printf(p->a, "marq: %s", meta.value));
}

static void
write_node(
    struct wire_out *w, uint32_t field, const struct write_scope *p, node_id id)
{
	const struct node *n = graph_node(p->g, id);
	struct wire_out node;

	wire_out_init(&node);
	for (uint32_t i = 0; i < n->ninputs; i++)
		wire_out_str(&node, NODE_INPUT,
		    n->input[i] == VALUE_NONE ? "" : p->name[n->input[i]]);
	for (uint32_t i = 0; i < n->noutputs; i++)
		wire_out_str(&node, NODE_OUTPUT,
		    n->output[i] == VALUE_NONE ? "" : p->name[n->output[i]]);
	if (n->name && n->name[0])
		wire_out_str(&node, NODE_NAME, n->name);
	wire_out_str(&node, NODE_TYPE, n->op_type);
	for (uint32_t i = 0; i < n->nattrs; i++)
		write_attr(&node, p, n, &n->attr[i]);
	if (n->domain[0])
		wire_out_str(&node, NODE_DOMAIN, n->domain);
	write_own_meta(&node, p, n);
	write_remark(&node, p, id);
	wire_out_message(w, field, &node);
}

/* Which constants the graph itself must carry: those something in it reads,
 * but not what it captures from outside. */
static bool *
find_carried(const struct write_scope *p)
{
	const struct graph *g = p->g;
	bool *carried = arena_new(p->a, bool, g->nvalues);

	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = &g->node[id];

		for (uint32_t i = 0; i < n->ninputs + n->nimplicit; i++)
			if (n->input[i] != VALUE_NONE)
				carried[n->input[i]] = true;
	}
	for (uint32_t i = 0; i < g->noutputs; i++)
		carried[g->output[i]] = true;
	for (uint32_t i = 0; i < g->ncaptures; i++)
		carried[g->capture[i].inner] = false;
	for (uint32_t i = 0; i < g->ninputs; i++)
		carried[g->input[i]] = false;
	for (value_id v = 0; v < g->nvalues; v++)
		carried[v] &=
		    g->value[v].constant && g->value[v].producer == NODE_NONE;
	return carried;
}

/* Names of values here; captured ones are called what they are outside. */
static void
name_values(struct write_scope *p)
{
	const struct graph *g = p->g;

	p->name = arena_new(p->a, const char *, g->nvalues);
	for (value_id v = 0; v < g->nvalues; v++)
		p->name[v] = g->value[v].name;
	for (uint32_t i = 0; p->owner && i < g->ncaptures; i++) {
		const struct capture *c = &g->capture[i];

		p->name[c->inner] =
		    p->outer
		        ->name[p->owner->input[p->owner->ninputs + c->slot]];
	}
}

/* TUNING: a FILL below this many elements is not worth a node. */
#define LIGHT_LEAST 16

/* SOURCE: ConstantOfShape came with opset 9, with these types. */
static bool
may_be_light(const struct onnx_out *o, const struct tensor *t)
{
	uint32_t version = 0;

	for (uint32_t i = 0; i < o->nopsets; i++)
		if (!*o->opset[i].domain)
			version = o->opset[i].version;
	return version >= 9 && o->light_bytes && t->bytes >= o->light_bytes
	    && t->dtype <= DT_UINT64 && t->dtype != DT_STRING;
}

static bool
is_light(const struct write_scope *p, value_id v)
{
	const struct tensor *t = p->g->value[v].constant;

	return p->main && t->kind == TENSOR_FILL && t->rank > 0
	    && t->count >= LIGHT_LEAST
	    && (p->main->light || may_be_light(p->main, t));
}

/* A constant as ConstantOfShape over its shape, which is an initialiser. */
static void
write_light(struct wire_out *graph, const struct write_scope *p, value_id v)
{
	const struct tensor *t = p->g->value[v].constant;
	const char *shape = arena_printf(p->a, "%s/shape", p->name[v]);
	struct wire_out node, attr, part;
	static const int64_t one[] = {1};
	struct tensor *element = arena_new(p->a, struct tensor, 1);

	*element = tensor_fill(t->dtype, 1, one, t->fill);
	wire_out_init(&node);
	wire_out_init(&attr);
	wire_out_str(&node, NODE_INPUT, shape);
	wire_out_str(&node, NODE_OUTPUT, p->name[v]);
	wire_out_str(&node, NODE_TYPE, "ConstantOfShape");
	wire_out_str(&attr, ATTRIBUTE_NAME, "value");
	write_tensor(&attr, ATTRIBUTE_T, "", element, TAG_NONE);
	wire_out_int(&attr, ATTRIBUTE_TYPE, ATTR_TENSOR);
	wire_out_message(&node, NODE_ATTRIBUTE, &attr);
	wire_out_message(graph, GRAPH_NODE, &node);
	wire_out_init(&part);
	wire_out_int(&part, TENSOR_DIMS, t->rank);
	wire_out_int(&part, TENSOR_TYPE, DT_INT64);
	wire_out_ints(&part, TENSOR_INT64S, t->dim, t->rank);
	wire_out_str(&part, TENSOR_NAME, shape);
	wire_out_message(graph, GRAPH_INITIALIZER, &part);
}

/* What lies beside the model begins on a page, so that it is mapped as it is. */
#define PAGE 4096u
#define EXTERNAL 1 /* TensorProto.DataLocation */

static bool
is_beside(const struct write_scope *p, value_id v)
{
	const struct tensor *t = p->g->value[v].constant;
	const struct onnx_out *o = p->main;
	uint64_t at;

	if (!o || !o->beside || is_light(p, v))
		return false;
	if (o->lies)
		return o->lies(o->context, t, &at);
	return t->kind <= TENSOR_FILL && !t->made_up
	    && t->bytes >= o->beside_bytes;
}

static size_t
next_page(size_t end)
{
	return (end + PAGE - 1) / PAGE * PAGE;
}

/* A constant whose content is at `at` of the file beside. */
static void
write_named(
    struct wire_out *graph, const struct write_scope *p, value_id v, size_t at)
{
	const struct tensor *t = p->g->value[v].constant;
	const struct onnx_meta where[] = {
	    {"location", p->main->beside},
	    {"offset", arena_printf(p->a, "%zu", at)},
	    {"length", arena_printf(p->a, "%zu", t->bytes)},
	};
	struct wire_out tensor;

	wire_out_init(&tensor);
	for (uint32_t i = 0; i < t->rank; i++)
		wire_out_int(&tensor, TENSOR_DIMS, t->dim[i]);
	wire_out_int(&tensor, TENSOR_TYPE, t->dtype);
	wire_out_str(&tensor, TENSOR_NAME, p->name[v]);
	for (size_t i = 0; i < sizeof where / sizeof *where; i++)
		write_pair(&tensor, TENSOR_EXTERNAL, &where[i]);
	wire_out_int(&tensor, TENSOR_LOCATION, EXTERNAL);
	wire_out_message(graph, GRAPH_INITIALIZER, &tensor);
}

/* Where the content of a constant beside the model begins: where it lies, or on
 * the page behind the one before, which ends at *end. */
static uint64_t
place_beside(const struct write_scope *p, value_id v, uint64_t *end)
{
	const struct tensor *t = p->g->value[v].constant;
	uint64_t at = next_page(*end);

	if (p->main->lies)
		p->main->lies(p->main->context, t, &at);
	else
		*end = at + t->bytes;
	return at;
}

static void
write_constants(
    struct wire_out *graph, const struct write_scope *p, const bool *carried)
{
	const struct graph *g = p->g;
	uint64_t end = 0;

	for (value_id v = 0; v < g->nvalues; v++)
		if (carried[v] && is_light(p, v)) {
			write_light(graph, p, v);
		} else if (carried[v] && is_beside(p, v)) {
			write_named(graph, p, v, place_beside(p, v, &end));
		} else if (carried[v]) {
			write_tensor(graph, GRAPH_INITIALIZER, p->name[v],
			    g->value[v].constant, p->owner ? TAG_NONE : v + 1);
		}
}

static void
write_value_infos(struct wire_out *w, const struct write_scope *p)
{
	const struct graph *g = p->g;

	for (value_id v = 0; v < g->nvalues; v++) {
		const struct value *value = &g->value[v];

		if (value->producer != NODE_NONE
		    && !(value->flags & VALUE_OUTPUT)
		    && is_writable(&value->type))
			write_value_info(w, GRAPH_VALUE_INFO, p, v);
	}
}

static void
write_graph(struct wire_out *w, uint32_t field, const struct write_scope *outer)
{
	struct write_scope place = *outer, *p = &place;
	const struct graph *g = p->g;
	bool *carried = find_carried(p);
	struct wire_out graph;

	name_values(p);
	wire_out_init(&graph);
	write_constants(&graph, p, carried);
	for (node_id id = 0; id < g->nnodes; id++)
		write_node(&graph, GRAPH_NODE, p, id);
	wire_out_str(
	    &graph, GRAPH_NAME, g->name && g->name[0] ? g->name : "graph");
	for (uint32_t i = 0; i < g->ninputs; i++)
		write_value_info(&graph, GRAPH_INPUT, p, g->input[i]);
	for (uint32_t i = 0; i < g->noutputs; i++)
		write_value_info(&graph, GRAPH_OUTPUT, p, g->output[i]);
	write_value_infos(&graph, p);
	for (uint32_t i = 0; p->main && i < p->main->ngraph_meta; i++)
		write_pair(&graph, GRAPH_META, &p->main->graph_meta[i]);
	wire_out_message(w, field, &graph);
}

/* A function has no initialisers: its constants are nodes. */
static void
write_constant_node(struct wire_out *w, const struct write_scope *p, value_id v)
{
	struct wire_out node, attr;

	wire_out_init(&node);
	wire_out_init(&attr);
	wire_out_str(&node, NODE_OUTPUT, p->name[v]);
	wire_out_str(&node, NODE_TYPE, "Constant");
	wire_out_str(&attr, ATTRIBUTE_NAME, "value");
	write_tensor(&attr, ATTRIBUTE_T, "", p->g->value[v].constant, TAG_NONE);
	wire_out_int(&attr, ATTRIBUTE_TYPE, ATTR_TENSOR);
	wire_out_message(&node, NODE_ATTRIBUTE, &attr);
	wire_out_message(w, FUNCTION_NODE, &node);
}

static void
write_function(struct wire_out *w, const struct onnx_out *o,
    const struct onnx_function *f, struct arena *a)
{
	struct write_scope p = {.g = f->body, .out = o, .a = a};
	bool *carried = find_carried(&p);
	struct wire_out out;

	name_values(&p);
	wire_out_init(&out);
	wire_out_str(&out, FUNCTION_NAME, f->name);
	for (uint32_t i = 0; i < p.g->ninputs; i++)
		wire_out_str(&out, FUNCTION_INPUT, p.name[p.g->input[i]]);
	for (uint32_t i = 0; i < p.g->noutputs; i++)
		wire_out_str(&out, FUNCTION_OUTPUT, p.name[p.g->output[i]]);
	for (value_id v = 0; v < p.g->nvalues; v++)
		if (carried[v])
			write_constant_node(&out, &p, v);
	for (node_id id = 0; id < p.g->nnodes; id++)
		write_node(&out, FUNCTION_NODE, &p, id);
	for (uint32_t i = 0; i < o->nopsets; i++)
		write_opset(&out, FUNCTION_OPSET, &o->opset[i]);
	wire_out_str(&out, FUNCTION_DOMAIN, f->domain);
	wire_out_message(w, MODEL_FUNCTION, &out);
}

static bool
fill_hole(FILE *f, const struct wire_hole *hole, const void *context)
{
	const struct onnx_out *o = context;

	return o->content && hole->tag != TAG_NONE
	    && o->content(f, o->context, hole->tag - 1);
}

static bool
lacks_weights(const struct graph *g)
{
	const struct graph *body;

	for (value_id v = 0; v < g->nvalues; v++)
		if (g->value[v].constant && g->value[v].constant->made_up)
			return true;
	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = graph_node(g, id);

		for (uint32_t k = 0; (body = node_body(n, k)) != NULL; k++)
			if (lacks_weights(body))
				return true;
	}
	return false;
}

static void
write_model_meta(struct wire_out *model, const struct onnx_out *o)
{
	static const struct onnx_meta none = {MARK_WEIGHTS, MARK_WEIGHTS_NONE};

	for (uint32_t i = 0; i < o->nmeta; i++)
		if (strcmp(o->meta[i].key, MARK_WEIGHTS) != 0)
			write_pair(model, MODEL_META, &o->meta[i]);
	if (lacks_weights(o->graph))
		write_pair(model, MODEL_META, &none);
}

static bool
stream_ok(FILE *f, struct err *err)
{
	if (ferror(f))
		return err_set(
		    err, ERR_IO, "cannot write the model: %s", strerror(errno));
	return true;
}

bool
onnx_write(FILE *f, const struct onnx_out *o, struct err *err)
{
	struct write_scope main = {.g = o->graph, .main = o, .out = o};
	struct wire_out model;
	struct arena a;
	size_t bytes;
	bool fits;

	arena_init(&a);
	main.a = &a;
	wire_out_init(&model);
	wire_out_int(&model, MODEL_IR, o->ir_version);
	wire_out_str(&model, MODEL_PRODUCER, "marquetry");
	write_graph(&model, MODEL_GRAPH, &main);
	for (uint32_t i = 0; i < o->nopsets; i++)
		write_opset(&model, MODEL_OPSET, &o->opset[i]);
	write_model_meta(&model, o);
	for (uint32_t i = 0; i < o->nfunctions; i++)
		write_function(&model, o, &o->function[i], &a);
	bytes = model.bytes.n + model.in_holes;
	fits = o->any_size || bytes <= limit_of(LIMIT_PROTOBUF);
	if (fits)
		wire_out_write(f, &model, fill_hole, o);
	wire_out_release(&model);
	arena_release(&a);
	if (!fits)
		return err_set(err, ERR_UNSUPPORTED,
		    "a model of %zu bytes, and an ONNX file ends at %" PRIu64,
		    bytes, limit_of(LIMIT_PROTOBUF));
	return stream_ok(f, err);
}

bool
onnx_write_beside(FILE *f, const struct onnx_out *o, struct err *err)
{
	static const unsigned char zeros[PAGE];
	const struct graph *g = o->graph;
	struct arena a;
	struct write_scope main = {.g = g, .main = o, .out = o, .a = &a};
	const bool *carried;
	size_t end = 0;

	arena_init(&a);
	carried = find_carried(&main);
	for (value_id v = 0; v < g->nvalues; v++) {
		if (!carried[v] || !is_beside(&main, v))
			continue;
		fwrite(zeros, 1, next_page(end) - end, f);
		wire_out_tensor(f, g->value[v].constant);
		end = next_page(end) + g->value[v].constant->bytes;
	}
	arena_release(&a);
	return stream_ok(f, err);
}

bool
onnx_write_tensor(
    FILE *f, const char *name, const struct tensor *t, struct err *err)
{
	struct wire_out w;

	wire_out_init(&w);
	write_tensor_fields(&w, name, t, TAG_NONE);
	wire_out_write(f, &w, NULL, NULL);
	wire_out_release(&w);
	return stream_ok(f, err);
}
