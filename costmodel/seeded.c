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
		const struct tensor *t =
		    v == VALUE_NONE ? NULL : graph_value(s->graph, v)->constant;

		if (t && content_of(n, i, t) != CONTENT_WEIGHTS)
			s->is_weight[v] = false;
	}
}

void
seeded_init(struct seeded *s, const struct graph *g, struct arena *a)
{
	*s = (struct seeded){
	    .graph = g,
	    .own = arena_new(a, const struct tensor *, g->nvalues),
	    .is_weight = arena_new(a, bool, g->nvalues),
	};
	arena_init(&s->arena);
	for (value_id v = 0; v < g->nvalues; v++)
		s->is_weight[v] = g->value[v].constant != NULL;
	for (node_id id = 0; id < g->nnodes; id++)
		mark_kept(s, graph_node(g, id));
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
take_one(struct seeded *s, value_id v)
{
	struct value *value = graph_value(s->graph, v);
	const struct tensor *made = make_up(s, v, value->constant);

	s->is_weight[v] = made != NULL;
	if (!made)
		return;
	s->own[v] = value->constant;
	value->constant = made;
}

void
seeded_take(struct seeded *s, const struct candidate *c)
{
	for (uint32_t i = 0; i < c->nnodes; i++) {
		const struct node *n = graph_node(s->graph, c->node[i]);

		for (uint32_t k = 0; k < n->ninputs; k++) {
			value_id v = n->input[k];

			assert(v == VALUE_NONE || v < s->graph->nvalues);
			if (v != VALUE_NONE && s->is_weight[v] && !s->own[v])
				take_one(s, v);
		}
	}
}

void
seeded_restore(struct seeded *s)
{
	for (value_id v = 0; v < s->graph->nvalues; v++)
		if (s->own[v]) {
			graph_value(s->graph, v)->constant = s->own[v];
			s->own[v] = NULL;
		}
	arena_release(&s->arena);
	arena_init(&s->arena);
}

void
seeded_release(struct seeded *s)
{
	seeded_restore(s);
	arena_release(&s->arena);
}
