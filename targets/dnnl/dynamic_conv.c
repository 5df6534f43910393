/* Convolutions of bytes quantised in each run: ConvInteger, its sums made floats, times
 * the scales of both sides, plus a bias. The library has kernels for channels last alone,
 * and no padding but 0: so codes are laid out anew with their own zero around them, and
 * its sums turned back while they become floats. */
#include <string.h>

#include "targets/dnnl/accept.h"
#include "targets/dnnl/byte_image.h"
#include "targets/dnnl/dynamic_sides.h"
#include "targets/dnnl/integer.h"
#include "targets/dnnl/layer.h"
#include "targets/dnnl/ways.h"
#include "targets/need.h"
#include "targets/team.h"

#define NEED why_need

static bool
read_image(struct byte_image *i, const struct graph *g, const struct node *n)
{
	const struct type *x = &node_in(g, n, 0)->type;
	const char *fault;
	struct window w;

	return window_resolve(&w, g, n, &fault)
	    && byte_image_of(i, &w, x, &node_out(g, n, 0)->type,
	        (size_t)attr_int_or(n, "group", 1));
}

bool
accept_dynamic_conv(const struct match_in *m, struct why *why)
{
	const struct dynamic_product d = dynamic_read(m->match, m->graph);
	struct byte_image i;
	bool ok;

	if (!need_dynamic(m, why, &d))
		return false;
	ok = read_image(&i, m->graph, d.product);
	return NEED(why, ok, "window", "of a padded image below 1 GiB", "%s",
	           ok ? "that" : "another")
	    && need_wide_sums(why);
}

/* ---- sums to floats ---- */

struct floats;
typedef void positions_run(const struct floats *f, size_t image, size_t first);

struct dynamic_conv {
	struct around around;
	struct byte_image image;
	struct dynamic_sides sides;
	positions_run *finish; /* for this processor */
	const void **inside; /* what the library's kernel is given */
	uint8_t *codes; /* channels last, padded */
	int32_t *sums; /* [positions][filters] */
	int32_t *plane,
	    *under; /* byte_image_sums(), where weights have zeros */
};

/* A run's. */
struct floats {
	const struct dynamic_conv *conv;
	float *to; /* [N][filters][out] */
	size_t area, blocks; /* of one image */
	struct left_side left;
};

/* Positions that are finished together: a vector's. */
#define TOGETHER ((size_t)16)

static inline __attribute__((always_inline)) void
finish_some(const struct floats *f, size_t image, size_t first, size_t n)
{
	const struct dynamic_sides *s = &f->conv->sides;
	const size_t groups = f->conv->image.groups;
	const size_t filters = s->outputs, each = filters / groups;
	const size_t at = image * f->area + first;
	const int32_t *sums = f->conv->sums + at * filters;
	const int32_t *under =
	    s->has_zeros ? f->conv->under + at * groups : NULL;
	float *to = f->to + image * filters * f->area + first;

	for (size_t k = 0; k < filters; k++, to += f->area) {
		const int32_t less = f->left.zero * s->weights[k];
		const float by = f->left.scale * s->scale[k];

		for (size_t p = 0; p < n; p++) {
			int32_t sum = sums[p * filters + k] - less;
			float x;

			if (under)
				sum -=
				    s->zeros[k] * under[p * groups + k / each];
			x = (float)sum * by;
			to[p] = s->has_bias ? x + s->bias[k] : x;
		}
	}
}

static inline __attribute__((always_inline)) void
finish_at(const struct floats *f, size_t image, size_t first)
{
	const size_t left = f->area - first;

	if (left >= TOGETHER)
		finish_some(f, image, first, TOGETHER);
	else
		finish_some(f, image, first, left);
}

static void
finish_plain(const struct floats *f, size_t image, size_t first)
{
	finish_at(f, image, first);
}

#ifdef __x86_64__
__attribute__((target("avx512f,avx512vl,avx512dq"))) static void
finish_avx512(const struct floats *f, size_t image, size_t first)
{
	finish_at(f, image, first);
}

__attribute__((target("avx2"))) static void
finish_avx2(const struct floats *f, size_t image, size_t first)
{
	finish_at(f, image, first);
}
#endif

static positions_run *const finishes[] = {
    [VECTORS_NONE] = finish_plain,
#ifdef __x86_64__
    [VECTORS_AVX2] = finish_avx2,
    [VECTORS_AVX512] = finish_avx512,
#endif
};

static void
finish_block(void *data, uint32_t at)
{
	const struct floats *f = data;

	f->conv->finish(f, at / f->blocks, at % f->blocks * TOGETHER);
}

static void
run(struct kernel *k, const void *const *in, void *const *out)
{
	struct dynamic_conv *c = k->state;
	const size_t area = c->image.out[0] * c->image.out[1];
	struct floats f = {.conv = c,
	    .to = out[0],
	    .area = area,
	    .blocks = (area + TOGETHER - 1) / TOGETHER,
	    .left = dynamic_sides_left(&c->sides, in)};

	byte_image_fill(&c->image, f.left.codes, f.left.zero, c->codes);
	memcpy(c->inside, in, k->candidate->ninputs * sizeof *in);
	c->inside[c->sides.codes] = c->codes;
	c->around.inner.fault = k->fault;
	c->around.inner.run(
	    &c->around.inner, c->inside, (void *const[]){c->sums});
	if (c->sides.has_zeros)
		byte_image_sums(
		    &c->image, c->codes, f.left.zero, c->plane, c->under);
	team_run((uint32_t)(c->image.batch * f.blocks), finish_block, &f);
}

/* ---- a kernel ---- */

static void
add_scratch(struct dynamic_conv *c, struct build *b)
{
	const struct byte_image *i = &c->image;
	const size_t positions = byte_image_positions(i);

	c->inside = arena_new(b->arena, const void *, b->candidate->ninputs);
	c->codes = arena_new(b->arena, uint8_t, byte_image_size(i));
	c->sums = arena_new(b->arena, int32_t, positions * c->sides.outputs);
	if (!c->sides.has_zeros)
		return;
	c->plane = arena_new(
	    b->arena, int32_t, i->padded[0] * i->padded[1] * i->groups);
	c->under = arena_new(b->arena, int32_t, positions * i->groups);
}

/* Both images as the library sees them. */
static void
describe_images(struct operation *op, const struct dynamic_conv *c)
{
	const struct byte_image *i = &c->image;
	const int64_t n = (int64_t)i->batch;
	const int64_t in[] = {n, (int64_t)i->channels, (int64_t)i->padded[0],
	    (int64_t)i->padded[1]};
	const int64_t out[] = {n, (int64_t)c->sides.outputs, (int64_t)i->out[0],
	    (int64_t)i->out[1]};
	struct type t = {.kind = TYPE_TENSOR,
	    .dtype = i->is_unsigned ? DT_UINT8 : DT_INT8,
	    .rank = 4,
	    .dim = in};

	desc_layout(&op->md[ROLE_SRC], LAYOUT_NHWC, &t);
	t.dtype = DT_INT32;
	t.dim = out;
	desc_layout(&op->md[ROLE_DST], LAYOUT_NHWC, &t);
}

static void
describe_filters(struct md *md, const struct byte_image *i, size_t filters)
{
	const int64_t dim[] = {(int64_t)filters,
	    (int64_t)(i->channels / i->groups), (int64_t)i->kernel[0],
	    (int64_t)i->kernel[1]};
	const struct type t = {
	    .kind = TYPE_TENSOR, .dtype = DT_INT8, .rank = 4, .dim = dim};

	desc_filters(md, &t, (int64_t)i->groups);
	md->type = dnnl_s8;
}

static bool
make(struct build *b, struct operation *op, const struct dynamic_product *d,
    const struct byte_image *i, const int8_t *steps)
{
	const struct window w = byte_image_window(i);
	const struct node *n = d->product;
	struct md filters;
	dnnl_primitive_desc_t pd;
	bool ok;

	describe_filters(
	    &filters, i, (size_t)node_in(b->graph, n, 1)->type.dim[0]);
	op->md[ROLE_WEIGHTS] = md_any(&filters);
	layer_dims(&op->window, &w);
	if (!make_exact(
	        b, op, way_nth(way_get(b->candidate->implementation)), &pd))
		return false;
	ok = need_kernel(b, pd, &node_out(b->graph, n, 0)->type,
	         &node_in(b->graph, n, 1)->type)
	    && bind_value(b, DNNL_ARG_SRC, n->input[0], &op->md[ROLE_SRC])
	    && bind_constant(b, DNNL_ARG_WEIGHTS, steps, &filters,
	        wanted(b, pd, dnnl_query_weights_md, 0))
	    && bind_value(b, DNNL_ARG_DST, d->end, &op->md[ROLE_DST]);
	dnnl_primitive_desc_destroy(pd);
	return ok;
}

bool
build_dynamic_conv(struct build *b)
{
	const struct dynamic_product d =
	    dynamic_read(b->candidate->match, b->graph);
	const int8_t *steps =
	    integer_steps(integer_constant(b->graph, d.product, 1), b->scratch);
	struct operation op = {
	    .kind = dnnl_convolution, .alg = dnnl_convolution_direct};
	struct dynamic_conv *c = arena_new(b->arena, struct dynamic_conv, 1);

	if (!read_image(&c->image, b->graph, d.product))
		return err_set(b->err, ERR_INTERNAL, "oneDNN: no window");
	c->sides =
	    dynamic_sides_read(&d, b->graph, b->candidate, steps, b->arena);
	describe_images(&op, c);
	if (!make(b, &op, &d, &c->image, steps))
		return false;
	add_scratch(c, b);
	c->finish = finishes[dynamic_vectors()];
	c->around.run = run;
	b->around = &c->around;
	return true;
}
