#include "costmodel/seeded.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "costmodel/content.h"
#include "costmodel/seed.h"

static void
mark_kept(struct seeded *s, const struct node *n)
{
	for (uint32_t i = 0; i < n->ninputs + n->nimplicit; i++) {
		value_id v = n->input[i];
		const struct tensor *t = v == VALUE_NONE
		    ? NULL
		    : graph_value(s->model.graph, v)->constant;

		if (t && content_of(n, i, t) != CONTENT_WEIGHTS)
			s->is_weight[v] = false;
	}
}

static bool
reads(const struct node *n, value_id v)
{
	for (uint32_t i = 0; i < n->ninputs; i++)
		if (n->input[i] == v)
			return true;
	return false;
}

/* What an idiom's operator does not take itself was compared or computed with
 * when it was found: another number would make it another operator. */
static void
mark_idiom(struct seeded *s, const struct idiom_match *m)
{
	const struct node *as = m->as ? m->as : m->over;

	for (uint32_t i = 0; as && i < m->nnodes; i++) {
		const struct node *n = graph_node(s->model.graph, m->node[i]);

		for (uint32_t k = 0; k < n->ninputs; k++)
			if (n->input[k] != VALUE_NONE
			    && !reads(as, n->input[k]))
				s->is_weight[n->input[k]] = false;
	}
}

static struct seeded_graph
graph_of(const struct graph *g, const struct idioms *idioms, struct arena *a)
{
	assert(!idioms || idioms->graph.nvalues >= g->nvalues);
	return (struct seeded_graph){g, idioms ? &idioms->graph : g,
	    arena_new(a, const struct tensor *, g->nvalues)};
}

void
seeded_init(struct seeded *s, const struct graph *g, const struct candidates *c,
    struct arena *a)
{
	const struct idioms *idioms = c ? c->idioms : NULL;

	*s = (struct seeded){.model = graph_of(g, idioms, a),
	    .is_weight = arena_new(a, bool, g->nvalues)};
	if (c && c->widened)
		s->widened = graph_of(c->widened, c->widened_idioms, a);
	arena_init(&s->arena);
	for (value_id v = 0; v < g->nvalues; v++)
		s->is_weight[v] = g->value[v].constant != NULL;
	for (node_id id = 0; id < g->nnodes; id++)
		mark_kept(s, graph_node(g, id));
	for (uint32_t i = 0; idioms && i < idioms->n; i++)
		mark_idiom(s, &idioms->match[i]);
}

/* Positive ones stay positive, whatever they are: variances, scales, what is
 * added under a root. */
static bool
is_positive(const struct tensor *t)
{
	size_t n = t->kind == TENSOR_FILL && t->count ? 1 : t->count;

	for (size_t i = 0; i < n; i++)
		if (!(tensor_real(t, i) >= 0))
			return false;
	return true;
}

/* NULL: of a type that stays as it is. */
static const struct tensor *
make_up(struct seeded *s, value_id v, const struct tensor *t)
{
	struct tensor *made;
	void *data;

	if (t->kind != TENSOR_VIEW && t->kind != TENSOR_FILL)
		return NULL;
	made = arena_new(&s->arena, struct tensor, 1);
	data = seed_buffer(&s->arena, t->bytes);
	if (!seed_weights(t, is_positive(t), v, data))
		return NULL;
	*made = tensor_view(t->dtype, t->rank, t->dim, data);
	return made;
}

static void
put(const struct seeded_graph *g, value_id v, const struct tensor *t)
{
	graph_value(g->graph, v)->constant = t;
	graph_value(g->beside, v)->constant = t;
}

static void
take_widened(struct seeded *s, value_id v, const struct tensor *made)
{
	struct tensor *wide = arena_new(&s->arena, struct tensor, 1);

	*wide = tensor_widened(made, &s->arena);
	s->widened.own[v] = graph_value(s->widened.graph, v)->constant;
	put(&s->widened, v, wide);
}

static void
take_one(struct seeded *s, value_id v)
{
	const struct tensor *own = graph_value(s->model.graph, v)->constant;
	const struct tensor *made = make_up(s, v, own);

	s->is_weight[v] = made != NULL;
	if (!made)
		return;
	s->model.own[v] = own;
	put(&s->model, v, made);
	if (s->widened.graph)
		take_widened(s, v, made);
}

void
seeded_take(struct seeded *s, const struct candidate *c)
{
	for (uint32_t i = 0; i < c->nnodes; i++) {
		const struct node *n = graph_node(s->model.graph, c->node[i]);

		for (uint32_t k = 0; k < n->ninputs; k++) {
			value_id v = n->input[k];

			assert(v == VALUE_NONE || v < s->model.graph->nvalues);
			if (v != VALUE_NONE && s->is_weight[v]
			    && !s->model.own[v])
				take_one(s, v);
		}
	}
}

static void
restore(const struct seeded_graph *g)
{
	for (value_id v = 0; g->graph && v < g->graph->nvalues; v++)
		if (g->own[v]) {
			put(g, v, g->own[v]);
			g->own[v] = NULL;
		}
}

void
seeded_restore(struct seeded *s)
{
	restore(&s->model);
	restore(&s->widened);
	arena_release(&s->arena);
	arena_init(&s->arena);
}

void
seeded_release(struct seeded *s)
{
	seeded_restore(s);
	arena_release(&s->arena);
}
