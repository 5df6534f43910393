/* Any number of broadcast operands folded into one: Sum, Mean, Max, Min. */
#include <math.h>

#include "targets/host/kernels.h"
#include "targets/host/map.h"

struct fold {
	double (*real)(double x, double y);
	int64_t (*ints)(int64_t x, int64_t y);
	uint64_t (*uints)(uint64_t x, uint64_t y); /* for uint64 */
};

static double
f_sum(double x, double y)
{
	return x + y;
}

/* NaN wins, as in numpy. */
static double
f_max(double x, double y)
{
	return x > y || isnan(x) ? x : y;
}

static double
f_min(double x, double y)
{
	return x < y || isnan(x) ? x : y;
}

static int64_t
i_sum(int64_t x, int64_t y)
{
	return (int64_t)((uint64_t)x + (uint64_t)y);
}

static int64_t
i_max(int64_t x, int64_t y)
{
	return x > y ? x : y;
}

static int64_t
i_min(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

static uint64_t
u_max(uint64_t x, uint64_t y)
{
	return x > y ? x : y;
}

static uint64_t
u_min(uint64_t x, uint64_t y)
{
	return x < y ? x : y;
}

/* The running result: one of the two by lane. */
struct accumulator {
	double *real;
	int64_t *ints;
	bool unsign;
};

static void
fold_real(double *z, const double *x, size_t n, const struct fold *f)
{
	for (size_t i = 0; i < n; i++)
		z[i] = f->real(z[i], x[i]);
}

static void
fold_ints(
    int64_t *z, const int64_t *x, size_t n, const struct fold *f, bool unsign)
{
	for (size_t i = 0; i < n; i++)
		z[i] = unsign && f->uints
		    ? (int64_t)f->uints((uint64_t)z[i], (uint64_t)x[i])
		    : f->ints(z[i], x[i]);
}

static void
fold_block(struct accumulator *t, const struct tensor *x, size_t at,
    ptrdiff_t step, const size_t to[2], const struct fold *f)
{
	size_t n = to[1];

	if (t->real) {
		double block[MAP_BLOCK];

		load_real(block, x, at, step, n);
		fold_real(t->real + to[0], block, n, f);
	} else {
		int64_t block[MAP_BLOCK];

		load_int(block, x, at, step, n);
		fold_ints(t->ints + to[0], block, n, f, t->unsign);
	}
}

/* Fold operand x, broadcast to s, into the total (which is in C order). */
static void
fold_operand(struct accumulator *t, const struct tensor *x,
    const struct shape *s, const struct fold *f)
{
	struct walk w;
	ptrdiff_t stride[RANK_MAX];
	size_t done = 0;

	walk_init(&w, s->rank, s->dim);
	broadcast_strides(x->rank, x->dim, s->rank, s->dim, stride);
	walk_operand(&w, stride);
	for (walk_start(&w); !w.done; walk_next(&w)) {
		for (size_t i = 0; i < w.n; i += MAP_BLOCK) {
			size_t n = w.n - i < MAP_BLOCK ? w.n - i : MAP_BLOCK;
			ptrdiff_t at = w.at[0] + (ptrdiff_t)i * w.step[0];

			fold_block(t, x, (size_t)at, w.step[0],
			    (size_t[]){done, n}, f);
			done += n;
		}
	}
}

/* The first operand starts the total: folding it into itself would not do for
 * sums, so it is copied by a fold that takes the second argument. */
static double
second_real(double x, double y)
{
	(void)x;
	return y;
}

static int64_t
second_int(int64_t x, int64_t y)
{
	(void)x;
	return y;
}

static bool
run(struct call *c, const struct fold *f, bool mean, struct err *err)
{
	static const struct fold first = {second_real, second_int, NULL};
	enum dtype dtype = c->in[0]->dtype;
	uint32_t n = c->node->ninputs;
	struct accumulator t = {.unsign = dtype == DT_UINT64};
	struct shape s = shape_of(c->in[0]);
	struct sink to;
	size_t count;

	for (uint32_t k = 1; k < n; k++)
		if (!shape_broadcast(&s, c->in[k]->rank, c->in[k]->dim))
			return err_set(err, ERR_INPUT,
			    "input %u does not broadcast with the others", k);
	if (!host_out(c, 0, dtype, &s, &to, err))
		return false;
	count = shape_count(s.dim, 0, s.rank);
	if (lane_of(dtype) == LANE_REAL)
		t.real = arena_new(c->scratch, double, count);
	else
		t.ints = arena_new(c->scratch, int64_t, count);
	for (uint32_t k = 0; k < n; k++)
		fold_operand(&t, c->in[k], &s, k ? f : &first);
	for (size_t i = 0; mean && t.real && i < count; i++)
		t.real[i] /= n;
	if (t.real)
		store_real(&to, 0, 1, count, t.real);
	else
		store_int(&to, 0, 1, count, t.ints);
	return true;
}

bool
sum_run(struct call *c, struct err *err)
{
	static const struct fold f = {f_sum, i_sum, NULL};

	return run(c, &f, false, err);
}

bool
mean_run(struct call *c, struct err *err)
{
	static const struct fold f = {f_sum, i_sum, NULL};

	return run(c, &f, true, err);
}

bool
max_run(struct call *c, struct err *err)
{
	static const struct fold f = {f_max, i_max, u_max};

	return run(c, &f, false, err);
}

bool
min_run(struct call *c, struct err *err)
{
	static const struct fold f = {f_min, i_min, u_min};

	return run(c, &f, false, err);
}
