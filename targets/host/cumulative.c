/* CumSum and CumProd. */
#include "targets/host/kernels.h"
#include "targets/host/line.h"

struct cumulation {
	bool product, exclusive, reverse;
};

/* Position i of n as the operator counts. */
static size_t
place(const struct cumulation *p, size_t i, size_t n)
{
	return p->reverse ? n - 1 - i : i;
}

static void
cumulate_real(double *x, size_t n, const struct cumulation *p)
{
	double total = p->product ? 1 : 0;

	for (size_t i = 0; i < n; i++) {
		double *at = &x[place(p, i, n)], before = total;

		total = p->product ? total * *at : total + *at;
		*at = p->exclusive ? before : total;
	}
}

static void
cumulate_ints(int64_t *x, size_t n, const struct cumulation *p)
{
	uint64_t total = p->product ? 1 : 0;

	for (size_t i = 0; i < n; i++) {
		int64_t *at = &x[place(p, i, n)];
		uint64_t before = total, here = (uint64_t)*at;

		total = p->product ? total * here : total + here;
		*at = (int64_t)(p->exclusive ? before : total);
	}
}

static bool
run(struct call *c, bool product, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct cumulation p = {product,
	    attr_int_or(c->node, "exclusive", 0) != 0,
	    attr_int_or(c->node, "reverse", 0) != 0};
	bool real = lane_of(x->dtype) == LANE_REAL;
	struct shape s = shape_of(x);
	struct sink to;
	struct lines l;
	uint32_t axis;
	double *reals;
	int64_t *ints;

	if (c->in[1]->count != 1)
		return err_set(err, ERR_INPUT, "axis is not one number");
	if (!axis_of(load_one_int(c->in[1], 0), x->rank, &axis, err)
	    || !host_out(c, 0, x->dtype, &s, &to, err))
		return false;
	l = lines_along(x, axis);
	reals = arena_new(c->scratch, double, l.n);
	ints = arena_new(c->scratch, int64_t, l.n);
	for (size_t i = 0; i < l.outer * l.inner; i++) {
		size_t at = i / l.inner * l.n * l.inner + i % l.inner;
		ptrdiff_t step = (ptrdiff_t)l.inner;

		if (real) {
			load_real(reals, x, at, step, l.n);
			cumulate_real(reals, l.n, &p);
			store_real(&to, at, step, l.n, reals);
		} else {
			load_int(ints, x, at, step, l.n);
			cumulate_ints(ints, l.n, &p);
			store_int(&to, at, step, l.n, ints);
		}
	}
	return true;
}

bool
cumsum_run(struct call *c, struct err *err)
{
	return run(c, false, err);
}

bool
cumprod_run(struct call *c, struct err *err)
{
	return run(c, true, err);
}
