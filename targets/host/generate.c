/* Kernels that make tensors out of little. */
#include <string.h>

#include "targets/host/kernels.h"

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
