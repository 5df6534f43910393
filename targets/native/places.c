#include "targets/native/places.h"

#include "targets/host/host.h"
#include "targets/need.h"

#define PLACES_DEPTH 12 /* of the deepest pattern, and more */
#define PLACES_INPUTS 64 /* of a node */

bool
is_quantiser(const struct node *n)
{
	return n->op == OP_QUANTIZELINEAR || n->op == OP_DEQUANTIZELINEAR;
}

/* Nearest, and of elements that are there. */
static bool
resizes_so(const struct node *n)
{
	return attr_is(n, "mode", "nearest", "nearest")
	    && !attr_is(n, "coordinate_transformation_mode", "half_pixel",
	        "tf_crop_and_resize");
}

/* What is put around is an input since opset 11. */
static bool
pads_so(const struct node *n)
{
	return n->opset >= 11;
}

bool
need_moves(const struct match_in *m, struct why *why, const struct node *n)
{
	bool ok = n->ninputs <= PLACES_INPUTS && n->noutputs == 1;

	for (uint32_t i = 1; n->op != OP_CONCAT && i < n->ninputs; i++)
		ok = ok
		    && (n->input[i] == VALUE_NONE
		        || graph_value(m->graph, n->input[i])->constant);
	ok = ok && (n->op != OP_RESIZE || resizes_so(n))
	    && (n->op != OP_PAD || pads_so(n));
	return why_need(why, ok, "move", "a move that constants tell",
	    "'%s' %s", n->name, ok ? "is one" : "is none");
}

struct place_finder {
	const struct graph *graph;
	const struct candidate *candidate;
	struct tensor *places; /* [ninputs] of what goes in */
	struct tensor around; /* of what a Pad puts there */
	struct arena *arena;
	struct err *err;
};

static const struct tensor *places_of(
    struct place_finder *f, value_id v, uint32_t depth);

/* Of a node's inputs; false: some are none of the moves'. */
static bool
places_of_inputs(struct place_finder *f, const struct node *n,
    const struct tensor **in, uint32_t depth)
{
	const uint32_t moved = n->op == OP_CONCAT ? n->ninputs : 1;

	for (uint32_t i = 0; i < n->ninputs; i++) {
		if (n->input[i] == VALUE_NONE)
			continue;
		in[i] = i < moved ? places_of(f, n->input[i], depth)
		    : n->op == OP_PAD && i == 2
		    ? &f->around
		    : graph_value(f->graph, n->input[i])->constant;
		if (!in[i])
			return false;
	}
	return true;
}

/* The places that a value's elements come from; NULL: it is none of the moves'. */
static const struct tensor *
places_of(struct place_finder *f, value_id v, uint32_t depth)
{
	const struct tensor *in[PLACES_INPUTS] = {NULL};
	const int32_t port = candidate_input(f->candidate, v);
	const struct node *n;
	struct tensor *out;

	if (port >= 0)
		return &f->places[port];
	if (depth == 0 || graph_value(f->graph, v)->producer == NODE_NONE)
		return NULL;
	n = graph_node(f->graph, graph_value(f->graph, v)->producer);
	if (is_quantiser(n))
		return places_of(f, n->input[0], depth - 1);
	if (!places_of_inputs(f, n, in, depth - 1))
		return NULL;
	out = arena_new(f->arena, struct tensor, 1);
	return host_eval(f->graph, n, in, out, f->arena, f->err) ? out : NULL;
}

/* Where element i of an image lies, channels last. */
static size_t
last_place(const struct type *t, size_t i)
{
	const size_t channels = (size_t)t->dim[1];
	const size_t points = (size_t)(t->dim[2] * t->dim[3]);
	const size_t image = i / (channels * points);

	return (image * points + i % points) * channels + i / points % channels;
}

size_t
place_in(const struct type *t, bool last, size_t i)
{
	return last ? last_place(t, i) : i;
}

static bool
is_last(const struct port *p, const struct formats *f)
{
	return f->format[p->format].layout == LAYOUT_NHWC;
}

static void
number_inputs(struct place_finder *f, const struct formats *formats)
{
	const struct candidate *c = f->candidate;
	size_t base = 1;

	f->places = arena_new(f->arena, struct tensor, c->ninputs);
	for (uint32_t k = 0; k < c->ninputs; k++) {
		const struct type *t =
		    &graph_value(f->graph, c->input[k].value)->type;
		const size_t n = type_elements(t, 0);
		float *place = arena_new(f->arena, float, n);
		const bool last = is_last(&c->input[k], formats);

		for (size_t i = 0; i < n; i++)
			place[i] = (float)(base + place_in(t, last, i));
		f->places[k] = tensor_view(DT_FLOAT, t->rank, t->dim, place);
		base += n;
	}
}

bool
places_find(uint32_t *order, const struct formats *formats,
    const struct graph *g, const struct candidate *c, struct arena *a,
    struct err *err)
{
	static const float nowhere;
	struct place_finder f = {g, c, .arena = a, .err = err,
	    .around = tensor_view(DT_FLOAT, 0, NULL, &nowhere)};
	const value_id to = c->output[0].value;
	const struct type *y = &graph_value(g, to)->type;
	const size_t count = type_elements(y, 0);
	const bool last = is_last(&c->output[0], formats);
	const struct tensor *got;
	const float *from;

	number_inputs(&f, formats);
	got = places_of(&f, to, PLACES_DEPTH);
	if (!got || got->count != count)
		return err->kind == ERR_NONE
		    && err_set(err, ERR_UNSUPPORTED,
		        "native: this does not only move");
	from = tensor_data(got, a);
	for (size_t i = 0; i < count; i++)
		order[place_in(y, last, i)] = (uint32_t)from[i];
	return true;
}
