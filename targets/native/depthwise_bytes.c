/* Convolutions of each channel of bytes by itself. */
#include "ir/base/common_scratch.h"
#include "targets/lanes.h"
#include "targets/native/conv_bytes.h"
#include "targets/native/native.h"
#include "targets/native/pixels.h"
#include "targets/need.h"
#include "targets/threads.h"

#define NEED why_need

/* Channels that a kernel takes at once. */
static size_t
channels_at_once(const struct target *t)
{
	return (size_t)2 * native_version_of(t)->width;
}

/* TUNING: bytes of a thread's pairs of lines: each takes four times what the line does,
 * and as many are kept as a window is high. */
#define LINES_MOST ((double)(64 << 20))

static double
bytes_of_lines(
    const struct match_in *m, const struct window *w, int64_t columns)
{
	const double high =
	    (double)(w->kernel[0] - 1) * (double)w->dilation[0] + 1;
	const double wide =
	    (double)(w->kernel[1] - 1) * (double)w->dilation[1] + 1;
	const double reach =
	    (double)(columns - 1) * (double)w->stride[1] + wide;

	return high * reach * 2 * sizeof(float)
	    * native_version_of(m->target)->width;
}

bool
accept_depthwise_bytes(const struct match_in *m, struct why *why)
{
	const struct node *n = match_as_node(m->match, m->graph);
	const int64_t group = attr_int_or(n, "group", 1);
	struct match_in in = *m;
	struct window w;
	int64_t channels, filters, taps;
	double lines;

	in.graph = match_graph(m->match, m->graph);
	if (!need_integer(&in, why, n) || !need_window(&in, why, n, &w))
		return false;
	channels = node_in(in.graph, n, 0)->type.dim[1];
	filters = node_out(in.graph, n, 0)->type.dim[1];
	taps = w.kernel[0] * w.kernel[1];
	lines = bytes_of_lines(m, &w, node_out(in.graph, n, 0)->type.dim[3]);
	return NEED(why, group == channels && filters == channels, "group",
	           "one channel and one filter each", "%d of %d and %d",
	           (int)group, (int)channels, (int)filters)
	    && NEED(why, taps <= DEPTHWISE_TAPS, "window", "7x7 at most",
	        "%dx%d", (int)w.kernel[0], (int)w.kernel[1])
	    && NEED(why, lines <= LINES_MOST, "lines",
	        "at most 64 MiB of them as pairs", "%.3g bytes", lines)
	    && NEED(why, (size_t)channels >= channels_at_once(m->target),
	        "channels", "two of the processor's vectors", "%d",
	        (int)channels);
}

struct depthwise_bytes_kernel {
	struct depthwise_bytes d;
	depthwise_bytes_run *run;
	int32_t port;
	uint32_t threads;
	size_t room;
	int32_t *scratch; /* [threads][room] */
	const uint8_t *in;
	uint8_t *out;
};

static void
run_rows(void *of, uint32_t lane, size_t unit)
{
	const struct depthwise_bytes_kernel *k = of;

	k->run(&k->d, unit, k->in, k->out, k->scratch + lane * k->room);
}

static void
run(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct depthwise_bytes_kernel *k = kernel->state;

	k->in = in[k->port];
	k->out = out[0];
	lanes_each(k->d.images * depthwise_bytes_blocks(&k->d), k->threads,
	    run_rows, k);
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

/* Two lines' weights for the part's channels, side by side; below the last line: 0. */
static void
pair_weights(const struct conv_bytes *b, size_t first, size_t each, size_t line,
    int16_t *to)
{
	const size_t lines = (size_t)b->window.kernel[0];
	const size_t columns = (size_t)b->window.kernel[1];

	for (size_t k = 0; k < columns; k++)
		for (size_t i = 0; i < 2; i++)
			for (size_t c = 0; c < each; c++)
				*to++ = line + i < lines
				    ? (int16_t)conv_bytes_weight(
				        b, first + c, (line + i) * columns + k)
				    : 0;
}

static const int16_t *
packed(const struct conv_bytes *b, const struct target *t, struct arena *a)
{
	const size_t channels = (size_t)b->in->dim[1];
	const size_t lines = (size_t)b->window.kernel[0];
	const size_t columns = (size_t)b->window.kernel[1];
	const size_t each = channels_at_once(t);
	const size_t parts = (channels + each - 1) / each;
	const size_t pairs = (lines + 1) / 2 * columns;
	int16_t *one = arena_new(a, int16_t, 2 * pairs * each);
	int16_t *to = arena_new(a, int16_t, parts * 2 * pairs * each);

	for (size_t p = 0; p < parts; p++) {
		const size_t first = depthwise_part_at(p, each, channels);

		for (size_t i = 0; i < lines; i += 2)
			pair_weights(
			    b, first, each, i, one + i * columns * each);
		native_version_of(t)->depthwise_bytes_pack(
		    one, pairs, to + p * 2 * pairs * each);
	}
	return to;
}

/* TUNING: the lines that one pair of vectors after the other is read of stay in a private
 * cache; a block's first lines are made pairs for it alone. */
#define LINES_CACHED ((size_t)128 << 10)
#define ROWS_LEAST 4

static size_t
rows_of_block(const struct integer_window *w, size_t images, uint32_t threads)
{
	const size_t line = w->width * w->channels * (size_t)w->stride[0];
	const size_t cached = LINES_CACHED / line;
	const size_t most = cached > ROWS_LEAST ? cached : ROWS_LEAST;
	const size_t wanted = lanes_cut(images * w->rows, threads);
	const size_t shared = (images * w->rows + wanted - 1) / wanted;

	return most < shared ? most : shared;
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
	const struct integer_window *w = &d->window;

	if (!conv_bytes_read(&b, g, c, a, err))
		return false;
	d->window = integer_window_of(&b.window, b.in, b.out);
	d->images = (size_t)b.in->dim[0];
	d->from_unsigned = b.in->dtype == DT_UINT8;
	d->to_unsigned = b.how.is_unsigned;
	d->zero = b.how.zero;
	d->multiplier = b.how.multiplier;
	d->reach = (w->columns - 1) * (size_t)w->stride[1]
	    + (w->kernel[1] - 1) * (size_t)w->dilation[1] + 1;
	d->ring = (w->kernel[0] - 1) * (size_t)w->dilation[0] + 1;
	d->bias = biases(&b, w->kernel[0] * w->kernel[1], a);
	d->weights = packed(&b, t, a);
	d->beyond = repeated(b.from_zero, w->channels, a);
	k->run = native_version_of(t)->depthwise_bytes;
	k->threads = target_threads();
	d->block = rows_of_block(w, d->images, k->threads);
	k->room =
	    rounded(depthwise_bytes_room(d, native_version_of(t)->width), 16);
	k->scratch =
	    common_scratch_or(k->threads * k->room * sizeof *k->scratch, a);
	k->port = candidate_input(c, b.node->input[0]);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run, .state = k};
	return true;
}
