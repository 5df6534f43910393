/* Convolutions of each channel by itself: which are taken, weights, bands, threads. */
#include <assert.h>

#include "targets/native/depthwise_form.h"
#include "targets/native/native.h"
#include "targets/lanes.h"
#include "targets/threads.h"
#include "targets/weights.h"

#define NEED why_need

/* ---- what is taken ---- */

static bool
need_small_window(
    const struct match_in *m, struct why *why, const struct node *n)
{
	struct window w;
	bool dense = true, small, steps = true;

	if (!need_window(m, why, n, &w))
		return false;
	small = w.n == 2;
	for (uint32_t i = 0; i < w.n; i++) {
		small = small && w.kernel[i] <= DEPTHWISE_KERNEL;
		steps = steps && w.stride[i] <= DEPTHWISE_STRIDE;
		dense = dense && w.dilation[i] == 1;
	}
	small = NEED(why, small, "window", "up to 7x7", "%s",
	    small ? "that" : "another");
	steps = NEED(
	    why, steps, "strides", "1 or 2", "%s", steps ? "they are" : "more");
	return NEED(why, dense, "dilation", "1", "%s", dense ? "1" : "more")
	    && small && steps;
}

bool
need_channelwise(
    const struct match_in *m, struct why *why, const struct fused *f)
{
	const struct node *n = f->anchor;
	const int64_t group = attr_int_or(n, "group", 1);
	const struct type *in, *out;
	bool ok;

	if (!need_rank_in(m, why, n->input[0], 4, 4))
		return false;
	in = matched_type(m, n->input[0]);
	out = matched_type(m, n->output[0]);
	ok = NEED(why, group == in->dim[1] && group == out->dim[1], "group",
	    "a channel each, and a filter", "%d of %d channels, %d filters",
	    (int)group, (int)in->dim[1], (int)out->dim[1]);
	ok = need_small_window(m, why, n) && ok;
	ok = need_constant(m, why, n, 1, "weights") && ok;
	ok = need_constant(m, why, n, 2, "bias") && ok;
	ok = need_native_steps(m, why, f) && ok;
	return (!f->norm || need_inference(why, f->norm)) && ok;
}

bool
accept_channelwise(const struct match_in *m, struct why *why)
{
	struct fused f;

	if (!need_all_tensors(m, why) || !need_chain(m, why, &f) || !f.anchor)
		return false;
	fused_take_bias(&f, m->graph, 1);
	return need_channelwise(m, why, &f);
}

uint32_t
ways_channelwise(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	const enum layout layout[] = {native_blocked(m->target), LAYOUT_NHWC};
	uint32_t n = 0;

	for (; n < 2 && n < max; n++) {
		const format_id id = format_intern(
		    f, (struct format){SPACE_HOST, layout[n], DT_UNDEFINED});

		out[n] = (struct implementation){
		    .name = n ? "nhwc" : "blocked", .input = id, .output = id};
	}
	return n;
}

/* ---- a kernel ---- */

struct depthwise_kernel {
	struct channelwise d;
	depthwise_run *run;
	const void *const *in;
	float *out;
	uint32_t threads;
};

void
depthwise_sizes(struct channelwise *d, const struct type *in,
    const struct type *out, const struct window *w)
{
	d->images = (size_t)in->dim[0];
	d->height = (size_t)in->dim[2];
	d->width = (size_t)in->dim[3];
	d->rows = (size_t)out->dim[2];
	d->columns = (size_t)out->dim[3];
	for (uint32_t i = 0; i < 2; i++) {
		d->kernel[i] = (size_t)w->kernel[i];
		d->stride[i] = (size_t)w->stride[i];
	}
	d->above = w->before[0];
	d->before = w->before[1];
	d->real = (size_t)in->dim[1];
}

static void
set_places(struct channelwise *d, const struct type *in, const struct type *out,
    enum layout layout, size_t width)
{
	d->in = pixels_of(layout, in, width);
	d->out = pixels_of(layout, out, width);
	d->stored =
	    layout == LAYOUT_NHWC ? d->real : rounded(d->real, d->in.lanes);
	d->channels = rounded(d->stored, width);
}

/* TUNING: of an image whose channels lie side by side, as much input as a private
 * cache holds while vector by vector of its channels is read. */
#define CACHED ((size_t)256 << 10)

static size_t
cached_bands(const struct channelwise *d, size_t width)
{
	const size_t bytes = d->height * d->width * d->channels * sizeof(float);
	const size_t bands =
	    d->in.pixel == width ? 1 : (bytes + CACHED - 1) / CACHED;

	return bands < d->rows ? bands : d->rows;
}

/* Whole bands for every thread, or, of small images of many channels, a part of
 * these: what convolutions of single pixels do before and behind. */
static void
divide(struct channelwise *d, uint32_t threads, size_t width)
{
	const size_t vectors = d->channels / width;
	const size_t bands = rounded(cached_bands(d, width), threads);

	d->parts = 1;
	d->bands = 1;
	if (d->channels > d->images * d->rows * d->columns
	    && (vectors % threads == 0 || vectors >= (size_t)4 * threads))
		d->parts = threads;
	else if (d->images % threads)
		d->bands = bands < d->rows ? bands : d->rows;
	else
		d->bands = cached_bands(d, width);
}

/* [channels][kernel] to [channels / width][kernel][width]. */
void
depthwise_pack(
    struct channelwise *d, const float *from, size_t width, struct arena *a)
{
	const size_t window = d->kernel[0] * d->kernel[1];
	float *to = arena_new(a, float, d->channels *window);

	for (size_t c = 0; c < d->real; c++)
		for (size_t k = 0; k < window; k++)
			to[(c / width * window + k) * width + c % width] =
			    from[c * window + k];
	d->weights = to;
}

static void
run_unit(void *of, uint32_t lane, size_t unit)
{
	const struct depthwise_kernel *k = of;

	k->run(&k->d, unit, k->d.scratch_of + lane * DEPTHWISE_SCRATCH, k->in,
	    k->out);
}

static void
run(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct depthwise_kernel *k = kernel->state;

	k->in = in;
	k->out = out[0];
	lanes_each(depthwise_units(&k->d), k->threads, run_unit, k);
}

bool
compile_channelwise(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	const struct native_version *version = native_version_of(t);
	const enum layout layout =
	    t->formats->format[c->output[0].format].layout;
	struct depthwise_kernel *k = arena_new(a, struct depthwise_kernel, 1);
	struct channelwise *d = &k->d;
	struct conv_weights weights;
	struct arena unpacked;
	struct window window;
	struct fused f;
	const char *fault;
	const struct type *in, *result;

	if (!fused_read(&f, g, c->match, &fault)
	    || !window_resolve(&window, g, f.anchor, &fault))
		return err_set(err, ERR_UNSUPPORTED, "native: %s", fault);
	in = &node_in(g, f.anchor, 0)->type;
	result = &node_out(g, f.anchor, 0)->type;
	arena_init(&unpacked);
	fused_conv_weights(&weights, &f, g, &unpacked);
	depthwise_sizes(d, in, result, &window);
	set_places(d, in, result, layout, version->width);
	depthwise_pack(d, weights.weights, version->width, a);
	d->bias = floats_padded(weights.bias, d->real, d->channels, a);
	arena_release(&unpacked);
	native_steps_of(&d->steps, &f, g, c, d->channels, a);
	native_bounds_of(&d->steps, &d->low, &d->high);
	d->port = candidate_input(c, f.anchor->input[0]);
	assert(d->port >= 0);
	k->threads = target_threads();
	divide(d, k->threads, version->width);
	d->scratch_of = arena_new(a, float, k->threads *DEPTHWISE_SCRATCH);
	k->run = version->depthwise;
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run, .state = k};
	return true;
}
