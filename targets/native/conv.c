/* Winograd convolutions: which are taken, which ways are worth a price, weights,
 * threads. */
#include "targets/native/native.h"

#include <assert.h>

#include "targets/guarded.h"
#include "targets/team.h"
#include "targets/threads.h"
#include "targets/weights.h"

#define NEED why_need

/* ---- the ways ---- */

enum { NO_GUARD, WITH_GUARD, NGUARDS };
enum { BLOCKED, LAST, NPLACES };
_Static_assert(NGUARDS *NPLACES == WINOGRAD_PLACES, "winograd.h says so");

static const uint32_t sizes[] = {2, 4, 6};
static const uint32_t blocks[] = {12, 24, 48, 96, 192};

#define NSIZES ((uint32_t)(sizeof sizes / sizeof *sizes))
#define NBLOCKS ((uint32_t)(sizeof blocks / sizeof *blocks))
_Static_assert(NSIZES *NBLOCKS == WINOGRAD_WAYS, "winograd.h says so");

struct winograd_way {
	uint32_t size, block; /* indices of the two lists */
	uint32_t place;
	uint32_t guard;
};

static uint32_t
number_of(const struct winograd_way *w)
{
	return ((w->size * NBLOCKS + w->block) * NPLACES + w->place) * NGUARDS
	    + w->guard;
}

static struct winograd_way
way_of(uint32_t number)
{
	struct winograd_way w = {.guard = number % NGUARDS};

	number /= NGUARDS;
	w.place = number % NPLACES;
	number /= NPLACES;
	w.block = number % NBLOCKS;
	w.size = number / NBLOCKS;
	return w;
}

/* Tile, tiles at once, where tensors lie: by number. */
/* clang-format off */
#define PLACED(size, block, place) \
	"winograd" size "/" block "/" place, \
	"winograd" size "/" block "/" place "/guarded",
#define BLOCK_OF(size, block) \
	PLACED(size, block, "blocked") PLACED(size, block, "nhwc")
#define SIZE_OF(size) \
	BLOCK_OF(size, "12") BLOCK_OF(size, "24") BLOCK_OF(size, "48") \
	BLOCK_OF(size, "96") BLOCK_OF(size, "192")
static const char *const names[] = {SIZE_OF("2") SIZE_OF("4") SIZE_OF("6")};
/* clang-format on */

/* ---- what is taken ---- */

static bool
is_small_window(const struct window *w)
{
	bool ok = w->n == 2;

	for (uint32_t i = 0; ok && i < 2; i++)
		ok = w->kernel[i] == 3 && w->stride[i] == 1
		    && w->dilation[i] == 1;
	return ok;
}

bool
accept_winograd(const struct match_in *m, struct why *why)
{
	struct fused f;
	struct window w;
	int64_t group;
	bool ok = need_all_tensors(m, why), fits;

	if (!ok || !need_chain(m, why, &f) || !f.anchor)
		return false;
	fused_take_bias(&f, m->graph, 1);
	group = attr_int_or(f.anchor, "group", 1);
	ok = need_rank_in(m, why, f.anchor->input[0], 4, 4)
	    && need_window(m, why, f.anchor, &w);
	if (!ok)
		return false;
	fits = is_small_window(&w);
	ok = NEED(why, fits, "window", "3x3, stride 1, dense", "%s",
	    fits ? "that" : "another window");
	ok = NEED(why, group == 1, "group", "1", "%d", (int)group) && ok;
	ok = need_constant(m, why, f.anchor, 1, "weights") && ok;
	ok = need_constant(m, why, f.anchor, 2, "bias") && ok;
	ok = need_native_steps(m, why, &f) && ok;
	return (!f.norm || need_inference(why, f.norm)) && ok;
}

/* ---- which ways are worth a price ---- */

/* TUNING: reading the weights counts as so many tiles, a transform of a channel as
 * so many multiplications; from rates of one core (docs/notebook.md). */
#define WEIGHTS_AS_TILES 9
#define TRANSFORM_AS 12
/* TUNING: what seems costlier than the best by so much is not offered. */
#define WORTH 1.5
/* TUNING: transforms of a block in a private cache. */
#define CACHED ((size_t)256 << 10)

/* Tiles of the whole result. */
static size_t
tiles_of(const struct type *out, uint32_t size)
{
	return (size_t)(out->dim[0] * ((out->dim[2] + size - 1) / size)
	    * ((out->dim[3] + size - 1) / size));
}

/* In multiplications, more or less. */
static double
effort(const struct type *in, const struct type *out, uint32_t size)
{
	const double c = (double)in->dim[1], k = (double)out->dim[1];
	const double tiles = (double)tiles_of(out, size);
	const double side = size + 2;

	return side * side
	    * ((tiles + WEIGHTS_AS_TILES) * c * k
	        + tiles * TRANSFORM_AS * (c + k));
}

static size_t
block_bytes(const struct type *in, const struct type *out, uint32_t size,
    uint32_t block)
{
	return sizeof(float) * (size + 2) * (size + 2) * block
	    * (size_t)(in->dim[1] + out->dim[1]);
}

/* TUNING: weights of more than this are read anew for each block from far away. */
#define FAR ((size_t)4 << 20)

/* The largest block that stays in the cache, or the first. */
static uint32_t
cached_block(const struct type *in, const struct type *out, uint32_t size)
{
	uint32_t i = 0;

	while (i + 1 < NBLOCKS
	    && block_bytes(in, out, size, blocks[i + 1]) <= CACHED)
		i++;
	return i;
}

/* A larger one, that reads the weights less often. */
static uint32_t
larger_block(const struct type *in, const struct type *out, uint32_t size,
    uint32_t cached)
{
	const size_t weights = sizeof(float) * (size + 2) * (size + 2)
	    * (size_t)in->dim[1] * (size_t)out->dim[1];
	const uint32_t larger = weights > FAR ? NBLOCKS - 1 : cached + 2;

	return larger < NBLOCKS ? larger : NBLOCKS - 1;
}

struct offers {
	const struct match_in *match;
	struct formats *formats;
	struct implementation *out;
	uint32_t n, max;
	const struct native_version *version;
};

static void
offer(struct offers *o, struct winograd_way w)
{
	const enum layout layout =
	    w.place == LAST ? LAYOUT_NHWC : native_blocked(o->match->target);
	format_id f;

	if (o->n == o->max)
		return;
	f = format_intern(
	    o->formats, (struct format){SPACE_HOST, layout, DT_UNDEFINED});
	o->out[o->n++] = (struct implementation){
	    .name = names[number_of(&w)],
	    .number = number_of(&w),
	    .input = f,
	    .output = f,
	    /* one NaN makes NaN of a tile, infinity too */
	    .loses_nan = w.guard == NO_GUARD,
	    .guarded = w.guard != NO_GUARD,
	    .transforms = true,
	};
}

static void
offer_places(struct offers *o, struct winograd_way w, const struct type *in,
    const struct type *out)
{
	const int64_t width = o->version->width;

	w.place = BLOCKED;
	offer(o, w);
	if (in->dim[1] % width == 0 && out->dim[1] % width == 0) {
		w.place = LAST;
		offer(o, w);
	}
}

uint32_t
ways_winograd(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	const bool guards = m->keep_nan && guard_suffices(m);
	struct offers o = {m, f, out, 0, max, native_version_of(m->target)};
	const struct type *in, *result;
	struct fused fused;
	const char *fault;
	double best = 0;

	if (!fused_read(&fused, m->graph, m->match, &fault))
		return 0;
	in = &node_in(m->graph, fused.anchor, 0)->type;
	result = &node_out(m->graph, fused.anchor, 0)->type;
	for (uint32_t i = 0; i < NSIZES; i++)
		if (i == 0 || effort(in, result, sizes[i]) < best)
			best = effort(in, result, sizes[i]);
	for (uint32_t i = 0; i < NSIZES; i++) {
		struct winograd_way w = {.size = i, .guard = guards};

		if (effort(in, result, sizes[i]) > WORTH * best)
			continue;
		w.block = cached_block(in, result, sizes[i]);
		offer_places(&o, w, in, result);
		if (blocks[w.block] >= tiles_of(result, sizes[i]))
			continue; /* a larger one is the same */
		w.block = larger_block(in, result, sizes[i], w.block);
		offer_places(&o, w, in, result);
	}
	return o.n;
}

/* ---- weights ---- */

/* SOURCE: as vector_tiles.h: G of each size, [side][3]. */
static const double transform_2[4][3] = {
    {1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}};
static const double transform_4[6][3] = {{1 / 4., 0, 0},
    {-1 / 6., -1 / 6., -1 / 6.}, {-1 / 6., 1 / 6., -1 / 6.},
    {1 / 24., 1 / 12., 1 / 6.}, {1 / 24., -1 / 12., 1 / 6.}, {0, 0, 1}};
static const double transform_6[8][3] = {{1, 0, 0}, {-2 / 9., -2 / 9., -2 / 9.},
    {-2 / 9., 2 / 9., -2 / 9.}, {1 / 90., 1 / 45., 2 / 45.},
    {1 / 90., -1 / 45., 2 / 45.}, {1 / 45., 1 / 90., 1 / 180.},
    {1 / 45., -1 / 90., 1 / 180.}, {0, 0, 1}};

/* Filters that are transformed side by side: a vector pair holds whole groups. */
#define SIDE_BY_SIDE 8

struct filters {
	double of[9][SIDE_BY_SIDE]; /* by element of the window */
};

/* n 3x3 filters, `apart` floats from one to the next; the others are zero. */
static void
take_filters(struct filters *f, const float *from, size_t apart, size_t n)
{
	*f = (struct filters){0};
	for (size_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < 9; i++)
			f->of[i][k] = (double)from[k * apart + i];
}

/* t[0] * a + t[1] * b + t[2] * c */
static void
weigh(double *to, const double *t, const double *a, const double *b,
    const double *c)
{
	for (uint32_t k = 0; k < SIDE_BY_SIDE; k++)
		to[k] = t[0] * a[k] + t[1] * b[k] + t[2] * c[k];
}

/* G g G^T of each, `step` floats from one frequency to the next. */
static void
transform_filters(
    uint32_t size, const struct filters *f, float *to, size_t step)
{
	const double(*t)[3] = size == 2 ? transform_2
	    : size == 4                 ? transform_4
	                                : transform_6;
	const uint32_t side = size + 2;
	double row[3][SIDE_BY_SIDE], out[SIDE_BY_SIDE];

	for (uint32_t y = 0; y < side; y++) {
		for (uint32_t i = 0; i < 3; i++)
			weigh(
			    row[i], t[y], f->of[i], f->of[3 + i], f->of[6 + i]);
		for (uint32_t x = 0; x < side; x++, to += step) {
			weigh(out, t[x], row[0], row[1], row[2]);
			for (uint32_t k = 0; k < SIDE_BY_SIDE; k++)
				to[k] = (float)out[k];
		}
	}
}

/* Line by line of each frequency's: there are up to 64. */
static void
pack_weights(struct winograd *w, const float *from, const struct type *t,
    uint32_t width, struct arena *a)
{
	const size_t side = w->size + 2, pair = (size_t)2 * width;
	const size_t filters = (size_t)t->dim[0], channels = (size_t)t->dim[1];
	const size_t step = w->filters * w->channels;
	float *to = arena_new(a, float, side *side *step);
	struct filters f;

	assert(pair % SIDE_BY_SIDE == 0);
	for (size_t i = 0; i < rounded(filters, pair) * channels;
	     i += SIDE_BY_SIDE) {
		const size_t c = i / pair % channels;
		const size_t k = i / pair / channels * pair + i % pair;
		const size_t left = k < filters ? filters - k : 0;

		if (left == 0)
			continue;
		take_filters(&f, from + (k * channels + c) * 9, channels * 9,
		    left < SIDE_BY_SIDE ? left : SIDE_BY_SIDE);
		transform_filters(w->size, &f,
		    to + (k / pair * w->channels + c) * pair + k % pair, step);
	}
	w->weights = to;
}

/* ---- a kernel ---- */

struct winograd_kernel {
	struct winograd w;
	winograd_run *run;
	const void *const *in;
	float *out;
	uint32_t threads;
};

/* Whole blocks for every thread; where there is not one for each, threads share
 * the filters of all. */
static void
divide(struct winograd *w, size_t most, uint32_t threads, uint32_t group,
    size_t pairs)
{
	size_t n = (w->tiles + most - 1) / most;

	if (n >= threads)
		n = rounded(n, threads);
	w->block = rounded((w->tiles + n - 1) / n, group);
	n = (w->tiles + w->block - 1) / w->block;
	w->parts = n >= threads ? 1 : threads < pairs ? threads : pairs;
}

static void
set_sizes(struct winograd *w, const struct type *in, const struct type *out,
    const struct window *window)
{
	w->images = (size_t)in->dim[0];
	w->height = (size_t)in->dim[2];
	w->width = (size_t)in->dim[3];
	w->rows = (size_t)out->dim[2];
	w->columns = (size_t)out->dim[3];
	w->above = window->before[0];
	w->before = window->before[1];
	w->down = (w->rows + w->size - 1) / w->size;
	w->across = (w->columns + w->size - 1) / w->size;
	w->tiles = w->images * w->down * w->across;
	w->real = (size_t)out->dim[1];
}

/* A line more, so that frequencies do not all fall into one set of the cache. */
static size_t
step_of(size_t floats)
{
	return rounded(floats, 16) + 16;
}

static void
set_scratch(struct winograd *w, uint32_t threads, struct arena *a)
{
	const size_t side = w->size + 2;

	w->input_step = step_of(w->block * w->channels);
	w->sum_step = step_of(w->block * w->filters);
	w->scratch = side * side * (w->input_step + w->sum_step);
	w->scratch_of = arena_new(a, float, threads * w->scratch);
}

static void
run_thread(void *of, uint32_t i)
{
	const struct winograd_kernel *k = of;
	const size_t units = winograd_units(&k->w);

	for (size_t u = units * i / k->threads;
	     u < units * (i + 1) / k->threads; u++)
		k->run(&k->w, u, k->w.scratch_of + i * k->w.scratch, k->in,
		    k->out);
}

static void
run(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct winograd_kernel *k = kernel->state;

	k->in = in;
	k->out = out[0];
	team_run(k->threads, run_thread, k);
}

bool
compile_winograd(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	const struct native_version *version = native_version_of(t);
	const struct winograd_way way = way_of(c->implementation);
	const enum layout layout =
	    t->formats->format[c->output[0].format].layout;
	struct winograd_kernel *k = arena_new(a, struct winograd_kernel, 1);
	struct winograd *w = &k->w;
	const size_t pair = (size_t)2 * version->width;
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
	w->size = sizes[way.size];
	set_sizes(w, in, result, &window);
	w->in = pixels_of(layout, in, version->width);
	w->out = pixels_of(layout, result, version->width);
	w->channels = rounded((size_t)in->dim[1], version->width);
	w->stored = rounded(w->real, w->out.lanes);
	w->filters = rounded(w->stored, pair);
	k->threads = target_threads();
	divide(w, blocks[way.block], k->threads, version->group,
	    w->filters / pair);
	pack_weights(w, weights.weights, &node_in(g, f.anchor, 1)->type,
	    version->width, a);
	w->bias = floats_padded(weights.bias, w->real, w->filters, a);
	arena_release(&unpacked);
	native_steps_of(&w->steps, &f, g, c, w->filters, a);
	w->port = candidate_input(c, f.anchor->input[0]);
	assert(w->port >= 0);
	set_scratch(w, k->threads, a);
	k->run = version->winograd;
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run, .state = k};
	if (way.guard)
		guard_kernel(out, t, g, a);
	return true;
}
