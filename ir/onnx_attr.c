/* AttributeProto -> struct attr. */
#include <inttypes.h>
#include <string.h>

#include "ir/onnx_import.h"

/* Files before IR 2 do not say which kind an attribute has. */
static enum attr_kind
guess_kind(const Onnx__AttributeProto *p)
{
	if (p->has_f)
		return ATTR_FLOAT;
	if (p->has_i)
		return ATTR_INT;
	if (p->has_s)
		return ATTR_STRING;
	if (p->t)
		return ATTR_TENSOR;
	if (p->g)
		return ATTR_GRAPH;
	if (p->n_floats)
		return ATTR_FLOATS;
	if (p->n_ints)
		return ATTR_INTS;
	if (p->n_strings)
		return ATTR_STRINGS;
	return ATTR_NONE;
}

/* What is being read, handed down. */
struct reading {
	struct importer *imp;
	struct scope *scope;
	struct owner *owner;
	const Onnx__NodeProto *node;
	struct attr *out;
};

static bool
strings(struct reading *r, size_t n, const ProtobufCBinaryData *p)
{
	struct string_view *s = arena_new(r->imp->a, struct string_view, n);

	for (size_t i = 0; i < n; i++)
		s[i] = import_bytes(r->imp, &p[i]);
	r->out->strings = s;
	r->out->n = (uint32_t)n;
	return true;
}

static bool
tensors(struct reading *r, size_t n, Onnx__TensorProto **p)
{
	struct tensor *t = arena_new(r->imp->a, struct tensor, n);

	for (size_t i = 0; i < n; i++)
		if (!p[i])
			return err_set(r->imp->err, ERR_INPUT, "no tensor");
		else if (!import_tensor(r->imp, p[i], &t[i]))
			return false;
	r->out->tensors = t;
	r->out->n = (uint32_t)n;
	return true;
}

static bool
sparses(struct reading *r, size_t n, Onnx__SparseTensorProto **p)
{
	struct tensor *t = arena_new(r->imp->a, struct tensor, n);

	for (size_t i = 0; i < n; i++)
		if (!p[i])
			return err_set(r->imp->err, ERR_INPUT, "no tensor");
		else if (!import_sparse(r->imp, p[i], &t[i]))
			return false;
	r->out->tensors = t;
	r->out->n = (uint32_t)n;
	return true;
}

static bool
types(struct reading *r, size_t n, Onnx__TypeProto **p)
{
	struct type *t = arena_new(r->imp->a, struct type, n);

	for (size_t i = 0; i < n; i++)
		if (!import_type(r->imp, r->scope->graph, p[i], &t[i]))
			return false;
	r->out->types = t;
	r->out->n = (uint32_t)n;
	return true;
}

/* "If_3/then_branch" beneath the path of the graph the node is in. */
static const char *
subgraph_path(struct reading *r, size_t i, size_t n)
{
	const char *path = arena_printf(r->imp->a, "%s/%s",
	    scope_path(r->imp, r->scope, r->node), r->out->name);

	return n == 1 ? path : arena_printf(r->imp->a, "%s[%zu]", path, i);
}

static bool
graphs(struct reading *r, size_t n, Onnx__GraphProto **p)
{
	struct graph **g = arena_new(r->imp->a, struct graph *, n);

	for (size_t i = 0; i < n; i++)
		if (!p[i])
			return err_set(r->imp->err, ERR_INPUT, "no graph");
		else if (!import_subgraph(r->imp, r->scope, r->owner,
		             subgraph_path(r, i, n), p[i], &g[i]))
			return false;
	r->out->graphs = g;
	r->out->n = (uint32_t)n;
	return true;
}

/* A flat switch: one case a kind. */
static bool
read_value(struct reading *r, const Onnx__AttributeProto *p)
{
	ProtobufCBinaryData s = p->s;
	Onnx__TensorProto *t = p->t;
	Onnx__GraphProto *g = p->g;
	Onnx__SparseTensorProto *sparse = p->sparse_tensor;
	Onnx__TypeProto *tp = p->tp;
	struct attr *a = r->out;

	switch (a->kind) {
	case ATTR_FLOAT:
		a->floats = arena_copy(r->imp->a, &p->f, sizeof p->f);
		a->n = 1;
		return true;
	case ATTR_INT:
		a->ints = arena_copy(r->imp->a, &p->i, sizeof p->i);
		a->n = 1;
		return true;
	case ATTR_STRING:
		return strings(r, 1, &s);
	case ATTR_TENSOR:
		return tensors(r, 1, &t);
	case ATTR_GRAPH:
		return graphs(r, 1, &g);
	case ATTR_FLOATS:
		a->floats = arena_copy(
		    r->imp->a, p->floats, p->n_floats * sizeof *p->floats);
		a->n = (uint32_t)p->n_floats;
		return true;
	case ATTR_INTS:
		a->ints =
		    arena_copy(r->imp->a, p->ints, p->n_ints * sizeof *p->ints);
		a->n = (uint32_t)p->n_ints;
		return true;
	case ATTR_STRINGS:
		return strings(r, p->n_strings, p->strings);
	case ATTR_TENSORS:
		return tensors(r, p->n_tensors, p->tensors);
	case ATTR_GRAPHS:
		return graphs(r, p->n_graphs, p->graphs);
	case ATTR_SPARSE:
		return sparses(r, 1, &sparse);
	case ATTR_SPARSES:
		return sparses(r, p->n_sparse_tensors, p->sparse_tensors);
	case ATTR_TYPE:
		return types(r, 1, &tp);
	case ATTR_TYPES:
		return types(r, p->n_type_protos, p->type_protos);
	default:
		return err_set(r->imp->err, ERR_INPUT,
		    "type %" PRId32 " is none of ONNX's", p->type);
	}
}

static const Onnx__AttributeProto *
find_attr(size_t n, Onnx__AttributeProto **p, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (p[i]->name && strcmp(p[i]->name, name) == 0)
			return p[i];
	return NULL;
}

static bool
function_declares(const Onnx__FunctionProto *f, const char *name)
{
	for (size_t i = 0; i < f->n_attribute; i++)
		if (strcmp(f->attribute[i], name) == 0)
			return true;
	return find_attr(f->n_attribute_proto, f->attribute_proto, name);
}

/* What an attribute of a function body refers to: the attribute of the call,
 * else the function's default, else nothing (*out is NULL then). A call within
 * another function's body may itself hand on a reference. */
static bool
resolve(struct importer *imp, const struct function_call *call,
    const Onnx__AttributeProto *p, const Onnx__AttributeProto **out)
{
	while (p->ref_attr_name && p->ref_attr_name[0]) {
		const char *name = p->ref_attr_name;
		const Onnx__FunctionProto *f;

		if (!call)
			return err_set(imp->err, ERR_INPUT,
			    "refers to attribute '%s', outside of a function",
			    name);
		f = call->function;
		if (!function_declares(f, name))
			return err_set(imp->err, ERR_INPUT,
			    "function '%s' has no attribute '%s'", f->name,
			    name);
		p = find_attr(
		    call->node->n_attribute, call->node->attribute, name);
		call = call->outer;
		if (!p) {
			*out = find_attr(
			    f->n_attribute_proto, f->attribute_proto, name);
			return true;
		}
	}
	*out = p;
	return true;
}

static bool
read_attr(struct reading *r, const Onnx__AttributeProto *p)
{
	const Onnx__AttributeProto *source;
	struct attr *a = r->out;

	if (!resolve(r->imp, r->scope->call, p, &source))
		return false;
	if (!source)
		return true; /* left out: kind stays ATTR_NONE */
	a->kind = source->has_type && source->type
	    ? (enum attr_kind)source->type
	    : guess_kind(source);
	if (p != source && p->has_type && p->type
	    && (enum attr_kind)p->type != a->kind)
		return err_set(r->imp->err, ERR_INPUT,
		    "refers to attribute '%s' of another type",
		    p->ref_attr_name);
	if (p != source && (a->kind == ATTR_GRAPH || a->kind == ATTR_GRAPHS))
		return err_set(r->imp->err, ERR_UNSUPPORTED,
		    "a sub-graph handed to a function as its attribute");
	return read_value(r, source);
}

/* TUNING: real nodes have up to a dozen; so names can be compared pairwise. */
#define MAX_ATTRS 1024

static bool
is_repeated(const Onnx__NodeProto *p, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(p->attribute[k]->name, p->attribute[i]->name) == 0)
			return true;
	return false;
}

bool
import_attrs(struct importer *imp, struct scope *s, const Onnx__NodeProto *p,
    struct owner *owner, struct node *n)
{
	struct attr *attr = arena_new(imp->a, struct attr, p->n_attribute);

	if (p->n_attribute > MAX_ATTRS)
		return err_set(imp->err, ERR_UNSUPPORTED,
		    "%zu attributes, limit is %d", p->n_attribute, MAX_ATTRS);
	n->attr = attr;
	for (size_t i = 0; i < p->n_attribute; i++) {
		const Onnx__AttributeProto *in = p->attribute[i];
		struct attr *out = &attr[n->nattrs];
		struct reading r = {imp, s, owner, p, out};

		if (!in->name || !in->name[0])
			return err_set(
			    imp->err, ERR_INPUT, "an attribute has no name");
		out->name = import_word(imp, in->name);
		if (is_repeated(p, i))
			return err_set(imp->err, ERR_INPUT,
			    "attribute '%s' is given twice", in->name);
		if (!read_attr(&r, in))
			return err_in(imp->err, "attribute '%s'", in->name);
		n->nattrs += out->kind != ATTR_NONE;
	}
	return true;
}
