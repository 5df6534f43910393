/* Winograd convolutions of bytes: read as floats less their zero, written as bytes.
 * Sums are rounded to 1e-5 of their range, so a code may be a step off where the
 * definition's lies in the middle of two. */
#include "targets/integer.h"
#include "targets/native/native.h"
#include "targets/need.h"
#include "targets/window.h"

#define NEED why_need

static struct winograd_source
source_of(const struct graph *g, const struct node *n)
{
	return (struct winograd_source){.in = &node_in(g, n, 0)->type,
	    .out = &node_out(g, n, 0)->type,
	    .weights = &node_in(g, n, integer_places(n)->w)->type,
	    .groups = (size_t)attr_int_or(n, "group", 1)};
}

/* Bytes lie with channels last, and are read and written by whole vectors. */
static bool
need_vectors(
    const struct match_in *m, struct why *why, const struct winograd_source *s)
{
	const int64_t width = native_version_of(m->target)->width;
	const int64_t in = s->in->dim[1], out = s->out->dim[1];

	return NEED(why, in % width == 0 && out % width == 0, "channels",
	    "whole vectors of the processor's", "%d in, %d out, %d in a vector",
	    (int)in, (int)out, (int)width);
}

bool
accept_winograd_bytes(const struct match_in *m, struct why *why)
{
	const struct node *n = match_as_node(m->match, m->graph);
	struct match_in in = *m;
	struct winograd_source s;
	struct window w;

	in.graph = match_graph(m->match, m->graph);
	if (!need_integer(&in, why, n) || !need_window(&in, why, n, &w)
	    || !need_winograd(&in, why, n, &w))
		return false;
	s = source_of(in.graph, n);
	return need_vectors(&in, why, &s);
}

uint32_t
ways_winograd_bytes(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	const struct winograd_source s = source_of(
	    match_graph(m->match, m->graph), match_as_node(m->match, m->graph));

	return winograd_ways(m, &s, true, f, out, max);
}

/* Codes of filters less their zeros. */
static float *
filters_as_floats(const struct graph *g, const struct node *n, struct arena *a)
{
	const struct integer_places *at = integer_places(n);
	const struct tensor *w = integer_constant(g, n, at->w);
	const struct tensor *zero = integer_constant(g, n, at->w_zero);
	const size_t each = w->count / (size_t)w->dim[0];
	float *to = arena_new(a, float, w->count);

	for (size_t i = 0; i < w->count; i++)
		to[i] =
		    (float)tensor_real(w, i) - integer_entry(zero, i / each);
	return to;
}

static float *
bias_as_floats(const int32_t *from, size_t n, struct arena *a)
{
	float *to = arena_new(a, float, n);

	for (size_t i = 0; from && i < n; i++)
		to[i] = (float)from[i];
	return to;
}

bool
compile_winograd_bytes(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	const struct node *n = match_as_node(c->match, g);
	const struct graph *in = match_graph(c->match, g);
	struct winograd_source s = source_of(in, n);
	const size_t filters = (size_t)s.weights->dim[0];
	struct requantising q = {.bias = NULL};
	struct winograd w = {.port = candidate_input(c, n->input[0])};
	struct arena unpacked;
	struct window window;
	const char *fault;

	if (!window_resolve(&window, in, n, &fault))
		return err_set(err, ERR_UNSUPPORTED, "native: %s", fault);
	if (!requantising_of(&q, in, n, filters, a))
		return err_set(
		    err, ERR_UNSUPPORTED, "native: a scale is out of range");
	w.codes =
	    (struct winograd_codes){.from_unsigned = s.in->dtype == DT_UINT8,
	        .to_unsigned = q.is_unsigned,
	        .from_zero = integer_entry(
	            integer_constant(in, n, integer_places(n)->x_zero), 0),
	        .to_zero = q.zero,
	        .multiplier = q.multiplier};
	arena_init(&unpacked);
	s.filters = filters_as_floats(in, n, &unpacked);
	s.bias = bias_as_floats(q.bias, filters, &unpacked);
	s.window = &window;
	winograd_kernel(&w, &s, t, c, a, out);
	arena_release(&unpacked);
	return true;
}
