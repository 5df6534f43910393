/* Winograd convolutions: which are taken, which ways are worth a price, weights,
 * threads. */
#include "targets/native/native.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "ir/base/common_scratch.h"
#include "targets/guarded.h"
#include "targets/lanes.h"
#include "targets/threads.h"
#include "targets/tiling.h"
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
	bool ok = w->n == 2 && (w->kernel[0] == 3 || w->kernel[0] == 5)
	    && w->kernel[0] == w->kernel[1];

	for (uint32_t i = 0; ok && i < 2; i++)
		ok = w->stride[i] == 1 && w->dilation[i] == 1;
	return ok;
}

/* Groups are whole vectors. */
static bool
need_groups(
    const struct match_in *m, struct why *why, const struct node *anchor)
{
	const int64_t group = attr_int_or(anchor, "group", 1);
	const int64_t channels = node_in(m->graph, anchor, 0)->type.dim[1];
	const int64_t filters = node_out(m->graph, anchor, 0)->type.dim[1];
	const bool fits = group == 1
	    || (group > 1 && channels % (group * WINOGRAD_GROUPED) == 0
	        && filters % (group * WINOGRAD_GROUPED) == 0);

	return NEED(why, fits, "group",
	    "1, or of 16, 32, ... channels and filters", "%d of %d and %d",
	    (int)group, (int)channels, (int)filters);
}

bool
need_winograd(const struct match_in *m, struct why *why,
    const struct node *anchor, const struct window *w)
{
	const bool fits = is_small_window(w);
	const bool ok = NEED(why, fits, "window", "3x3 or 5x5, stride 1, dense",
	    "%s", fits ? "that" : "another window");

	return need_groups(m, why, anchor) && ok;
}

bool
accept_winograd(const struct match_in *m, struct why *why)
{
	struct fused f;
	struct window w;
	bool ok = need_all_tensors(m, why);

	if (!ok || !need_chain(m, why, &f) || !f.anchor)
		return false;
	fused_take_bias(&f, m->graph, 1);
	ok = need_rank_in(m, why, f.anchor->input[0], 4, 4)
	    && need_window(m, why, f.anchor, &w);
	if (!ok)
		return false;
	ok = need_winograd(m, why, f.anchor, &w);
	ok = need_constant(m, why, f.anchor, 1, "weights") && ok;
	ok = need_constant(m, why, f.anchor, 2, "bias") && ok;
	ok = need_native_steps(m, why, &f) && ok;
	return (!f.norm || need_inference(why, f.norm)) && ok;
}

/* ---- which ways are worth a price ---- */

/* TUNING: what seems costlier than the best by so much is not offered. */
#define WORTH 1.5
/* TUNING: transforms of a block in a private cache. */
#define CACHED ((size_t)256 << 10)

/* There are transforms of so large a tile. */
static bool
is_known_size(const struct tiling *w, uint32_t size)
{
	return size + w->beyond <= WINOGRAD_SIDE;
}

static size_t
block_bytes(const struct tiling *w, uint32_t size, uint32_t block)
{
	return sizeof(float) * tiling_area(w, size) * block
	    * (w->channels + w->filters);
}

/* The largest block that stays in the cache, or the first. */
static uint32_t
cached_block(const struct tiling *w, uint32_t size)
{
	uint32_t i = 0;

	while (i + 1 < NBLOCKS && block_bytes(w, size, blocks[i + 1]) <= CACHED)
		i++;
	return i;
}

/* A larger one, that reads the weights less often. */
static uint32_t
larger_block(const struct tiling *w, uint32_t size, uint32_t cached)
{
	const uint32_t larger =
	    tiling_is_far(w, size) ? NBLOCKS - 1 : cached + 2;

	return larger < NBLOCKS ? larger : NBLOCKS - 1;
}

struct offers {
	const struct match_in *match;
	bool of_bytes, guards;
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
	    .loses_nan = w.guard == NO_GUARD && !o->of_bytes,
	    .guarded = w.guard != NO_GUARD,
	    .transforms = true,
	};
}

static void
offer_places(struct offers *o, struct winograd_way way, const struct tiling *w)
{
	const int64_t width = o->version->width;

	way.place = BLOCKED;
	if (!o->of_bytes)
		offer(o, way);
	if (w->in->dim[1] % width == 0 && w->out->dim[1] % width == 0) {
		way.place = LAST;
		offer(o, way);
	}
}

static void
offer_blocks(struct offers *o, struct winograd_way way, const struct tiling *w)
{
	const uint32_t size = sizes[way.size];

	way.block = cached_block(w, size);
	offer_places(o, way, w);
	if (blocks[way.block] >= tiling_count(w, size))
		return; /* a larger one is the same */
	way.block = larger_block(w, size, way.block);
	offer_places(o, way, w);
}

/* The least of the first n sizes. */
static double
least_effort(const struct tiling *w, uint32_t n)
{
	double least = HUGE_VAL;

	for (uint32_t i = 0; i < n && is_known_size(w, sizes[i]); i++)
		if (tiling_effort(w, sizes[i]) < least)
			least = tiling_effort(w, sizes[i]);
	return least;
}

static bool
is_worth(const struct offers *o, const struct tiling *w, uint32_t i)
{
	return tiling_effort(w, sizes[i]) <= WORTH * least_effort(w, NSIZES)
	    && tiling_is_worth(
	        w, sizes[i], least_effort(w, i), o->match->target);
}

static void
offer_sizes(struct offers *o, const struct tiling *w)
{
	struct winograd_way way = {.guard = o->guards};

	for (uint32_t i = 0; i < NSIZES && is_known_size(w, sizes[i]); i++) {
		way.size = i;
		if (is_worth(o, w, i))
			offer_blocks(o, way, w);
	}
}

uint32_t
winograd_ways(const struct match_in *m, const struct winograd_source *s,
    bool of_bytes, struct formats *f, struct implementation *out, uint32_t max)
{
	const struct tiling w =
	    tiling_of(s->in, s->out, (uint32_t)s->weights->dim[2], s->groups);
	struct offers o = {.match = m,
	    .of_bytes = of_bytes,
	    .guards = !of_bytes && m->keep_nan && guard_suffices(m),
	    .formats = f,
	    .out = out,
	    .max = max,
	    .version = native_version_of(m->target)};

	offer_sizes(&o, &w);
	return o.n;
}

struct winograd_source
winograd_source_of(
    const struct graph *g, const struct node *n, uint32_t weights)
{
	return (struct winograd_source){.in = &node_in(g, n, 0)->type,
	    .out = &node_out(g, n, 0)->type,
	    .weights = &node_in(g, n, weights)->type,
	    .groups = (size_t)attr_int_or(n, "group", 1)};
}

uint32_t
ways_winograd(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	struct winograd_source s;
	struct fused fused;
	const char *fault;

	if (!fused_read(&fused, m->graph, m->match, &fault))
		return 0;
	s = winograd_source_of(m->graph, fused.anchor, 1);
	return winograd_ways(m, &s, false, f, out, max);
}

/* ---- weights ---- */

/* SOURCE: as vector_tiles.h: a row of G is the powers of a point (at infinity only the
 * last), times what the other points make of it. */
#define MOST_WINDOW 5

static const double points[WINOGRAD_SIDE - 1] = {0, 1, -1, 2, -2, .5, -.5};
static const double factors_4[] = {1, 1 / 2., 1 / 2., 1};
static const double factors_6[] = {
    1 / 4., -1 / 6., -1 / 6., 1 / 24., 1 / 24., 1};
/* The way back multiplies by the rest of 32/45. */
static const double factors_6_of_8[] = {
    1, -2 / 9., -2 / 9., 1 / 90., 1 / 90., 1 / 45., 1 / 45., 1};
static const double factors_4_of_8[] = {
    1, -2 / 9., -2 / 9., 1 / 90., 1 / 90., 4 / 45., 4 / 45., 1};

struct filter_transform {
	uint32_t side, window;
	double row[WINOGRAD_SIDE][MOST_WINDOW];
};

static struct filter_transform
filter_transform_of(const struct winograd *w)
{
	struct filter_transform t = {w->side, w->side - w->size + 1, {{0}}};
	const double *factors = w->side == 4 ? factors_4
	    : w->side == 6                   ? factors_6
	    : w->size == 6                   ? factors_6_of_8
	                                     : factors_4_of_8;

	for (uint32_t y = 0; y + 1 < t.side; y++) {
		t.row[y][0] = factors[y];
		for (uint32_t i = 1; i < t.window; i++)
			t.row[y][i] = t.row[y][i - 1] * points[y];
	}
	t.row[t.side - 1][t.window - 1] = factors[t.side - 1];
	return t;
}

/* Filters that are transformed side by side: a vector pair holds whole groups. */
#define SIDE_BY_SIDE 8

struct filters {
	/* by element of the window */
	double of[MOST_WINDOW * MOST_WINDOW][SIDE_BY_SIDE];
};

/* n filters, `apart` floats from one to the next; the others are zero. */
static void
take_filters(struct filters *f, const float *from, size_t apart, size_t n,
    uint32_t elements)
{
	*f = (struct filters){0};
	for (size_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < elements; i++)
			f->of[i][k] = (double)from[k * apart + i];
}

/* A number of one of G's rows with n of each filter's, `step` apart. */
static void
weigh(double to[SIDE_BY_SIDE], const double *row,
    const double (*g)[SIDE_BY_SIDE], uint32_t step, uint32_t n)
{
	for (uint32_t k = 0; k < SIDE_BY_SIDE; k++)
		to[k] = row[0] * g[0][k];
	for (uint32_t i = 1; i < n; i++)
		for (uint32_t k = 0; k < SIDE_BY_SIDE; k++)
			to[k] += row[i] * g[i * step][k];
}

/* G g G^T of each, `step` floats from one frequency to the next. */
static void
transform_filters(const struct filter_transform *t, const struct filters *f,
    float *to, size_t step)
{
	const uint32_t n = t->window;
	double row[MOST_WINDOW][SIDE_BY_SIDE], out[SIDE_BY_SIDE];

	for (uint32_t y = 0; y < t->side; y++) {
		for (uint32_t i = 0; i < n; i++)
			weigh(row[i], t->row[y], f->of + i, n, n);
		for (uint32_t x = 0; x < t->side; x++, to += step) {
			weigh(out, t->row[x],
			    (const double(*)[SIDE_BY_SIDE])row, 1, n);
			for (uint32_t k = 0; k < SIDE_BY_SIDE; k++)
				to[k] = (float)out[k];
		}
	}
}

struct winograd_packing {
	const struct winograd *w;
	struct filter_transform how;
	size_t filters, channels; /* of a group, as the model has them */
	size_t pair; /* floats of two vectors */
};

/* One group's, some filters of a pair at a time. */
static void
pack_group(const struct winograd_packing *p, const float *from, float *to)
{
	const uint32_t window = p->how.window * p->how.window;
	const size_t pair = p->pair, step = p->w->filters * p->w->channels;
	struct filters f;

	for (size_t i = 0; i < rounded(p->filters, pair) * p->channels;
	     i += SIDE_BY_SIDE) {
		const size_t c = i / pair % p->channels;
		const size_t k = i / pair / p->channels * pair + i % pair;
		const size_t left = k < p->filters ? p->filters - k : 0;

		if (left == 0)
			continue;
		take_filters(&f, from + (k * p->channels + c) * window,
		    p->channels * window,
		    left < SIDE_BY_SIDE ? left : SIDE_BY_SIDE, window);
		transform_filters(&p->how, &f,
		    to + (k / pair * p->w->channels + c) * pair + k % pair,
		    step);
	}
}

/* Line by line of each frequency's: there are up to 64. */
static void
pack_weights(struct winograd *w, const float *from, const struct type *t,
    uint32_t width, struct arena *a)
{
	const struct winograd_packing p = {
	    .w = w,
	    .how = filter_transform_of(w),
	    .filters = (size_t)t->dim[0] / w->groups,
	    .channels = (size_t)t->dim[1],
	    .pair = (size_t)2 * width,
	};
	const size_t group =
	    (size_t)w->side * w->side * w->filters * w->channels;
	const size_t given =
	    p.filters * p.channels * p.how.window * p.how.window;
	float *to = arena_new(a, float, w->groups *group);

	assert(p.pair % SIDE_BY_SIDE == 0);
	w->weights = to;
	for (size_t g = 0; g < w->groups; g++)
		pack_group(&p, from + g * given, to + g * group);
}

/* ---- a kernel ---- */

struct winograd_kernel {
	struct winograd w;
	winograd_run *run;
	const void *const *in;
	void *out;
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
	w->parts = n >= threads ? 1 : lanes_cut(pairs, threads);
}

static void
set_sizes(struct winograd *w, const struct type *in, const struct type *out,
    const struct window *window)
{
	w->side = w->size + (uint32_t)window->kernel[0] - 1;
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
	const size_t side = w->side;

	w->input_step = step_of(w->block * w->channels);
	w->sum_step = step_of(w->block * w->filters);
	w->scratch = side * side * (w->input_step + w->sum_step);
	w->scratch_of =
	    common_scratch_or(threads * w->scratch * sizeof(float), a);
}

static void
run_unit(void *of, uint32_t lane, size_t unit, bool there)
{
	const struct winograd_kernel *k = of;

	k->run(&k->w, unit, there, k->w.scratch_of + lane * k->w.scratch, k->in,
	    k->out);
}

static void
run(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct winograd_kernel *k = kernel->state;

	k->in = in;
	k->out = out[0];
	lanes_groups(
	    winograd_units(&k->w), k->w.parts, k->threads, run_unit, k);
}

/* Where images lie, in vectors of the target's. */
static struct pixels
places_of(
    const struct type *image, const struct target *t, const struct candidate *c)
{
	return pixels_of(t->formats->format[c->output[0].format].layout, image,
	    native_version_of(t)->width);
}

/* Of a group, padded to two vectors. */
static size_t
filters_of(const struct winograd_source *s, const struct target *t,
    const struct candidate *c)
{
	const size_t pair = (size_t)2 * native_version_of(t)->width;
	const struct pixels out = places_of(s->out, t, c);

	return rounded(
	    rounded((size_t)s->out->dim[1] / s->groups, out.lanes), pair);
}

void
winograd_kernel(const struct winograd *w, const struct winograd_source *s,
    const struct target *t, const struct candidate *c, struct arena *a,
    struct kernel *out)
{
	const struct native_version *version = native_version_of(t);
	const struct winograd_way way = way_of(c->implementation);
	struct winograd_kernel *k = arena_new(a, struct winograd_kernel, 1);
	const size_t pair = (size_t)2 * version->width;
	struct winograd *of = &k->w;

	*k = (struct winograd_kernel){
	    .w = *w, .run = version->winograd, .threads = target_threads()};
	of->size = sizes[way.size];
	set_sizes(of, s->in, s->out, s->window);
	of->in = places_of(s->in, t, c);
	of->out = places_of(s->out, t, c);
	of->groups = s->groups;
	of->channels =
	    rounded((size_t)s->in->dim[1] / s->groups, version->width);
	of->stored = rounded(of->real / s->groups, of->out.lanes);
	of->filters = filters_of(s, t, c);
	divide(of, blocks[way.block], k->threads, version->group,
	    of->filters / pair);
	pack_weights(of, s->filters, s->weights, version->width, a);
	of->bias = floats_padded(s->bias, of->real, s->groups * of->filters, a);
	set_scratch(of, k->threads, a);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run, .state = k};
}

bool
compile_winograd(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct winograd w = {.port = -1};
	struct winograd_source s;
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
	s = winograd_source_of(g, f.anchor, 1);
	s.filters = weights.weights;
	s.bias = weights.bias;
	s.window = &window;
	native_steps_of(&w.steps, &f, g, c, s.groups * filters_of(&s, t, c), a);
	w.port = candidate_input(c, f.anchor->input[0]);
	assert(w.port >= 0);
	winograd_kernel(&w, &s, t, c, a, out);
	arena_release(&unpacked);
	if (way_of(c->implementation).guard)
		guard_kernel(out, t, g, a);
	return true;
}
