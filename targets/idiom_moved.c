/* Attention with what only moves its operands and its result: reshaped, turned and
 * cut out of larger tensors, where it can be read and written in place. */
#include "targets/idiom_moved.h"

#include <math.h>
#include <string.h>

enum { QUERIES, KEYS, VALUES, RESULT };
#define PAST_KEYS 4 /* an input of the operator */

/* The nodes are those of the operator, and what is moved around it. */
struct mover {
	const struct graph *graph;
	const struct uses *uses;
	const struct idiom_match *core;
	struct bitset in; /* [nnodes] of the graph */
	node_id *node; /* [n] before the operator, in no order */
	uint32_t n, cap;
	struct arena *arena;
	struct idiom_place place[4];
	double factor;
	node_id last;
};

/* ---- one operand ---- */

/* A number that all elements are multiplied by. */
static bool
is_factor(const struct graph *g, const struct node *n, uint32_t *of, double *x)
{
	if (n->op != OP_MUL && n->op != OP_DIV)
		return false;
	for (uint32_t i = 0; i < 2; i++) {
		const struct tensor *t = node_in(g, n, 1 - i)->constant;
		const struct type *in = &node_in(g, n, i)->type;

		if (!t || t->count != 1 || t->made_up || t->kind > TENSOR_FILL
		    || in->rank != node_out(g, n, 0)->type.rank
		    || (n->op == OP_DIV && i == 1))
			continue;
		*x = tensor_real(t, 0);
		*of = i;
		if (n->op == OP_DIV)
			*x = 1 / *x;
		return isfinite(*x) && *x != 0;
	}
	return false;
}

/* What a value was before the node that makes it; NODE_NONE: another node. */
static node_id
node_before(const struct mover *m, value_id v, bool may_scale, value_id *from)
{
	const node_id id = graph_value(m->graph, v)->producer;
	const struct node *n;
	uint32_t of = 0;
	double x;

	if (id == NODE_NONE)
		return NODE_NONE;
	n = graph_node(m->graph, id);
	if (!view_moves(n->op)
	    && !(may_scale && is_factor(m->graph, n, &of, &x)))
		return NODE_NONE;
	*from = n->input[of];
	return graph_value(m->graph, *from)->constant ? NODE_NONE : id;
}

static uint32_t
output_of(const struct node *n, value_id v)
{
	uint32_t i = 0;

	while (i < n->noutputs && n->output[i] != v)
		i++;
	return i;
}

/* Where the operand lies in the first value of its chain that is made outside. The
 * chain is walked from the end, so it is followed by calling itself. */
static bool
follow(struct mover *m, value_id v, bool may_scale, struct idiom_place *p)
{
	value_id from;
	const node_id id = node_before(m, v, may_scale, &from);
	const struct node *n;
	uint32_t of;
	double x;

	if (id == NODE_NONE || !bitset_has(m->in, id)) {
		p->value = v;
		return view_of(&p->view, &graph_value(m->graph, v)->type);
	}
	n = graph_node(m->graph, id);
	if (!follow(m, from, may_scale, p))
		return false;
	if (view_moves(n->op))
		return view_through(&p->view, m->graph, n, output_of(n, v));
	m->factor *= is_factor(m->graph, n, &of, &x) ? x : 1;
	return true;
}

/* TUNING: longer chains are left as they are. */
#define CHAIN_MOST 8u

/* All nodes of the operand's chain are taken, at first. */
static void
take_chain(struct mover *m, value_id v, bool may_scale)
{
	for (uint32_t i = 0; i < CHAIN_MOST; i++) {
		const node_id id = node_before(m, v, may_scale, &v);

		if (id == NODE_NONE)
			return;
		if (bitset_has(m->in, id))
			continue;
		bitset_add(m->in, id);
		m->node = (node_id *)arena_grow(
		    m->arena, m->node, &m->cap, m->n + 1, sizeof *m->node);
		m->node[m->n++] = id;
	}
}

/* The node of the chain that is farthest from the operator stays outside. */
static bool
shorten(struct mover *m, value_id v, bool may_scale)
{
	node_id id, last = NODE_NONE;

	while ((id = node_before(m, v, may_scale, &v)) != NODE_NONE
	    && bitset_has(m->in, id))
		last = id;
	if (last != NODE_NONE)
		bitset_remove(m->in, last);
	return last != NODE_NONE;
}

/* ---- all of them ---- */

/* Does nobody outside read what it makes? */
static bool
is_inner(const struct mover *m, const struct node *n)
{
	for (uint32_t o = 0; o < n->noutputs; o++) {
		const value_id v = n->output[o];

		if (v == VALUE_NONE)
			continue;
		if (graph_value(m->graph, v)->flags & VALUE_OUTPUT)
			return false;
		for (uint32_t k = m->uses->start[v]; k < m->uses->start[v + 1];
		     k++)
			if (!bitset_has(m->in, m->uses->user[k]))
				return false;
	}
	return true;
}

/* What is read outside stays outside, and so does what was before it. */
static void
leave_shared(struct mover *m)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < m->n; i++)
			if (bitset_has(m->in, m->node[i])
			    && !is_inner(m, graph_node(m->graph, m->node[i]))) {
				bitset_remove(m->in, m->node[i]);
				changed = true;
			}
	}
}

/* Elements of a head, or heads, are neighbours. */
static bool
is_row(const struct view *v)
{
	return v->rank > 0
	    && (v->step[v->rank - 1] == 1 || v->dim[v->rank - 1] == 1);
}

/* A factor of keys is one of all scores where there is no past. */
static bool
may_scale(const struct mover *m, uint32_t i)
{
	return i == QUERIES
	    || (i == KEYS && node_input(m->core->as, PAST_KEYS) == VALUE_NONE);
}

static bool
place_operand(struct mover *m, uint32_t i)
{
	return follow(m, m->core->as->input[i], may_scale(m, i), &m->place[i])
	    && is_row(&m->place[i].view);
}

static bool
place_operands(struct mover *m)
{
	const value_id *input = m->core->as->input;
	bool ok = false, shorter = true;

	while (!ok && shorter) {
		ok = true;
		shorter = false;
		leave_shared(m);
		m->factor = 1;
		for (uint32_t i = QUERIES; i <= VALUES; i++)
			if (!place_operand(m, i)) {
				ok = false;
				shorter = shorten(m, input[i], may_scale(m, i))
				    || shorter;
			}
	}
	return ok;
}

/* The node that moves the result, when it alone reads it. */
static node_id
node_behind(const struct mover *m, node_id id)
{
	const value_id v = graph_node(m->graph, id)->output[0];
	const node_id *user = m->uses->user + m->uses->start[v];
	const struct node *n;

	if ((graph_value(m->graph, v)->flags & VALUE_OUTPUT)
	    || m->uses->start[v + 1] - m->uses->start[v] != 1)
		return NODE_NONE;
	n = graph_node(m->graph, *user);
	return view_moves(n->op) && n->input[0] == v ? *user : NODE_NONE;
}

/* The result as it lies in what the given one of its moves makes. */
static bool
place_back(struct mover *m, const node_id *chain, uint32_t n)
{
	struct idiom_place *p = &m->place[RESULT];

	p->value = n ? graph_node(m->graph, chain[n - 1])->output[0]
	             : m->core->as->output[0];
	if (!view_of(&p->view, &graph_value(m->graph, p->value)->type))
		return false;
	while (n-- > 0)
		if (!view_back(
		        &p->view, m->graph, graph_node(m->graph, chain[n])))
			return false;
	return is_row(&p->view);
}

static bool
place_result(struct mover *m)
{
	node_id chain[CHAIN_MOST], id = m->core->root;
	uint32_t n = 0;

	while (n < CHAIN_MOST && (id = node_behind(m, id)) != NODE_NONE)
		chain[n++] = id;
	while (!place_back(m, chain, n))
		if (n-- == 0)
			return false;
	m->last = n ? chain[n - 1] : m->core->root;
	for (uint32_t i = 0; i < n; i++)
		bitset_add(m->in, chain[i]);
	return true;
}

/* The operator over what lies elsewhere, with the factors of its operands. */
static struct node *
write_operator(const struct mover *m)
{
	const struct node *core = m->core->as;
	struct node *n = (struct node *)arena_copy(m->arena, core, sizeof *n);
	struct attr *attr = (struct attr *)arena_copy(
	    m->arena, core->attr, core->nattrs * sizeof *attr);
	const float scale =
	    (float)(m->factor * (double)attr_float_or(core, "scale", 1));

	for (uint32_t i = 0; i < n->nattrs; i++)
		if (strcmp(attr[i].name, "scale") == 0)
			attr[i].floats = (const float *)arena_copy(
			    m->arena, &scale, sizeof scale);
	n->attr = attr;
	return n;
}

static void
list_nodes(const struct mover *m, struct idiom_match *out)
{
	const uint32_t n = m->graph->nnodes;
	node_id *node;
	uint32_t count = 0;

	for (node_id id = 0; id < n; id++)
		count += bitset_has(m->in, id);
	node = arena_new(m->arena, node_id, count);
	out->nnodes = 0;
	for (node_id id = 0; id < n; id++)
		if (bitset_has(m->in, id))
			node[out->nnodes++] = id;
	out->node = node;
}

bool
idiom_with_moves(struct idiom_match *out, const struct idiom_match *core,
    const struct graph *g, const struct uses *u, struct arena *a)
{
	struct mover m = {.graph = g,
	    .uses = u,
	    .core = core,
	    .in = bitset_new(a, g->nnodes),
	    .arena = a};

	if (core->kind != IDIOM_ATTENTION || !core->as)
		return false;
	for (uint32_t i = 0; i < core->nnodes; i++)
		bitset_add(m.in, core->node[i]);
	for (uint32_t i = QUERIES; i <= VALUES; i++)
		take_chain(&m, core->as->input[i], may_scale(&m, i));
	if (!place_operands(&m) || !place_result(&m))
		return false;
	*out = *core;
	out->kind = IDIOM_MOVED_ATTENTION;
	out->root = m.last;
	out->x = m.place[QUERIES].value;
	out->as = NULL;
	out->over = write_operator(&m);
	out->place =
	    (const struct idiom_place *)arena_copy(a, m.place, sizeof m.place);
	list_nodes(&m, out);
	return out->nnodes > core->nnodes;
}
