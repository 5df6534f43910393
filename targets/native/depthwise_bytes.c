/* Convolutions of each channel of bytes by itself. */
#include "targets/integer.h"
#include "targets/lanes.h"
#include "targets/native/native.h"
#include "targets/need.h"
#include "targets/window.h"

#define NEED why_need

/* Channels that a kernel takes at once. */
static size_t
channels_at_once(const struct target *t)
{
	return (size_t)2 * native_version_of(t)->width;
}

bool
accept_depthwise_bytes(const struct match_in *m, struct why *why)
{
	const struct node *n = match_as_node(m->match, m->graph);
	const int64_t group = attr_int_or(n, "group", 1);
	struct match_in in = *m;
	struct window w;
	int64_t channels, filters, taps;

	in.graph = match_graph(m->match, m->graph);
	if (!need_integer(&in, why, n) || !need_window(&in, why, n, &w))
		return false;
	channels = node_in(in.graph, n, 0)->type.dim[1];
	filters = node_out(in.graph, n, 0)->type.dim[1];
	taps = w.kernel[0] * w.kernel[1];
	return NEED(why, group == channels && filters == channels, "group",
	           "one channel and one filter each", "%d of %d and %d",
	           (int)group, (int)channels, (int)filters)
	    && NEED(why, taps <= DEPTHWISE_TAPS, "window", "7x7 at most",
	        "%dx%d", (int)w.kernel[0], (int)w.kernel[1])
	    && NEED(why, (size_t)channels >= channels_at_once(m->target),
	        "channels", "two of the processor's vectors", "%d",
	        (int)channels);
}

struct depthwise_bytes_kernel {
	struct depthwise_bytes d;
	depthwise_bytes_run *run;
	int32_t port;
	const uint8_t *in;
	uint8_t *out;
};

static void
run_row(void *of, uint32_t lane, size_t row)
{
	const struct depthwise_bytes_kernel *k = of;

	(void)lane;
	k->run(&k->d, row, k->in, k->out);
}

static void
run(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct depthwise_bytes_kernel *k = kernel->state;

	k->in = in[k->port];
	k->out = out[0];
	lanes_each(k->d.images * k->d.rows, LANES_MOST, run_row, k);
}

static void
set_sizes(struct depthwise_bytes *d, const struct window *w,
    const struct type *in, const struct type *out)
{
	d->images = (size_t)in->dim[0];
	d->channels = (size_t)in->dim[1];
	d->height = (size_t)in->dim[2];
	d->width = (size_t)in->dim[3];
	d->rows = (size_t)out->dim[2];
	d->columns = (size_t)out->dim[3];
	d->from_unsigned = in->dtype == DT_UINT8;
	for (uint32_t i = 0; i < 2; i++) {
		d->kernel[i] = (size_t)w->kernel[i];
		d->stride[i] = w->stride[i];
		d->dilation[i] = w->dilation[i];
		d->before[i] = w->before[i];
	}
}

/* Codes of the filters less their zeros. */
static int32_t
weight_of(const struct tensor *w, const struct tensor *zero, size_t channel,
    size_t tap, size_t taps)
{
	return (int32_t)tensor_real(w, channel * taps + tap)
	    - (int32_t)integer_entry(zero, channel);
}

/* What comes in is not taken less its zero: that adds the same to all sums. */
static const int32_t *
biases(const struct depthwise_bytes *d, const struct tensor *w,
    const struct tensor *zero, const int32_t *bias, int32_t from_zero,
    struct arena *a)
{
	const size_t taps = d->kernel[0] * d->kernel[1];
	int32_t *to = arena_new(a, int32_t, d->channels);

	for (size_t c = 0; c < d->channels; c++) {
		to[c] = bias ? bias[c] : 0;
		for (size_t t = 0; t < taps; t++)
			to[c] -= from_zero * weight_of(w, zero, c, t, taps);
	}
	return to;
}

static const int16_t *
packed(const struct depthwise_bytes *d, const struct tensor *w,
    const struct tensor *zero, const struct target *t, struct arena *a)
{
	const size_t taps = d->kernel[0] * d->kernel[1], pairs = (taps + 1) / 2;
	const size_t each = channels_at_once(t);
	const size_t parts = (d->channels + each - 1) / each;
	int16_t *one = arena_new(a, int16_t, 2 * pairs * each);
	int16_t *to = arena_new(a, int16_t, parts * 2 * pairs * each);

	for (size_t p = 0; p < parts; p++) {
		const size_t first = depthwise_part_at(p, each, d->channels);

		for (size_t i = 0; i < taps * each; i++)
			one[i] = (int16_t)weight_of(
			    w, zero, first + i % each, i / each, taps);
		native_version_of(t)->depthwise_bytes_pack(
		    one, pairs, to + p * 2 * pairs * each);
	}
	return to;
}

bool
compile_depthwise_bytes(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	const struct node *n = match_as_node(c->match, g);
	const struct graph *in = match_graph(c->match, g);
	const struct integer_places *at = integer_places(n);
	const struct tensor *w = integer_constant(in, n, at->w);
	const struct tensor *zero = integer_constant(in, n, at->w_zero);
	const int32_t from_zero =
	    (int32_t)integer_entry(integer_constant(in, n, at->x_zero), 0);
	struct depthwise_bytes_kernel *k =
	    arena_new(a, struct depthwise_bytes_kernel, 1);
	struct depthwise_bytes *d = &k->d;
	struct requantising q = {.bias = NULL};
	struct window window;
	const char *fault;
	uint8_t *beyond;

	if (!window_resolve(&window, in, n, &fault))
		return err_set(err, ERR_UNSUPPORTED, "native: %s", fault);
	set_sizes(
	    d, &window, &node_in(in, n, 0)->type, &node_out(in, n, 0)->type);
	if (!requantising_of(&q, in, n, d->channels, a))
		return err_set(
		    err, ERR_UNSUPPORTED, "native: a scale is out of range");
	d->to_unsigned = q.is_unsigned;
	d->zero = q.zero;
	d->multiplier = q.multiplier;
	d->bias = biases(d, w, zero, q.bias, from_zero, a);
	d->weights = packed(d, w, zero, t, a);
	beyond = arena_new(a, uint8_t, d->channels);
	for (size_t i = 0; i < d->channels; i++)
		beyond[i] = (uint8_t)from_zero;
	d->beyond = beyond;
	k->run = native_version_of(t)->depthwise_bytes;
	k->port = candidate_input(c, n->input[0]);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run, .state = k};
	return true;
}
