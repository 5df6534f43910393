/* Operators that place, mix or spread pixels: padding, resizing, slopes,
 * transposed convolution. */
#include <math.h>
#include <string.h>

#include "targets/dequantized.h"
#include "targets/need.h"
#include "targets/weights.h"
#include "targets/window.h"
#include "targets/xnnpack/op.h"

#define NEED why_need

/* ---- constant padding ---- */

/* Entries before and behind each dimension, and what goes there. */
struct xnn_padding {
	int64_t before[XNN_MAX_TENSOR_DIMS], after[XNN_MAX_TENSOR_DIMS];
	float value;
};

static bool
read_padding(struct xnn_padding *p, const struct graph *g, const struct node *n)
{
	const uint32_t rank = node_in(g, n, 0)->type.rank;
	const struct value *list = n->ninputs > 1 ? node_in(g, n, 1) : NULL;
	uint32_t count = 0;
	const int64_t *pads = attr_ints(n, "pads", &count);

	p->value = attr_float_or(n, "value", 0);
	if (n->ninputs > 2 && n->input[2] != VALUE_NONE
	    && !constant_scalar(g, n->input[2], &p->value))
		return false;
	if (pads == NULL && (list == NULL || list->constant == NULL))
		return false;
	if (pads == NULL)
		count = (uint32_t)list->constant->count;
	if (count != 2 * rank || rank > XNN_MAX_TENSOR_DIMS
	    || (n->ninputs > 3 && n->input[3] != VALUE_NONE))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		int64_t x =
		    pads ? pads[i] : (int64_t)tensor_real(list->constant, i);

		if (x < 0)
			return false;
		*(i < rank ? &p->before[i] : &p->after[i - rank]) = x;
	}
	return true;
}

bool
takes_padding(const struct match_in *m, struct why *why)
{
	const struct node *n = matched_root(m);
	struct string_view mode = attr_str_or(n, "mode", "constant");
	struct xnn_padding p;
	bool ok = need_tensors(m, why, n, 1), known;

	if (!ok || !need_rank_in(m, why, n->input[0], 1, XNN_MAX_TENSOR_DIMS))
		return false;
	known = read_padding(&p, m->graph, n);
	ok = NEED(why, known, "pads",
	    "constants, not negative, of all dimensions", "they are not");
	return NEED(why, view_is(mode, "constant"), "mode", "constant", "%.*s",
	           (int)mode.n, mode.s)
	    && ok;
}

bool
build_padding(struct xnn_build *b)
{
	const struct node *n = b->fused.anchor;
	struct operator* o = & b->layer->what;
	struct xnn_padding p;

	if (!read_padding(&p, b->graph, n))
		return err_set(b->err, ERR_UNSUPPORTED, "XNNPACK: padding");
	o->kind = OPERATOR_PADDING;
	o->alpha = p.value;
	o->left = operand_of(b, n->input[0], node_in(b->graph, n, 0)->type.rank,
	    &b->layer->left);
	for (uint32_t i = 0; i < o->left.rank; i++) {
		/* channels go last: 0 2 3 1 */
		uint32_t from =
		    is_channels_last(b) && i > 0 ? (i == 3 ? 1 : i + 1) : i;

		o->before[i] = (size_t)p.before[from];
		o->after[i] = (size_t)p.after[from];
	}
	return create(b, "padding");
}

/* ---- bilinear resizing ---- */

static const struct {
	const char *coordinates;
	uint32_t flags;
} sampling[] = {
    {"half_pixel", 0},
    {"align_corners", XNN_FLAG_ALIGN_CORNERS},
    {"asymmetric", XNN_FLAG_TENSORFLOW_LEGACY_MODE},
};

static struct string_view
coordinates_of(const struct node *n)
{
	return attr_str_or(n, "coordinate_transformation_mode",
	    n->op == OP_UPSAMPLE || n->opset < 11 ? "asymmetric"
	                                          : "half_pixel");
}

static bool
find_sampling(const struct node *n, uint32_t *flags)
{
	const struct string_view have = coordinates_of(n);

	for (size_t i = 0; i < sizeof sampling / sizeof *sampling; i++)
		if (view_is(have, sampling[i].coordinates)) {
			*flags = sampling[i].flags;
			return true;
		}
	return false;
}

bool
takes_resizing(const struct match_in *m, struct why *why)
{
	const struct node *n = matched_root(m);
	struct string_view mode = attr_str_or(n, "mode", "nearest");
	struct string_view where = coordinates_of(n);
	bool ok = need_tensors(m, why, n, 1), known;
	uint32_t flags;

	if (!ok || !need_rank_in(m, why, n->input[0], 4, 4))
		return false;
	known = find_sampling(n, &flags);
	ok = NEED(why, view_is(mode, "linear"), "mode", "linear", "%.*s",
	    (int)mode.n, mode.s);
	ok = NEED(why, known, "coordinates",
	         "half_pixel, align_corners or asymmetric", "%.*s",
	         (int)where.n, where.s)
	    && ok;
	return need_spatial_scales(m, why, n) && ok;
}

bool
build_resizing(struct xnn_build *b)
{
	const struct node *n = b->fused.anchor;
	const struct type *out = &node_out(b->graph, n, 0)->type;
	struct operator* o = & b->layer->what;

	read_image(b, n->input[0]);
	o->kind = OPERATOR_RESIZING;
	find_sampling(n, &o->flags);
	o->size[0] = (size_t)out->dim[2];
	o->size[1] = (size_t)out->dim[3];
	return create(b, "bilinear resizing");
}

/* ---- slopes ---- */

bool
takes_slopes(const struct match_in *m, struct why *why)
{
	const struct node *n = matched_root(m);
	const struct type *x, *slope;
	bool ok = need_all_tensors(m, why);

	if (!ok || !need_rank_in(m, why, n->input[0], 4, 4))
		return false;
	x = matched_type(m, n->input[0]);
	slope = matched_type(m, n->input[1]);
	ok = need_constant(m, why, n, 1, "slope");
	return NEED(why,
	           slope->rank >= 3 && slope->dim[slope->rank - 3] == x->dim[1]
	               && slope->dim[slope->rank - 2] == 1
	               && slope->dim[slope->rank - 1] == 1
	               && (slope->rank == 3 || slope->dim[0] == 1),
	           "slope", "one for each channel", "another shape")
	    && ok;
}

/* The library may read a little beyond the last slope; a newer one in each run. */
bool
build_slopes(struct xnn_build *b)
{
	const struct node *n = b->fused.anchor;
	struct operator* o = & b->layer->what;
	float *slope;

	read_image(b, n->input[0]);
	slope = arena_new(b->arena, float, o->in + 16);
	memcpy(slope,
	    tensor_data(node_in(b->graph, n, 1)->constant, b->scratch),
	    o->in * sizeof *slope);
	o->kind = OPERATOR_SLOPES;
	o->weights = slope;
	o->batch *= o->height * o->width;
	return create(b, "slopes");
}

/* ---- transposed convolution ---- */

bool
takes_deconvolution(const struct match_in *m, struct why *why)
{
	const struct type *out;
	struct fused f;
	struct window w;
	bool ok = need_all_tensors(m, why);

	if (!ok || !need_chain(m, why, &f) || !f.anchor)
		return false;
	ok = need_rank_in(m, why, f.anchor->input[0], 4, 4)
	    && need_transposed(m, why, f.anchor, &w);
	if (!ok)
		return false;
	/* SOURCE: the library divides the output among the positions within a
	 * stride, and looks for the input of those that have none. */
	out = matched_type(m, f.anchor->output[0]);
	ok = NEED(why, out->dim[2] >= w.stride[0] && out->dim[3] >= w.stride[1],
	    "output_size", "at least a stride", "%d x %d, stride %d x %d",
	    (int)out->dim[2], (int)out->dim[3], (int)w.stride[0],
	    (int)w.stride[1]);
	ok = NEED(why, w.more[0] < w.stride[0] && w.more[1] < w.stride[1],
	         "output_padding", "below the stride", "%d x %d",
	         (int)w.more[0], (int)w.more[1])
	    && ok;
	ok = need_constant(m, why, f.anchor, 2, "bias") && ok;
	return need_clamps(why, &f, 0) && ok;
}

/* [C, K / group, kh, kw] to [K, kh, kw, C / group]. */
static const float *
kernel_turned(
    const float *from, const struct type *t, size_t group, struct arena *a)
{
	const size_t in = (size_t)t->dim[0] / group, out = (size_t)t->dim[1];
	const size_t area = (size_t)t->dim[2] * (size_t)t->dim[3];
	float *to = arena_new(a, float, group *in *out *area);

	for (size_t g = 0; g < group; g++)
		for (size_t i = 0; i < in; i++)
			for (size_t o = 0; o < out; o++)
				for (size_t p = 0; p < area; p++)
					to[((g * out + o) * area + p) * in
					    + i] = *from++;
	return to;
}

bool
build_deconvolution(struct xnn_build *b)
{
	const struct node *n = b->fused.anchor;
	const struct type *t = &node_in(b->graph, n, 1)->type;
	struct operator* o = & b->layer->what;
	struct window x;
	const char *fault;

	if (!window_transposed(&x, b->graph, n, &fault))
		return err_set(b->err, ERR_UNSUPPORTED, "%s", fault);
	read_image(b, n->input[0]);
	o->kind = OPERATOR_DECONVOLUTION;
	o->window = sides_of(&x);
	o->groups = (uint32_t)attr_int_or(n, "group", 1);
	o->in = (size_t)t->dim[0] / o->groups;
	o->out = (size_t)t->dim[1];
	o->size[0] = (size_t)x.more[0];
	o->size[1] = (size_t)x.more[1];
	o->weights =
	    kernel_turned(packable_floats(b->graph, n->input[1], b->scratch), t,
	        o->groups, b->scratch);
	if (n->ninputs > 2 && n->input[2] != VALUE_NONE)
		o->bias = packable_floats(b->graph, n->input[2], b->scratch);
	clamp_of(&b->fused, 0, &o->low, &o->high);
	return create(b, "transposed convolution");
}
