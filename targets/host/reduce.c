/* Reductions over any set of axes: kept axes are walked, the reduced ones are
 * gathered into a buffer, and each operator is a function of that buffer. */
#include "targets/host/reduce.h"

#include <math.h>
#include <string.h>

#include "targets/host/kernels.h"
#include "targets/host/line.h"
#include "targets/host/sort.h"

bool
reduction_of(struct reduction *r, const struct tensor *x, const int64_t *axis,
    uint32_t n, struct err *err)
{
	ptrdiff_t own[RANK_MAX];
	uint32_t d;

	*r = (struct reduction){.rank = x->rank};
	for (uint32_t i = 0; i < n; i++) {
		if (!axis_of(axis[i], x->rank, &d, err))
			return false;
		r->reduced[d] = true;
	}
	strides_of(x->rank, x->dim, own);
	for (d = 0; d < x->rank; d++) {
		struct shape *s = r->reduced[d] ? &r->inner : &r->outer;
		ptrdiff_t *stride =
		    r->reduced[d] ? r->inner_stride : r->outer_stride;

		stride[s->rank] = own[d];
		s->dim[s->rank++] = x->dim[d];
	}
	r->n = shape_count(r->inner.dim, 0, r->inner.rank);
	r->groups = shape_count(r->outer.dim, 0, r->outer.rank);
	return true;
}

struct shape
reduction_shape(const struct reduction *r, bool keep)
{
	struct shape s = {.rank = 0};
	uint32_t kept = 0;

	for (uint32_t d = 0; d < r->rank; d++) {
		if (!r->reduced[d])
			s.dim[s.rank++] = r->outer.dim[kept++];
		else if (keep)
			s.dim[s.rank++] = 1;
	}
	return s;
}

/* Offset of the first element of group g. */
static size_t
group_at(const struct reduction *r, size_t g)
{
	size_t at = 0;

	for (uint32_t d = r->outer.rank; d-- > 0;) {
		at += g % (size_t)r->outer.dim[d] * (size_t)r->outer_stride[d];
		g /= (size_t)r->outer.dim[d];
	}
	return at;
}

static void
inner_walk(const struct reduction *r, struct walk *w)
{
	walk_init(w, r->inner.rank, r->inner.dim);
	walk_operand(w, r->inner_stride);
}

void
reduction_load(
    const struct reduction *r, const struct tensor *x, size_t g, double *to)
{
	size_t at = group_at(r, g);
	struct walk w;

	inner_walk(r, &w);
	for (walk_start(&w); !w.done; walk_next(&w), to += w.n)
		load_real(to, x, at + (size_t)w.at[0], w.step[0], w.n);
}

void
reduction_store(const struct reduction *r, const struct sink *to, size_t g,
    const double *from)
{
	size_t at = group_at(r, g);
	struct walk w;

	inner_walk(r, &w);
	for (walk_start(&w); !w.done; walk_next(&w), from += w.n)
		store_real(to, at + (size_t)w.at[0], w.step[0], w.n, from);
}

static void
load_ints(
    const struct reduction *r, const struct tensor *x, size_t g, int64_t *to)
{
	size_t at = group_at(r, g);
	struct walk w;

	inner_walk(r, &w);
	for (walk_start(&w); !w.done; walk_next(&w), to += w.n)
		load_int(to, x, at + (size_t)w.at[0], w.step[0], w.n);
}

/* --- The operators ------------------------------------------------------- */

static double
f_sum(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum;
}

static double
f_mean(const double *x, size_t n)
{
	return f_sum(x, n) / (double)n;
}

static double
f_l1(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += fabs(x[i]);
	return sum;
}

static double
f_sumsquare(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i] * x[i];
	return sum;
}

static double
f_l2(const double *x, size_t n)
{
	return sqrt(f_sumsquare(x, n));
}

static double
f_prod(const double *x, size_t n)
{
	double product = 1;

	for (size_t i = 0; i < n; i++)
		product *= x[i];
	return product;
}

/* NaN wins, as in numpy. */
static double
f_max(const double *x, size_t n)
{
	double best = -(double)INFINITY;

	for (size_t i = 0; i < n; i++)
		best = x[i] > best || isnan(x[i]) ? x[i] : best;
	return best;
}

static double
f_min(const double *x, size_t n)
{
	double best = (double)INFINITY;

	for (size_t i = 0; i < n; i++)
		best = x[i] < best || isnan(x[i]) ? x[i] : best;
	return best;
}

static double
f_logsum(const double *x, size_t n)
{
	return log(f_sum(x, n));
}

static double
f_logsumexp(const double *x, size_t n)
{
	double top = f_max(x, n), sum = 0;

	if (isinf(top))
		return top;
	for (size_t i = 0; i < n; i++)
		sum += exp(x[i] - top);
	return top + log(sum);
}

static int64_t
i_sum(const int64_t *x, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (uint64_t)x[i];
	return (int64_t)sum;
}

static int64_t
i_prod(const int64_t *x, size_t n)
{
	uint64_t product = 1;

	for (size_t i = 0; i < n; i++)
		product *= (uint64_t)x[i];
	return (int64_t)product;
}

static int64_t
i_sumsquare(const int64_t *x, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (uint64_t)x[i] * (uint64_t)x[i];
	return (int64_t)sum;
}

static int64_t
i_max(const int64_t *x, size_t n)
{
	int64_t best = n ? x[0] : INT64_MIN;

	for (size_t i = 1; i < n; i++)
		best = x[i] > best ? x[i] : best;
	return best;
}

static int64_t
i_min(const int64_t *x, size_t n)
{
	int64_t best = n ? x[0] : INT64_MAX;

	for (size_t i = 1; i < n; i++)
		best = x[i] < best ? x[i] : best;
	return best;
}

/* ints where a double would not do. */
static const struct reducer {
	double (*real)(const double *x, size_t n);
	int64_t (*ints)(const int64_t *x, size_t n);
} reducers[NOP] = {
    [OP_REDUCEL1] = {f_l1, NULL},
    [OP_REDUCEL2] = {f_l2, NULL},
    [OP_REDUCELOGSUM] = {f_logsum, NULL},
    [OP_REDUCELOGSUMEXP] = {f_logsumexp, NULL},
    [OP_REDUCEMAX] = {f_max, i_max},
    [OP_REDUCEMEAN] = {f_mean, NULL},
    [OP_REDUCEMIN] = {f_min, i_min},
    [OP_REDUCEPROD] = {f_prod, i_prod},
    [OP_REDUCESUM] = {f_sum, i_sum},
    [OP_REDUCESUMSQUARE] = {f_sumsquare, i_sumsquare},
};

/* Turning the top bit makes the order of uint64 that of int64, and back. */
static void
turn_top_bits(int64_t *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] = (int64_t)((uint64_t)x[i] ^ UINT64_C(1) << 63);
}

static int64_t
reduce_ints(const struct call *c, const struct reducer *f, int64_t *x, size_t n)
{
	bool turn = c->in[0]->dtype == DT_UINT64
	    && (f->ints == i_max || f->ints == i_min);
	int64_t y;

	if (turn)
		turn_top_bits(x, n);
	y = f->ints(x, n);
	if (turn)
		turn_top_bits(&y, 1);
	return y;
}

static void
reduce_groups(struct call *c, const struct reduction *r,
    const struct reducer *f, const struct sink *to)
{
	const struct tensor *x = c->in[0];
	bool ints = lane_of(x->dtype) == LANE_INT && f->ints;
	size_t n = r->groups ? r->n : 0;
	double *reals = arena_new(c->scratch, double, ints ? 0 : n);
	int64_t *whole = arena_new(c->scratch, int64_t, ints ? n : 0);

	for (size_t g = 0; g < r->groups; g++) {
		if (ints) {
			load_ints(r, x, g, whole);
			store_int(to, g, 1, 1,
			    &(int64_t){reduce_ints(c, f, whole, r->n)});
		} else {
			reduction_load(r, x, g, reals);
			store_real(
			    to, g, 1, 1, &(double){f->real(reals, r->n)});
		}
	}
}

const int64_t *
reduction_axes(struct call *c, uint32_t *n)
{
	const int64_t *axis = ints_of(c, "axes", 1, n);
	int64_t *all;

	if (axis && *n > 0)
		return axis;
	*n = 0;
	if (attr_int_or(c->node, "noop_with_empty_axes", 0))
		return axis;
	all = arena_new(c->scratch, int64_t, c->in[0]->rank);
	for (*n = 0; *n < c->in[0]->rank; ++*n)
		all[*n] = *n;
	return all;
}

bool
reduce_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	bool keep = attr_int_or(c->node, "keepdims", 1) != 0;
	uint32_t n;
	const int64_t *axis = reduction_axes(c, &n);
	struct reduction r;
	struct shape s;
	struct sink to;

	if (!reduction_of(&r, x, axis, n, err))
		return false;
	s = reduction_shape(&r, keep);
	if (!host_out(c, 0, x->dtype, &s, &to, err))
		return false;
	reduce_groups(c, &r, &reducers[c->node->op], &to);
	return true;
}

/* --- ArgMax, ArgMin ------------------------------------------------------ */

/* Which of n elements, `step` apart from `at`, is the extreme one? */
static int64_t
extreme(const struct tensor *x, size_t at, const struct lines *l, bool max,
    bool last)
{
	uint64_t best = order_key(x, at);
	int64_t which = 0;

	for (size_t i = 1; i < l->n; i++) {
		uint64_t key = order_key(x, at + i * l->inner);

		if ((max ? key > best : key < best) || (last && key == best)) {
			best = key;
			which = (int64_t)i;
		}
	}
	return which;
}

static bool
arg_run(struct call *c, bool max, struct err *err)
{
	const struct tensor *x = c->in[0];
	bool keep = attr_int_or(c->node, "keepdims", 1) != 0;
	bool last = attr_int_or(c->node, "select_last_index", 0) != 0;
	struct shape s = shape_of(x);
	struct sink to;
	struct lines l;
	uint32_t axis;

	if (!axis_of(attr_int_or(c->node, "axis", 0), x->rank, &axis, err))
		return false;
	l = lines_along(x, axis);
	s.dim[axis] = 1;
	if (!keep) {
		s.rank--;
		memmove(s.dim + axis, s.dim + axis + 1,
		    (s.rank - axis) * sizeof *s.dim);
	}
	if (l.n == 0 && l.outer * l.inner > 0)
		return err_set(err, ERR_INPUT, "the axis is empty");
	if (!host_out(c, 0, DT_INT64, &s, &to, err))
		return false;
	for (size_t i = 0; i < l.outer * l.inner; i++) {
		size_t at = i / l.inner * l.n * l.inner + i % l.inner;
		int64_t best = extreme(x, at, &l, max, last);

		store_int(&to, i, 1, 1, &best);
	}
	return true;
}

bool
argmax_run(struct call *c, struct err *err)
{
	return arg_run(c, true, err);
}

bool
argmin_run(struct call *c, struct err *err)
{
	return arg_run(c, false, err);
}
