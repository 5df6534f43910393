/* Kernels that make tensors out of little. */
#include <math.h>
#include <string.h>

#include "ir/base/size.h"
#include "targets/host/kernels.h"

#define PI 3.14159265358979323846

bool
constantofshape_run(struct call *c, struct err *err)
{
	const struct attr *value = node_attr(c->node, "value");
	struct tensor fill;
	struct shape s;
	uint32_t n;
	const int64_t *dim = input_ints(c, 0, &n);
	float zero = 0;
	size_t count, bytes;
	static const int64_t one[1] = {1};

	if (n > RANK_MAX)
		return err_set(err, ERR_INPUT, "a shape of %u entries", n);
	s.rank = n;
	for (uint32_t d = 0; d < n; d++)
		s.dim[d] = dim[d];
	fill = tensor_fill(DT_FLOAT, 1, one, &zero);
	if (value && value->kind == ATTR_TENSOR) {
		const struct tensor *t = &value->tensors[0];

		if (t->count != 1 || t->kind > TENSOR_FILL
		    || dtype_bits(t->dtype) < 8)
			return refuse(err, "value is not one number");
		fill = tensor_fill(t->dtype, 1, one,
		    t->kind == TENSOR_FILL ? t->fill : t->data);
	}
	if (!tensor_size(fill.dtype, s.dim, s.rank, &count, &bytes))
		return err_set(err, ERR_INPUT,
		    "the shape is negative or too "
		    "large");
	fill.count = count;
	fill.bytes = bytes;
	return host_out_as(c, 0, &fill, &s, err);
}

bool
constant_run(struct call *c, struct err *err)
{
	const struct attr *a = c->node->nattrs ? &c->node->attr[0] : NULL;
	struct shape s = {.rank = 0};
	struct tensor t;

	if (!a)
		return err_set(err, ERR_INPUT, "no value");
	s.rank = a->kind == ATTR_FLOATS || a->kind == ATTR_INTS;
	s.dim[0] = a->n;
	switch (a->kind) {
	case ATTR_TENSOR:
	case ATTR_SPARSE:
		t = a->tensors[0];
		s = shape_of(&t);
		break;
	case ATTR_FLOAT:
	case ATTR_FLOATS:
		t = tensor_view(DT_FLOAT, s.rank, s.dim, a->floats);
		break;
	case ATTR_INT:
	case ATTR_INTS:
		t = tensor_view(DT_INT64, s.rank, s.dim, a->ints);
		break;
	default:
		return refuse(err, "attribute %s", a->name);
	}
	return host_out_as(c, 0, &t, &s, err);
}

/* Number of steps of start, start + delta, ... before limit. */
static bool
range_count(const struct call *c, size_t *n, struct err *err)
{
	double steps;

	for (uint32_t i = 0; i < 3; i++)
		if (c->in[i]->count != 1)
			return err_set(
			    err, ERR_INPUT, "input %u is not one number", i);
	steps = ceil((load_one(c->in[1], 0) - load_one(c->in[0], 0))
	    / load_one(c->in[2], 0));
	if (isnan(steps) || steps > 0x1p40)
		return err_set(err, ERR_INPUT, "a range of %g steps", steps);
	*n = steps > 0 ? (size_t)steps : 0;
	return true;
}

bool
range_run(struct call *c, struct err *err)
{
	const struct tensor *start = c->in[0], *delta = c->in[2];
	bool real = lane_of(start->dtype) == LANE_REAL;
	struct shape s = {.rank = 1};
	struct sink to;
	size_t n;

	if (!range_count(c, &n, err))
		return false;
	s.dim[0] = (int64_t)n;
	if (!host_out(c, 0, start->dtype, &s, &to, err))
		return false;
	for (size_t i = 0; real && i < n; i++) {
		double x = load_one(start, 0) + (double)i * load_one(delta, 0);

		store_real(&to, i, 1, 1, &x);
	}
	for (size_t i = 0; !real && i < n; i++) {
		int64_t x = (int64_t)((uint64_t)load_one_int(start, 0)
		    + i * (uint64_t)load_one_int(delta, 0));

		store_int(&to, i, 1, 1, &x);
	}
	return true;
}

bool
eyelike_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	enum dtype dtype = (enum dtype)attr_int_or(c->node, "dtype", x->dtype);
	int64_t k = attr_int_or(c->node, "k", 0);
	struct shape s = shape_of(x);
	struct sink to;
	double one = 1;

	if (x->rank != 2)
		return err_set(err, ERR_INPUT, "input of rank %u", x->rank);
	if (dtype_bits(dtype) < 8 || dtype_bits(dtype) > 64
	    || dtype == DT_COMPLEX64)
		return refuse(err, "dtype %s", dtype_name(dtype));
	if (!host_out(c, 0, dtype, &s, &to, err))
		return false;
	memset(to.data, 0, c->out[0].bytes);
	for (int64_t i = 0; i < x->dim[0]; i++) {
		int64_t j;

		if (i64_add(i, k, &j) && j >= 0 && j < x->dim[1])
			store_real(
			    &to, (size_t)(i * x->dim[1] + j), 1, 1, &one);
	}
	return true;
}

/* The generalised cosine windows: a - b cos(t) + c cos(2t). */
static bool
cosine_window(struct call *c, const double abc[3], struct err *err)
{
	bool periodic = attr_int_or(c->node, "periodic", 1) != 0;
	enum dtype dtype =
	    (enum dtype)attr_int_or(c->node, "output_datatype", DT_FLOAT);
	struct shape s = {.rank = 1};
	struct sink to;
	int64_t n;

	if (c->in[0]->count != 1)
		return err_set(err, ERR_INPUT, "size is not one number");
	n = s.dim[0] = load_one_int(c->in[0], 0);
	if (dtype_bits(dtype) < 8 || dtype_bits(dtype) > 64
	    || dtype == DT_COMPLEX64)
		return refuse(err, "dtype %s", dtype_name(dtype));
	if (!host_out(c, 0, dtype, &s, &to, err))
		return false;
	for (int64_t i = 0; i < n; i++) {
		double span = (double)(periodic ? n : n - 1);
		double t = span > 0 ? 2 * PI * (double)i / span : 0;
		double y = abc[0] - abc[1] * cos(t) + abc[2] * cos(2 * t);

		store_real(&to, (size_t)i, 1, 1, &y);
	}
	return true;
}

bool
hannwindow_run(struct call *c, struct err *err)
{
	return cosine_window(c, (const double[]){0.5, 0.5, 0}, err);
}

bool
hammingwindow_run(struct call *c, struct err *err)
{
	return cosine_window(c, (const double[]){25.0 / 46, 21.0 / 46, 0}, err);
}

bool
blackmanwindow_run(struct call *c, struct err *err)
{
	return cosine_window(c, (const double[]){0.42, 0.5, 0.08}, err);
}
