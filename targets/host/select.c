/* Kernels whose result depends on which elements are what: Where, NonZero,
 * Compress, TopK, Unique, OneHot. */
#include <string.h>

#include "targets/host/kernels.h"
#include "targets/host/line.h"
#include "targets/host/sort.h"

static void
where_row(const struct walk *w, unsigned char *z,
    const struct tensor *condition, const unsigned char *const xy[2],
    size_t unit)
{
	for (size_t i = 0; i < w->n; i++) {
		ptrdiff_t at[4];
		int k;

		for (k = 0; k < 4; k++)
			at[k] = w->at[k] + (ptrdiff_t)i * w->step[k];
		k = load_one_int(condition, (size_t)at[1]) ? 0 : 1;
		memcpy(z + (size_t)at[0] * unit,
		    xy[k] + (size_t)at[2 + k] * unit, unit);
	}
}

bool
where_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[1];
	const unsigned char *xy[2] = {
	    host_bytes(c, x), host_bytes(c, c->in[2])};
	struct shape s = shape_of(c->in[0]);
	ptrdiff_t stride[RANK_MAX];
	struct sink to;
	struct walk w;

	if (x->dtype != c->in[2]->dtype)
		return err_set(err, ERR_INPUT, "a choice between %s and %s",
		    dtype_name(x->dtype), dtype_name(c->in[2]->dtype));
	if (!shape_broadcast(&s, x->rank, x->dim)
	    || !shape_broadcast(&s, c->in[2]->rank, c->in[2]->dim))
		return err_set(err, ERR_INPUT, "operands do not broadcast");
	if (!host_out(c, 0, x->dtype, &s, &to, err))
		return false;
	walk_init(&w, s.rank, s.dim);
	strides_of(s.rank, s.dim, stride);
	walk_operand(&w, stride);
	for (uint32_t i = 0; i < 3; i++) {
		broadcast_strides(
		    c->in[i]->rank, c->in[i]->dim, s.rank, s.dim, stride);
		walk_operand(&w, stride);
	}
	for (walk_start(&w); !w.done; walk_next(&w))
		where_row(&w, to.data, c->in[0], xy, host_unit(x->dtype));
	return true;
}

bool
nonzero_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct shape s = {.rank = 2};
	struct sink to;
	size_t n = 0, *at = arena_new(c->scratch, size_t, x->count);
	ptrdiff_t stride[RANK_MAX];

	for (size_t i = 0; i < x->count; i++)
		if (lane_of(x->dtype) == LANE_REAL ? load_one(x, i) != 0
		                                   : load_one_int(x, i) != 0)
			at[n++] = i;
	s.dim[0] = x->rank;
	s.dim[1] = (int64_t)n;
	if (!host_out(c, 0, DT_INT64, &s, &to, err))
		return false;
	strides_of(x->rank, x->dim, stride);
	for (uint32_t d = 0; d < x->rank; d++) {
		for (size_t i = 0; i < n; i++) {
			int64_t index = (int64_t)at[i] / stride[d] % x->dim[d];

			store_int(&to, d * n + i, 1, 1, &index);
		}
	}
	return true;
}

bool
compress_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0], *keep = c->in[1];
	bool flat = !node_attr(c->node, "axis");
	const unsigned char *from = host_bytes(c, x);
	struct lines l = {1, x->count, 1};
	struct shape s = {.rank = 1};
	struct sink to;
	uint32_t axis = 0;
	size_t n = 0, bytes, at = 0;

	if (!flat) {
		if (!axis_of(
		        attr_int_or(c->node, "axis", 0), x->rank, &axis, err))
			return false;
		l = lines_along(x, axis);
		s = shape_of(x);
	}
	if (keep->count > l.n)
		return err_set(err, ERR_INPUT,
		    "%zu conditions for %zu "
		    "elements",
		    keep->count, l.n);
	for (size_t i = 0; i < keep->count; i++)
		n += load_one_int(keep, i) != 0;
	s.dim[axis] = (int64_t)n;
	if (!host_out(c, 0, x->dtype, &s, &to, err))
		return false;
	bytes = l.inner * host_unit(x->dtype);
	for (size_t o = 0; o < l.outer; o++)
		for (size_t i = 0; bytes && i < keep->count; i++)
			if (load_one_int(keep, i))
				memcpy((unsigned char *)to.data + at++ * bytes,
				    from + (o * l.n + i) * bytes, bytes);
	return true;
}

/* --- TopK ---------------------------------------------------------------- */

struct keyed {
	const uint64_t *key;
};

static bool
key_before(const void *ctx, size_t a, size_t b)
{
	const struct keyed *k = ctx;

	return k->key[a] < k->key[b];
}

static bool
topk_count(struct call *c, size_t n, size_t *k, struct err *err)
{
	int64_t want = attr_int_or(c->node, "k", 0);

	if (call_in(c, 1)) {
		if (c->in[1]->count != 1)
			return err_set(err, ERR_INPUT, "k is not one number");
		want = load_one_int(c->in[1], 0);
	}
	if (want < 0 || (uint64_t)want > n)
		return err_set(
		    err, ERR_INPUT, "k = %lld of %zu", (long long)want, n);
	*k = (size_t)want;
	return true;
}

bool
topk_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	bool largest = attr_int_or(c->node, "largest", 1) != 0;
	size_t unit = host_unit(x->dtype), k;
	const unsigned char *from = host_bytes(c, x);
	struct shape s = shape_of(x);
	struct sink values, indices;
	struct lines l;
	uint32_t axis;
	uint64_t *key;

	if (!axis_of(attr_int_or(c->node, "axis", -1), x->rank, &axis, err))
		return false;
	l = lines_along(x, axis);
	if (!topk_count(c, l.n, &k, err))
		return false;
	s.dim[axis] = (int64_t)k;
	if (!host_out(c, 0, x->dtype, &s, &values, err)
	    || !host_out(c, 1, DT_INT64, &s, &indices, err))
		return false;
	key = arena_new(c->scratch, uint64_t, l.n);
	for (size_t line = 0; line < l.outer * l.inner; line++) {
		struct arena_mark mark = arena_mark(c->scratch);
		size_t o = line / l.inner, in = line % l.inner, *order;

		for (size_t i = 0; i < l.n; i++) {
			key[i] = order_key(x, (o * l.n + i) * l.inner + in);
			key[i] = largest ? ~key[i] : key[i];
		}
		order = sorted_indices(
		    l.n, key_before, &(struct keyed){key}, c->scratch);
		for (size_t i = 0; i < k; i++) {
			size_t at = (o * k + i) * l.inner + in;
			int64_t index = (int64_t)order[i];

			memcpy((unsigned char *)values.data + at * unit,
			    from + ((o * l.n + order[i]) * l.inner + in) * unit,
			    unit);
			store_int(&indices, at, 1, 1, &index);
		}
		arena_back(c->scratch, mark);
	}
	return true;
}

/* --- Unique -------------------------------------------------------------- */

/* Slices along an axis (or single elements) compared by their keys. */
struct slice_keys {
	struct lines l;
	const uint64_t *key; /* [outer][n][inner] */
};

static int
slice_order(const struct slice_keys *s, size_t a, size_t b)
{
	for (size_t i = 0; i < s->l.outer * s->l.inner; i++) {
		size_t at =
		    i / s->l.inner * s->l.n * s->l.inner + i % s->l.inner;
		uint64_t x = s->key[at + a * s->l.inner];
		uint64_t y = s->key[at + b * s->l.inner];

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

static bool
slice_before(const void *ctx, size_t a, size_t b)
{
	return slice_order(ctx, a, b) < 0;
}

/* The distinct slices, in the wanted order. */
struct distinct {
	size_t n;
	size_t *first; /* [n] where each occurs first */
	size_t *count; /* [n] */
	size_t *which; /* [l.n] the distinct one each slice equals */
};

static bool
first_before(const void *ctx, size_t a, size_t b)
{
	const size_t *first = ctx;

	return first[a] < first[b];
}

static void
keep_first_order(struct distinct *d, size_t n, struct arena *a)
{
	size_t *order = sorted_indices(d->n, first_before, d->first, a);
	size_t *rank = arena_new(a, size_t, d->n);
	struct distinct by = {d->n, arena_new(a, size_t, d->n),
	    arena_new(a, size_t, d->n), d->which};

	for (size_t i = 0; i < d->n; i++) {
		by.first[i] = d->first[order[i]];
		by.count[i] = d->count[order[i]];
		rank[order[i]] = i;
	}
	for (size_t i = 0; i < n; i++)
		by.which[i] = rank[by.which[i]];
	*d = by;
}

static struct distinct
find_distinct(const struct slice_keys *s, bool sorted, struct arena *a)
{
	size_t n = s->l.n, *order = sorted_indices(n, slice_before, s, a);
	struct distinct d = {0, arena_new(a, size_t, n),
	    arena_new(a, size_t, n), arena_new(a, size_t, n)};

	for (size_t i = 0; i < n; i++) {
		if (i == 0 || slice_order(s, order[i - 1], order[i]) != 0)
			d.first[d.n++] = order[i];
		d.count[d.n - 1]++;
		d.which[order[i]] = d.n - 1;
	}
	if (!sorted)
		keep_first_order(&d, n, a);
	return d;
}

static bool
put_sizes(
    struct call *c, uint32_t i, const size_t *from, size_t n, struct err *err)
{
	struct shape s = {.rank = 1};
	struct sink to;

	s.dim[0] = (int64_t)n;
	if (!call_wants(c, i))
		return true;
	if (!host_out(c, i, DT_INT64, &s, &to, err))
		return false;
	for (size_t k = 0; k < n; k++)
		store_int(&to, k, 1, 1, &(int64_t){(int64_t)from[k]});
	return true;
}

static bool
put_slices(struct call *c, const struct slice_keys *s, const struct distinct *d,
    const struct shape *shape, struct err *err)
{
	size_t bytes = s->l.inner * host_unit(c->in[0]->dtype);
	const unsigned char *from = host_bytes(c, c->in[0]);
	struct sink to;

	if (!host_out(c, 0, c->in[0]->dtype, shape, &to, err))
		return false;
	for (size_t o = 0; bytes && o < s->l.outer; o++)
		for (size_t i = 0; i < d->n; i++)
			memcpy(
			    (unsigned char *)to.data + (o * d->n + i) * bytes,
			    from + (o * s->l.n + d->first[i]) * bytes, bytes);
	return true;
}

bool
unique_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct slice_keys s = {{1, x->count, 1}, NULL};
	struct shape shape = {.rank = 1};
	struct distinct d;
	uint32_t axis = 0;
	uint64_t *key = arena_new(c->scratch, uint64_t, x->count);

	if (node_attr(c->node, "axis")) {
		if (!axis_of(
		        attr_int_or(c->node, "axis", 0), x->rank, &axis, err))
			return false;
		s.l = lines_along(x, axis);
		shape = shape_of(x);
	}
	for (size_t i = 0; i < x->count; i++)
		key[i] = order_key(x, i);
	s.key = key;
	d = find_distinct(
	    &s, attr_int_or(c->node, "sorted", 1) != 0, c->scratch);
	shape.dim[axis] = (int64_t)d.n;
	return put_slices(c, &s, &d, &shape, err)
	    && put_sizes(c, 1, d.first, d.n, err)
	    && put_sizes(c, 2, d.which, s.l.n, err)
	    && put_sizes(c, 3, d.count, d.n, err);
}

/* --- OneHot -------------------------------------------------------------- */

bool
onehot_run(struct call *c, struct err *err)
{
	const struct tensor *index = c->in[0], *depth = c->in[1];
	const struct tensor *values = c->in[2];
	const unsigned char *off_on = host_bytes(c, values);
	int64_t n = depth->count == 1 ? load_one_int(depth, 0) : -1;
	size_t unit = host_unit(values->dtype), inner;
	struct shape s = shape_of(index);
	struct sink to;
	uint32_t axis;

	if (n < 1 || values->count != 2 || index->rank >= RANK_MAX)
		return err_set(err, ERR_INPUT, "depth %lld, %zu values",
		    (long long)n, values->count);
	s.rank++;
	if (!axis_of(attr_int_or(c->node, "axis", -1), s.rank, &axis, err))
		return false;
	memmove(s.dim + axis + 1, s.dim + axis,
	    (index->rank - axis) * sizeof *s.dim);
	s.dim[axis] = n;
	if (!host_out(c, 0, values->dtype, &s, &to, err))
		return false;
	inner = shape_count(index->dim, axis, index->rank);
	for (size_t i = 0; i < index->count; i++) {
		int64_t on = load_one_int(index, i);

		on = on < 0 ? on + n : on;
		for (int64_t k = 0; k < n; k++) {
			size_t at = (i / inner * (size_t)n + (size_t)k) * inner
			    + i % inner;

			memcpy((unsigned char *)to.data + at * unit,
			    off_on + (k == on ? unit : 0), unit);
		}
	}
	return true;
}
