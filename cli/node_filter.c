#include "cli/node_filter.h"

#include <stdlib.h>
#include <string.h>

#include "cli/units.h"
#include "ir/base/nearest.h"
#include "plan/shift.h"

/* Is this ONNX node meant? `index` is of the main graph. */
static bool
onnx_is_meant(
    const struct node_filter *args, uint32_t index, const struct onnx_node *n)
{
	if (args->node && strcmp(n->name, args->node) != 0)
		return false;
	if (args->op && strcmp(n->op_type, args->op) != 0)
		return false;
	if (args->index && (n->path[0] || n->index != index))
		return false;
	return args->node || args->op || args->index;
}

/* Was it, or an ONNX node it is made of, written as this operator? */
static bool
has_op(const struct graph *g, const struct node *n, const char *op)
{
	if (strcmp(n->op_type, op) == 0)
		return true;
	for (uint32_t i = 0; i < n->norigins; i++)
		if (strcmp(g->origin_table->node[n->origin[i].onnx].op_type, op)
		    == 0)
			return true;
	return false;
}

static bool
has_index(const struct graph *g, const struct node *n, uint32_t index)
{
	for (uint32_t i = 0; i < n->norigins; i++) {
		const struct onnx_node *o =
		    &g->origin_table->node[n->origin[i].onnx];

		if (o->path[0] == '\0' && o->index == index)
			return true;
	}
	return false;
}

bool
node_filter_index(
    const struct node_filter *args, uint32_t *out, struct err *err)
{
	const char *text = args->index;
	uint64_t n = 0;

	if (text && !parse_number(text, 0, UINT32_MAX - 1, &n, err))
		return err_in(err, "--index");
	*out = (uint32_t)n;
	return true;
}

/* Those --node means; all when it was not asked. No such node is no fault yet:
 * it may be one that is gone. */
static void
mark_named(
    struct filtered *p, const struct node_filter *args, const struct job *j)
{
	const struct graph *g = j->model.graph;
	struct constraint c = {.nnodes = 0};
	struct err none = {.kind = ERR_NONE};

	if (!args->node) {
		for (node_id id = 0; id < g->nnodes; id++)
			p->node[id] = true;
		return;
	}
	if (constraint_nodes(&c, args->node, g, j->arena, &none))
		for (uint32_t i = 0; i < c.nnodes; i++)
			p->node[c.node[i]] = true;
}

static void
find_gone(struct filtered *p, const struct node_filter *args, uint32_t index,
    const struct job *j)
{
	const struct onnx_nodes *t = j->model.graph->origin_table;

	p->gone = arena_new(j->arena, const struct onnx_node *, t->n);
	for (uint32_t i = 0; i < t->n; i++)
		if (t->node[i].fate != FATE_COVERED
		    && onnx_is_meant(args, index, &t->node[i]))
			p->gone[p->ngone++] = &t->node[i];
}

static bool
say_none(const struct node_filter *args, const struct job *j, struct err *err)
{
	const struct graph *g = j->model.graph;
	struct nearest near = {.word = args->node ? args->node : args->op};

	for (node_id id = 0; near.word && id < g->nnodes; id++)
		nearest_try(&near,
		    args->node ? node_label(g, id, j->arena)
		               : graph_node(g, id)->op_type);
	if (args->node)
		return err_set(err, ERR_USAGE,
		    "no node of the model is called '%s'%s%s (a name, #ID or "
		    "op:TYPE)",
		    args->node, args->op || args->index ? " and fits" : "",
		    nearest_text(&near, j->arena));
	if (args->op)
		return err_set(err, ERR_USAGE,
		    "no node of the model is of type '%s'%s", args->op,
		    nearest_text(&near, j->arena));
	return err_set(err, ERR_USAGE,
	    "the model's graph has no node number %s", args->index);
}

bool
node_filter_apply(struct filtered *p, const struct node_filter *args,
    struct job *j, struct err *err)
{
	const struct graph *g = j->model.graph;
	struct constraint off = {.nnodes = 0};
	uint32_t index, fit = 0;

	*p = (struct filtered){.node = arena_new(j->arena, bool, g->nnodes)};
	if (!node_filter_index(args, &index, err)
	    || (args->not_on
	        && !constraint_targets(
	            &off, args->not_on, &j->mix, j->arena, err)))
		return false;
	if (!args->node && !args->op && !args->index && !args->not_on
	    && !args->all)
		return true;
	mark_named(p, args, j);
	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = graph_node(g, id);
		uint32_t target = plan_target_of(&j->plan, id)->index;

		p->node[id] = p->node[id]
		    && (!args->op || has_op(g, n, args->op))
		    && (!args->index || has_index(g, n, index));
		fit += p->node[id];
		p->node[id] = p->node[id] && !(off.targets >> target & 1);
		p->n += p->node[id];
	}
	find_gone(p, args, index, j);
	return fit + p->ngone > 0 || g->nnodes == 0 || say_none(args, j, err);
}

static const char *
name_of(const struct onnx_node *n)
{
	return n->name[0] ? n->name : n->noutputs ? n->outputs[0] : "?";
}

static const char *
fate_word(const struct onnx_node *n)
{
	return n->fate == FATE_FOLDED ? "folded into a constant" : "dropped";
}

void
filtered_tell_fates(const struct filtered *p, struct answer *a)
{
	answer_list(a, "nowhere");
	for (uint32_t i = 0; i < p->ngone; i++)
		ANSWER_LINE(a,
		    "{node} ({op_type}, ONNX node {index}) runs nowhere: "
		    "{fate}{?why : {why}}\n",
		    F("node", name_of(p->gone[i])),
		    F("op_type", p->gone[i]->op_type),
		    F("index", p->gone[i]->index),
		    F("fate", fate_word(p->gone[i])),
		    F("why", p->gone[i]->why));
	answer_close(a);
}
