/* Winograd convolutions of bytes: read as floats less their zero, written as bytes.
 * Sums are rounded to 1e-5 of their range, so a code may be a step off where the
 * definition's lies in the middle of two. */
#include "targets/native/conv_bytes.h"
#include "targets/native/native.h"
#include "targets/need.h"

#define NEED why_need

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
	s = winograd_source_of(in.graph, n, integer_places(n)->w);
	return need_vectors(&in, why, &s);
}

uint32_t
ways_winograd_bytes(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	const struct node *n = match_as_node(m->match, m->graph);
	const struct winograd_source s = winograd_source_of(
	    match_graph(m->match, m->graph), n, integer_places(n)->w);

	return winograd_ways(m, &s, true, f, out, max);
}

static float *
filters_as_floats(const struct conv_bytes *b, struct arena *a)
{
	const size_t filters = (size_t)b->weights->dim[0];
	const size_t each = b->weights->count / filters;
	float *to = arena_new(a, float, b->weights->count);

	for (size_t k = 0; k < filters; k++)
		for (size_t i = 0; i < each; i++)
			to[k * each + i] = (float)conv_bytes_weight(b, k, i);
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
	struct winograd w = {.port = -1};
	struct winograd_source s;
	struct conv_bytes b;
	struct arena unpacked;

	if (!conv_bytes_read(&b, g, c, a, err))
		return false;
	w.port = candidate_input(c, b.node->input[0]);
	w.codes =
	    (struct winograd_codes){.from_unsigned = b.in->dtype == DT_UINT8,
	        .to_unsigned = b.how.is_unsigned,
	        .from_zero = (float)b.from_zero,
	        .to_zero = b.how.zero,
	        .multiplier = b.how.multiplier};
	arena_init(&unpacked);
	s = winograd_source_of(b.graph, b.node, integer_places(b.node)->w);
	s.filters = filters_as_floats(&b, &unpacked);
	s.bias =
	    bias_as_floats(b.how.bias, (size_t)b.weights->dim[0], &unpacked);
	s.window = &b.window;
	winograd_kernel(&w, &s, t, c, a, out);
	arena_release(&unpacked);
	return true;
}
