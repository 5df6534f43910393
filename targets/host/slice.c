/* Kernels that take out, repeat or surround parts of a tensor. */
#include <string.h>

#include "ir/base/size.h"
#include "targets/host/kernels.h"

/* --- Slice --------------------------------------------------------------- */

struct cut {
	int64_t start, step, n;
};

/* Python's rule for start:end:step on a dimension; only a start before the
 * first element counts as that, whichever way it goes. */
static struct cut
cut_of(int64_t dim, int64_t start, int64_t end, int64_t step)
{
	int64_t low = step > 0 ? 0 : -1, high = step > 0 ? dim : dim - 1;

	if (dim == 0)
		return (struct cut){0, 1, 0};
	start = start < 0 ? start + dim : start;
	end = end < 0 ? end + dim : end;
	start = start < 0 ? 0 : start > high ? high : start;
	end = end < low ? low : end > high ? high : end;
	if (step > dim) /* longer steps see no more than the first */
		step = dim + 1;
	if (step < -dim)
		step = -dim - 1;
	if (step > 0)
		return (struct cut){start, step,
		    end > start ? (end - start - 1) / step + 1 : 0};
	return (struct cut){
	    start, step, start > end ? (start - end - 1) / -step + 1 : 0};
}

/* Copy x's elements from `at`, strided, into output i of shape s. */
static bool
take(struct call *c, uint32_t i, const struct tensor *x, size_t at,
    const ptrdiff_t *stride, const struct shape *s, struct err *err)
{
	ptrdiff_t own[RANK_MAX];
	size_t unit = host_unit(x->dtype);
	struct sink to;
	struct walk w;

	if (x->kind == TENSOR_FILL) {
		struct tensor fill = *x;

		if (!tensor_size(
		        x->dtype, s->dim, s->rank, &fill.count, &fill.bytes))
			return err_set(err, ERR_INPUT, "too large");
		return host_out_as(c, i, &fill, s, err);
	}
	if (!host_out(c, i, x->dtype, s, &to, err))
		return false;
	if (shape_count(s->dim, 0, s->rank) == 0)
		return true;
	walk_init(&w, s->rank, s->dim);
	strides_of(s->rank, s->dim, own);
	walk_operand(&w, own);
	walk_operand(&w, stride);
	copy_strided(&w, to.data, host_bytes(c, x) + at * unit, unit);
	return true;
}

/* The lists of a Slice: attributes before opset 10, inputs since. */
struct slice_lists {
	const int64_t *starts, *ends, *axes, *steps;
	uint32_t n;
};

static bool
read_lists(struct call *c, struct slice_lists *l, struct err *err)
{
	uint32_t ends, axes, steps;

	l->starts = ints_of(c, "starts", 1, &l->n);
	l->ends = ints_of(c, "ends", 2, &ends);
	l->axes = ints_of(c, "axes", 3, &axes);
	l->steps = ints_of(c, "steps", 4, &steps);
	if (!l->starts || !l->ends || ends != l->n || (l->axes && axes != l->n)
	    || (l->steps && steps != l->n))
		return err_set(err, ERR_INPUT,
		    "starts, ends, axes, steps differ in length");
	return true;
}

bool
slice_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct slice_lists l;
	struct shape s = shape_of(x);
	ptrdiff_t stride[RANK_MAX];
	size_t at = 0;
	bool seen[RANK_MAX] = {false};

	if (!read_lists(c, &l, err))
		return false;
	strides_of(x->rank, x->dim, stride);
	for (uint32_t i = 0; i < l.n; i++) {
		int64_t step = l.steps ? l.steps[i] : 1;
		struct cut cut;
		uint32_t d;

		if (!axis_of(l.axes ? l.axes[i] : i, x->rank, &d, err))
			return false;
		if (step == 0 || seen[d])
			return err_set(err, ERR_INPUT,
			    step ? "axis %u twice" : "axis %u has step 0", d);
		seen[d] = true;
		cut = cut_of(x->dim[d], l.starts[i], l.ends[i], step);
		s.dim[d] = cut.n;
		at += cut.n ? (size_t)(cut.start * stride[d]) : 0;
		stride[d] *= cut.step;
	}
	if (shape_count(s.dim, 0, s.rank) == 0)
		at = 0;
	return take(c, 0, x, at, stride, &s, err);
}

/* --- Split --------------------------------------------------------------- */

/* Sizes of the parts along a dimension. */
static const int64_t *
split_sizes(struct call *c, int64_t dim, struct err *err)
{
	uint32_t n = c->node->noutputs, have;
	const int64_t *given = ints_of(c, "split", 1, &have);
	int64_t *size = arena_new(c->scratch, int64_t, n), total = 0, each;

	if (given && have != n) {
		err_set(err, ERR_INPUT, "%u sizes for %u outputs", have, n);
		return NULL;
	}
	each = n ? (dim + n - 1) / n : 0;
	if (!given && c->node->opset < 18 && dim % n) {
		err_set(err, ERR_INPUT, "%lld does not divide by %u",
		    (long long)dim, n);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++) {
		int64_t left = dim - total;

		size[i] = given ? given[i] : each < left ? each : left;
		if (size[i] < 0 || size[i] > left) {
			err_set(err, ERR_INPUT, "part %u of size %lld", i,
			    (long long)size[i]);
			return NULL;
		}
		total += size[i];
	}
	if (total == dim)
		return size;
	err_set(err, ERR_INPUT, "the parts add up to %lld of %lld",
	    (long long)total, (long long)dim);
	return NULL;
}

bool
split_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	const int64_t *size;
	ptrdiff_t stride[RANK_MAX];
	int64_t at = 0;
	uint32_t axis;

	if (!axis_of(attr_int_or(c->node, "axis", 0), x->rank, &axis, err))
		return false;
	size = split_sizes(c, x->dim[axis], err);
	if (!size)
		return false;
	strides_of(x->rank, x->dim, stride);
	for (uint32_t i = 0; i < c->node->noutputs; i++) {
		struct shape s = shape_of(x);

		s.dim[axis] = size[i];
		if (call_wants(c, i)
		    && !take(
		        c, i, x, (size_t)(at * stride[axis]), stride, &s, err))
			return false;
		at += size[i];
	}
	return true;
}

/* --- Expand, Tile, Pad: by strides or by a map of each axis -------------- */

bool
expand_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct shape s = shape_of(x);
	ptrdiff_t stride[RANK_MAX];
	uint32_t n;
	const int64_t *dim = input_ints(c, 1, &n);

	if (!dim || n > RANK_MAX)
		return err_set(err, ERR_INPUT, "a shape of %u entries", n);
	if (!shape_broadcast(&s, n, dim))
		return err_set(err, ERR_INPUT,
		    "the input does not broadcast "
		    "to the shape");
	for (uint32_t d = 0; d < s.rank; d++)
		if (s.dim[d] < 0)
			return err_set(err, ERR_INPUT, "a negative dimension");
	broadcast_strides(x->rank, x->dim, s.rank, s.dim, stride);
	return take(c, 0, x, 0, stride, &s, err);
}

/* from[d][i]: which index of the input's axis d output index i shows; -1 for
 * none: there `filler` is. */
struct axis_maps {
	int64_t *from[RANK_MAX];
	unsigned char filler[16];
};

/* Offset of the row (all but the last coordinate), or -1. */
static int64_t
row_offset(const struct axis_maps *m, const int64_t *index,
    const ptrdiff_t *stride, uint32_t rank)
{
	int64_t at = 0;

	for (uint32_t d = 0; d + 1 < rank; d++) {
		int64_t from = m->from[d][index[d]];

		if (from < 0)
			return -1;
		at += from * stride[d];
	}
	return at;
}

static void
map_row(const struct axis_maps *m, unsigned char *y, const unsigned char *x,
    int64_t row, const int64_t *from, const size_t nunit[2])
{
	size_t n = nunit[0], unit = nunit[1];

	for (size_t i = 0; i < n; i++) {
		bool none = row < 0 || from[i] < 0;
		const unsigned char *p =
		    none ? m->filler : x + (size_t)(row + from[i]) * unit;

		memcpy(y + i * unit, p, unit);
	}
}

static bool
map_axes(struct call *c, const struct axis_maps *m, const struct shape *s,
    struct err *err)
{
	static const int64_t only[1] = {0};
	const struct tensor *x = c->in[0];
	const unsigned char *content = host_bytes(c, x);
	size_t unit = host_unit(x->dtype), n, rows;
	ptrdiff_t stride[RANK_MAX];
	int64_t index[RANK_MAX] = {0};
	struct sink to;
	unsigned char *y;

	if (!host_out(c, 0, x->dtype, s, &to, err))
		return false;
	if (c->out[0].count == 0)
		return true;
	y = to.data;
	n = s->rank ? (size_t)s->dim[s->rank - 1] : 1;
	rows = c->out[0].count / n;
	strides_of(x->rank, x->dim, stride);
	for (size_t r = 0; r < rows; r++) {
		int64_t at = row_offset(m, index, stride, s->rank);

		map_row(m, y + r * n * unit, content, at,
		    s->rank ? m->from[s->rank - 1] : only, (size_t[]){n, unit});
		for (uint32_t d = s->rank; d-- > 0;) {
			if (d + 1 == s->rank)
				continue;
			if (++index[d] < s->dim[d])
				break;
			index[d] = 0;
		}
	}
	return true;
}

bool
tile_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct axis_maps m = {{NULL}, {0}};
	struct shape s = shape_of(x);
	uint32_t n;
	const int64_t *repeat = input_ints(c, 1, &n);

	if (c->node->opset < 6)
		return refuse(err, "the form with tiles and axis");
	if (!repeat || n != x->rank)
		return err_set(
		    err, ERR_INPUT, "%u repeats for rank %u", n, x->rank);
	for (uint32_t d = 0; d < n; d++)
		if (repeat[d] < 0 || !i64_mul(x->dim[d], repeat[d], &s.dim[d]))
			return err_set(err, ERR_INPUT, "%lld repeats",
			    (long long)repeat[d]);
	if (!host_fits(c, x->dtype, &s, err))
		return false;
	if (shape_count(s.dim, 0, s.rank) == 0)
		return map_axes(c, &m, &s, err);
	for (uint32_t d = 0; d < n; d++) {
		m.from[d] = arena_new(c->scratch, int64_t, (size_t)s.dim[d]);
		for (int64_t i = 0; i < s.dim[d]; i++)
			m.from[d][i] = i % x->dim[d];
	}
	return map_axes(c, &m, &s, err);
}

enum pad_mode { PAD_CONSTANT, PAD_EDGE, PAD_REFLECT, PAD_WRAP };

/* What negative pads leave of a dimension: padding continues that, as in ONNX
 * Runtime, not what was cut off. */
struct kept {
	int64_t from, n;
};

static struct kept
kept_of(int64_t dim, const int64_t pad[2])
{
	const int64_t from = pad[0] >= 0 ? 0 : pad[0] < -dim ? dim : -pad[0];
	const int64_t off = pad[1] >= 0 ? 0 : pad[1] < -dim ? dim : -pad[1];

	return (struct kept){from, dim - from - off};
}

/* Index i of a dimension continued beyond the ends of what is kept of it (n >
 * 0, unless it is filled up with a constant: -1). */
static int64_t
pad_index(int64_t i, struct kept k, enum pad_mode mode)
{
	const int64_t n = k.n;
	int64_t period;

	i -= k.from;
	if (i >= 0 && i < n)
		return i + k.from;
	switch (mode) {
	case PAD_EDGE:
		return k.from + (i < 0 ? 0 : n - 1);
	case PAD_WRAP:
		return k.from + (i % n + n) % n;
	case PAD_REFLECT: /* without repeating the edge */
		period = n > 1 ? 2 * (n - 1) : 1;
		i = (i % period + period) % period;
		return k.from + (i < n ? i : period - i);
	default:
		return -1;
	}
}

static bool
padded_size(struct shape *s, uint32_t d, const int64_t pad[2],
    enum pad_mode mode, struct err *err)
{
	int64_t n = s->dim[d];
	const struct kept kept = kept_of(n, pad);

	if (!i64_add(n, pad[0], &s->dim[d])
	    || !i64_add(s->dim[d], pad[1], &s->dim[d]) || s->dim[d] < 0
	    || s->dim[d] > INT32_MAX)
		return err_set(err, ERR_INPUT, "pads %lld and %lld",
		    (long long)pad[0], (long long)pad[1]);
	if (kept.n <= 0 && s->dim[d] > 0 && mode != PAD_CONSTANT)
		return err_set(
		    err, ERR_INPUT, "nothing to repeat along axis %u", d);
	return true;
}

/* Output 0 = input 0 with pad[d][0] more before and pad[d][1] after. */
static bool
pad_all(struct call *c, struct axis_maps *m, int64_t (*pad)[2],
    enum pad_mode mode, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct shape s = shape_of(x);

	for (uint32_t d = 0; d < x->rank; d++)
		if (!padded_size(&s, d, pad[d], mode, err))
			return false;
	if (!host_fits(c, x->dtype, &s, err))
		return false;
	if (shape_count(s.dim, 0, s.rank) == 0)
		return map_axes(c, m, &s, err);
	for (uint32_t d = 0; d < x->rank; d++) {
		m->from[d] = arena_new(c->scratch, int64_t, (size_t)s.dim[d]);
		for (int64_t i = 0; i < s.dim[d]; i++)
			m->from[d][i] = pad_index(
			    i - pad[d][0], kept_of(x->dim[d], pad[d]), mode);
	}
	return map_axes(c, m, &s, err);
}

static bool
pad_filler(struct call *c, struct axis_maps *m, struct err *err)
{
	const struct tensor *x = c->in[0], *value = call_in(c, 2);
	struct sink to = {m->filler, x->dtype};
	double v = (double)attr_float_or(c->node, "value", 0);

	if (value && value->count != 1)
		return err_set(err, ERR_INPUT,
		    "a padding value of %zu "
		    "elements",
		    value->count);
	if (x->dtype == DT_STRING)
		return refuse(err, "padding of strings");
	if (value && value->dtype == x->dtype)
		memcpy(m->filler, host_bytes(c, value), host_unit(x->dtype));
	else
		store_real(&to, 0, 1, 1, &v);
	return true;
}

static enum pad_mode
pad_mode(const struct node *n)
{
	if (attr_is(n, "mode", "constant", "edge"))
		return PAD_EDGE;
	if (attr_is(n, "mode", "constant", "reflect"))
		return PAD_REFLECT;
	if (attr_is(n, "mode", "constant", "wrap"))
		return PAD_WRAP;
	return PAD_CONSTANT;
}

bool
pad_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct axis_maps m = {{NULL}, {0}};
	int64_t pad[RANK_MAX][2] = {{0}};
	uint32_t n, naxes;
	const int64_t *axes = input_ints(c, 3, &naxes);
	const int64_t *pads =
	    ints_of(c, c->node->opset < 2 ? "paddings" : "pads", 1, &n);

	if (!axes)
		naxes = x->rank;
	if (!pads || n != 2 * naxes)
		return err_set(err, ERR_INPUT, "%u pads for %u axes", n, naxes);
	for (uint32_t i = 0; i < naxes; i++) {
		uint32_t d;

		if (!axis_of(axes ? axes[i] : i, x->rank, &d, err))
			return false;
		pad[d][0] = pads[i];
		pad[d][1] = pads[naxes + i];
	}
	return pad_filler(c, &m, err)
	    && pad_all(c, &m, pad, pad_mode(c->node), err);
}

bool
centercroppad_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct axis_maps m = {{NULL}, {0}};
	int64_t pad[RANK_MAX][2] = {{0}};
	uint32_t n, naxes;
	const int64_t *axes = attr_ints(c->node, "axes", &naxes);
	const int64_t *want = input_ints(c, 1, &n);

	if (!axes)
		naxes = x->rank;
	if (!want || n != naxes)
		return err_set(
		    err, ERR_INPUT, "%u sizes for %u axes", n, naxes);
	for (uint32_t i = 0; i < n; i++) {
		int64_t more, before;
		uint32_t d;

		if (!axis_of(axes ? axes[i] : i, x->rank, &d, err))
			return false;
		if (want[i] < 0 || want[i] > INT32_MAX)
			return err_set(
			    err, ERR_INPUT, "size %lld", (long long)want[i]);
		/* crops and pads alike give the odd one to the end */
		more = want[i] - x->dim[d];
		before = more < 0 ? -(-more / 2) : more / 2;
		pad[d][0] = before;
		pad[d][1] = more - before;
	}
	return pad_all(c, &m, pad, PAD_CONSTANT, err);
}
