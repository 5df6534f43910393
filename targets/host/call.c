#include "targets/host/call.h"

#include <assert.h>
#include <string.h>

#include "ir/base/size.h"

/* TUNING: refuses an output no machine this runs on could hold, so that a
 * mistaken shape is an error message and not the end of the process. */
#define MAX_OUTPUT ((size_t)1 << 36)

const struct tensor *
call_in(const struct call *c, uint32_t i)
{
	return i < c->node->ninputs ? c->in[i] : NULL;
}

bool
call_wants(const struct call *c, uint32_t i)
{
	return i < c->node->noutputs && c->node->output[i] != VALUE_NONE;
}

bool
host_dims_ok(uint32_t rank, const int64_t *dim, struct err *err)
{
	int64_t product = 1;

	if (rank > RANK_MAX)
		return err_set(
		    err, ERR_INPUT, "rank %u is above %u", rank, RANK_MAX);
	for (uint32_t d = 0; d < rank; d++)
		if (dim[d] < 0
		    || (dim[d] != 0
		        && (!i64_mul(product, dim[d], &product)
		            || product > INT64_C(1) << 47)))
			return err_set(err, ERR_INPUT,
			    "a tensor with dimension %lld is too large",
			    (long long)dim[d]);
	return true;
}

static bool
size_fits(const struct arena *a, enum dtype dtype, const struct shape *shape,
    size_t *n, size_t *bytes, struct err *err)
{
	if (!host_dims_ok(shape->rank, shape->dim, err))
		return false;
	if (!tensor_size(dtype, shape->dim, shape->rank, n, bytes)
	    || *bytes > MAX_OUTPUT)
		return err_set(err, ERR_INPUT,
		    "an output is negative in size or too large");
	if (a->limit && (*bytes > a->limit || a->bytes > a->limit - *bytes))
		return err_set(err, ERR_UNSUPPORTED,
		    "an output of %zu bytes is over the limit", *bytes);
	return true;
}

bool
host_fits(const struct call *c, enum dtype dtype, const struct shape *shape,
    struct err *err)
{
	size_t n, bytes;

	return size_fits(c->arena, dtype, shape, &n, &bytes, err);
}

static struct tensor
describe(enum dtype dtype, const struct shape *shape, struct arena *a)
{
	struct tensor t = {
	    .kind = dtype == DT_STRING ? TENSOR_STRINGS : TENSOR_VIEW,
	    .dtype = dtype,
	    .rank = shape->rank,
	};

	t.dim = arena_copy(a, shape->dim, shape->rank * sizeof *shape->dim);
	return t;
}

bool
host_out(struct call *c, uint32_t i, enum dtype dtype,
    const struct shape *shape, struct sink *to, struct err *err)
{
	const struct preset *p = c->preset ? &c->preset[i] : NULL;
	struct tensor *t = &c->out[i];
	size_t n, bytes;

	assert(i < c->node->noutputs);
	if (!size_fits(c->arena, dtype, shape, &n, &bytes, err))
		return false;
	if (p && p->data && p->bytes != bytes)
		return err_set(err, ERR_INPUT,
		    "output %u is %zu bytes, inference said %zu", i, bytes,
		    p->bytes);
	*t = describe(dtype, shape, c->arena);
	t->count = n;
	t->bytes = bytes;
	to->data = p && p->data ? p->data : arena_alloc(c->arena, bytes + 64);
	to->dtype = dtype;
	t->data = to->data;
	return true;
}

bool
host_out_as(struct call *c, uint32_t i, const struct tensor *t,
    const struct shape *shape, struct err *err)
{
	struct sink to;
	size_t size;

	assert(shape_count(shape->dim, 0, shape->rank) == t->count);
	if (t->kind == TENSOR_FILL && !(c->preset && c->preset[i].data)) {
		c->out[i] = describe(t->dtype, shape, c->arena);
		c->out[i].kind = TENSOR_FILL;
		c->out[i].count = t->count;
		c->out[i].bytes = t->bytes;
		memcpy(c->out[i].fill, t->fill, sizeof t->fill);
		return true;
	}
	if (!host_out(c, i, t->dtype, shape, &to, err))
		return false;
	if (t->kind != TENSOR_FILL) {
		if (t->bytes)
			memcpy(to.data, t->data, t->bytes);
		return true;
	}
	size = dtype_bits(t->dtype) / 8;
	for (size_t e = 0; e < t->count; e++)
		memcpy((unsigned char *)to.data + e * size, t->fill, size);
	return true;
}

bool
host_temp(struct call *c, struct tensor *t, enum dtype dtype,
    const struct shape *shape, struct sink *to, struct err *err)
{
	size_t n, bytes;

	if (!size_fits(c->scratch, dtype, shape, &n, &bytes, err))
		return false;
	*t = describe(dtype, shape, c->scratch);
	t->count = n;
	t->bytes = bytes;
	to->data = arena_alloc(c->scratch, bytes + 64);
	to->dtype = dtype;
	t->data = to->data;
	return true;
}

size_t
host_unit(enum dtype t)
{
	return t == DT_STRING ? sizeof(struct string_view) : dtype_bits(t) / 8;
}

const unsigned char *
host_bytes(struct call *c, const struct tensor *t)
{
	if (t->kind == TENSOR_STRINGS)
		return (const unsigned char *)t->string;
	if (t->kind == TENSOR_FILL)
		return tensor_data(t, c->scratch);
	return t->data;
}

void
keep_characters(struct string_view *string, size_t n, struct arena *a)
{
	for (size_t i = 0; i < n; i++)
		string[i].s = arena_copy(a, string[i].s, string[i].n);
}

/* Sequences hold tensors, at most within one optional or sequence more: the
 * depth of this recursion is that of a type, which import bounds. */
struct tensor
tensor_copy(const struct tensor *t, struct arena *a)
{
	struct tensor copy = *t;
	struct tensor *item;

	if (t->rank)
		copy.dim = arena_copy(a, t->dim, t->rank * sizeof *t->dim);
	if (t->kind == TENSOR_VIEW || t->kind == TENSOR_STRINGS) {
		unsigned char *data = arena_alloc(a, t->bytes + 64);

		if (t->bytes)
			memcpy(data, t->data, t->bytes);
		copy.data = data;
		if (t->kind == TENSOR_STRINGS)
			keep_characters(
			    (struct string_view *)data, t->count, a);
	} else if (t->kind == TENSOR_SEQUENCE) {
		item = arena_new(a, struct tensor, t->nitems);
		for (uint32_t i = 0; i < t->nitems; i++)
			item[i] = tensor_copy(&t->item[i], a);
		copy.item = item;
	}
	return copy;
}

bool
axis_of(int64_t axis, uint32_t rank, uint32_t *out, struct err *err)
{
	int64_t at = axis < 0 ? axis + (int64_t)rank : axis;

	if (at < 0 || at >= (int64_t)rank)
		return err_set(err, ERR_INPUT, "axis %lld of a rank %u tensor",
		    (long long)axis, rank);
	*out = (uint32_t)at;
	return true;
}

const int64_t *
input_ints(struct call *c, uint32_t i, uint32_t *n)
{
	const struct tensor *t = call_in(c, i);
	int64_t *ints;

	*n = 0;
	if (!t || t->count > UINT32_MAX || t->kind > TENSOR_FILL)
		return NULL;
	ints = arena_new(c->scratch, int64_t, t->count);
	load_int(ints, t, 0, 1, t->count);
	*n = (uint32_t)t->count;
	return ints;
}

const int64_t *
ints_of(struct call *c, const char *name, uint32_t i, uint32_t *n)
{
	const int64_t *ints = attr_ints(c->node, name, n);

	return ints ? ints : input_ints(c, i, n);
}
