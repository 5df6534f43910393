/* GraphProto -> struct graph. */
#include <inttypes.h>
#include <string.h>

#include "ir/expand.h"
#include "ir/functions.h"
#include "ir/infer/early.h"
#include "ir/onnx_check.h"
#include "ir/onnx_import.h"

static value_id
to_value(struct importer *imp, struct scope *s, const char *name)
{
	if (!name[0] || map_find(&s->absent, name, strlen(name)) != MAP_NONE)
		return VALUE_NONE;
	return scope_find(imp, s, name);
}

static bool
resolve_inputs(struct importer *imp, struct scope *s, const Onnx__NodeProto *p,
    struct node *n)
{
	n->ninputs = (uint32_t)p->n_input;
	n->input = arena_new(imp->a, value_id, p->n_input);
	for (uint32_t i = 0; i < n->ninputs; i++) {
		const char *name = p->input[i];

		n->input[i] = to_value(imp, s, name);
		if (n->input[i] == VALUE_NONE && name[0]
		    && map_find(&s->absent, name, strlen(name)) == MAP_NONE)
			return err_set(imp->err, ERR_INPUT,
			    "input %u, '%s', is not defined anywhere", i, name);
	}
	return true;
}

static void
resolve_outputs(struct importer *imp, struct scope *s, const Onnx__NodeProto *p,
    struct node *n)
{
	n->noutputs = (uint32_t)p->n_output;
	n->output = arena_new(imp->a, value_id, p->n_output);
	for (uint32_t i = 0; i < n->noutputs; i++)
		n->output[i] = to_value(imp, s, p->output[i]);
}

/* Implicit inputs follow the explicit ones. */
static void
append_captures(struct importer *imp, struct node *n, const struct owner *owner)
{
	value_id *input;

	if (owner->n == 0)
		return;
	input = arena_new(imp->a, value_id, n->ninputs + owner->n);
	if (n->ninputs)
		memcpy(input, n->input, n->ninputs * sizeof *input);
	memcpy(input + n->ninputs, owner->value, owner->n * sizeof *input);
	n->input = input;
	n->nimplicit = owner->n;
}

static struct origin
origin_of(const struct scope *s, uint32_t index)
{
	const struct function_call *call = s->call;

	if (!call)
		return (struct origin){s->origins + index, ROLE_KEPT, 0};
	return (struct origin){call->onnx, ROLE_SPLIT,
	    call->authored ? s->parts + index + 1 : call->part};
}

static void
set_origin(
    struct importer *imp, const struct scope *s, uint32_t index, struct node *n)
{
	struct origin *o = arena_new(imp->a, struct origin, 1);

	*o = origin_of(s, index);
	n->origin = o;
	n->norigins = 1;
}

static bool
inline_call(
    struct importer *imp, struct scope *s, uint32_t index, struct inlined *in)
{
	uint32_t before = s->graph->nnodes;
	struct onnx_node *record;

	in->origin = origin_of(s, index);
	if (!functions_inline(imp, s, in))
		return false;
	if (!s->call && s->graph->nnodes == before) {
		record = origin_node(s->graph->origin_table, &in->origin);
		record->into = NODE_NONE;
		record->fate = FATE_FOLDED;
		record->why = "a function of constants";
	}
	return true;
}

static bool
is_wholly_stated(const struct type *t)
{
	if (t->kind != TYPE_TENSOR)
		return t->kind != TYPE_UNKNOWN;
	if (t->dtype == DT_UNDEFINED || t->rank == RANK_UNKNOWN)
		return false;
	for (uint32_t i = 0; i < t->rank; i++)
		if (t->dim[i] == DIM_UNKNOWN)
			return false;
	return true;
}

/* The graph, with all that is known of the types of node n's inputs. */
static const struct graph *
with_types(struct importer *imp, const struct graph *g, const struct node *n)
{
	for (uint32_t i = 0; i < n->ninputs; i++)
		if (n->input[i] != VALUE_NONE
		    && !is_wholly_stated(&graph_value(g, n->input[i])->type))
			return early_types(&imp->early, g, imp->a);
	return g;
}

/* What an operator of another domain is in words of the default one, unless the
 * model brings its own function. */
static bool
written_out(struct importer *imp, const struct graph *g, struct inlined *in)
{
	static const struct onnx_opset version[] = {{"", EXPAND_OPSET}};
	static const struct opsets opsets = {1, version};
	const char *why = NULL;

	if (!expand_knows(in->values->domain, in->values->op_type))
		return false;
	in->opsets = &opsets;
	in->function = expand_call(
	    in->node, with_types(imp, g, in->values), in->values, imp->a, &why);
	if (why)
		note_once(imp, NLENIENT,
		    "%s.%s with %s is carried along unknown",
		    in->values->domain[0] ? in->values->domain : "ai.onnx",
		    in->values->op_type, why);
	return in->function != NULL;
}

static bool
read_operator(struct importer *imp, struct scope *s, const Onnx__NodeProto *p,
    struct node *n)
{
	struct owner owner = {.n = 0};

	map_init(&owner.slot, imp->a);
	if (!check_operator(imp, s->opsets, n)
	    || !import_attrs(imp, s, p, &owner, n))
		return false;
	append_captures(imp, n, &owner);
	return check_node(imp, n);
}

/* Calls that stand in the main graph, as such or in functions of the model's. */
static bool
is_kept(
    const struct importer *imp, const struct scope *s, const Onnx__NodeProto *p)
{
	for (size_t i = 0; i < p->n_attribute; i++)
		if (p->attribute[i]->g || p->attribute[i]->n_graphs)
			return false;
	return s->graph == imp->model->graph && (!s->call || s->call->authored);
}

static struct node
call_node(struct importer *imp, const struct scope *s, uint32_t index,
    const struct node *n)
{
	const uint32_t version = opsets_version(s->opsets, n->domain);
	struct node call = *n;

	call.op = OP_CUSTOM;
	call.opset = version ? version : 1;
	call.input =
	    arena_copy(imp->a, n->input, n->ninputs * sizeof *n->input);
	call.output =
	    arena_copy(imp->a, n->output, n->noutputs * sizeof *n->output);
	set_origin(imp, s, index, &call);
	return call;
}

/* One with attributes that cannot be read is written out all the same. */
static void
keep_call(struct importer *imp, struct scope *s, uint32_t index,
    const Onnx__NodeProto *p, const struct node *n)
{
	struct graph *g = s->graph;
	struct owner owner = {.n = 0};
	struct written_call c = {.lost = false};

	if (!is_kept(imp, s, p))
		return;
	c.node = call_node(imp, s, index, n);
	map_init(&owner.slot, imp->a);
	if (!import_attrs(imp, s, p, &owner, &c.node)) {
		err_clear(imp->err);
		return;
	}
	c.gone =
	    arena_new(imp->a, const struct value *, n->ninputs + n->noutputs);
	g->call = arena_grow(
	    imp->a, g->call, &g->call_cap, g->ncalls + 1, sizeof *g->call);
	g->call[g->ncalls++] = c;
}

/* A function's body may stand for several nodes of the graph, or be gone: who
 * marks a node in one is told where to put the mark, and no mark gets lost. */
static bool
no_marks(struct importer *imp, const Onnx__NodeProto *p)
{
	for (size_t i = 0; i < p->n_metadata_props; i++) {
		const char *key = p->metadata_props[i]->key;

		if (key && strncmp(key, MARK_PREFIX, strlen(MARK_PREFIX)) == 0
		    && strcmp(key, MARK_PLACEMENT) != 0)
			return err_set(imp->err, ERR_UNSUPPORTED,
			    "mark '%s' inside a function: put it on the call",
			    key);
	}
	return true;
}

static bool
read_node(struct importer *imp, struct scope *s, uint32_t index,
    const Onnx__NodeProto *p)
{
	struct node n = {
	    .op_type = import_word(imp, p->op_type),
	    .domain = import_word(imp, domain_name(p->domain)),
	    .name = import_word(imp, p->name),
	};
	struct inlined in = {.node = p, .values = &n};

	s->at = index;
	if (s->call && !no_marks(imp, p))
		return false;
	if (!n.op_type[0] || check_is_constant(p))
		return true; /* reported, or dealt with, already */
	if (!resolve_inputs(imp, s, p, &n))
		return false;
	resolve_outputs(imp, s, p, &n);
	in.function = functions_find(imp, p, &in.opsets);
	in.authored = in.function != NULL;
	if (!in.authored && written_out(imp, s->graph, &in))
		keep_call(imp, s, index, p, &n);
	if (in.function)
		return inline_call(imp, s, index, &in);
	if (!read_operator(imp, s, p, &n))
		return false;
	if (s->prefix[0] && n.name[0])
		n.name = arena_printf(imp->a, "%s%s", s->prefix, n.name);
	set_origin(imp, s, index, &n);
	graph_add_node(s->graph, &n);
	return true;
}

static bool
declare_constant(struct importer *imp, struct scope *s, uint32_t index,
    const Onnx__NodeProto *p, value_id v)
{
	struct origin *origin = arena_new(imp->a, struct origin, 1);
	struct onnx_node *record;
	const struct tensor *t;
	struct value *value;

	s->at = index;
	if (!import_constant(imp, s, p, &t))
		return false;
	value = graph_value(s->graph, v);
	value->constant = t;
	value->type = tensor_type(t);
	if (s->call && !s->call->authored)
		return true;
	*origin = origin_of(s, index);
	record = origin_node(s->graph->origin_table, origin);
	record->into = NODE_NONE;
	record->fate = FATE_FOLDED;
	record->why = "a constant";
	value->stated_by = origin;
	return true;
}

static bool
declare_outputs(struct importer *imp, struct scope *s, uint32_t index,
    const Onnx__NodeProto *p)
{
	struct type type;
	value_id v = VALUE_NONE;

	if (!p->op_type || !p->op_type[0])
		return err_set(imp->err, ERR_INPUT, "it has no operator type");
	for (size_t i = 0; i < p->n_output; i++) {
		const char *name = p->output[i];

		if (!name[0])
			continue;
		if (!scope_type(imp, s, name, &type)
		    || !scope_declare(imp, s, name, &type, &v))
			return false;
	}
	if (!check_is_constant(p))
		return true;
	if (p->n_output != 1 || v == VALUE_NONE)
		return err_set(
		    imp->err, ERR_INPUT, "a Constant has one output");
	return declare_constant(imp, s, index, p, v);
}

static struct onnx_node
author_node(struct importer *imp, const struct scope *s, uint32_t index,
    const Onnx__NodeProto *p)
{
	const char **outputs = arena_new(imp->a, const char *, p->n_output);

	for (size_t i = 0; i < p->n_output; i++)
		outputs[i] = import_word(imp, p->output[i]);
	return (struct onnx_node){
	    .path = s->path,
	    .index = index,
	    .name = import_word(imp, p->name),
	    .op_type = import_word(imp, p->op_type),
	    .domain = import_word(imp, domain_name(p->domain)),
	    .noutputs = (uint32_t)p->n_output,
	    .outputs = outputs,
	    .nmeta = (uint32_t)p->n_metadata_props,
	    .meta = import_meta(imp, p->n_metadata_props, p->metadata_props),
	};
}

/* Of the body of a function that is being written out. */
static void
record_parts(
    struct importer *imp, struct scope *s, size_t n, Onnx__NodeProto **node)
{
	struct onnx_nodes *table = s->graph->origin_table;

	s->parts = table->nparts;
	table->part = arena_grow(imp->a, table->part, &table->part_cap,
	    table->nparts + (uint32_t)n, sizeof *table->part);
	for (uint32_t i = 0; i < n; i++)
		table->part[table->nparts++] =
		    (struct onnx_part){author_node(imp, s, i, node[i]),
		        s->call->onnx, s->call->part};
}

static void
record_nodes(
    struct importer *imp, struct scope *s, size_t n, Onnx__NodeProto **node)
{
	struct onnx_nodes *table = s->graph->origin_table;

	s->origins = table->n;
	table->node = arena_grow(imp->a, table->node, &table->cap,
	    table->n + (uint32_t)n, sizeof *table->node);
	for (uint32_t i = 0; i < n; i++)
		table->node[table->n++] = author_node(imp, s, i, node[i]);
}

bool
import_nodes(
    struct importer *imp, struct scope *s, size_t n, Onnx__NodeProto **node)
{
	if (!s->call)
		record_nodes(imp, s, n, node);
	else if (s->call->authored)
		record_parts(imp, s, n, node);
	for (uint32_t i = 0; i < n; i++)
		if (!declare_outputs(imp, s, i, node[i])
		    && !fault_at_node(imp, s, i, node[i]))
			return false;
	for (uint32_t i = 0; i < n; i++)
		if (!read_node(imp, s, i, node[i])
		    && !fault_at_node(imp, s, i, node[i]))
			return false;
	return true;
}

static void
record_initializer(struct importer *imp, struct scope *s, struct value *value)
{
	struct onnx_nodes *table = s->graph->origin_table;

	table->initialiser =
	    arena_grow(imp->a, table->initialiser, &table->initialiser_cap,
	        table->ninitialisers + 1, sizeof *table->initialiser);
	table->initialiser[table->ninitialisers++] = (struct onnx_initialiser){
	    .path = s->path, .name = value->name, .into = NODE_NONE};
	value->given_by = table->ninitialisers;
}

static bool
add_initializer(struct importer *imp, struct scope *s, const char *name,
    const struct tensor *t)
{
	value_id v = map_find(&s->names, name, strlen(name));
	struct value *value;

	if (v == MAP_NONE) {
		if (!scope_declare(imp, s, name, NULL, &v))
			return false;
		value = graph_value(s->graph, v);
	} else {
		value = graph_value(s->graph, v);
		if (value->constant)
			return err_set(imp->err, ERR_INPUT,
			    "initializer '%s' is given twice", name);
		if (!check_initializer(imp, value, t))
			return false;
		value->flags |= VALUE_OVERRIDABLE;
	}
	value->constant = arena_copy(imp->a, t, sizeof *t);
	value->type = tensor_type(t);
	record_initializer(imp, s, value);
	return true;
}

static bool
read_initializer(struct importer *imp, struct scope *s, const char *name,
    bool (*read)(struct importer *imp, const void *p, struct tensor *t),
    const void *p)
{
	struct tensor t;
	bool ok;

	if (!name || !name[0])
		return err_set(
		    imp->err, ERR_INPUT, "an initializer has no name");
	imp->in_initializer = true;
	ok = read(imp, p, &t);
	imp->in_initializer = false;
	return ok && add_initializer(imp, s, name, &t);
}

static bool
read_dense(struct importer *imp, const void *p, struct tensor *t)
{
	return import_tensor(imp, p, t);
}

static bool
read_sparse(struct importer *imp, const void *p, struct tensor *t)
{
	return import_sparse(imp, p, t);
}

static bool
import_initializers(
    struct importer *imp, struct scope *s, const Onnx__GraphProto *p)
{
	for (size_t i = 0; i < p->n_initializer; i++)
		imp->lacks_weights = imp->lacks_weights
		    || tensor_is_bare_weight(p->initializer[i]);
	for (size_t i = 0; i < p->n_initializer; i++)
		if (!read_initializer(imp, s, p->initializer[i]->name,
		        read_dense, p->initializer[i])
		    && !fault_noted(imp))
			return false;
	for (size_t i = 0; i < p->n_sparse_initializer; i++) {
		const Onnx__SparseTensorProto *t = p->sparse_initializer[i];
		const char *name = t->values ? t->values->name : NULL;

		if (!read_initializer(imp, s, name, read_sparse, t)
		    && !fault_noted(imp))
			return false;
	}
	return true;
}

static bool
declare_input(struct importer *imp, struct scope *s,
    const Onnx__ValueInfoProto *p, value_id *out)
{
	struct type type;

	if (!p->name || !p->name[0])
		return err_set(imp->err, ERR_INPUT, "an input has no name");
	if (!import_type(imp, s->graph, p->type, &type)
	    || (!s->outer && !bind_type(imp, "input", p->name, &type))
	    || !scope_declare(imp, s, p->name, &type, out))
		return err_in(imp->err, "input '%s'", p->name);
	return true;
}

/* Inputs that have an initialiser are not fed: their content is known. */
static void
list_inputs(
    struct importer *imp, struct graph *g, const value_id *input, uint32_t n)
{
	value_id *fed = arena_new(imp->a, value_id, n);

	g->input = fed;
	for (uint32_t i = 0; i < n; i++) {
		if (graph_value(g, input[i])->constant)
			continue;
		graph_value(g, input[i])->flags |= VALUE_INPUT;
		fed[g->ninputs++] = input[i];
	}
}

static bool
import_inputs(struct importer *imp, struct scope *s, const Onnx__GraphProto *p)
{
	value_id *input = arena_new(imp->a, value_id, p->n_input);
	uint32_t n = 0;

	for (size_t i = 0; i < p->n_input; i++)
		if (declare_input(imp, s, p->input[i], &input[n]))
			n++;
		else if (!fault_noted(imp))
			return false;
	if (!import_initializers(imp, s, p))
		return false;
	list_inputs(imp, s->graph, input, n);
	return true;
}

/* What the model states about an output holds where nothing better is known.
 * Inference decides where both are known. */
static bool
import_output(struct importer *imp, struct scope *s,
    const Onnx__ValueInfoProto *p, value_id *out)
{
	struct value *value;
	struct type type;

	if (!p->name || !p->name[0])
		return err_set(imp->err, ERR_INPUT, "an output has no name");
	*out = scope_find(imp, s, p->name);
	if (*out == VALUE_NONE)
		return err_set(imp->err, ERR_INPUT,
		    "output '%s' is made by no node", p->name);
	if (!import_type(imp, s->graph, p->type, &type))
		return err_in(imp->err, "output '%s'", p->name);
	/* exporters write "rank not known" as a shape without dimensions; what
	 * really is a scalar will be found to be one */
	if (type.kind == TYPE_TENSOR && type.rank == 0)
		type.rank = RANK_UNKNOWN;
	value = graph_value(s->graph, *out);
	if (value->type.kind == TYPE_UNKNOWN)
		value->type = type;
	value->flags |= VALUE_OUTPUT;
	return true;
}

static bool
import_outputs(struct importer *imp, struct scope *s, const Onnx__GraphProto *p)
{
	value_id *output = arena_new(imp->a, value_id, p->n_output);
	uint32_t n = 0;

	for (size_t i = 0; i < p->n_output; i++)
		if (import_output(imp, s, p->output[i], &output[n]))
			n++;
		else if (!fault_noted(imp))
			return false;
	s->graph->output = output;
	s->graph->noutputs = n;
	return true;
}

/* What the user says of values that only the model's author can tell. */
static bool
bind_opaque(struct importer *imp, struct scope *s)
{
	const struct graph *g = s->graph;

	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = &g->node[id];

		if (imp->options->nshapes == 0 || !node_is_opaque(n))
			continue;
		for (uint32_t i = 0; i < n->noutputs; i++) {
			struct value *v;

			if (n->output[i] == VALUE_NONE)
				continue;
			v = graph_value(g, n->output[i]);
			if (!bind_type(imp, "value", v->name, &v->type))
				return false;
		}
	}
	return true;
}

static void
index_value_info(struct scope *s, const Onnx__GraphProto *p)
{
	s->value_info = p->value_info;
	for (size_t i = 0; i < p->n_value_info; i++)
		if (p->value_info[i]->name)
			map_add(&s->declared, p->value_info[i]->name,
			    strlen(p->value_info[i]->name), (uint32_t)i);
}

static bool
is_sorted(const struct graph *g)
{
	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = &g->node[id];

		for (uint32_t i = 0; i < n->ninputs + n->nimplicit; i++) {
			value_id v = n->input[i];

			if (v != VALUE_NONE && g->value[v].producer != NODE_NONE
			    && g->value[v].producer >= id)
				return false;
		}
	}
	return true;
}

static bool
fill_graph(struct importer *imp, struct scope *s, const Onnx__GraphProto *p)
{
	struct graph *g = s->graph;

	index_value_info(s, p);
	if (!import_inputs(imp, s, p)
	    || !import_nodes(imp, s, p->n_node, p->node)
	    || !import_outputs(imp, s, p) || !bind_opaque(imp, s))
		return false;
	g->capture = s->capture;
	g->ncaptures = s->ncaptures;
	if (is_sorted(g))
		return true;
	note_once(imp, LENIENT_UNSORTED,
	    "%s%snodes are not in topological order; sorted", s->path,
	    s->path[0] ? ": " : "");
	return graph_sort(g, imp->err) || fault_noted(imp);
}

bool
import_subgraph(struct importer *imp, struct scope *outer, struct owner *owner,
    const char *path, const Onnx__GraphProto *p, struct graph **out)
{
	struct graph *g = graph_new(
	    imp->a, p->name && p->name[0] ? import_word(imp, p->name) : "body");
	struct scope s;

	g->origin_table = outer->graph->origin_table;
	scope_init(&s, imp, g, outer, outer->opsets);
	s.owner = owner;
	s.call = outer->call;
	s.path = path;
	s.prefix = outer->prefix;
	*out = g;
	return fill_graph(imp, &s, p);
}

bool
import_graph(struct importer *imp, const Onnx__GraphProto *p,
    const struct opsets *opsets)
{
	struct graph *g = graph_new(imp->a,
	    p->name && p->name[0] ? import_word(imp, p->name) : "graph");
	struct scope s;

	imp->model->graph = g;
	scope_init(&s, imp, g, NULL, opsets);
	return fill_graph(imp, &s, p);
}
