/* If of a known condition: the nodes of the branch taken replace it. */
#include "ir/normalize/tidy.h"

#include <assert.h>
#include <string.h>

#include "ir/base/map.h"
#include "ir/infer/bodies.h"

/* The graph under construction. */
struct inlining {
	struct graph *g;
	struct arena *scratch;
	struct node *out;
	uint32_t n, cap;
	struct map names; /* of the values of g */
	struct symbols symbols;
};

static void
emit(struct inlining *in, const struct node *n)
{
	in->out = arena_grow(
	    in->g->arena, in->out, &in->cap, in->n + 1, sizeof *in->out);
	in->out[in->n++] = *n;
}

/* The name itself, or with a number when something outside has it. */
static const char *
fresh_name(struct inlining *in, const char *name)
{
	const char *fresh = name;

	if (name[0] == '\0')
		return name;
	for (uint32_t k = 1;
	     map_find(&in->names, fresh, strlen(fresh)) != MAP_NONE; k++)
		fresh = arena_printf(
		    in->g->arena, "%s_%u", name, in->g->nvalues + k);
	map_add(&in->names, fresh, strlen(fresh), 0);
	return fresh;
}

static value_id
adopt_value(struct inlining *in, const struct graph *body, value_id inner)
{
	const struct value *v = graph_value(body, inner);
	struct type type = type_carried(&in->symbols, body, &v->type);
	value_id id = graph_add_value(in->g, fresh_name(in, v->name), &type);

	graph_value(in->g, id)->constant = v->constant;
	graph_value(in->g, id)->given_by = v->given_by;
	return id;
}

/* Captures are the outer values; what the branch gives is what the If gave;
 * everything else is new. */
static value_id *
map_values(struct inlining *in, const struct node *n, const struct graph *body)
{
	value_id *map = arena_new(in->scratch, value_id, body->nvalues);

	for (value_id v = 0; v < body->nvalues; v++)
		map[v] = VALUE_NONE;
	for (uint32_t i = 0; i < body->ncaptures; i++)
		map[body->capture[i].inner] =
		    n->input[n->ninputs + body->capture[i].slot];
	for (uint32_t i = 0; i < n->noutputs; i++)
		if (n->output[i] != VALUE_NONE
		    && map[body->output[i]] == VALUE_NONE
		    && body->value[body->output[i]].producer != NODE_NONE)
			map[body->output[i]] = n->output[i];
	for (value_id v = 0; v < body->nvalues; v++)
		if (map[v] == VALUE_NONE)
			map[v] = adopt_value(in, body, v);
	return map;
}

static value_id *
mapped(
    struct inlining *in, const value_id *ids, uint32_t n, const value_id *map)
{
	value_id *out = arena_new(in->g->arena, value_id, n);

	for (uint32_t i = 0; i < n; i++)
		out[i] = ids[i] == VALUE_NONE ? VALUE_NONE : map[ids[i]];
	return out;
}

/* A branch may give a captured value, a constant, or one value twice. */
static void
emit_passthrough(
    struct inlining *in, const struct node *n, value_id from, value_id to)
{
	struct node copy = {
	    .op = OP_IDENTITY,
	    .op_type = op_get(OP_IDENTITY)->type,
	    .domain = "",
	    .opset = n->opset,
	    .name = n->name,
	    .ninputs = 1,
	    .noutputs = 1,
	    .input = arena_new(in->g->arena, value_id, 1),
	    .output = arena_new(in->g->arena, value_id, 1),
	    .norigins = n->norigins,
	};
	struct origin *origin =
	    arena_new(in->g->arena, struct origin, n->norigins);

	for (uint32_t i = 0; i < n->norigins; i++)
		origin[i] = (struct origin){
		    n->origin[i].onnx, ROLE_SYNTHESIZED, n->origin[i].part};
	copy.origin = origin;
	copy.input[0] = from;
	copy.output[0] = to;
	emit(in, &copy);
}

static void
inline_branch(
    struct inlining *in, const struct node *n, const struct graph *body)
{
	value_id *map = map_values(in, n, body);

	for (node_id id = 0; id < body->nnodes; id++) {
		struct node copy = body->node[id];

		copy.input =
		    mapped(in, copy.input, copy.ninputs + copy.nimplicit, map);
		copy.output = mapped(in, copy.output, copy.noutputs, map);
		emit(in, &copy);
	}
	for (uint32_t i = 0; i < n->noutputs; i++) {
		value_id from = map[body->output[i]];

		if (n->output[i] != VALUE_NONE && from != n->output[i])
			emit_passthrough(in, n, from, n->output[i]);
	}
}

/* The branch an If takes when that is known, else NULL; *other the one not. */
static struct graph *
branch_taken(const struct graph *g, const struct frame *around,
    const struct node *n, struct graph **other)
{
	const struct attr *yes = node_attr(n, "then_branch");
	const struct attr *no = node_attr(n, "else_branch");
	const struct tensor *condition;

	if (n->op != OP_IF || n->ninputs < 1 || !yes || !no
	    || yes->kind != ATTR_GRAPH || no->kind != ATTR_GRAPH)
		return NULL;
	condition = known_content(g, around, n->input[0]);
	if (!condition || condition->dtype != DT_BOOL || condition->count != 1)
		return NULL;
	if (tensor_int(condition, 0) == 0) {
		*other = yes->graphs[0];
		return no->graphs[0];
	}
	*other = no->graphs[0];
	return yes->graphs[0];
}

static void
start_inlining(struct inlining *in, struct graph *g, struct arena *scratch)
{
	*in = (struct inlining){.g = g, .scratch = scratch};
	map_init(&in->names, scratch);
	for (value_id v = 0; v < g->nvalues; v++)
		map_add(
		    &in->names, g->value[v].name, strlen(g->value[v].name), 0);
	symbols_init(&in->symbols, g, scratch);
}

static void
set_producers(struct graph *g)
{
	for (value_id v = 0; v < g->nvalues; v++)
		g->value[v].producer = NODE_NONE;
	for (node_id id = 0; id < g->nnodes; id++)
		for (uint32_t i = 0; i < g->node[id].noutputs; i++)
			if (g->node[id].output[i] != VALUE_NONE)
				g->value[g->node[id].output[i]].producer = id;
}

void
inline_ifs(struct graph *g, const struct frame *around, struct arena *scratch)
{
	struct inlining in = {0};

	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = &g->node[id];
		struct graph *other, *taken;

		taken = branch_taken(g, around, n, &other);
		if (taken && !in.g) {
			start_inlining(&in, g, scratch);
			for (node_id before = 0; before < id; before++)
				emit(&in, &g->node[before]);
		}
		if (taken) {
			assert(taken->noutputs == n->noutputs);
			for (node_id k = 0; k < other->nnodes; k++)
				set_fate(g, &other->node[k], FATE_DROPPED,
				    "in the branch not taken");
			for (uint32_t i = 0; i < n->norigins; i++) {
				struct onnx_node *o =
				    origin_node(g->origin_table, &n->origin[i]);

				o->fate = FATE_DROPPED;
				o->why = "condition known; branch inlined";
			}
			inline_branch(&in, n, taken);
		} else if (in.g) {
			emit(&in, n);
		}
	}
	if (!in.g)
		return;
	g->node = in.out;
	g->nnodes = in.n;
	g->node_cap = in.cap;
	set_producers(g);
}
