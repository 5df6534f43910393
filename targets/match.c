#include "targets/pattern.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* Matching keeps the list of all partial matches so far and extends every one
 * of them by each pattern node in turn, left to right. Alternatives append the
 * lists they yield; duplicates go at once, so lists stay short. */

/* TUNING: real patterns have a handful of ways; 256 bounds hostile ones. */
#define PARTIALS 256
/* TUNING: extensions tried per root, for patterns that double at each level. */
#define STEPS 20000

/* Most have no capture, and are copied up to what they have. */
struct partial {
	uint32_t nnodes, ncaptures;
	node_id node[PATTERN_NODES]; /* ascending */
	struct capture_of capture[MATCH_CAPTURES];
};

struct partials {
	const struct partial **item;
	uint32_t n, cap;
};

struct matcher {
	const struct graph *graph;
	const struct idioms *idioms; /* or NULL */
	struct arena *arena;
	uint32_t steps;
};

static bool
same_capture(const struct capture_of *a, const struct capture_of *b)
{
	return strcmp(a->name, b->name) == 0 && a->node == b->node
	    && a->value == b->value;
}

static bool
same_partial(const struct partial *a, const struct partial *b)
{
	if (a->nnodes != b->nnodes || a->ncaptures != b->ncaptures)
		return false;
	for (uint32_t i = 0; i < a->nnodes; i++)
		if (a->node[i] != b->node[i])
			return false;
	for (uint32_t i = 0; i < a->ncaptures; i++)
		if (!same_capture(&a->capture[i], &b->capture[i]))
			return false;
	return true;
}

static size_t
bytes_of(const struct partial *p)
{
	return offsetof(struct partial, capture)
	    + p->ncaptures * sizeof p->capture[0];
}

static void
keep(struct matcher *m, struct partials *to, const struct partial *p)
{
	for (uint32_t i = 0; i < to->n; i++)
		if (same_partial(to->item[i], p))
			return;
	if (to->n == PARTIALS)
		return;
	if (to->cap == 0) { /* one is nearly always all there is */
		to->item = arena_new(m->arena, const struct partial *, 1);
		to->cap = 1;
	} else {
		to->item = (const struct partial **)arena_grow(
		    m->arena, to->item, &to->cap, to->n + 1, sizeof *to->item);
	}
	to->item[to->n++] =
	    (const struct partial *)arena_copy(m->arena, p, bytes_of(p));
}

/* Add a node to a partial match; false when it holds too many. */
static bool
add_node(struct partial *p, node_id id)
{
	uint32_t at = p->nnodes;

	for (uint32_t i = 0; i < p->nnodes; i++)
		if (p->node[i] == id)
			return true;
	if (p->nnodes == PATTERN_NODES)
		return false;
	while (at > 0 && p->node[at - 1] > id) {
		p->node[at] = p->node[at - 1];
		at--;
	}
	p->node[at] = id;
	p->nnodes++;
	return true;
}

/* false: the name stands for another value already, or there are too many. */
static bool
add_capture(struct partial *p, struct capture_of c)
{
	for (uint32_t i = 0; !c.idiom && i < p->ncaptures; i++)
		if (strcmp(p->capture[i].name, c.name) == 0)
			return p->capture[i].value == c.value;
	if (p->ncaptures == MATCH_CAPTURES)
		return false;
	p->capture[p->ncaptures++] = c;
	return true;
}

static struct partials match_value_at(struct matcher *m,
    const struct pattern *p, value_id v, const struct partials *from);
static struct partials match_at(struct matcher *m, const struct pattern *p,
    node_id node, value_id v, const struct partials *from);

/* All inputs from the i-th on as p, one at least. */
static struct partials
match_every(struct matcher *m, const struct pattern *p, const struct node *n,
    uint32_t i, struct partials from, bool swap)
{
	do {
		const value_id v = node_input(n, swap && i < 2 ? 1 - i : i);

		from = match_value_at(m, p, v, &from);
	} while (++i < n->ninputs && from.n > 0);
	return from;
}

/* Match a node's inputs against a pattern's arguments; `swap` exchanges the
 * node's first two. */
static struct partials
match_inputs(struct matcher *m, const struct pattern *p, const struct node *n,
    struct partials from, bool swap)
{
	uint32_t i;

	for (i = 0; i < p->nargs && from.n > 0; i++) {
		if (p->arg[i]->kind == PATTERN_REST)
			return from;
		if (p->arg[i]->kind == PATTERN_EVERY)
			return match_every(
			    m, p->arg[i]->arg[0], n, i, from, swap);
		value_id v = node_input(n, swap && i < 2 ? 1 - i : i);
		from = match_value_at(m, p->arg[i], v, &from);
	}
	for (; i < n->ninputs; i++)
		if (n->input[i] != VALUE_NONE)
			return (struct partials){0};
	return from;
}

static void
append(struct matcher *m, struct partials *to, const struct partials *more)
{
	for (uint32_t i = 0; i < more->n; i++)
		keep(m, to, more->item[i]);
}

/* Node `id` as the operator p names, its inputs as p's arguments. */
static struct partials
match_operator(struct matcher *m, const struct pattern *p, node_id id,
    const struct partials *from)
{
	const struct node *n = graph_node(m->graph, id);
	struct partials with = {0}, out;

	if (p->kind != PATTERN_OPERATOR && n->op != p->op)
		return with;
	for (uint32_t i = 0; i < from->n; i++) {
		struct partial next;

		memcpy(&next, from->item[i], bytes_of(from->item[i]));
		if (add_node(&next, id))
			keep(m, &with, &next);
	}
	if (p->kind == PATTERN_OPERATOR)
		return with;
	out = match_inputs(m, p, n, with, false);
	if (!op_is_commutative(n->op) || n->ninputs != 2 || p->nargs != 2
	    || n->input[0] == n->input[1])
		return out;
	struct partials swapped = match_inputs(m, p, n, with, true);
	if (out.n == 0)
		return swapped;
	append(m, &out, &swapped);
	return out;
}

static bool
has_node(const struct partial *p, node_id id)
{
	for (uint32_t i = 0; i < p->nnodes; i++)
		if (p->node[i] == id)
			return true;
	return false;
}

/* Does the pattern stand for a value whatever produced it? */
static bool
is_leaf(const struct pattern *p)
{
	while (p->kind == PATTERN_AS)
		p = p->arg[0];
	return p->kind == PATTERN_ANY || p->kind == PATTERN_VARIABLE
	    || p->kind == PATTERN_CONSTANT || p->kind == PATTERN_ABSENT
	    || p->kind == PATTERN_NUMBER;
}

/* Name what p->arg[0] matched in each of `inner`: the node when it became part
 * of the match, else just the value. */
static struct partials
capture(struct matcher *m, const struct pattern *p,
    const struct partials *inner, node_id node, value_id v)
{
	struct partials out = {0};

	for (uint32_t i = 0; i < inner->n; i++) {
		struct partial next;
		bool is_node =
		    !is_leaf(p->arg[0]) && has_node(inner->item[i], node);

		memcpy(&next, inner->item[i], bytes_of(inner->item[i]));
		if (add_capture(&next,
		        (struct capture_of){
		            p->name, is_node ? node : NODE_NONE, v, NULL}))
			keep(m, &out, &next);
	}
	return out;
}

/* How far a constant may be from what it stands for: exporters round to the
 * type, and write down some nine digits. */
static double
slack_of(enum dtype t)
{
	switch (t) {
	case DT_FLOAT16:
		return 0x1p-10;
	case DT_BFLOAT16:
		return 0x1p-7;
	default:
		return 2e-6;
	}
}

static bool
is_number(const struct matcher *m, value_id v, double want)
{
	const struct tensor *t =
	    v == VALUE_NONE ? NULL : graph_value(m->graph, v)->constant;

	if (!t || t->count != 1 || t->made_up || t->kind > TENSOR_FILL
	    || dtype_bits(t->dtype) < 8)
		return false;
	return fabs(tensor_real(t, 0) - want)
	    <= slack_of(tensor_held(t)) * fabs(want);
}

/* One spelled-out idiom, added to each of `from`, over p's argument. */
static struct partials
match_one_idiom(struct matcher *m, const struct pattern *p,
    const struct idiom_match *found, const struct partials *from)
{
	struct partials with = {0};

	for (uint32_t i = 0; i < from->n; i++) {
		struct partial next;
		bool fits;

		memcpy(&next, from->item[i], bytes_of(from->item[i]));
		fits = add_capture(&next,
		    (struct capture_of){idiom_name(found->kind), found->root,
		        graph_node(m->graph, found->root)->output[0], found});

		for (uint32_t k = 0; k < found->nnodes; k++)
			fits = fits && add_node(&next, found->node[k]);
		if (fits)
			keep(m, &with, &next);
	}
	return match_value_at(m, p->arg[0], found->x, &with);
}

static struct partials
match_idioms(struct matcher *m, const struct pattern *p, node_id root,
    const struct partials *from)
{
	struct partials out = {0}, more;

	if (m->idioms == NULL || root == NODE_NONE)
		return out;
	for (uint32_t i = m->idioms->start[root];
	     i < m->idioms->start[root + 1]; i++) {
		const struct idiom_match *found = &m->idioms->match[i];

		if (p->idiom != NIDIOMS && found->kind != p->idiom)
			continue;
		more = match_one_idiom(m, p, found, from);
		append(m, &out, &more);
	}
	return out;
}

/* Is the node another operator than p begins with? Most alternatives go here. */
static bool
begins_otherwise(const struct matcher *m, const struct pattern *p, node_id node)
{
	while (p->kind == PATTERN_AS)
		p = p->arg[0];
	return p->kind == PATTERN_NODE
	    && (node == NODE_NONE || graph_node(m->graph, node)->op != p->op);
}

/* All alternatives; one that is left alone gives its own list. */
static struct partials
match_either(struct matcher *m, const struct pattern *p, node_id node,
    value_id v, const struct partials *from)
{
	const struct pattern *left[PATTERN_ARGS];
	struct partials out = {0}, more;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nargs; i++)
		if (!begins_otherwise(m, p->arg[i], node))
			left[n++] = p->arg[i];
	if (n == 1)
		return match_at(m, left[0], node, v, from);
	for (uint32_t i = 0; i < n; i++) {
		more = match_at(m, left[i], node, v, from);
		append(m, &out, &more);
	}
	return out;
}

/* The operator over the first argument, or that alone. */
static struct partials
match_maybe(struct matcher *m, const struct pattern *p, node_id node,
    value_id v, const struct partials *from)
{
	struct partials out = {0}, more;

	if (node != NODE_NONE && graph_node(m->graph, node)->op == p->op)
		out = match_operator(m, p, node, from);
	more = match_at(m, p->arg[0], node, v, from);
	if (out.n == 0)
		return more;
	append(m, &out, &more);
	return out;
}

/* Everything but REST and EVERY: p at value v, produced by `node` (or NODE_NONE). */
static struct partials
match_at(struct matcher *m, const struct pattern *p, node_id node, value_id v,
    const struct partials *from)
{
	struct partials out = {0}, more;

	if (m->steps == 0 || from->n == 0)
		return out;
	m->steps--;
	switch (p->kind) {
	case PATTERN_NODE:
	case PATTERN_OPERATOR:
		if (node != NODE_NONE)
			out = match_operator(m, p, node, from);
		return out;
	case PATTERN_MAYBE:
		return match_maybe(m, p, node, v, from);
	case PATTERN_EITHER:
		return match_either(m, p, node, v, from);
	case PATTERN_AS:
		more = match_at(m, p->arg[0], node, v, from);
		return capture(m, p, &more, node, v);
	case PATTERN_ABSENT:
		return v == VALUE_NONE ? *from : out;
	case PATTERN_ANY:
		return v != VALUE_NONE ? *from : out;
	case PATTERN_VARIABLE:
	case PATTERN_CONSTANT:
		if (v != VALUE_NONE
		    && (graph_value(m->graph, v)->constant != NULL)
		        == (p->kind == PATTERN_CONSTANT))
			return *from;
		return out;
	case PATTERN_NUMBER:
		return is_number(m, v, p->number) ? *from : out;
	case PATTERN_IDIOM:
		return match_idioms(m, p, node, from);
	case PATTERN_REST: /* only as arguments: match_inputs() */
	case PATTERN_EVERY:
		return out;
	}
	assert(0 && "pattern kind");
	return out;
}

static struct partials
match_value_at(struct matcher *m, const struct pattern *p, value_id v,
    const struct partials *from)
{
	node_id producer = NODE_NONE;

	if (v != VALUE_NONE) {
		producer = graph_value(m->graph, v)->producer;
		if (producer != NODE_NONE
		    && graph_node(m->graph, producer)->output[0] != v)
			producer = NODE_NONE;
	}
	return match_at(m, p, producer, v, from);
}

static void
give(struct match *out, node_id root, const struct partial *p, struct arena *a)
{
	*out = (struct match){
	    .root = root, .nnodes = p->nnodes, .ncaptures = p->ncaptures};
	out->node = (const node_id *)arena_copy(
	    a, p->node, p->nnodes * sizeof *p->node);
	out->capture = (const struct capture_of *)arena_copy(
	    a, p->capture, p->ncaptures * sizeof *p->capture);
}

uint32_t
pattern_match(const struct pattern *p, const struct graph *g, node_id root,
    const struct matches *out)
{
	struct arena_mark mark = arena_mark(out->scratch);
	struct matcher m = {g, out->idioms, out->scratch, STEPS};
	const struct node *n = graph_node(g, root);
	struct partial nothing;
	const struct partial *first = &nothing;
	struct partials start = {&first, 1, 1}, found;
	uint32_t count = 0;

	nothing.nnodes = nothing.ncaptures = 0;
	found = match_at(
	    &m, p, root, n->noutputs ? n->output[0] : VALUE_NONE, &start);
	for (uint32_t i = 0; i < found.n && count < out->max; i++)
		if (found.item[i]->nnodes > 0)
			give(&out->item[count++], root, found.item[i],
			    out->arena);
	arena_back(out->scratch, mark);
	return count;
}
