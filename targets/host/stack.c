#include "targets/host/stack.h"

#include <assert.h>
#include <string.h>

/* Indices from..from+n of axis, as `rank` dims `dim`. */
static struct tensor
part(const struct tensor *t, uint32_t axis, int64_t from, int64_t n,
    struct arena *a)
{
	size_t outer = shape_count(t->dim, 0, axis);
	size_t unit = host_unit(t->dtype);
	size_t inner = shape_count(t->dim, axis + 1, t->rank) * unit;
	size_t all = (size_t)t->dim[axis] * inner, some = (size_t)n * inner;
	struct tensor p = *t;
	unsigned char *to;

	p.count = outer * (unit ? some / unit : 0);
	p.bytes = outer * some;
	if (t->kind == TENSOR_FILL)
		return p;
	to = arena_alloc(a, p.bytes + 64);
	for (size_t o = 0; some && o < outer; o++)
		memcpy(to + o * some,
		    (const unsigned char *)t->data + o * all
		        + (size_t)from * inner,
		    some);
	p.data = to;
	return p;
}

struct tensor
tensor_pick(const struct tensor *t, uint32_t axis, int64_t i, struct arena *a)
{
	struct tensor p = part(t, axis, i, 1, a);
	int64_t *dim = arena_new(a, int64_t, t->rank);
	uint32_t n = 0;

	for (uint32_t d = 0; d < t->rank; d++)
		if (d != axis)
			dim[n++] = t->dim[d];
	p.rank = n;
	p.dim = dim;
	return p;
}

struct tensor
tensor_cut(const struct tensor *t, uint32_t axis, int64_t from, int64_t n,
    struct arena *a)
{
	struct tensor p = part(t, axis, from, n, a);
	int64_t *dim = arena_copy(a, t->dim, t->rank * sizeof *t->dim);

	dim[axis] = n;
	p.dim = dim;
	return p;
}

void
tensor_list_add(struct tensor_list *l, const struct tensor *t, struct arena *a)
{
	l->item = arena_grow(a, l->item, &l->cap, l->n + 1, sizeof *l->item);
	l->item[l->n++] = tensor_copy(t, a);
}

static bool
fits(const struct tensor *a, const struct tensor *b, uint32_t free_axis,
    struct err *err)
{
	if (b->kind > TENSOR_STRINGS || a->dtype != b->dtype
	    || a->rank != b->rank)
		return err_set(
		    err, ERR_INPUT, "tensors to join differ in dtype or rank");
	for (uint32_t d = 0; d < a->rank; d++)
		if (d != free_axis && a->dim[d] != b->dim[d])
			return err_set(err, ERR_INPUT,
			    "tensors to join have %lld and %lld in dimension "
			    "%u",
			    (long long)a->dim[d], (long long)b->dim[d], d);
	return true;
}

bool
join(struct call *c, uint32_t i, const struct tensor *item, uint32_t n,
    int64_t axis, bool stack, struct err *err)
{
	struct shape s = shape_of(&item[0]);
	size_t unit = host_unit(item[0].dtype), outer, at = 0, row;
	struct sink to;
	uint32_t a;

	if (unit == 0)
		return refuse(
		    err, "joining tensors of %s", dtype_name(item[0].dtype));
	if (!axis_of(axis, s.rank + stack, &a, err) || s.rank >= RANK_MAX)
		return err->kind != ERR_NONE ? false
		                             : err_set(err, ERR_INPUT, "rank");
	for (uint32_t k = 1; k < n; k++)
		if (!fits(&item[0], &item[k], stack ? RANK_MAX : a, err))
			return false;
	if (stack) {
		memmove(s.dim + a + 1, s.dim + a, (s.rank - a) * sizeof *s.dim);
		s.rank++;
		s.dim[a] = n;
	} else {
		for (uint32_t k = 1; k < n; k++)
			s.dim[a] += item[k].dim[a];
	}
	if (!host_out(c, i, item[0].dtype, &s, &to, err))
		return false;
	outer = shape_count(s.dim, 0, a);
	row = shape_count(s.dim, a, s.rank) * unit;
	for (uint32_t k = 0; k < n; k++) {
		const unsigned char *from = host_bytes(c, &item[k]);
		size_t bytes = outer ? item[k].count * unit / outer : 0;

		for (size_t o = 0; bytes && o < outer; o++)
			memcpy((unsigned char *)to.data + o * row + at,
			    from + o * bytes, bytes);
		at += bytes;
	}
	if (to.dtype == DT_STRING) /* items may be gone before the whole */
		keep_characters(to.data, c->out[i].count, c->arena);
	return true;
}
