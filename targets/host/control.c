/* If, Loop, Scan, SequenceMap: kernels that run sub-graphs. What an iteration
 * makes is copied on and its memory given back before the next begins. */
#include <string.h>

#include "targets/host/kernels.h"
#include "targets/host/run.h"
#include "targets/host/stack.h"

/* The graph of an attribute, checked for its number of inputs and outputs. */
static const struct graph *
body_of(const struct call *c, const char *name, uint32_t ninputs,
    uint32_t noutputs, struct err *err)
{
	const struct attr *a = node_attr(c->node, name);
	const struct graph *g;

	if (!a || a->kind != ATTR_GRAPH) {
		err_set(err, ERR_INPUT, "no sub-graph '%s'", name);
		return NULL;
	}
	g = a->graphs[0];
	if (g->ninputs == ninputs && g->noutputs == noutputs)
		return g;
	err_set(err, ERR_INPUT,
	    "sub-graph '%s' has %u inputs and %u outputs, not %u and %u", name,
	    g->ninputs, g->noutputs, ninputs, noutputs);
	return NULL;
}

static bool
run_body(const struct call *c, const struct graph *g, const struct tensor *in,
    struct tensor *out, struct arena *a, struct err *err)
{
	return graph_run(
	    g, in, c->in + c->node->ninputs, c->depth + 1, out, a, err);
}

/* A tensor that is one bool. */
static bool
condition(const struct tensor *t, bool *holds, struct err *err)
{
	if (t->kind > TENSOR_FILL || t->count != 1)
		return err_set(err, ERR_INPUT, "a condition of %zu elements",
		    t->kind > TENSOR_FILL ? 0 : t->count);
	*holds = load_one_int(t, 0) != 0;
	return true;
}

/* Output i becomes t: its memory is the caller's, or the preset one. */
static bool
give(struct call *c, uint32_t i, const struct tensor *t, struct err *err)
{
	struct shape s;

	if (!call_wants(c, i))
		return true;
	if (t->kind >= TENSOR_STRINGS) {
		c->out[i] = tensor_copy(t, c->arena);
		return true;
	}
	s = shape_of(t);
	return host_out_as(c, i, t, &s, err);
}

bool
if_run(struct call *c, struct err *err)
{
	uint32_t n = c->node->noutputs;
	struct tensor *out = arena_new(c->scratch, struct tensor, n);
	const struct graph *g;
	bool holds;

	if (!condition(c->in[0], &holds, err))
		return false;
	g = body_of(c, holds ? "then_branch" : "else_branch", 0, n, err);
	if (!g || !run_body(c, g, NULL, out, c->scratch, err))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!give(c, i, &out[i], err))
			return false;
	return true;
}

/* --- What was collected over iterations ---------------------------------- */

/* Nothing was collected: an empty tensor of the type the body declares. */
static bool
give_empty(struct call *c, uint32_t i, const struct type *type, int64_t axis,
    struct err *err)
{
	struct shape s = {.rank = 1};
	struct sink to;
	uint32_t a;

	if (type->kind != TYPE_TENSOR || dtype_bits(type->dtype) == 0)
		return refuse(err, "output %u of no iterations has no type", i);
	if (type->rank != RANK_UNKNOWN && type->rank < RANK_MAX) {
		if (!axis_of(axis, type->rank + 1, &a, err))
			return false;
		s.rank = 0;
		for (uint32_t d = 0; d <= type->rank; d++) {
			int64_t dim = d == a ? 0 : type->dim[d - (d > a)];

			s.dim[s.rank++] = dim < 0 ? 0 : dim;
		}
	}
	return host_out(c, i, type->dtype, &s, &to, err);
}

static void
reverse(struct tensor_list *l)
{
	for (uint32_t i = 0; i < l->n / 2; i++) {
		struct tensor t = l->item[i];

		l->item[i] = l->item[l->n - 1 - i];
		l->item[l->n - 1 - i] = t;
	}
}

static bool
give_stacked(struct call *c, uint32_t i, const struct tensor_list *l,
    const struct type *type, int64_t axis, struct err *err)
{
	if (!call_wants(c, i))
		return true;
	if (l->n == 0)
		return give_empty(c, i, type, axis, err);
	return join(c, i, l->item, l->n, axis, true, err);
}

/* --- Loop ---------------------------------------------------------------- */

/* What goes around: iteration number, condition, carried values. */
struct loop {
	const struct graph *body;
	uint32_t carried, scans;
	struct tensor *in; /* [2 + carried] */
	struct tensor *out; /* [1 + carried + scans] */
	struct tensor_list *list; /* [scans] */
	int64_t iteration;
	bool go_on;
	struct arena turn[2]; /* carried values live in one, then the other */
};

/* 1 where the body takes the iteration number or the condition as a tensor of
 * one element instead of a scalar, as its type says after inference. */
static uint32_t
rank_in_body(const struct loop *l, uint32_t input)
{
	return graph_value(l->body, l->body->input[input])->type.rank == 1;
}

static bool
loop_turn(struct call *c, struct loop *l, struct err *err)
{
	static const int64_t dim[] = {1};
	struct arena *a = &l->turn[l->iteration & 1];
	bool one = l->go_on;

	arena_release(a);
	l->in[0] =
	    tensor_view(DT_INT64, rank_in_body(l, 0), dim, &l->iteration);
	l->in[1] = tensor_fill(DT_BOOL, rank_in_body(l, 1), dim, &one);
	if (!run_body(c, l->body, l->in, l->out, a, err)
	    || !condition(&l->out[0], &l->go_on, err))
		return err_in(err, "iteration %lld", (long long)l->iteration);
	memcpy(l->in + 2, l->out + 1, l->carried * sizeof *l->in);
	for (uint32_t i = 0; i < l->scans; i++)
		tensor_list_add(
		    &l->list[i], &l->out[1 + l->carried + i], c->scratch);
	l->iteration++;
	return true;
}

static bool
loop_outputs(struct call *c, struct loop *l, struct err *err)
{
	for (uint32_t i = 0; i < l->carried; i++)
		if (!give(c, i, &l->in[2 + i], err))
			return false;
	for (uint32_t i = 0; i < l->scans; i++) {
		value_id v = l->body->output[1 + l->carried + i];

		if (!give_stacked(c, l->carried + i, &l->list[i],
		        &l->body->value[v].type, 0, err))
			return false;
	}
	return true;
}

static bool
loop_begin(struct call *c, struct loop *l, int64_t *trips, struct err *err)
{
	const struct node *n = c->node;
	const struct tensor *most = call_in(c, 0), *first = call_in(c, 1);

	if (n->ninputs < 2)
		return err_set(err, ERR_INPUT, "%u inputs", n->ninputs);
	l->carried = n->ninputs - 2;
	if (n->noutputs < l->carried)
		return err_set(err, ERR_INPUT, "%u outputs for %u values",
		    n->noutputs, l->carried);
	l->scans = n->noutputs - l->carried;
	l->body =
	    body_of(c, "body", 2 + l->carried, 1 + l->carried + l->scans, err);
	if (!l->body)
		return false;
	if (most && (most->kind > TENSOR_FILL || most->count != 1))
		return err_set(err, ERR_INPUT, "the trip count is no number");
	*trips = most ? load_one_int(most, 0) : INT64_MAX;
	l->go_on = true;
	if (first && !condition(first, &l->go_on, err))
		return false;
	l->in = arena_new(c->scratch, struct tensor, 2 + l->carried);
	l->out =
	    arena_new(c->scratch, struct tensor, 1 + l->carried + l->scans);
	l->list = arena_new(c->scratch, struct tensor_list, l->scans);
	for (uint32_t i = 0; i < l->carried; i++) {
		if (!c->in[2 + i])
			return err_set(
			    err, ERR_INPUT, "input %u is left out", 2 + i);
		l->in[2 + i] = *c->in[2 + i];
	}
	return true;
}

bool
loop_run(struct call *c, struct err *err)
{
	struct loop l = {.iteration = 0};
	int64_t trips;
	bool done;

	if (!loop_begin(c, &l, &trips, err))
		return false;
	arena_init(&l.turn[0]);
	arena_init(&l.turn[1]);
	done = true;
	while (done && l.go_on && l.iteration < trips)
		done = loop_turn(c, &l, err);
	done = done && loop_outputs(c, &l, err);
	arena_release(&l.turn[0]);
	arena_release(&l.turn[1]);
	return done;
}

/* --- Scan ---------------------------------------------------------------- */

struct scan {
	const struct graph *body;
	uint32_t states, inputs, outputs; /* outputs: those scanned */
	const int64_t *in_axis, *in_reverse, *out_axis, *out_reverse;
	struct tensor *state; /* [states] */
	struct tensor *scanned; /* [inputs] whole */
	struct tensor_list *list; /* [outputs] */
	int64_t length;
};

/* A list attribute with an entry for each of n, or zeros. */
static const int64_t *
list_of(struct call *c, const char *name, uint32_t n, struct err *err)
{
	uint32_t have;
	const int64_t *list = attr_ints(c->node, name, &have);

	if (!list)
		return arena_new(c->scratch, int64_t, n);
	if (have == n)
		return list;
	err_set(err, ERR_INPUT, "%s has %u entries, not %u", name, have, n);
	return NULL;
}

static bool
scan_read(struct call *c, struct scan *s, uint32_t first, struct err *err)
{
	int64_t n = attr_int_or(c->node, "num_scan_inputs", 0);
	uint32_t rest = c->node->ninputs - first;

	if (c->node->ninputs < first)
		return err_set(err, ERR_INPUT, "no inputs");
	if (n < 1 || n > rest || c->node->noutputs < rest - (uint32_t)n)
		return err_set(err, ERR_INPUT,
		    "num_scan_inputs = %lld of %u inputs, %u outputs",
		    (long long)n, rest, c->node->noutputs);
	s->inputs = (uint32_t)n;
	s->states = rest - s->inputs;
	s->outputs = c->node->noutputs - s->states;
	s->body = body_of(
	    c, "body", s->states + s->inputs, s->states + s->outputs, err);
	if (!s->body)
		return false;
	s->in_axis = list_of(c, "scan_input_axes", s->inputs, err);
	s->in_reverse = s->in_axis
	    ? list_of(c, first ? "directions" : "scan_input_directions",
	        s->inputs, err)
	    : NULL;
	s->out_axis = s->in_reverse
	    ? list_of(c, "scan_output_axes", s->outputs, err)
	    : NULL;
	s->out_reverse = s->out_axis
	    ? list_of(c, "scan_output_directions", s->outputs, err)
	    : NULL;
	s->state = arena_new(c->scratch, struct tensor, s->states);
	s->scanned = arena_new(c->scratch, struct tensor, s->inputs);
	s->list = arena_new(c->scratch, struct tensor_list, s->outputs);
	return s->out_reverse != NULL;
}

static bool
scan_turn(struct call *c, struct scan *s, int64_t turn, struct arena *a,
    struct err *err)
{
	struct arena pieces;
	struct tensor *in = arena_new(a, struct tensor, s->states + s->inputs);
	struct tensor *out =
	    arena_new(a, struct tensor, s->states + s->outputs);
	bool done = true;

	arena_init(&pieces);
	memcpy(in, s->state, s->states * sizeof *in);
	for (uint32_t i = 0; done && i < s->inputs; i++) {
		const struct tensor *t = &s->scanned[i];
		int64_t at = s->in_reverse[i] ? s->length - 1 - turn : turn;
		uint32_t axis;

		done = axis_of(s->in_axis[i], t->rank, &axis, err);
		if (done)
			in[s->states + i] = tensor_pick(t, axis, at, &pieces);
	}
	done = done && run_body(c, s->body, in, out, a, err);
	arena_release(&pieces);
	if (!done)
		return false;
	memcpy(s->state, out, s->states * sizeof *out);
	for (uint32_t i = 0; i < s->outputs; i++)
		tensor_list_add(&s->list[i], &out[s->states + i], c->scratch);
	return true;
}

/* All turns; the final states are left in s->state, living in turn[]. */
static bool
scan_turns(
    struct call *c, struct scan *s, struct arena turn[2], struct err *err)
{
	uint32_t axis;

	for (uint32_t i = 0; i < s->inputs; i++) {
		const struct tensor *t = &s->scanned[i];

		if (t->kind > TENSOR_STRINGS
		    || !axis_of(s->in_axis[i], t->rank, &axis, err))
			return err->kind == ERR_NONE
			    ? refuse(err, "scanning a sequence")
			    : false;
		if (i == 0)
			s->length = t->dim[axis];
		else if (t->dim[axis] != s->length)
			return err_set(err, ERR_INPUT,
			    "scanned inputs of length %lld and %lld",
			    (long long)s->length, (long long)t->dim[axis]);
	}
	for (int64_t i = 0; i < s->length; i++) {
		arena_release(&turn[i & 1]);
		if (!scan_turn(c, s, i, &turn[i & 1], err))
			return err_in(err, "iteration %lld", (long long)i);
	}
	for (uint32_t i = 0; i < s->outputs; i++)
		if (s->out_reverse[i])
			reverse(&s->list[i]);
	return true;
}

static bool
scan_whole(
    struct call *c, struct scan *s, struct arena turn[2], struct err *err)
{
	for (uint32_t i = 0; i < s->states; i++)
		s->state[i] = *c->in[i];
	for (uint32_t i = 0; i < s->inputs; i++)
		s->scanned[i] = *c->in[s->states + i];
	if (!scan_turns(c, s, turn, err))
		return false;
	for (uint32_t i = 0; i < s->states; i++)
		if (!give(c, i, &s->state[i], err))
			return false;
	for (uint32_t i = 0; i < s->outputs; i++) {
		value_id v = s->body->output[s->states + i];

		if (!give_stacked(c, s->states + i, &s->list[i],
		        &s->body->value[v].type, s->out_axis[i], err))
			return false;
	}
	return true;
}

/* Opset 8: dimension 0 of everything is a batch, each entry scanned apart. */
static bool
scan_batches(
    struct call *c, struct scan *s, struct arena turn[2], struct err *err)
{
	uint32_t nout = c->node->noutputs;
	struct tensor_list *all =
	    arena_new(c->scratch, struct tensor_list, nout);
	const struct tensor *first = c->in[1 + s->states];

	if (call_in(c, 0))
		return refuse(err, "sequence_lens");
	for (uint32_t i = 1; i < c->node->ninputs; i++)
		if (c->in[i]->rank < 1 || c->in[i]->dim[0] != first->dim[0])
			return err_set(err, ERR_INPUT, "batches differ");
	for (int64_t b = 0; b < first->dim[0]; b++) {
		struct call one = *c;
		struct tensor *out = arena_new(c->scratch, struct tensor, nout);

		one.out = out;
		one.preset = NULL;
		one.arena = c->scratch;
		for (uint32_t i = 0; i < s->states + s->inputs; i++) {
			struct tensor *t = i < s->states
			    ? &s->state[i]
			    : &s->scanned[i - s->states];

			*t = tensor_pick(c->in[1 + i], 0, b, c->scratch);
		}
		for (uint32_t i = 0; i < s->outputs; i++)
			s->list[i].n = 0;
		if (!scan_turns(c, s, turn, err))
			return false;
		for (uint32_t i = 0; i < s->states; i++)
			tensor_list_add(&all[i], &s->state[i], c->scratch);
		for (uint32_t i = s->states; i < nout; i++) {
			struct tensor_list *l = &s->list[i - s->states];

			if (l->n == 0 || !call_wants(&one, i))
				return refuse(err, "a scan of length 0");
			if (!join(&one, i, l->item, l->n, 0, true, err))
				return false;
			tensor_list_add(&all[i], &out[i], c->scratch);
		}
	}
	for (uint32_t i = 0; i < nout; i++)
		if (all[i].n == 0)
			return refuse(err, "an empty batch");
		else if (!join(c, i, all[i].item, all[i].n, 0, true, err))
			return false;
	return true;
}

bool
scan_run(struct call *c, struct err *err)
{
	bool batched = c->node->opset < 9;
	struct arena turn[2];
	struct scan s = {.length = 0};
	bool done;

	if (!scan_read(c, &s, batched, err))
		return false;
	arena_init(&turn[0]);
	arena_init(&turn[1]);
	done = batched ? scan_batches(c, &s, turn, err)
	               : scan_whole(c, &s, turn, err);
	arena_release(&turn[0]);
	arena_release(&turn[1]);
	return done;
}

/* --- SequenceMap --------------------------------------------------------- */

bool
sequencemap_run(struct call *c, struct err *err)
{
	uint32_t nin = c->node->ninputs, nout = c->node->noutputs;
	struct tensor *in = arena_new(c->scratch, struct tensor, nin);
	struct tensor *out = arena_new(c->scratch, struct tensor, nout);
	struct tensor_list *list =
	    arena_new(c->arena, struct tensor_list, nout);
	const struct graph *g = body_of(c, "body", nin, nout, err);

	if (!g)
		return false;
	if (c->in[0]->kind != TENSOR_SEQUENCE)
		return err_set(err, ERR_INPUT, "input 0 is no sequence");
	for (uint32_t i = 1; i < nin; i++)
		if (c->in[i]->kind == TENSOR_SEQUENCE
		    && c->in[i]->nitems != c->in[0]->nitems)
			return err_set(err, ERR_INPUT,
			    "sequences of %u and %u tensors", c->in[0]->nitems,
			    c->in[i]->nitems);
	for (uint32_t k = 0; k < c->in[0]->nitems; k++) {
		for (uint32_t i = 0; i < nin; i++)
			in[i] = c->in[i]->kind == TENSOR_SEQUENCE
			    ? c->in[i]->item[k]
			    : *c->in[i];
		if (!run_body(c, g, in, out, c->scratch, err))
			return err_in(err, "element %u", k);
		for (uint32_t i = 0; i < nout; i++)
			tensor_list_add(&list[i], &out[i], c->arena);
	}
	for (uint32_t i = 0; i < nout; i++)
		c->out[i] = (struct tensor){.kind = TENSOR_SEQUENCE,
		    .item = list[i].item,
		    .nitems = list[i].n};
	return true;
}
