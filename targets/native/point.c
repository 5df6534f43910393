/* Convolutions of single pixels: which are taken, weights, blocks, threads. */
#include "targets/native/native.h"

#include <assert.h>
#include <math.h>

#include "ir/base/common_scratch.h"
#include "targets/dequantized.h"
#include "targets/lanes.h"
#include "targets/matrix_rows.h"
#include "targets/threads.h"
#include "targets/weights.h"

#define NEED why_need

/* ---- what a composite computes ---- */

/* A chain behind a convolution, and what stands before it. */
struct point_form {
	struct fused f;
	value_id x; /* the image as it is read */
	const struct node *norm; /* of the image; or NULL */
	value_id factor; /* of the image's channels; or VALUE_NONE */
	bool relu; /* of the image */
	struct match rest; /* without what stands before */
	node_id node[PATTERN_NODES];
};

static void
read_entry(struct point_form *p, const struct graph *g, const struct match *m)
{
	const node_id before[] = {match_node(m, "norm"), match_node(m, "relu"),
	    match_node(m, "gate")};

	p->relu = before[1] != NODE_NONE;
	p->x = VALUE_NONE;
	p->factor = VALUE_NONE;
	p->norm = NULL;
	if (before[0] != NODE_NONE) {
		p->norm = graph_node(g, before[0]);
		p->x = p->norm->input[0];
	} else if (before[2] != NODE_NONE) {
		p->x = match_value(m, "image");
		p->factor = match_value(m, "factor");
	}
	p->rest = *m;
	p->rest.node = p->node;
	p->rest.nnodes = 0;
	for (uint32_t i = 0; i < m->nnodes && i < PATTERN_NODES; i++)
		if (m->node[i] != before[0] && m->node[i] != before[1]
		    && m->node[i] != before[2])
			p->node[p->rest.nnodes++] = m->node[i];
}

static bool
need_point(const struct match_in *m, struct why *why, struct point_form *p)
{
	struct match_in rest = *m;
	bool ok;

	read_entry(p, m->graph, m->match);
	rest.match = &p->rest;
	ok = need_chain(&rest, why, &p->f) && p->f.anchor;
	if (ok && !fused_is_fed(&p->f, m->graph, m->match))
		ok = NEED(why, false, "operands", "made before the composite",
		    "one is made in it");
	if (ok && p->x == VALUE_NONE)
		p->x = p->f.anchor->input[0];
	return ok;
}

/* ---- what is taken ---- */

static bool
need_one_pixel(const struct match_in *m, struct why *why, const struct node *n)
{
	struct window w;
	bool fits = true;

	if (!need_window(m, why, n, &w))
		return false;
	for (uint32_t i = 0; i < w.n; i++)
		fits = fits && w.kernel[i] == 1 && w.before[i] == 0
		    && w.after[i] <= 0;
	return NEED(why, fits && w.n == 2, "window", "1x1, not padded", "%s",
	    fits ? "that" : "another window");
}

/* Factors of each image's channels. */
static bool
need_factor(
    const struct match_in *m, struct why *why, const struct point_form *p)
{
	const struct type *x = matched_type(m, p->x);
	const struct type *t = matched_type(m, p->factor);
	const bool ok = t->rank == 4 && t->dim[0] == x->dim[0]
	    && t->dim[1] == x->dim[1] && t->dim[2] == 1 && t->dim[3] == 1;

	return NEED(why, ok, "factors", "one for each channel of an image",
	    "%s", ok ? "they are" : "others");
}

bool
need_pointwise(const struct match_in *m, struct why *why, const struct fused *f)
{
	const int64_t group = attr_int_or(f->anchor, "group", 1);
	bool ok;

	if (!need_one_pixel(m, why, f->anchor))
		return false;
	ok = NEED(why, group == 1, "group", "1", "%d", (int)group);
	ok = need_constant(m, why, f->anchor, 1, "weights") && ok;
	ok = need_constant(m, why, f->anchor, 2, "bias") && ok;
	ok = need_native_steps(m, why, f) && ok;
	return (!f->norm || need_inference(why, f->norm)) && ok;
}

bool
accept_pointwise(const struct match_in *m, struct why *why)
{
	struct point_form p;
	bool ok = need_all_tensors(m, why);

	if (!ok || !need_point(m, why, &p))
		return false;
	fused_take_bias(&p.f, m->graph, 1);
	if (!need_rank_in(m, why, p.x, 4, 4) || !need_pointwise(m, why, &p.f))
		return false;
	ok = p.factor == VALUE_NONE || need_factor(m, why, &p);
	return (!p.norm || need_inference(why, p.norm)) && ok;
}

/* TUNING: where the libraries wait for memory and what is fetched ahead is not waited
 * for: much to read, weights or an image that little comes of. Elsewhere oneDNN's are
 * up to a tenth faster (bench/RESULTS.md). What factors are spared is worth it from an
 * image on that no private cache holds beside the weights. */
#define FAR_WEIGHTS ((size_t)1 << 20)
#define FAR_IMAGE ((size_t)768 << 10)
#define FAR_GATED ((size_t)256 << 10)

/* Is a function behind it made of exp? Ours takes two thirds of oneDNN's time. */
static bool
has_exp(const struct fused *f)
{
	bool has = false;

	for (uint32_t i = 0; i < f->nsteps; i++)
		has = has || native_step_has_exp(&f->step[i]);
	return has;
}

static bool
is_worth(const struct point_form *p, const struct graph *g)
{
	const struct type *in = &node_in(g, p->f.anchor, 0)->type;
	const struct type *w = &node_in(g, p->f.anchor, 1)->type;
	const size_t image = type_elements(in, 0);

	if (p->norm || has_exp(&p->f))
		return true;
	if (p->factor != VALUE_NONE)
		return image >= FAR_GATED;
	return type_elements(w, 0) >= FAR_WEIGHTS
	    || (image >= FAR_IMAGE && w->dim[0] < w->dim[1]);
}

uint32_t
ways_pointwise(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	const enum layout layout[] = {native_blocked(m->target), LAYOUT_NHWC};
	struct point_form form;
	const char *fault;
	uint32_t n = 0;

	read_entry(&form, m->graph, m->match);
	if (!fused_read(&form.f, m->graph, &form.rest, &fault)
	    || !is_worth(&form, m->graph))
		return 0;
	for (uint32_t i = 0; i < 2 && n < max; i++) {
		const format_id id = format_intern(
		    f, (struct format){SPACE_HOST, layout[i], DT_UNDEFINED});

		out[n++] = (struct implementation){
		    .name = i ? "nhwc" : "blocked", .input = id, .output = id};
	}
	return n;
}

/* ---- a kernel ---- */

struct point_kernel {
	struct pointwise p;
	pointwise_run *run;
	const void *const *in;
	float *out;
	uint32_t threads;
};

/* TUNING: channels of a block of pixels in a private cache; fewer pixels would read
 * the weights too often. */
#define CACHED ((size_t)256 << 10)
#define FEWEST 64

/* Whole blocks for every thread, or, where weights are more to read than the image
 * and there is something for each, parts of the filters. */
static void
divide(struct pointwise *p, uint32_t threads, size_t pairs)
{
	const size_t cached = CACHED / sizeof(float) / p->channels;
	const size_t most = cached > FEWEST ? cached : FEWEST;
	size_t n = (p->area + most - 1) / most;

	p->parts = 1;
	if (p->filters > p->images * p->area
	    && (pairs % threads == 0 || pairs >= (size_t)4 * threads))
		p->parts = lanes_cut(pairs, threads);
	else if (p->images % threads)
		n = rounded(n, threads);
	p->block = (p->area + n - 1) / n;
}

void
pointwise_places(struct pointwise *p, const struct type *in,
    const struct type *out, enum layout layout, size_t width)
{
	p->images = (size_t)out->dim[0];
	p->columns = (size_t)out->dim[3];
	p->area = (size_t)out->dim[2] * p->columns;
	p->in = pixels_of(layout, in, width);
	p->out = pixels_of(layout, out, width);
	p->real = (size_t)out->dim[1];
	p->there = (size_t)in->dim[1];
	p->stored = p->real;
	if (layout != LAYOUT_NHWC) {
		p->there = rounded(p->there, p->in.lanes);
		p->stored = rounded(p->stored, p->out.lanes);
	}
	p->channels = rounded(p->there, width);
	p->filters = rounded(p->stored, 2 * width);
}

void
pointwise_strides(struct pointwise *p, const struct window *w,
    const struct type *in, size_t width)
{
	const bool dense = w->stride[0] == 1 && w->stride[1] == 1;

	p->right = (size_t)w->stride[1] * p->in.pixel;
	p->down = (size_t)w->stride[0] * (size_t)in->dim[3] * p->in.pixel;
	p->copies = !dense || p->in.pixel != width || p->entry.gate >= 0
	    || p->entry.scale;
}

static const float *
floats_of(const double *from, size_t n, size_t to, struct arena *a)
{
	float *floats = arena_new(a, float, to);

	for (size_t i = 0; i < n; i++)
		floats[i] = (float)from[i];
	return floats;
}

/* The image as it comes in. */
static void
set_entry(struct pointwise *p, const struct point_form *form,
    const struct graph *g, const struct candidate *c, struct arena *a)
{
	struct pixel_entry *e = &p->entry;

	*e =
	    (struct pixel_entry){.gate = -1, .low = form->relu ? 0 : -INFINITY};
	if (form->norm) {
		struct norm_line line;

		norm_line_of(&line, form->norm, g, a);
		e->scale = floats_of(line.scale, line.n, p->channels, a);
		e->shift = floats_of(line.shift, line.n, p->channels, a);
	}
	if (form->factor != VALUE_NONE) {
		e->gate = candidate_input(c, form->factor);
		e->gate_step = p->there;
		assert(e->gate >= 0);
	}
}

/* Filters first to end, channels from to last, which lie beside each other. */
struct filters_part {
	size_t first, end, from, last;
};

/* To [filters / pair][channels][pair]; whole pairs, of which the first lies at `from`. */
static void
pack_part(const struct pointwise *p, const struct filters_at *of,
    const struct filters_part *part, const float *from, size_t pair, float *to)
{
	for (size_t k = part->first; k < part->end; k += pair) {
		const float *at = from + (k - part->first) * of->filter_step;
		const size_t n = p->real - k < pair ? p->real - k : pair;
		float *panel = to + k * p->channels;

		for (size_t c = part->from; c < part->last; c++)
			for (size_t i = 0; i < n; i++)
				panel[c * pair + i] =
				    at[(c - part->from) * of->channel_step
				        + i * of->filter_step];
	}
}

/* Rows first to end of the matrix, which lie at `from`. */
static void
pack_rows(const struct pointwise *p, const struct filters_at *of, size_t first,
    size_t end, const float *from, size_t pair, float *to)
{
	const struct filters_part part = of->filter_step > of->channel_step
	    ? (struct filters_part){first, end, 0, of->channels}
	    : (struct filters_part){0, p->real, first, end};

	pack_part(p, of, &part, from, pair, to);
}

void
pointwise_pack(struct pointwise *p, const struct filters_at *from, size_t width,
    struct arena *a)
{
	const bool by_filter = from->filter_step > from->channel_step;
	const size_t rows = by_filter ? p->real : from->channels;
	const size_t pair = 2 * width;
	float *to = arena_new(a, float, p->filters * p->channels);

	p->weights = to;
	if (from->at) {
		pack_rows(p, from, 0, rows, from->at, pair, to);
		return;
	}
	for (size_t first = 0, n; first < rows; first += n) {
		n = rows - first < POINTWISE_ROWS ? rows - first
		                                  : POINTWISE_ROWS;
		pack_rows(p, from, first, first + n,
		    matrix_rows_read(from->rows, first, n), pair, to);
		matrix_rows_let_go(from->rows, first, n);
	}
}

static void
run_unit(void *of, uint32_t lane, size_t unit, bool copied)
{
	const struct point_kernel *k = of;

	k->run(&k->p, unit, copied, k->p.scratch_of + lane * k->p.scratch,
	    k->in, k->out);
}

static void
run(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct point_kernel *k = kernel->state;

	k->in = in;
	k->out = out[0];
	lanes_groups(
	    pointwise_units(&k->p), k->p.parts, k->threads, run_unit, k);
}

static void
set_scratch(struct pointwise *p, size_t pair, uint32_t threads, struct arena *a)
{
	p->scratch = p->block * (pair + (p->copies ? p->channels : 0));
	p->scratch_of =
	    common_scratch_or(threads * p->scratch * sizeof(float), a);
}

void
pointwise_kernel(const struct pointwise *p, const struct target *t,
    const struct candidate *c, struct arena *a, struct kernel *out)
{
	const struct native_version *version = native_version_of(t);
	struct point_kernel *k = arena_new(a, struct point_kernel, 1);
	const size_t pair = (size_t)2 * version->width;

	*k = (struct point_kernel){
	    .p = *p, .run = version->pointwise, .threads = target_threads()};
	divide(&k->p, k->threads, p->filters / pair);
	set_scratch(&k->p, pair, k->threads, a);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run, .state = k};
}

bool
compile_pointwise(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	const size_t width = native_version_of(t)->width;
	const enum layout layout =
	    t->formats->format[c->output[0].format].layout;
	struct pointwise p = {.images = 0};
	struct conv_weights weights;
	struct arena unpacked;
	struct point_form form;
	struct window window;
	const char *fault;
	const struct type *in;
	size_t channels;

	read_entry(&form, g, c->match);
	if (!fused_read(&form.f, g, &form.rest, &fault)
	    || !window_resolve(&window, g, form.f.anchor, &fault))
		return err_set(err, ERR_UNSUPPORTED, "native: %s", fault);
	in = &node_in(g, form.f.anchor, 0)->type;
	channels = (size_t)in->dim[1];
	arena_init(&unpacked);
	fused_conv_weights(&weights, &form.f, g, &unpacked);
	pointwise_places(
	    &p, in, &node_out(g, form.f.anchor, 0)->type, layout, width);
	set_entry(&p, &form, g, c, a);
	pointwise_strides(&p, &window, in, width);
	pointwise_pack(&p,
	    &(struct filters_at){weights.weights, NULL, channels, channels, 1},
	    width, a);
	p.bias = floats_padded(weights.bias, p.real, p.filters, a);
	arena_release(&unpacked);
	native_steps_of(&p.steps, &form.f, g, c, p.filters, a);
	native_bounds_of(&p.steps, &p.low, &p.high);
	p.port = candidate_input(
	    c, form.x == VALUE_NONE ? form.f.anchor->input[0] : form.x);
	assert(p.port >= 0);
	pointwise_kernel(&p, t, c, a, out);
	return true;
}
