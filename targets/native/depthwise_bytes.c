/* Convolutions of each channel of bytes by itself. */
#include "targets/lanes.h"
#include "targets/native/conv_bytes.h"
#include "targets/native/native.h"
#include "targets/need.h"

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
	lanes_each(k->d.images * k->d.window.rows, LANES_MOST, run_row, k);
}

/* What comes in is not taken less its zero: that adds the same to all sums. */
static const int32_t *
biases(const struct conv_bytes *b, size_t taps, struct arena *a)
{
	const size_t channels = (size_t)b->in->dim[1];
	int32_t *to = arena_new(a, int32_t, channels);

	for (size_t c = 0; c < channels; c++) {
		to[c] = b->how.bias ? b->how.bias[c] : 0;
		for (size_t t = 0; t < taps; t++)
			to[c] -= b->from_zero * conv_bytes_weight(b, c, t);
	}
	return to;
}

static const int16_t *
packed(const struct conv_bytes *b, size_t taps, const struct target *t,
    struct arena *a)
{
	const size_t channels = (size_t)b->in->dim[1], pairs = (taps + 1) / 2;
	const size_t each = channels_at_once(t);
	const size_t parts = (channels + each - 1) / each;
	int16_t *one = arena_new(a, int16_t, 2 * pairs * each);
	int16_t *to = arena_new(a, int16_t, parts * 2 * pairs * each);

	for (size_t p = 0; p < parts; p++) {
		const size_t first = depthwise_part_at(p, each, channels);

		for (size_t i = 0; i < taps * each; i++)
			one[i] = (int16_t)conv_bytes_weight(
			    b, first + i % each, i / each);
		native_version_of(t)->depthwise_bytes_pack(
		    one, pairs, to + p * 2 * pairs * each);
	}
	return to;
}

static const uint8_t *
repeated(int32_t code, size_t n, struct arena *a)
{
	uint8_t *to = arena_new(a, uint8_t, n);

	for (size_t i = 0; i < n; i++)
		to[i] = (uint8_t)code;
	return to;
}

bool
compile_depthwise_bytes(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct depthwise_bytes_kernel *k =
	    arena_new(a, struct depthwise_bytes_kernel, 1);
	struct depthwise_bytes *d = &k->d;
	struct conv_bytes b;
	size_t taps;

	if (!conv_bytes_read(&b, g, c, a, err))
		return false;
	d->window = conv_bytes_window(&b);
	d->images = (size_t)b.in->dim[0];
	d->from_unsigned = b.in->dtype == DT_UINT8;
	d->to_unsigned = b.how.is_unsigned;
	d->zero = b.how.zero;
	d->multiplier = b.how.multiplier;
	taps = d->window.kernel[0] * d->window.kernel[1];
	d->bias = biases(&b, taps, a);
	d->weights = packed(&b, taps, t, a);
	d->beyond = repeated(b.from_zero, d->window.channels, a);
	k->run = native_version_of(t)->depthwise_bytes;
	k->port = candidate_input(c, b.node->input[0]);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run, .state = k};
	return true;
}
