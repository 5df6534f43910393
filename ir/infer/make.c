/* Operators that make tensors out of numbers: constants, shapes, ranges. */
#include "ir/infer/rules.h"

#include <inttypes.h>
#include <math.h>

/* A one-dimensional tensor over an attribute's list (or a scalar: its first). */
static void
list_content(
    struct site *s, enum dtype dtype, bool scalar, uint32_t n, const void *data)
{
	struct tensor *t = arena_new(s->g->arena, struct tensor, 1);
	int64_t *dim = dims_new(s, 1);

	dim[0] = n;
	*t = (struct tensor){
	    .kind = dtype == DT_STRING ? TENSOR_STRINGS : TENSOR_VIEW,
	    .dtype = dtype,
	    .rank = scalar ? 0 : 1,
	    .dim = dim,
	    .count = scalar ? 1 : n,
	};
	t->bytes = dtype == DT_STRING ? t->count * sizeof(struct string_view)
	                              : t->count * (dtype_bits(dtype) / 8);
	t->data = data;
	s->out_content[0] = t;
}

static bool
content_of(struct site *s, const struct attr *a)
{
	switch (a->kind) {
	case ATTR_TENSOR:
	case ATTR_SPARSE:
		s->out_content[0] = a->tensors;
		return true;
	case ATTR_FLOAT:
	case ATTR_FLOATS:
		list_content(
		    s, DT_FLOAT, a->kind == ATTR_FLOAT, a->n, a->floats);
		return true;
	case ATTR_INT:
	case ATTR_INTS:
		list_content(s, DT_INT64, a->kind == ATTR_INT, a->n, a->ints);
		return true;
	case ATTR_STRING:
	case ATTR_STRINGS:
		list_content(
		    s, DT_STRING, a->kind == ATTR_STRING, a->n, a->strings);
		return true;
	default:
		return fault(s, "attribute %s is not a value", a->name);
	}
}

bool
rule_constant(struct site *s)
{
	const struct tensor *t;

	if (s->n->nattrs != 1)
		return fault(s,
		    "%" PRIu32 " attributes, exactly one value is"
		    " needed",
		    s->n->nattrs);
	if (!content_of(s, &s->n->attr[0]))
		return false;
	t = s->out_content[0];
	out_tensor(s, 0, t->dtype, t->rank, t->dim);
	return true;
}

/* The repeated element: attribute value (one element), or a float 0. */
static bool
fill_element(struct site *s, enum dtype *dtype, const struct tensor **value)
{
	const struct attr *a = node_attr(s->n, "value");

	*dtype = DT_FLOAT;
	*value = NULL;
	if (!a)
		return true;
	if (a->kind != ATTR_TENSOR || a->tensors->count != 1)
		return fault(s, "value is not a tensor of one element");
	*value = a->tensors;
	*dtype = a->tensors->dtype;
	return true;
}

bool
rule_constantofshape(struct site *s)
{
	static const unsigned char zero[16];
	const struct tensor *value;
	struct tensor *made;
	const struct type *t = &s->out[0];
	enum dtype dtype;
	size_t n, bytes;

	if (!fill_element(s, &dtype, &value) || !out_from_shape(s, 0, dtype, 0))
		return false;
	if (!in_content(s, 0) || !type_is_static(t) || dtype_bits(dtype) < 8
	    || !tensor_size(dtype, t->dim, t->rank, &n, &bytes))
		return true;
	if (value && value->kind != TENSOR_VIEW && value->kind != TENSOR_FILL)
		return true;
	made = arena_new(s->g->arena, struct tensor, 1);
	*made = tensor_fill(dtype, t->rank, t->dim,
	    !value                           ? (const void *)zero
	        : value->kind == TENSOR_FILL ? (const void *)value->fill
	                                     : value->data);
	s->out_content[0] = made;
	return true;
}

/* Shape[start:end], opset 15; clamped to the rank. */
static uint32_t
shape_bound(int64_t at, uint32_t rank)
{
	if (at < 0)
		at += (int64_t)rank;
	return (uint32_t)(at < 0 ? 0 : at > (int64_t)rank ? (int64_t)rank : at);
}

bool
rule_shape(struct site *s)
{
	const struct type *x = in_type(s, 0);
	uint32_t from, to;
	struct num *e;
	int64_t *dim;

	if (!in_ranked(s, 0)) {
		out_rank(s, 0, DT_INT64, 1);
		return true;
	}
	from = shape_bound(attr_int_or(s->n, "start", 0), x->rank);
	to = shape_bound(attr_int_or(s->n, "end", INT64_MAX), x->rank);
	to = to < from ? from : to;
	e = small_new(s, to - from);
	for (uint32_t i = from; i < to; i++)
		e[i - from] = num_dim(x->dim[i]);
	dim = dims_new(s, 1);
	dim[0] = to - from;
	out_tensor(s, 0, DT_INT64, 1, dim);
	out_small(s, 0, e, to - from);
	return true;
}

bool
rule_size(struct site *s)
{
	const struct type *x = in_type(s, 0);
	struct num *n = small_new(s, 1);

	out_tensor(s, 0, DT_INT64, 0, NULL);
	if (!in_ranked(s, 0))
		return true;
	n[0] = num_int(1);
	for (uint32_t i = 0; i < x->rank; i++)
		if (!site_mul(s, *n, num_dim(x->dim[i]), n))
			return false;
	out_small(s, 0, n, 1);
	return true;
}

/* max(ceil((limit - start) / delta), 0) of integers; false on overflow. */
static bool
range_ints(int64_t start, int64_t limit, int64_t delta, int64_t *out)
{
	uint64_t room, step;

	if (delta > 0 ? limit <= start : limit >= start) {
		*out = 0;
		return true;
	}
	room = delta > 0 ? (uint64_t)limit - (uint64_t)start
	                 : (uint64_t)start - (uint64_t)limit;
	step = delta > 0 ? (uint64_t)delta : 0 - (uint64_t)delta;
	room = (room - 1) / step + 1;
	*out = (int64_t)room;
	return room <= INT64_MAX;
}

static bool
range_reals(
    struct site *s, double start, double limit, double delta, int64_t *out)
{
	double n = ceil((limit - start) / delta);

	if (!(n > 0)) /* not a number either: nothing */
		n = 0;
	if (n > 0x1p62)
		return fault(s, "range of %g elements", n);
	*out = (int64_t)n;
	return true;
}

static bool
range_count(struct site *s, int64_t *out)
{
	const struct tensor *t[3];

	for (uint32_t i = 0; i < 3; i++) {
		t[i] = in_content(s, i);
		if (!t[i] || t[i]->count != 1
		    || (!dtype_is_integer(t[i]->dtype)
		        && !dtype_is_float(t[i]->dtype))
		    || dtype_bits(t[i]->dtype) < 16)
			return true;
	}
	if (tensor_real(t[2], 0) == 0)
		return fault(s, "delta is 0");
	if (!dtype_is_integer(t[0]->dtype))
		return range_reals(s, tensor_real(t[0], 0),
		    tensor_real(t[1], 0), tensor_real(t[2], 0), out);
	if (!range_ints(tensor_int(t[0], 0), tensor_int(t[1], 0),
	        tensor_int(t[2], 0), out))
		return fault(s, "the range has more than 2^63 elements");
	return true;
}

/* 0, n, 1 of which n is symbolic: n elements. */
static void
range_symbolic(struct site *s, int64_t *out)
{
	struct small start = in_small(s, 0), limit = in_small(s, 1);
	struct small delta = in_small(s, 2);

	if (start.e && limit.e && delta.e && start.n == 1 && limit.n == 1
	    && delta.n == 1 && num_same(start.e[0], num_int(0))
	    && num_same(delta.e[0], num_int(1)) && !limit.e[0].known)
		*out = limit.e[0].v;
}

bool
rule_range(struct site *s)
{
	int64_t *dim = dims_new(s, 1);
	enum dtype dtype;

	dim[0] = DIM_UNKNOWN;
	if (!same_dtypes(s, 0, 3, &dtype) || !range_count(s, dim))
		return false;
	if (dim[0] == DIM_UNKNOWN)
		range_symbolic(s, dim);
	out_tensor(s, 0, dtype, 1, dim);
	return true;
}

/* RandomNormal, RandomUniform: attributes say it all. */
bool
rule_random(struct site *s)
{
	uint32_t n;
	const int64_t *shape = attr_ints(s->n, "shape", &n);
	enum dtype dtype;

	if (!attr_dtype(s, "dtype", DT_FLOAT, &dtype))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (shape[i] < 0)
			return fault(
			    s, "shape[%" PRIu32 "] is %" PRId64, i, shape[i]);
	if (shape)
		out_tensor(s, 0, dtype, n, dims_copy(s, shape, n));
	else
		out_unranked(s, 0, dtype);
	return true;
}
