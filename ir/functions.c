#include "ir/functions.h"

#include <assert.h>
#include <string.h>

#include "ir/onnx_import.h"

/* TUNING: nodes of a model once all functions are inlined. The largest real
 * model seen has 4,000. */
#define MAX_INLINED 200000u
/* TUNING: functions calling functions; inlining recurses this deep. */
#define MAX_CALL_DEPTH 50u

struct functions {
	Onnx__FunctionProto **f;
	uint32_t n;
	struct map by_key;
	uint64_t *nodes; /* of a body when everything in it is inlined */
	uint32_t *depth; /* of calls below */
	struct opsets *opsets; /* of each function */
};

/* "domain\0name\0overload". */
static const char *
key_of(const char *domain, const char *name, const char *overload,
    struct arena *a, size_t *n)
{
	size_t nd = strlen(domain), nn = strlen(name);
	size_t no = overload ? strlen(overload) : 0;
	char *key = arena_alloc(a, nd + nn + no + 2);

	memcpy(key, domain, nd);
	memcpy(key + nd + 1, name, nn);
	if (no)
		memcpy(key + nd + nn + 2, overload, no);
	*n = nd + nn + no + 2;
	return key;
}

static uint32_t
callee(const struct functions *all, const Onnx__NodeProto *p, struct arena *a)
{
	struct arena_mark mark = arena_mark(a);
	const char *key;
	uint32_t found;
	size_t n;

	if (all->n == 0 || !p->op_type)
		return MAP_NONE;
	key = key_of(domain_name(p->domain), p->op_type, p->overload, a, &n);
	found = map_find(&all->by_key, key, n);
	arena_back(a, mark);
	return found;
}

const Onnx__FunctionProto *
functions_find(const struct importer *imp, const Onnx__NodeProto *node,
    const struct opsets **opsets)
{
	uint32_t i = callee(imp->functions, node, imp->a);

	if (i == MAP_NONE)
		return NULL;
	*opsets = &imp->functions->opsets[i];
	return imp->functions->f[i];
}

/* What a list of nodes and the sub-graphs below call. */
struct visit {
	const struct functions *all;
	struct arena *a;
	uint32_t ncalls, cap;
	uint32_t *call; /* functions called, with repetition */
	uint64_t nodes;
};

static void
list_call(struct visit *v, const Onnx__NodeProto *p)
{
	uint32_t f = callee(v->all, p, v->a);

	v->nodes++;
	if (f == MAP_NONE)
		return;
	v->call =
	    arena_grow(v->a, v->call, &v->cap, v->ncalls + 1, sizeof *v->call);
	v->call[v->ncalls++] = f;
}

/* Recursion is as deep as sub-graphs nest, which the pre-pass bounds. */
static void
visit_nodes(struct visit *v, size_t n, Onnx__NodeProto **node)
{
	for (size_t i = 0; i < n; i++) {
		const Onnx__NodeProto *p = node[i];

		list_call(v, p);
		for (size_t k = 0; k < p->n_attribute; k++) {
			const Onnx__AttributeProto *at = p->attribute[k];

			if (at->g)
				visit_nodes(v, at->g->n_node, at->g->node);
			for (size_t j = 0; j < at->n_graphs; j++)
				visit_nodes(v, at->graphs[j]->n_node,
				    at->graphs[j]->node);
		}
	}
}

static uint64_t
add_capped(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Functions whose callees are all settled first (Kahn over the call graph, so
 * no recursion); what is left over calls itself. */
struct call_order {
	struct visit *visit; /* [n]: calls of each function */
	uint32_t *waits; /* calls not settled yet */
	uint32_t *first, *caller; /* callers of f: caller[first[f]..] */
	uint32_t *ready, nready, nsettled;
};

static void
list_callers(struct functions *all, struct call_order *o, struct arena *a)
{
	uint32_t total = 0, *fill;

	o->first = arena_new(a, uint32_t, all->n + 1u);
	fill = arena_new(a, uint32_t, all->n);
	for (uint32_t f = 0; f < all->n; f++)
		for (uint32_t c = 0; c < o->visit[f].ncalls; c++, total++)
			o->first[o->visit[f].call[c] + 1]++;
	for (uint32_t f = 0; f < all->n; f++)
		o->first[f + 1] += o->first[f];
	o->caller = arena_new(a, uint32_t, total);
	for (uint32_t f = 0; f < all->n; f++)
		for (uint32_t c = 0; c < o->visit[f].ncalls; c++) {
			uint32_t to = o->visit[f].call[c];

			o->caller[o->first[to] + fill[to]++] = f;
		}
}

static void
settle(struct functions *all, struct call_order *o, uint32_t f)
{
	const struct visit *v = &o->visit[f];

	all->nodes[f] = v->nodes;
	for (uint32_t c = 0; c < v->ncalls; c++) {
		uint32_t to = v->call[c];

		all->nodes[f] = add_capped(all->nodes[f], all->nodes[to]);
		if (all->depth[f] < all->depth[to] + 1)
			all->depth[f] = all->depth[to] + 1;
	}
	o->nsettled++;
	for (uint32_t i = o->first[f]; i < o->first[f + 1]; i++)
		if (--o->waits[o->caller[i]] == 0)
			o->ready[o->nready++] = o->caller[i];
}

static bool
check_calls(struct importer *imp, struct functions *all, struct arena *scratch)
{
	struct call_order o = {
	    .visit = arena_new(scratch, struct visit, all->n)};

	o.waits = arena_new(scratch, uint32_t, all->n);
	o.ready = arena_new(scratch, uint32_t, all->n);
	for (uint32_t f = 0; f < all->n; f++) {
		o.visit[f] = (struct visit){.all = all, .a = scratch};
		visit_nodes(&o.visit[f], all->f[f]->n_node, all->f[f]->node);
		o.waits[f] = o.visit[f].ncalls;
		if (o.waits[f] == 0)
			o.ready[o.nready++] = f;
	}
	list_callers(all, &o, scratch);
	while (o.nsettled < o.nready)
		settle(all, &o, o.ready[o.nsettled]);
	for (uint32_t f = 0; f < all->n; f++)
		if (o.waits[f])
			return err_set(imp->err, ERR_INPUT,
			    "function '%s' calls itself, or waits for one that "
			    "does",
			    all->f[f]->name);
	for (uint32_t f = 0; f < all->n; f++)
		if (all->depth[f] > MAX_CALL_DEPTH)
			return err_set(imp->err, ERR_UNSUPPORTED,
			    "function '%s' calls functions %u deep, limit is "
			    "%u",
			    all->f[f]->name, all->depth[f], MAX_CALL_DEPTH);
	return true;
}

static bool
check_size(struct importer *imp, const Onnx__GraphProto *main,
    const struct functions *all, struct arena *scratch)
{
	struct visit v = {.all = all, .a = scratch};
	uint64_t nodes;

	visit_nodes(&v, main->n_node, main->node);
	nodes = v.nodes;
	for (uint32_t c = 0; c < v.ncalls; c++)
		nodes = add_capped(nodes, all->nodes[v.call[c]]);
	if (v.ncalls && nodes > MAX_INLINED)
		return err_set(imp->err, ERR_UNSUPPORTED,
		    "%llu nodes once functions are inlined, limit is %u",
		    (unsigned long long)nodes, MAX_INLINED);
	return true;
}

static bool
index_function(struct importer *imp, struct functions *all, uint32_t i)
{
	const Onnx__FunctionProto *f = all->f[i];
	const char *key;
	size_t n;

	if (!f->name || !f->name[0])
		return err_set(
		    imp->err, ERR_INPUT, "function #%u has no name", i);
	key = key_of(domain_name(f->domain), f->name, f->overload, imp->a, &n);
	if (map_add(&all->by_key, key, n, i) != i)
		return err_set(imp->err, ERR_INPUT,
		    "function '%s' is defined twice", f->name);
	if (!import_opsets(
	        imp, f->n_opset_import, f->opset_import, &all->opsets[i]))
		return err_in(imp->err, "function '%s'", f->name);
	return true;
}

bool
functions_check(struct importer *imp, const Onnx__ModelProto *p)
{
	struct functions *all = arena_new(imp->a, struct functions, 1);
	struct arena scratch;
	bool ok;

	imp->functions = all;
	all->f = p->functions;
	all->n = (uint32_t)p->n_functions;
	all->nodes = arena_new(imp->a, uint64_t, all->n);
	all->depth = arena_new(imp->a, uint32_t, all->n);
	all->opsets = arena_new(imp->a, struct opsets, all->n);
	map_init(&all->by_key, imp->a);
	for (uint32_t i = 0; i < all->n; i++)
		if (!index_function(imp, all, i))
			return false;
	if (all->n == 0)
		return true;
	arena_init(&scratch);
	ok = check_calls(imp, all, &scratch)
	    && check_size(imp, p->graph, all, &scratch);
	arena_release(&scratch);
	return ok;
}

/* Formal inputs are the caller's values; ones left out are known by name and
 * stand for nothing. */
static bool
bind_inputs(struct importer *imp, struct scope *s, const Onnx__FunctionProto *f,
    const struct node *call)
{
	if (call->ninputs > f->n_input)
		return err_set(imp->err, ERR_INPUT,
		    "%u inputs, but function '%s' takes %zu", call->ninputs,
		    f->name, f->n_input);
	for (size_t i = 0; i < f->n_input; i++) {
		value_id v = node_input(call, (uint32_t)i);
		const char *name = f->input[i];
		size_t n = strlen(name);

		if (map_find(&s->names, name, n) != MAP_NONE
		    || map_find(&s->absent, name, n) != MAP_NONE)
			return err_set(imp->err, ERR_INPUT,
			    "function '%s' has two inputs '%s'", f->name, name);
		map_add(v == VALUE_NONE ? &s->absent : &s->names, name, n,
		    v == VALUE_NONE ? 0 : v);
	}
	return true;
}

static bool
bind_outputs(struct importer *imp, struct scope *s,
    const Onnx__FunctionProto *f, const struct node *call)
{
	if (call->noutputs > f->n_output)
		return err_set(imp->err, ERR_INPUT,
		    "%u outputs, but function '%s' has %zu", call->noutputs,
		    f->name, f->n_output);
	for (size_t i = 0; i < call->noutputs; i++) {
		const char *name = f->output[i];

		if (call->output[i] == VALUE_NONE)
			continue;
		if (map_add(&s->bound, name, strlen(name), call->output[i])
		    != call->output[i])
			return err_set(imp->err, ERR_INPUT,
			    "function '%s' has two outputs '%s'", f->name,
			    name);
	}
	return true;
}

/* An output that is an input as well is copied, so that each value has one
 * name and one producer. */
static void
add_identity(struct importer *imp, struct scope *s, value_id from, value_id to)
{
	struct origin *o = arena_new(imp->a, struct origin, 1);
	value_id *io = arena_new(imp->a, value_id, 2);
	struct node n = {
	    .op = OP_IDENTITY,
	    .op_type = "Identity",
	    .domain = "",
	    .name = "",
	    .opset = opsets_version(s->opsets, ""),
	    .ninputs = 1,
	    .noutputs = 1,
	    .input = io,
	    .output = io + 1,
	    .norigins = 1,
	    .origin = o,
	};

	if (n.opset == 0)
		n.opset = 1;
	io[0] = from;
	io[1] = to;
	*o = (struct origin){s->call->onnx, ROLE_SYNTHESIZED, s->call->part};
	graph_add_node(s->graph, &n);
}

static bool
connect_outputs(struct importer *imp, struct scope *s,
    const Onnx__FunctionProto *f, const struct node *call)
{
	for (size_t i = 0; i < call->noutputs; i++) {
		const char *name = f->output[i];
		value_id v;

		if (call->output[i] == VALUE_NONE)
			continue;
		v = map_find(&s->names, name, strlen(name));
		if (v == MAP_NONE)
			return err_set(imp->err, ERR_INPUT,
			    "function '%s' does not make its output '%s'",
			    f->name, name);
		if (v != call->output[i])
			add_identity(imp, s, v, call->output[i]);
	}
	return true;
}

bool
functions_inline(
    struct importer *imp, struct scope *s, const struct inlined *in)
{
	const Onnx__FunctionProto *f = in->function;
	const struct node *node = in->values;
	const char *name = in->node->name;
	const char *label = name && name[0] ? name : f->name;
	struct function_call call = {.onnx = in->origin.onnx,
	    .part = in->origin.part,
	    .authored = in->authored,
	    .function = f,
	    .node = in->node,
	    .outer = s->call};
	struct scope body;

	scope_init(&body, imp, s->graph, NULL, in->opsets);
	body.call = &call;
	body.path = in->authored ? scope_path(imp, s, in->node) : s->path;
	body.prefix =
	    arena_printf(imp->a, "%s%s#%u/", s->prefix, label, imp->ncalls++);
	body.value_info = f->value_info;
	for (size_t i = 0; i < f->n_value_info; i++)
		if (f->value_info[i]->name)
			map_add(&body.declared, f->value_info[i]->name,
			    strlen(f->value_info[i]->name), (uint32_t)i);
	if (!bind_inputs(imp, &body, f, node)
	    || !bind_outputs(imp, &body, f, node)
	    || !import_nodes(imp, &body, f->n_node, f->node)
	    || !connect_outputs(imp, &body, f, node))
		return err_in(imp->err, "in function '%s'", f->name);
	return true;
}
