/* A convolution of single pixels and the one of each channel by itself behind it: which
 * are taken, bands, threads. */
#include "targets/native/point_depthwise_form.h"

#include <assert.h>
#include <math.h>

#include "targets/native/native.h"
#include "targets/lanes.h"
#include "targets/threads.h"
#include "targets/weights.h"

#define NEED why_need

/* ---- what is taken ---- */

static bool
need_functions(struct why *why, const struct fused *f)
{
	bool ok = true;

	for (uint32_t i = 0; i < f->nsteps; i++)
		ok = ok && !step_is_binary(f->step[i].kind);
	return NEED(why, ok, "one_tensor", "functions of one tensor", "%s",
	    ok ? "they are" : "another tensor is read");
}

/* Every pixel is read, and zeros are laid around what lies between. */
static bool
need_simple_windows(
    const struct match_in *m, struct why *why, const struct fused f[2])
{
	struct window one, two;
	bool dense, padded;

	if (!need_window(m, why, f[0].anchor, &one)
	    || !need_window(m, why, f[1].anchor, &two) || one.n != 2)
		return false;
	dense = one.stride[0] == 1 && one.stride[1] == 1;
	padded = two.before[0] >= 0 && two.before[1] >= 0;
	dense =
	    NEED(why, dense, "strides", "1", "%s", dense ? "they are" : "more");
	return NEED(why, padded, "padding", "none below 0", "%s",
	           padded ? "that" : "some is")
	    && dense;
}

bool
accept_point_depthwise(const struct match_in *m, struct why *why)
{
	struct fused f[2];
	const char *fault = "";
	bool ok, two;

	if (!need_all_tensors(m, why)
	    || !need_rank_in(m, why, matched_root(m)->output[0], 4, 4))
		return false;
	two = fused_read_two(f, m->graph, m->match, OP_CONV, &fault);
	if (!NEED(why, two, "two_convolutions", "one behind the other", "%s",
	        two ? "they are" : fault))
		return false;
	ok = need_pointwise(m, why, &f[0]);
	ok = need_channelwise(m, why, &f[1]) && ok;
	ok = need_functions(why, &f[0]) && ok;
	ok = need_functions(why, &f[1]) && ok;
	return ok && need_simple_windows(m, why, f);
}

/* ---- a kernel ---- */

struct two_kernel {
	struct point_depthwise p;
	point_depthwise_run *run;
	const void *const *in;
	float *out;
	uint32_t threads;
};

static void
set_first(struct point_depthwise *p, struct fused *f, const struct graph *g,
    const struct candidate *c, size_t width, struct arena *a)
{
	struct pointwise *one = &p->first;
	const struct type *in = &node_in(g, f->anchor, 0)->type;
	struct conv_weights weights;
	struct arena unpacked;

	p->depth = (size_t)in->dim[1];
	arena_init(&unpacked);
	fused_conv_weights(&weights, f, g, &unpacked);
	pointwise_pack(one,
	    &(struct filters_at){weights.weights, NULL, p->depth, p->depth, 1},
	    width, a);
	one->bias = floats_padded(weights.bias, one->real, one->filters, a);
	arena_release(&unpacked);
	native_steps_of(&one->steps, f, g, c, one->filters, a);
	native_bounds_of(&one->steps, &one->low, &one->high);
	one->port = candidate_input(c, f->anchor->input[0]);
	assert(one->port >= 0);
}

/* Behind set_first(): of as many channels as that makes. */
static void
set_second(struct point_depthwise *p, struct fused *f, const struct graph *g,
    const struct candidate *c, size_t width, struct arena *a)
{
	struct channelwise *two = &p->second;
	struct conv_weights weights;
	struct arena unpacked;

	two->channels = p->first.filters;
	two->stored = p->first.stored;
	arena_init(&unpacked);
	fused_conv_weights(&weights, f, g, &unpacked);
	depthwise_pack(two, weights.weights, width, a);
	two->bias = floats_padded(weights.bias, two->real, two->channels, a);
	arena_release(&unpacked);
	native_steps_of(&two->steps, f, g, c, two->channels, a);
	native_bounds_of(&two->steps, &two->low, &two->high);
	two->port = -1;
}

/* TUNING: what lies between, of two vectors of channels, and the band of the image that
 * it is made of stay in a private cache beside each other. */
#define CACHED ((size_t)384 << 10)

/* Rows of what lies between that so many rows of the result are made of. */
static size_t
rows_between(const struct channelwise *d, size_t rows)
{
	const size_t most = (rows - 1) * d->stride[0] + d->kernel[0];

	return most < d->height ? most : d->height;
}

/* Whole bands for every thread, or, of small images of many channels, a part of
 * these. */
static void
divide(struct point_depthwise *p, uint32_t threads, size_t width)
{
	struct channelwise *d = &p->second;
	const size_t pairs = p->first.filters / 2 / width;
	const size_t line =
	    sizeof(float) * (2 * p->row + p->first.channels * d->width);
	size_t rows = d->rows;

	while (rows > 1 && rows_between(d, rows) * line > CACHED)
		rows--;
	d->parts = 1;
	d->bands = (d->rows + rows - 1) / rows;
	if (d->channels > d->images * d->rows * d->columns
	    && (pairs % threads == 0 || pairs >= (size_t)4 * threads))
		d->parts = threads;
	else if (d->images % threads)
		d->bands = rounded(d->bands, threads);
	if (d->bands > d->rows)
		d->bands = d->rows;
}

/* Floats that an arena begins at a vector, and so many are whole vectors. */
#define ALIGNED ((size_t)64)

static void
set_scratch(struct point_depthwise *p, uint32_t threads, struct arena *a)
{
	const struct channelwise *d = &p->second;
	const size_t rows =
	    rows_between(d, (d->rows + d->bands - 1) / d->bands);

	p->vector = rows * p->row;
	p->copied = p->first.copies ? rows * d->width * p->first.channels : 0;
	p->scratch = rounded(p->copied + 2 * p->vector, ALIGNED);
	p->scratch_of = arena_new(a, float, threads * p->scratch);
}

/* A row is as wide as the windows of all columns. */
static void
set_row(struct point_depthwise *p, size_t width)
{
	const struct channelwise *d = &p->second;
	const size_t windows = (d->columns - 1) * d->stride[1] + d->kernel[1];
	const size_t image = (size_t)d->before + d->width;

	p->before = (size_t)d->before * width;
	p->row = (windows > image ? windows : image) * width;
}

static void
set_places(struct point_depthwise *p, const struct fused f[2],
    const struct window w[2], const struct graph *g, enum layout layout,
    size_t width)
{
	const struct type *in = &node_in(g, f[0].anchor, 0)->type;
	const struct type *between = &node_in(g, f[1].anchor, 0)->type;
	const struct type *out = &node_out(g, f[1].anchor, 0)->type;

	p->first.entry = (struct pixel_entry){.gate = -1, .low = -INFINITY};
	pointwise_places(&p->first, in, between, layout, width);
	pointwise_strides(&p->first, &w[0], in, width);
	depthwise_sizes(&p->second, between, out, &w[1]);
	p->second.out = pixels_of(layout, out, width);
	set_row(p, width);
}

static void
run_unit(void *of, uint32_t lane, size_t unit)
{
	const struct two_kernel *k = of;

	k->run(
	    &k->p, unit, k->p.scratch_of + lane * k->p.scratch, k->in, k->out);
}

static void
run(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct two_kernel *k = kernel->state;

	k->in = in;
	k->out = out[0];
	lanes_each(depthwise_units(&k->p.second), k->threads, run_unit, k);
}

bool
compile_point_depthwise(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	const struct native_version *version = native_version_of(t);
	const enum layout layout =
	    t->formats->format[c->output[0].format].layout;
	struct two_kernel *k = arena_new(a, struct two_kernel, 1);
	struct window w[2];
	struct fused f[2];
	const char *fault;

	if (!fused_read_two(f, g, c->match, OP_CONV, &fault)
	    || !window_resolve(&w[0], g, f[0].anchor, &fault)
	    || !window_resolve(&w[1], g, f[1].anchor, &fault))
		return err_set(err, ERR_UNSUPPORTED, "native: %s", fault);
	set_places(&k->p, f, w, g, layout, version->width);
	set_first(&k->p, &f[0], g, c, version->width, a);
	set_second(&k->p, &f[1], g, c, version->width, a);
	k->threads = target_threads();
	divide(&k->p, k->threads, version->width);
	set_scratch(&k->p, k->threads, a);
	k->run = version->point_depthwise;
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run, .state = k};
	return true;
}
