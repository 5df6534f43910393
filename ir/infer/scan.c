/* Scan: the body sees one slice of each scanned input; its states keep their
 * types. Opset 8 had batches in front and no axes. */
#include "ir/infer/rules.h"

#include <inttypes.h>

#include "ir/infer/bodies.h"
#include "ir/infer/pass.h"

struct scan_types {
	struct graph *body;
	struct pass inner;
	bool batched; /* opset 8: input 0 is sequence_lens, axis 0 the batch */
	uint32_t first, nstates, nscanned; /* inputs: states from `first` on */
	int64_t length, batch;
};

static bool
read_counts(struct site *s, struct scan_types *c)
{
	int64_t n = attr_int_or(s->n, "num_scan_inputs", 0);
	uint32_t inputs;

	c->batched = s->n->opset < 9;
	c->first = c->batched ? 1 : 0;
	inputs = s->n->ninputs - c->first;
	if (n < 1 || n > (int64_t)inputs)
		return fault(s,
		    "num_scan_inputs %" PRId64 " but %" PRIu32 " inputs", n,
		    inputs);
	c->nscanned = (uint32_t)n;
	c->nstates = inputs - c->nscanned;
	if (c->body->ninputs != inputs)
		return fault(s,
		    "body has %" PRIu32 " inputs, %" PRIu32 " are needed",
		    c->body->ninputs, inputs);
	if (c->body->noutputs != s->n->noutputs)
		return fault(s,
		    "body has %" PRIu32 " outputs but the node %" PRIu32,
		    c->body->noutputs, s->n->noutputs);
	if (s->n->noutputs < c->nstates)
		return fault(s, "%" PRIu32 " states but %" PRIu32 " outputs",
		    c->nstates, s->n->noutputs);
	return true;
}

/* Entry i of an optional list attribute; 0 when there is none. */
static int64_t
axis_entry(const struct site *s, const char *name, uint32_t i)
{
	uint32_t n;
	const int64_t *axes = attr_ints(s->n, name, &n);

	return i < n ? axes[i] : 0;
}

/* A type without dimension `axis`, and without the batch before it. */
static struct type
without(struct site *s, const struct type *t, bool batch, int64_t axis)
{
	int64_t *dim = dims_new(s, t->rank);
	struct type out = *t;

	out.rank = 0;
	for (uint32_t i = 0; i < t->rank; i++)
		if (i != axis && !(batch && i == 0))
			dim[out.rank++] = t->dim[i];
	out.dim = dim;
	return out;
}

static bool
give_state(struct site *s, struct scan_types *c, uint32_t i)
{
	const struct type *t = in_type(s, c->first + i);
	struct type slice;

	if (!t)
		return fault(s, "state %" PRIu32 " is left out", i);
	slice = *t;
	if (c->batched && in_ranked(s, c->first + i)) {
		if (!need_min_rank(s, c->first + i, 1, "state")
		    || !dim_meet(s, "batches", c->batch, t->dim[0], &c->batch))
			return false;
		slice = without(s, t, true, -1);
	}
	body_set_input(&c->inner, s->g, i, &slice);
	return true;
}

static bool
give_slice(struct site *s, struct scan_types *c, uint32_t i)
{
	uint32_t at = c->first + c->nstates + i, axis = 1;
	const struct type *t = in_type(s, at);
	struct type slice;

	if (!t)
		return fault(s, "scanned input %" PRIu32 " is left out", i);
	if (!in_ranked(s, at)) {
		body_set_input(&c->inner, s->g, c->nstates + i, t);
		return true;
	}
	if (!need_min_rank(s, at, c->batched ? 2 : 1, "scanned input"))
		return false;
	if (!c->batched
	    && !site_axis(s, "scan_input_axes",
	        axis_entry(s, "scan_input_axes", i), t->rank, &axis))
		return false;
	if ((c->batched
	        && !dim_meet(s, "batches", c->batch, t->dim[0], &c->batch))
	    || !dim_meet(
	        s, "scanned lengths", c->length, t->dim[axis], &c->length))
		return false;
	slice = without(s, t, c->batched, axis);
	body_set_input(&c->inner, s->g, c->nstates + i, &slice);
	return true;
}

/* Output i: a state as it is, a scanned output with its length put in. */
static bool
put_output(struct site *s, struct scan_types *c, uint32_t i)
{
	struct type t = body_output(s, &c->inner, i);
	bool scanned = i >= c->nstates;
	uint32_t axis = c->batched, from = 0, rank;
	int64_t *dim;

	if (t.kind != TYPE_TENSOR || t.rank == RANK_UNKNOWN) {
		out_unranked(s, i, t.dtype);
		return true;
	}
	rank = t.rank + c->batched + scanned;
	if (scanned && !c->batched
	    && !site_axis(s, "scan_output_axes",
	        axis_entry(s, "scan_output_axes", i - c->nstates), rank, &axis))
		return false;
	dim = dims_new(s, rank);
	for (uint32_t k = 0; k < rank; k++)
		dim[k] = c->batched && k == 0 ? c->batch
		    : scanned && k == axis    ? c->length
		                              : t.dim[from++];
	out_tensor(s, i, t.dtype, rank, dim);
	return true;
}

/* A state must come back with its dtype and, where known, its shape. */
static bool
check_state(struct site *s, struct scan_types *c, uint32_t i)
{
	const struct type *given =
	    &graph_value(c->body, c->body->input[i])->type;
	const struct type *back =
	    &graph_value(c->body, c->body->output[i])->type;
	struct type joined;
	bool same;

	if (type_join(s->g->arena, given, back, &joined, &same))
		return true;
	return fault(s, "state %" PRIu32 " is %s but comes back as %s", i,
	    type_text(given, c->body->symbol, s->pass->scratch),
	    type_text(back, c->body->symbol, s->pass->scratch));
}

bool
rule_scan(struct site *s)
{
	struct scan_types c = {.length = DIM_UNKNOWN, .batch = DIM_UNKNOWN};

	if (!body_of(s, "body", &c.body) || !read_counts(s, &c)
	    || !body_enter(s, "body", c.body, &c.inner))
		return false;
	for (uint32_t i = 0; i < c.nstates; i++)
		if (!give_state(s, &c, i))
			return false;
	for (uint32_t i = 0; i < c.nscanned; i++)
		if (!give_slice(s, &c, i))
			return false;
	if (!body_infer(s, &c.inner))
		return false;
	for (uint32_t i = 0; i < c.nstates; i++)
		if (!check_state(s, &c, i))
			return false;
	for (uint32_t i = 0; i < s->n->noutputs; i++)
		if (!put_output(s, &c, i))
			return false;
	return true;
}

/* SequenceMap: the body maps the elements of sequences (and whole tensors). */
bool
rule_sequencemap(struct site *s)
{
	struct graph *body;
	struct pass inner;

	if (!body_of(s, "body", &body))
		return false;
	if (body->ninputs != s->n->ninputs || body->noutputs != s->n->noutputs)
		return fault(s,
		    "body has %" PRIu32 " inputs and %" PRIu32 " outputs",
		    body->ninputs, body->noutputs);
	if (!body_enter(s, "body", body, &inner))
		return false;
	for (uint32_t i = 0; i < s->n->ninputs; i++) {
		const struct type *t = in_type(s, i);

		if (t && t->kind == TYPE_SEQUENCE && t->elem)
			t = t->elem;
		if (t)
			body_set_input(&inner, s->g, i, t);
	}
	if (!body_infer(s, &inner))
		return false;
	for (uint32_t i = 0; i < s->n->noutputs; i++) {
		struct type *elem = arena_new(s->g->arena, struct type, 1);

		*elem = body_output(s, &inner, i);
		s->out[i] = (struct type){.kind = TYPE_SEQUENCE, .elem = elem};
	}
	return true;
}
