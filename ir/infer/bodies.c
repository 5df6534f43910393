#include "ir/infer/bodies.h"

#include <inttypes.h>
#include <string.h>

#include "ir/infer/pass.h"

/* TUNING: real models nest 4 deep (a voice detector of 25 Ifs). */
#define MAX_DEPTH 32u

static int64_t
dim_carried(struct symbols *to, const struct graph *from, int64_t dim)
{
	if (dim >= DIM_UNKNOWN || to->g == from)
		return dim;
	return symbols_named(to, from->symbol[DIM_SYMBOL(0) - dim]);
}

struct type
type_carried(struct symbols *to, const struct graph *from, const struct type *t)
{
	struct type out = *t;
	int64_t *dim;

	if (t->elem && (t->kind == TYPE_SEQUENCE || t->kind == TYPE_OPTIONAL)) {
		struct type *elem = arena_new(to->g->arena, struct type, 1);

		*elem = type_carried(to, from, t->elem);
		out.elem = elem;
	}
	if (t->kind != TYPE_TENSOR || t->rank == RANK_UNKNOWN)
		return out;
	dim = arena_new(to->g->arena, int64_t, t->rank);
	for (uint32_t i = 0; i < t->rank; i++)
		dim[i] = dim_carried(to, from, t->dim[i]);
	out.dim = dim;
	return out;
}

static struct small
small_carried(struct pass *to, const struct graph *from, struct small x)
{
	struct num *e;

	if (!x.e)
		return x;
	e = arena_new(to->scratch, struct num, x.n);
	for (uint32_t i = 0; i < x.n; i++)
		e[i] = x.e[i].known
		    ? x.e[i]
		    : num_dim(dim_carried(&to->symbols, from, x.e[i].v));
	return (struct small){x.n, e};
}

bool
body_of(struct site *s, const char *attr, struct graph **body)
{
	const struct attr *a = node_attr(s->n, attr);

	if (!a || a->kind != ATTR_GRAPH)
		return fault(s, "attribute %s is missing or no graph", attr);
	*body = a->graphs[0];
	return true;
}

bool
body_enter(
    struct site *s, const char *attr, struct graph *body, struct pass *inner)
{
	if (s->pass->depth >= MAX_DEPTH)
		return fault(s, "bodies nest more than %u deep", MAX_DEPTH);
	pass_init(inner, body, s->pass);
	inner->path = arena_printf(s->pass->scratch, "%s%s/%s/", s->pass->path,
	    node_label(s->g, s->id, s->pass->scratch), attr);
	for (uint32_t i = 0; i < body->ncaptures; i++) {
		const struct capture *c = &body->capture[i];
		value_id outer = s->n->input[s->n->ninputs + c->slot];

		if (outer == VALUE_NONE)
			continue;
		graph_value(body, c->inner)->type = type_carried(
		    &inner->symbols, s->g, &graph_value(s->g, outer)->type);
		inner->content[c->inner] = s->pass->content[outer];
		inner->small[c->inner] =
		    small_carried(inner, s->g, s->pass->small[outer]);
	}
	return true;
}

bool
body_infer(struct site *s, struct pass *inner)
{
	return pass_run(inner, s->err);
}

/* Dims in `a`; *same turns false where x loses something. */
static void
join_dims(struct arena *a, const struct type *x, const struct type *y,
    struct type *out, bool *same)
{
	int64_t *dim;

	if (x->rank == RANK_UNKNOWN)
		return;
	if (x->rank != y->rank) {
		out->rank = RANK_UNKNOWN;
		out->dim = NULL;
		*same = false;
		return;
	}
	dim = arena_new(a, int64_t, x->rank);
	for (uint32_t i = 0; i < x->rank; i++) {
		dim[i] = x->dim[i] == y->dim[i] ? x->dim[i] : DIM_UNKNOWN;
		if (dim[i] != x->dim[i])
			*same = false;
	}
	out->dim = dim;
}

bool
type_join(struct arena *a, const struct type *x, const struct type *y,
    struct type *out, bool *same)
{
	*out = *x;
	*same = true;
	if (x->kind == TYPE_UNKNOWN)
		return true;
	if (y->kind == TYPE_UNKNOWN) {
		*out = *y;
		*same = false;
		return true;
	}
	if (x->kind != y->kind) {
		/* what may be absent at first and is there afterwards has no
		 * type of ours */
		out->kind = TYPE_UNKNOWN;
		*same = false;
		return x->kind == TYPE_OPTIONAL || y->kind == TYPE_OPTIONAL;
	}
	if (x->kind != TYPE_TENSOR) {
		struct type *elem;
		bool ok;

		if (!x->elem || !y->elem)
			return true;
		elem = arena_new(a, struct type, 1);
		ok = type_join(a, x->elem, y->elem, elem, same);
		out->elem = elem;
		return ok;
	}
	if (x->dtype != y->dtype && x->dtype != DT_UNDEFINED
	    && y->dtype != DT_UNDEFINED)
		return false;
	if (x->dtype != y->dtype) {
		out->dtype = DT_UNDEFINED;
		*same = x->dtype == DT_UNDEFINED;
	}
	join_dims(a, x, y, out, same);
	return true;
}

struct body_snapshot {
	struct graph *g;
	struct value *value; /* [g->nvalues] */
	struct body_snapshot *next;
};

/* Recursion is as deep as bodies nest, which body_enter() limits. */
static struct body_snapshot *
save_within(struct graph *g, struct body_snapshot *head, uint32_t depth,
    struct arena *a)
{
	struct body_snapshot *s = arena_new(a, struct body_snapshot, 1);
	struct graph *body;

	s->g = g;
	s->value = arena_copy(a, g->value, g->nvalues * sizeof *g->value);
	s->next = head;
	head = s;
	for (node_id id = 0; id < g->nnodes && depth < MAX_DEPTH; id++) {
		const struct node *n = &g->node[id];

		for (uint32_t k = 0; (body = node_body(n, k)) != NULL; k++)
			head = save_within(body, head, depth + 1, a);
	}
	return head;
}

struct body_snapshot *
body_save(struct graph *body, struct arena *a)
{
	return save_within(body, NULL, 0, a);
}

void
body_restore(const struct body_snapshot *saved)
{
	for (; saved; saved = saved->next)
		if (saved->g->nvalues)
			memcpy(saved->g->value, saved->value,
			    saved->g->nvalues * sizeof *saved->value);
}

void
body_set_input(struct pass *inner, const struct graph *from, uint32_t i,
    const struct type *t)
{
	if (t->kind != TYPE_UNKNOWN)
		graph_value(inner->g, inner->g->input[i])->type =
		    type_carried(&inner->symbols, from, t);
}

struct type
body_output(struct site *s, const struct pass *inner, uint32_t i)
{
	return type_carried(&s->pass->symbols, inner->g,
	    &graph_value(inner->g, inner->g->output[i])->type);
}
