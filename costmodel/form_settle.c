#include "costmodel/form_settle.h"

#include <string.h>

#include "costmodel/content.h"

static bool
is_text(const struct attr *a, const char *text)
{
	return a && a->kind == ATTR_STRING && view_is(a->strings[0], text);
}

static int64_t
from_front(int64_t axis, uint32_t rank)
{
	return axis < 0 ? axis + rank : axis;
}

/* ---- padding ---- */

static int64_t
int_at(struct forming *f, const char *name, uint32_t i, int64_t otherwise)
{
	const struct attr *a = form_find(f, name);

	return a && a->kind == ATTR_INTS && i < a->n ? a->ints[i] : otherwise;
}

/* SOURCE: the schema of Conv: output = ceil(input / stride); of an odd number
 * SAME_UPPER puts the larger half behind. */
static bool
pads_of(struct forming *f, bool same, bool upper, int64_t *pads, uint32_t n)
{
	const struct value *x = node_in(f->g, f->n, 0);

	for (uint32_t i = 0; i < n; i++) {
		int64_t in = x->type.dim[2 + i];
		int64_t stride = int_at(f, "strides", i, 1);
		int64_t reach = (int_at(f, "kernel_shape", i, 0) - 1)
		        * int_at(f, "dilations", i, 1)
		    + 1;
		int64_t all;

		if (in <= 0 || stride <= 0 || reach <= 0 || in > INT32_MAX
		    || stride > INT32_MAX || reach > INT32_MAX)
			return false;
		all = ((in + stride - 1) / stride - 1) * stride + reach - in;
		all = same && all > 0 ? all : 0;
		pads[i] = upper ? all / 2 : all - all / 2;
		pads[n + i] = all - pads[i];
	}
	return true;
}

/* Padding by a word is the padding it comes to. */
static void
settle_padding(struct forming *f)
{
	struct attr *word = form_find(f, "auto_pad");
	uint32_t n =
	    form_rank(f) < 2 || form_rank(f) > RANK_MAX ? 0 : form_rank(f) - 2;
	static const struct string_view notset[] = {{"NOTSET", 6}};
	struct string_view s;
	int64_t pads[2 * RANK_MAX];
	bool same;

	if (!word || word->kind != ATTR_STRING || !form_find(f, "kernel_shape")
	    || f->n->op == OP_CONVTRANSPOSE)
		return;
	s = word->strings[0];
	same = s.n == 10 && memcmp(s.s, "SAME_", 5) == 0;
	if ((!same && !(s.n == 5 && memcmp(s.s, "VALID", 5) == 0))
	    || !pads_of(f, same, same && s.s[5] == 'U', pads, n))
		return;
	word->strings = notset;
	form_set_ints(f, "pads", pads, 2 * n);
}

/* ---- sizes ---- */

/* A region of interest counts in one mode only. */
static bool
settle_region(struct forming *f)
{
	const struct attr *mode =
	    form_find(f, "coordinate_transformation_mode");

	if (f->n->op != OP_RESIZE || f->n->opset < 11)
		return true;
	if (!mode || is_text(mode, "tf_crop_and_resize"))
		return false;
	form_drop(f, "roi");
	form_drop_input(f, 1);
	return true;
}

/* Does each dimension times its scale give just the dimension that comes out? */
static bool
scales_are_exact(struct forming *f, const struct attr *scales)
{
	const struct type *in = form_static_in(f), *out = form_static_out(f);
	uint32_t naxes;
	const int64_t *axes = form_ints(f, "axes", &naxes);

	if (!in || !out || in->rank != out->rank || scales->kind != ATTR_FLOATS
	    || scales->n != (axes ? naxes : in->rank))
		return false;
	for (uint32_t i = 0; i < scales->n; i++) {
		int64_t at = axes ? from_front(axes[i], in->rank) : i;

		if (at < 0 || at >= in->rank
		    || (double)in->dim[at] * (double)scales->floats[i]
		        != (double)out->dim[at])
			return false;
	}
	return true;
}

/* Sizes, and scales that lead to them, are told by what comes out. */
static void
settle_sizes(struct forming *f)
{
	const struct attr *scales = form_find(f, "scales");
	const struct attr *sizes = form_find(f, "sizes");

	if ((f->n->op != OP_RESIZE && f->n->op != OP_UPSAMPLE)
	    || !settle_region(f) || !form_static_out(f))
		return;
	if (scales ? !scales_are_exact(f, scales)
	           : !sizes || sizes->kind != ATTR_INTS
	            || !is_text(
	                form_find(f, "keep_aspect_ratio_policy"), "stretch"))
		return;
	form_drop(f, "scales");
	form_drop(f, "sizes");
	form_drop(f, "axes");
	form_drop(f, "keep_aspect_ratio_policy");
}

/* ---- pieces and borders ---- */

/* Where a slice begins, and its step, for each axis of which it leaves anything
 * out; it ends where the output does. */
struct sliced {
	int64_t first[RANK_MAX], step[RANK_MAX];
	bool given[RANK_MAX];
};

static bool
cut_axis(struct sliced *c, const struct type *in, const struct type *out,
    int64_t at, int64_t first, int64_t step)
{
	int64_t dim, last;

	if (at < 0 || at >= in->rank || c->given[at] || step == 0)
		return false;
	dim = in->dim[at];
	last = step > 0 ? dim : dim - 1;
	first += first < 0 ? dim : 0;
	first = first < 0 ? 0 : first > last ? last : first;
	c->given[at] = true;
	c->first[at] = first;
	c->step[at] = out->dim[at] > 1 ? step : 1;
	return true;
}

static void
put_cut(struct forming *f, const struct sliced *c, const struct type *in,
    const struct type *out)
{
	int64_t axes[RANK_MAX], first[RANK_MAX], step[RANK_MAX];
	uint32_t n = 0;

	for (uint32_t i = 0; i < in->rank; i++) {
		if (!c->given[i]
		    || (in->dim[i] == out->dim[i] && c->step[i] == 1))
			continue;
		axes[n] = i;
		first[n] = c->first[i];
		step[n++] = c->step[i];
	}
	form_set_ints(f, "axes", axes, n);
	form_set_ints(f, "starts", first, n);
	form_set_ints(f, "steps", step, n);
	form_drop(f, "ends");
}

static void
settle_slice(struct forming *f)
{
	const struct type *in = form_static_in(f), *out = form_static_out(f);
	uint32_t n, nends, naxes, nsteps;
	const int64_t *first = form_ints(f, "starts", &n);
	const int64_t *ends = form_ints(f, "ends", &nends);
	const int64_t *axes = form_ints(f, "axes", &naxes);
	const int64_t *step = form_ints(f, "steps", &nsteps);
	struct sliced c = {.given = {false}};

	if (!in || !out || in->rank != out->rank || in->rank > RANK_MAX
	    || !first || !ends || nends != n || (axes && naxes != n)
	    || (step && nsteps != n))
		return;
	for (uint32_t slot = 1; slot < 5; slot++)
		if (form_has_input(f, slot))
			return;
	for (uint32_t i = 0; i < n; i++)
		if (!cut_axis(&c, in, out,
		        axes ? from_front(axes[i], in->rank) : i, first[i],
		        step ? step[i] : 1))
			return;
	put_cut(f, &c, in, out);
}

/* Borders of the named axes are borders of all, others being 0. */
static void
settle_pads(struct forming *f)
{
	uint32_t rank = form_rank(f), n, naxes;
	const int64_t *pads = form_ints(f, "pads", &n);
	const int64_t *axes = form_ints(f, "axes", &naxes);
	int64_t all[2 * RANK_MAX] = {0};

	if (!pads || !axes || n != 2 * naxes || rank > RANK_MAX)
		return;
	for (uint32_t i = 0; i < naxes; i++) {
		int64_t at = from_front(axes[i], rank);

		if (at < 0 || at >= rank)
			return;
		all[at] = pads[i];
		all[rank + at] = pads[naxes + i];
	}
	form_drop(f, "axes");
	form_set_ints(f, "pads", all, 2 * rank);
}

/* ---- inputs that say what leaving them out says ---- */

static bool
all_are(const struct tensor *t, int64_t x)
{
	for (size_t i = 0; i < t->count; i++)
		if (tensor_real(t, i) != (double)x)
			return false;
	return true;
}

/* Lengths of sequences that are all whole. */
static void
settle_lengths(struct forming *f)
{
	const struct tensor *t = form_constant(f, 4);
	const struct type *x = form_static_in(f);
	const struct attr *layout = form_find(f, "layout");

	if (!t || !x || x->rank != 3 || !layout || layout->kind != ATTR_INT)
		return;
	if (all_are(t, x->dim[layout->ints[0] != 0]))
		form_drop_input(f, 4);
}

/* Zero points that are zero. */
static void
settle_zero_points(struct forming *f)
{
	for (uint32_t i = op_get(f->n->op)->min_inputs; i < f->n->ninputs;
	     i++) {
		const struct tensor *t = form_constant(f, i);

		if (t && content_of(f->n, i, t) == CONTENT_ZERO
		    && content_is_zero(t))
			form_drop_input(f, i);
	}
}

/* A condition to begin with that holds. */
static void
settle_condition(struct forming *f)
{
	const struct tensor *t = form_constant(f, 1);

	if (t && t->dtype == DT_BOOL && t->count == 1 && all_are(t, 1))
		form_drop_input(f, 1);
}

/* GridSample's modes have other names since opset 20. */
static void
settle_mode(struct forming *f)
{
	static const struct string_view linear = {"linear", 6},
	                                cubic = {"cubic", 5};
	struct attr *mode = form_find(f, "mode");

	if (is_text(mode, "bilinear"))
		mode->strings = &linear;
	else if (is_text(mode, "bicubic"))
		mode->strings = &cubic;
}

bool
form_is_one_axis(const struct forming *f)
{
	const struct type *x = form_static_in(f);
	int64_t axis = attr_int_or(f->n, "axis", 1);

	if (!x)
		return false;
	for (int64_t i = from_front(axis, x->rank) + 1; i < x->rank; i++)
		if (i < 1 || x->dim[i] != 1)
			return false;
	return true;
}

void
form_settle(struct forming *f)
{
	settle_padding(f);
	settle_sizes(f);
	settle_zero_points(f);
	switch (f->n->op) {
	case OP_SLICE:
		settle_slice(f);
		break;
	case OP_PAD:
		settle_pads(f);
		break;
	case OP_LSTM:
	case OP_GRU:
	case OP_RNN:
		settle_lengths(f);
		break;
	case OP_LOOP:
		settle_condition(f);
		break;
	case OP_GRIDSAMPLE:
		settle_mode(f);
		break;
	default:
		break;
	}
}
