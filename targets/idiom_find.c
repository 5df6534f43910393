/* Finding idioms: every spelling at every node. */
#include "targets/idiom_find.h"

#include <string.h>

#include "targets/idiom_moved.h"
#include "targets/idiom_write.h"

static const struct {
	enum op op;
	uint32_t opset;
} kinds[NIDIOMS] = {
#define IDIOM(kind, name, op, opset) [IDIOM_##kind] = {OP_##op, opset},
#include "targets/idiom.def"
#undef IDIOM
};

/* TUNING: ways one spelling may fit at one node; the largest is kept. */
#define WAYS 16

struct idiom_finder {
	const struct uses *uses;
	struct arena *arena, scratch;
	struct idiom_writer writer;
	struct idioms *out;
	struct idiom_match *match;
	uint32_t n, cap;
	struct bitset roots[32]; /* by spelling */
	struct match way[WAYS];
};

static bool
is_output(const struct idiom_writer *w, value_id v)
{
	for (uint32_t i = 0; i < w->noutputs; i++)
		if (w->output[i] == v)
			return true;
	return false;
}

/* Is what the match makes read inside only, but for what the operator gives? */
static bool
is_closed(const struct idiom_finder *f, const struct match *m)
{
	const struct graph *g = f->writer.graph;

	for (uint32_t i = 0; i < m->nnodes; i++) {
		const struct node *n = graph_node(g, m->node[i]);

		for (uint32_t o = 0; o < n->noutputs; o++) {
			value_id v = n->output[o];

			if (v == VALUE_NONE || is_output(&f->writer, v))
				continue;
			if (graph_value(g, v)->flags & VALUE_OUTPUT)
				return false;
			for (uint32_t k = f->uses->start[v];
			     k < f->uses->start[v + 1]; k++)
				if (!match_has(m, f->uses->user[k]))
					return false;
		}
	}
	return true;
}

/* Does the operator read nothing that the match itself makes? */
static bool
reads_outside(const struct idiom_finder *f, const struct match *m)
{
	const struct idiom_writer *w = &f->writer;

	for (uint32_t i = 0; i < w->ninputs; i++) {
		node_id n;

		if (w->input[i] == VALUE_NONE
		    || w->input[i] >= w->graph->nvalues)
			continue;
		n = graph_value(w->graph, w->input[i])->producer;
		if (n != NODE_NONE && match_has(m, n))
			return false;
	}
	return true;
}

/* Functions of single elements make what they read: nothing broadcasts. */
static bool
keeps_type(const struct idiom_finder *f, value_id y)
{
	const struct type *a, *b;

	if (f->writer.kind >= IDIOM_ATTENTION)
		return true;
	a = &graph_value(f->writer.graph, f->writer.x)->type;
	b = &graph_value(f->writer.graph, y)->type;
	return a->kind == TYPE_TENSOR && a->rank != RANK_UNKNOWN
	    && a->dtype == b->dtype && dims_are(b, a->rank, a->dim)
	    && dtype_is_float(a->dtype);
}

static struct node *
write_node(struct idiom_finder *f)
{
	const struct idiom_writer *w = &f->writer;
	struct arena *a = f->arena;
	struct node *n;

	if (w->no_operator || kinds[w->kind].op == OP_CUSTOM)
		return NULL;
	n = arena_new(a, struct node, 1);
	*n = (struct node){
	    .op = kinds[w->kind].op,
	    .op_type = op_get(kinds[w->kind].op)->type,
	    .domain = "",
	    .opset = kinds[w->kind].opset,
	    .name = idiom_name(w->kind),
	    .ninputs = w->ninputs,
	    .noutputs = w->noutputs,
	    .nattrs = w->nattrs,
	};
	n->input =
	    (value_id *)arena_copy(a, w->input, w->ninputs * sizeof *w->input);
	n->output = (value_id *)arena_copy(
	    a, w->output, w->noutputs * sizeof *w->output);
	n->attr = (const struct attr *)arena_copy(
	    a, w->attr, w->nattrs * sizeof *w->attr);
	return n;
}

static void
append_match(struct idiom_finder *f, const struct idiom_match *found)
{
	f->match = (struct idiom_match *)arena_grow(
	    f->arena, f->match, &f->cap, f->n + 1, sizeof *f->match);
	f->match[f->n++] = *found;
}

/* Of one kind at one root the largest stays. */
static void
keep_match(struct idiom_finder *f, const struct match *m)
{
	struct idiom_match found = {f->writer.kind, m->root, m->nnodes, m->node,
	    f->writer.x, write_node(f), &f->out->graph, f->writer.loses_nan,
	    NULL, NULL};

	for (uint32_t i = f->n; i-- > 0 && f->match[i].root == m->root;)
		if (f->match[i].kind == found.kind) {
			if (f->match[i].nnodes < found.nnodes)
				f->match[i] = found;
			return;
		}
	append_match(f, &found);
}

static void
take_way(
    struct idiom_finder *f, const struct spelling *s, const struct match *m)
{
	struct idiom_writer *w = &f->writer;
	const uint32_t made = w->nmade;
	const value_id y = graph_node(w->graph, m->root)->output[0];

	w->match = m;
	w->kind = s->kind;
	w->no_operator = w->loses_nan = false;
	w->x = match_value(m, "x");
	w->ninputs = w->nattrs = 0;
	w->noutputs = 1;
	w->output[0] = y;
	if (w->x != VALUE_NONE && m->nnodes > 1 && s->write(w)
	    && keeps_type(f, y) && reads_outside(f, m) && is_closed(f, m))
		keep_match(f, m);
	else
		w->nmade = made;
}

static void
find_at(struct idiom_finder *f, node_id root)
{
	const struct graph *g = f->writer.graph;
	const struct matches ways = {f->way, WAYS, f->arena, &f->scratch, NULL};

	for (uint32_t s = 0; s < nidiom_spellings; s++) {
		uint32_t n;

		if (!bitset_has(f->roots[s], graph_node(g, root)->op))
			continue;
		n = pattern_match(idiom_spelling[s].pattern, g, root, &ways);
		for (uint32_t i = 0; i < n; i++)
			take_way(f, &idiom_spelling[s], &f->way[i]);
	}
}

/* An operator over all of it is as good; what is found from part of it less. */
static bool
is_known(struct idiom_finder *f, const struct idiom_match *found)
{
	for (uint32_t i = 0; i < f->n; i++) {
		const struct idiom_match *other = &f->match[i];

		if (other->root == found->root && (other->as || other->over)
		    && (other->kind == IDIOM_ATTENTION || other->over)
		    && other->nnodes >= found->nnodes)
			return true;
	}
	return false;
}

/* Whole attentions are found behind their parts: from those first. */
static void
find_moved(struct idiom_finder *f)
{
	struct idiom_match found;

	for (uint32_t i = f->n; i-- > 0;)
		if (idiom_with_moves(&found, &f->match[i], f->writer.graph,
		        f->uses, f->arena)
		    && !is_known(f, &found))
			append_match(f, &found);
}

/* By root; what was found first at a root stays first. */
static void
order_matches(struct idiom_finder *f)
{
	const uint32_t nnodes = f->writer.graph->nnodes;
	uint32_t *start = arena_new(f->arena, uint32_t, nnodes + 1);
	uint32_t *at = arena_new(&f->scratch, uint32_t, nnodes + 1);
	struct idiom_match *sorted =
	    arena_new(f->arena, struct idiom_match, f->n);

	for (uint32_t i = 0; i < f->n; i++)
		start[f->match[i].root + 1]++;
	for (node_id id = 0; id < nnodes; id++)
		at[id + 1] = start[id + 1] += start[id];
	for (uint32_t i = 0; i < f->n; i++)
		sorted[at[f->match[i].root]++] = f->match[i];
	f->match = sorted;
	f->out->start = start;
}

/* The graph with the constants that were made behind its values. */
static void
finish(struct idiom_finder *f)
{
	const struct idiom_writer *w = &f->writer;
	struct graph *g = &f->out->graph;

	*g = *w->graph;
	if (w->nmade) {
		g->nvalues = g->value_cap = g->nvalues + w->nmade;
		g->value = arena_new(f->arena, struct value, g->nvalues);
		memcpy(g->value, w->graph->value,
		    w->graph->nvalues * sizeof *g->value);
		memcpy(g->value + w->graph->nvalues, w->made,
		    w->nmade * sizeof *g->value);
	}
	f->out->match = f->match;
	f->out->n = f->n;
}

const struct idioms *
idioms_find(const struct graph *g, const struct uses *u, struct arena *a)
{
	struct idiom_finder f = {.uses = u,
	    .arena = a,
	    .writer = {.graph = g, .arena = a},
	    .out = arena_new(a, struct idioms, 1)};

	arena_init(&f.scratch);
	for (uint32_t s = 0; s < nidiom_spellings; s++) {
		f.roots[s] = bitset_new(a, NOP);
		pattern_roots(idiom_spelling[s].pattern, NULL, f.roots[s]);
	}
	for (node_id id = 0; id < g->nnodes; id++)
		find_at(&f, id);
	find_moved(&f);
	order_matches(&f);
	finish(&f);
	arena_release(&f.scratch);
	return f.out;
}

/* ---- counting ---- */

static bool
is_within(const struct idiom_match *a, const struct idiom_match *b)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < a->nnodes; i++) {
		while (k < b->nnodes && b->node[k] < a->node[i])
			k++;
		if (k == b->nnodes || b->node[k] != a->node[i])
			return false;
	}
	return true;
}

/* Nodes are in ascending order: what lies elsewhere is seen at a glance. */
static bool
spans(const struct idiom_match *whole, const struct idiom_match *part)
{
	return whole->node[0] <= part->node[0]
	    && whole->node[whole->nnodes - 1] >= part->node[part->nnodes - 1];
}

bool
idiom_is_whole(const struct idioms *all, uint32_t i)
{
	const struct idiom_match *m = &all->match[i];

	for (uint32_t k = 0; k < all->n; k++)
		if (all->match[k].nnodes > m->nnodes && spans(&all->match[k], m)
		    && is_within(m, &all->match[k]))
			return false;
	return true;
}
