/* Convolutions of few filters, in C order: which are taken, weights, blocks, threads. */
#include <assert.h>

#include "ir/base/common_scratch.h"
#include "targets/native/direct_form.h"
#include "targets/native/native.h"
#include "targets/native/pixels.h"
#include "targets/lanes.h"
#include "targets/threads.h"
#include "targets/weights.h"

#define NEED why_need

/* ---- what is taken ---- */

/* TUNING: with more filters the libraries' vectors of them are full. */
#define FILTERS_MOST 32

/* What a block reads beyond its own is laid out anew for each. */
#define REACH_MOST 1024

static bool
need_reach(struct why *why, const struct window *w)
{
	int64_t most = 0;

	for (uint32_t i = 0; i < w->n; i++) {
		const int64_t reach = (w->kernel[i] - 1) * w->dilation[i];

		most = reach > most ? reach : most;
		most = w->stride[i] > most ? w->stride[i] : most;
	}
	return NEED(
	    why, most <= REACH_MOST, "reach", "1024 at most", "%d", (int)most);
}

bool
accept_direct(const struct match_in *m, struct why *why)
{
	struct window w;
	struct fused f;
	int64_t group, filters;
	bool ok = need_all_tensors(m, why);

	if (!ok || !need_chain(m, why, &f) || !f.anchor)
		return false;
	fused_take_bias(&f, m->graph, 1);
	if (!need_rank_in(m, why, f.anchor->input[0], 3, 4)
	    || !need_window(m, why, f.anchor, &w))
		return false;
	group = attr_int_or(f.anchor, "group", 1);
	filters = matched_type(m, f.anchor->output[0])->dim[1];
	ok = NEED(why, group == 1, "group", "1", "%d", (int)group);
	ok = NEED(why, filters <= FILTERS_MOST, "filters", "32 at most", "%d",
	         (int)filters)
	    && ok;
	ok = need_reach(why, &w) && ok;
	ok = need_constant(m, why, f.anchor, 1, "weights") && ok;
	ok = need_constant(m, why, f.anchor, 2, "bias") && ok;
	ok = need_native_steps(m, why, &f) && ok;
	return (!f.norm || need_inference(why, f.norm)) && ok;
}

/* ---- a kernel ---- */

struct direct_kernel {
	struct direct d;
	direct_run *run;
	const void *const *in;
	float *out;
	uint32_t threads;
};

/* A convolution of one dimension is one row. */
static void
set_window(struct direct *d, const struct window *w, const struct type *in,
    const struct type *out)
{
	d->images = (size_t)in->dim[0];
	d->channels = (size_t)in->dim[1];
	d->filters = (size_t)out->dim[1];
	for (uint32_t i = 0; i < 2; i++) {
		d->size[i] = d->in_size[i] = d->kernel[i] = 1;
		d->stride[i] = d->dilation[i] = 1;
	}
	for (uint32_t i = 0; i < w->n; i++) {
		const uint32_t to = 2 - w->n + i;

		d->size[to] = (size_t)out->dim[2 + i];
		d->in_size[to] = (size_t)in->dim[2 + i];
		d->kernel[to] = (size_t)w->kernel[i];
		d->stride[to] = (size_t)w->stride[i];
		d->dilation[to] = (size_t)w->dilation[i];
		d->before[to] = (size_t)w->before[i];
	}
}

/* How far the last tap reaches beyond an output, within its phase. */
static size_t
reach(const struct direct *d, uint32_t i)
{
	return (d->kernel[i] - 1) * d->dilation[i] / d->stride[i];
}

static size_t
inputs_of(const struct direct *d, size_t rows, size_t columns)
{
	return d->channels * d->stride[0] * d->stride[1] * (rows + reach(d, 0))
	    * (columns + reach(d, 1));
}

/* TUNING: columns of a block, a few vectors of sums each; inputs of a block in a
 * private cache. */
#define COLUMNS 1024
#define CACHED ((size_t)192 << 8)

static size_t
even_part(size_t n, size_t most)
{
	const size_t parts = (n + most - 1) / most;

	return (n + parts - 1) / parts;
}

/* Blocks as large as the cache holds, but some for each thread. */
static void
set_blocks(struct direct *d, uint32_t threads)
{
	size_t rows = d->size[0];

	d->block[1] = even_part(d->size[1], COLUMNS);
	while (rows > 1 && inputs_of(d, rows, d->block[1]) > CACHED)
		rows = (rows + 1) / 2;
	d->block[0] = rows;
	while (direct_units(d) % threads && direct_units(d) < 4 * threads
	    && d->block[0] > 1)
		d->block[0] = (d->block[0] + 1) / 2;
	if (direct_units(d) < threads && d->block[1] > 64)
		d->block[1] = even_part(d->size[1], d->size[1] / threads + 1);
	d->phase_rows = d->block[0] + reach(d, 0);
	d->pitch = d->block[1] + reach(d, 1);
}

static void
set_offsets(struct direct *d, struct arena *a)
{
	const size_t each = d->phase_rows * d->pitch;
	size_t *offset;

	d->taps = d->channels * d->kernel[0] * d->kernel[1];
	offset = arena_new(a, size_t, d->taps);
	d->offset = offset;
	for (size_t t = 0; t < d->taps; t++) {
		const size_t c = t / d->kernel[1] / d->kernel[0];
		const size_t row =
		    t / d->kernel[1] % d->kernel[0] * d->dilation[0];
		const size_t column = t % d->kernel[1] * d->dilation[1];
		const size_t phase =
		    (c * d->stride[0] + row % d->stride[0]) * d->stride[1]
		    + column % d->stride[1];

		*offset++ = phase * each + row / d->stride[0] * d->pitch
		    + column / d->stride[1];
	}
}

/* Filters that are summed at once, of as many as are left. */
static size_t
filters_at_once(size_t left, size_t most)
{
	while (most > left)
		most /= 2;
	return most;
}

/* [filters][taps] to [filters / some][taps][some]. */
static void
pack(struct direct *d, const float *from, size_t most, struct arena *a)
{
	float *to = arena_new(a, float, d->filters * d->taps);
	size_t some;

	d->weights = to;
	for (size_t f = 0; f < d->filters; f += some) {
		some = filters_at_once(d->filters - f, most);
		for (size_t t = 0; t < d->taps; t++)
			for (size_t k = 0; k < some; k++)
				*to++ = from[(f + k) * d->taps + t];
	}
}

static void
set_scratch(struct direct *d, const struct native_version *v, uint32_t threads,
    struct arena *a)
{
	const size_t most = (size_t)2 * v->group * v->width;

	d->inputs = rounded(inputs_of(d, d->block[0], d->block[1]), v->width);
	d->step = rounded(d->block[0] * d->pitch + most, v->width);
	d->scratch = d->inputs + DIRECT_MOST * d->step;
	d->scratch_of =
	    common_scratch_or(threads * d->scratch * sizeof(float), a);
}

static void
run_unit(void *of, uint32_t lane, size_t unit)
{
	const struct direct_kernel *k = of;

	k->run(
	    &k->d, unit, k->d.scratch_of + lane * k->d.scratch, k->in, k->out);
}

static void
run(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct direct_kernel *k = kernel->state;

	k->in = in;
	k->out = out[0];
	lanes_each(direct_units(&k->d), k->threads, run_unit, k);
}

bool
compile_direct(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	const struct native_version *version = native_version_of(t);
	struct direct_kernel *k = arena_new(a, struct direct_kernel, 1);
	struct conv_weights weights;
	struct arena unpacked;
	struct window window;
	struct fused f;
	const char *fault;

	if (!fused_read(&f, g, c->match, &fault)
	    || !window_resolve(&window, g, f.anchor, &fault))
		return err_set(err, ERR_UNSUPPORTED, "native: %s", fault);
	arena_init(&unpacked);
	fused_conv_weights(&weights, &f, g, &unpacked);
	set_window(&k->d, &window, &node_in(g, f.anchor, 0)->type,
	    &node_out(g, f.anchor, 0)->type);
	k->threads = target_threads();
	set_blocks(&k->d, k->threads);
	set_offsets(&k->d, a);
	pack(&k->d, weights.weights, version->group > 6 ? 8 : 4, a);
	k->d.bias = floats_padded(weights.bias, k->d.filters, k->d.filters, a);
	arena_release(&unpacked);
	native_steps_of(&k->d.steps, &f, g, c, k->d.filters, a);
	k->d.port = candidate_input(c, f.anchor->input[0]);
	assert(k->d.port >= 0);
	set_scratch(&k->d, version, k->threads, a);
	k->run = version->direct;
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run, .state = k};
	return true;
}
