/* Loop: the body is inferred with types that hold for every iteration. */
#include "ir/infer/rules.h"

#include <inttypes.h>

#include "ir/infer/bodies.h"
#include "ir/infer/pass.h"

/* TUNING: how deep loops may nest and still be tried with exact types first;
 * deeper ones are inferred once, knowing ranks only. Each level tried costs up
 * to three runs of its body. */
#define TRY_DEPTH 3u

/* Inputs: trip count, condition, carried...; body inputs: iteration, condition,
 * carried...; body outputs: condition, carried..., scanned... */
struct loop_types {
	struct graph *body;
	struct pass inner;
	uint32_t ncarried;
	struct type
	    *carried; /* [ncarried], in the symbols of the outer graph */
	bool stable; /* the last run gave back what it was given */
};

static bool
check_counts(struct site *s, struct loop_types *l)
{
	l->ncarried = s->n->ninputs < 2 ? 0 : s->n->ninputs - 2;
	if (l->body->ninputs != l->ncarried + 2)
		return fault(s,
		    "body has %" PRIu32 " inputs, %" PRIu32 " are needed",
		    l->body->ninputs, l->ncarried + 2);
	if (l->body->noutputs != s->n->noutputs + 1)
		return fault(s,
		    "body has %" PRIu32 " outputs, %" PRIu32 " are needed",
		    l->body->noutputs, s->n->noutputs + 1);
	if (s->n->noutputs < l->ncarried)
		return fault(s,
		    "%" PRIu32 " values are carried but only %" PRIu32
		    " outputs are there",
		    l->ncarried, s->n->noutputs);
	return true;
}

/* The iteration number and the condition are scalars; a body that declares a
 * tensor of one element gets that, as runtimes do it. */
static struct type
one_element(const struct loop_types *l, uint32_t input, enum dtype dtype)
{
	static const int64_t one[] = {1};
	const struct type *declared =
	    &graph_value(l->body, l->body->input[input])->type;
	bool vector = declared->kind == TYPE_TENSOR && declared->rank == 1
	    && declared->dim[0] == 1;

	return (struct type){
	    .kind = TYPE_TENSOR, .dtype = dtype, .rank = vector, .dim = one};
}

static bool
run_body(struct site *s, struct loop_types *l)
{
	struct type iteration = one_element(l, 0, DT_INT64);
	struct type condition = one_element(l, 1, DT_BOOL);

	if (!body_enter(s, "body", l->body, &l->inner))
		return false;
	body_set_input(&l->inner, s->g, 0, &iteration);
	body_set_input(&l->inner, s->g, 1, &condition);
	for (uint32_t i = 0; i < l->ncarried; i++)
		body_set_input(&l->inner, s->g, i + 2, &l->carried[i]);
	return body_infer(s, &l->inner);
}

/* Join what the body gives back with what it was given. */
static bool
join_carried(struct site *s, struct loop_types *l)
{
	l->stable = true;
	for (uint32_t i = 0; i < l->ncarried; i++) {
		struct type back = body_output(s, &l->inner, i + 1), joined;
		bool same;

		if (!type_join(
		        s->g->arena, &l->carried[i], &back, &joined, &same)) {
			/* an optional may come back as what it holds */
			if (l->carried[i].kind == TYPE_OPTIONAL
			    || back.kind == TYPE_OPTIONAL) {
				l->carried[i].kind = TYPE_UNKNOWN;
				continue;
			}
			return fault(s,
			    "carried value %" PRIu32
			    " starts as %s and comes back as %s",
			    i,
			    type_text(
			        &l->carried[i], s->g->symbol, s->pass->scratch),
			    type_text(&back, s->g->symbol, s->pass->scratch));
		}
		l->carried[i] = joined;
		l->stable = l->stable && same;
	}
	return true;
}

static void
forget_shapes(struct loop_types *l)
{
	for (uint32_t i = 0; i < l->ncarried; i++)
		if (l->carried[i].kind == TYPE_TENSOR) {
			l->carried[i].rank = RANK_UNKNOWN;
			l->carried[i].dim = NULL;
		} else if (l->carried[i].kind == TYPE_SEQUENCE) {
			l->carried[i].kind = TYPE_UNKNOWN;
		}
}

/* At most three runs: with the initial types, with what they join to, and
 * with no shapes at all. */
static bool
find_stable(struct site *s, struct loop_types *l)
{
	struct body_snapshot *saved = body_save(l->body, s->pass->scratch);
	uint32_t notes = s->pass->o->notes ? s->pass->o->notes->n : 0;

	if (s->pass->depth >= TRY_DEPTH)
		forget_shapes(l);
	for (uint32_t run = 0; run < 3; run++) {
		if (!run_body(s, l) || !join_carried(s, l))
			return false;
		if (l->stable || *s->pass->failed)
			return true;
		body_restore(saved);
		if (s->pass->o->notes)
			s->pass->o->notes->n = notes;
		if (run == 1 || s->pass->depth >= TRY_DEPTH)
			forget_shapes(l);
	}
	return run_body(s, l);
}

/* Does the body always ask for another iteration? */
static bool
never_stops(const struct site *s, const struct loop_types *l)
{
	value_id out = l->body->output[0];
	node_id producer = l->body->value[out].producer;
	const struct tensor *c = l->inner.content[out];
	struct small first = in_small(s, 1);

	if (s->n->ninputs > 1 && s->n->input[1] != VALUE_NONE
	    && !(first.e && first.n == 1 && first.e[0].known && first.e[0].v))
		return false;
	if (c)
		return c->dtype == DT_BOOL && c->count == 1
		    && tensor_int(c, 0) != 0;
	while (producer != NODE_NONE
	    && l->body->node[producer].op == OP_IDENTITY) {
		out = l->body->node[producer].input[0];
		producer = l->body->value[out].producer;
	}
	return out == l->body->input[1];
}

static int64_t
trip_count(const struct site *s, const struct loop_types *l)
{
	struct small m = in_small(s, 0);

	if (!m.e || m.n != 1 || !never_stops(s, l))
		return DIM_UNKNOWN;
	if (m.e[0].known)
		return m.e[0].v < 0 ? 0 : m.e[0].v;
	return m.e[0].v;
}

static void
put_scanned(struct site *s, const struct loop_types *l)
{
	int64_t trips = trip_count(s, l);

	for (uint32_t i = l->ncarried; i < s->n->noutputs; i++) {
		struct type t = body_output(s, &l->inner, i + 1);
		int64_t *dim;

		if (t.kind != TYPE_TENSOR || t.rank == RANK_UNKNOWN) {
			out_unranked(s, i, t.dtype);
			continue;
		}
		dim = dims_new(s, t.rank + 1);
		dim[0] = trips;
		for (uint32_t k = 0; k < t.rank; k++)
			dim[k + 1] = t.dim[k];
		out_tensor(s, i, t.dtype, t.rank + 1, dim);
	}
}

bool
rule_loop(struct site *s)
{
	struct loop_types l = {0};

	if (!body_of(s, "body", &l.body) || !check_counts(s, &l)
	    || !need_max_count(s, 0, "trip count")
	    || !need_max_count(s, 1, "condition"))
		return false;
	l.carried = arena_new(s->pass->scratch, struct type, l.ncarried);
	for (uint32_t i = 0; i < l.ncarried; i++)
		if (in_type(s, i + 2))
			l.carried[i] = *in_type(s, i + 2);
	if (!find_stable(s, &l))
		return false;
	for (uint32_t i = 0; i < l.ncarried; i++)
		out_type(s, i, &l.carried[i]);
	put_scanned(s, &l);
	return true;
}
