#include "ir/infer/rule.h"

#include <inttypes.h>
#include <string.h>

#include "ir/base/size.h"

const struct type *
in_type(const struct site *s, uint32_t i)
{
	const struct value *v = node_in(s->g, s->n, i);

	return v ? &v->type : NULL;
}

bool
in_ranked(const struct site *s, uint32_t i)
{
	const struct type *t = in_type(s, i);

	return t && t->kind == TYPE_TENSOR && t->rank != RANK_UNKNOWN;
}

enum dtype
in_dtype(const struct site *s, uint32_t i)
{
	const struct type *t = in_type(s, i);

	return t && t->kind == TYPE_TENSOR ? t->dtype : DT_UNDEFINED;
}

const struct tensor *
in_constant(const struct site *s, uint32_t i)
{
	if (i >= s->n->ninputs || s->n->input[i] == VALUE_NONE)
		return NULL;
	return s->pass->content[s->n->input[i]];
}

const struct tensor *
in_content(const struct site *s, uint32_t i)
{
	const struct tensor *t = in_constant(s, i);

	return t && !t->made_up ? t : NULL;
}

static bool
holds_integers(const struct tensor *t)
{
	return (t->kind == TENSOR_VIEW || t->kind == TENSOR_FILL)
	    && (dtype_is_integer(t->dtype) || t->dtype == DT_BOOL);
}

struct small
in_small(const struct site *s, uint32_t i)
{
	const struct tensor *t = in_content(s, i);
	struct small *cached;
	struct num *e;

	if (i >= s->n->ninputs || s->n->input[i] == VALUE_NONE)
		return (struct small){0, NULL};
	cached = &s->pass->small[s->n->input[i]];
	if (cached->e || !t || !holds_integers(t) || t->count > SMALL_MAX)
		return *cached;
	e = arena_new(s->pass->scratch, struct num, t->count);
	for (size_t k = 0; k < t->count; k++)
		e[k] = num_int(tensor_int(t, k));
	*cached = (struct small){(uint32_t)t->count, e};
	return *cached;
}

bool
need_min_rank(struct site *s, uint32_t i, uint32_t min, const char *what)
{
	const struct type *t = in_type(s, i);

	if (!in_ranked(s, i) || t->rank >= min)
		return true;
	return fault(s,
	    "%s has rank %" PRIu32 ", at least %" PRIu32 " is needed", what,
	    t->rank, min);
}

bool
need_rank(struct site *s, uint32_t i, uint32_t want, const char *what)
{
	const struct type *t = in_type(s, i);

	if (!in_ranked(s, i) || t->rank == want)
		return true;
	return fault(s, "%s has rank %" PRIu32 ", %" PRIu32 " is needed", what,
	    t->rank, want);
}

static bool
list_of_attr(struct site *s, const struct attr *a, struct nums *out)
{
	struct num *e;

	if (a->kind != ATTR_INTS && a->kind != ATTR_INT)
		return fault(
		    s, "attribute %s is not a list of integers", a->name);
	e = arena_new(s->pass->scratch, struct num, a->n);
	for (uint32_t i = 0; i < a->n; i++)
		e[i] = num_int(a->ints[i]);
	*out = (struct nums){true, true, a->n, e};
	return true;
}

/* A list input that is too long for a small value. */
static bool
list_of_content(struct site *s, const struct tensor *t, struct nums *out)
{
	struct num *e;

	if (t->count > s->pass->o->max_fold)
		return true;
	e = arena_new(s->pass->scratch, struct num, t->count);
	for (size_t k = 0; k < t->count; k++)
		e[k] = num_int(tensor_int(t, k));
	*out = (struct nums){true, true, (uint32_t)t->count, e};
	return true;
}

bool
list_of(struct site *s, const char *attr, uint32_t input, struct nums *out)
{
	const struct attr *a = attr ? node_attr(s->n, attr) : NULL;
	const struct type *t = in_type(s, input);
	const struct tensor *content = in_content(s, input);
	struct small small;

	*out = (struct nums){0};
	if (a)
		return list_of_attr(s, a, out);
	if (!t)
		return true;
	out->given = true;
	if (in_ranked(s, input) && t->rank > 1)
		return fault(s,
		    "input %" PRIu32 " is a list but has rank %" PRIu32, input,
		    t->rank);
	if (content && holds_integers(content) && content->count > SMALL_MAX)
		return list_of_content(s, content, out);
	small = in_small(s, input);
	if (small.e) {
		*out = (struct nums){true, true, small.n, small.e};
		return true;
	}
	if (in_ranked(s, input) && t->rank == 1 && t->dim[0] >= 0
	    && t->dim[0] <= SMALL_MAX) {
		struct num *e = small_new(s, (uint32_t)t->dim[0]);

		*out = (struct nums){true, true, (uint32_t)t->dim[0], e};
	}
	return true;
}

bool
nums_all_known(const struct nums *l)
{
	if (!l->known)
		return false;
	for (uint32_t i = 0; i < l->n; i++)
		if (!l->e[i].known)
			return false;
	return true;
}

bool
site_axis(struct site *s, const char *what, int64_t axis, uint32_t rank,
    uint32_t *out)
{
	int64_t r = (int64_t)rank;

	if (axis < -r || axis >= r)
		return fault(s, "%s %" PRId64 " is outside rank %" PRIu32, what,
		    axis, rank);
	*out = (uint32_t)(axis < 0 ? axis + r : axis);
	return true;
}

bool
attr_axis(struct site *s, const char *attr, int64_t otherwise, uint32_t rank,
    uint32_t *out)
{
	return site_axis(
	    s, attr, attr_int_or(s->n, attr, otherwise), rank, out);
}

int64_t *
dims_new(struct site *s, uint32_t rank)
{
	return arena_new(s->g->arena, int64_t, rank);
}

int64_t *
dims_copy(struct site *s, const int64_t *dim, uint32_t rank)
{
	int64_t *copy = dims_new(s, rank);

	if (rank)
		memcpy(copy, dim, rank * sizeof *dim);
	return copy;
}

bool
has_out(const struct site *s, uint32_t i)
{
	return i < s->n->noutputs && s->n->output[i] != VALUE_NONE;
}

void
out_tensor(struct site *s, uint32_t i, enum dtype dtype, uint32_t rank,
    const int64_t *dim)
{
	if (i < s->n->noutputs)
		s->out[i] = (struct type){
		    .kind = TYPE_TENSOR,
		    .dtype = dtype,
		    .rank = rank,
		    .dim = dim,
		};
}

void
out_unranked(struct site *s, uint32_t i, enum dtype dtype)
{
	out_tensor(s, i, dtype, RANK_UNKNOWN, NULL);
}

void
out_type(struct site *s, uint32_t i, const struct type *t)
{
	if (t && i < s->n->noutputs)
		s->out[i] = *t;
}

void
out_shaped(struct site *s, uint32_t i, enum dtype dtype, const struct type *t)
{
	if (!t || t->kind != TYPE_TENSOR)
		out_unranked(s, i, dtype);
	else
		out_tensor(s, i, dtype, t->rank, t->dim);
}

void
out_rank(struct site *s, uint32_t i, enum dtype dtype, uint32_t rank)
{
	int64_t *dim = dims_new(s, rank);

	for (uint32_t k = 0; k < rank; k++)
		dim[k] = DIM_UNKNOWN;
	out_tensor(s, i, dtype, rank, dim);
}

bool
dim_meet(struct site *s, const char *what, int64_t a, int64_t b, int64_t *out)
{
	if (a >= 0 && b >= 0 && a != b)
		return fault(s,
		    "%s: %" PRId64 " and %" PRId64 " should be equal", what, a,
		    b);
	if (a >= 0)
		*out = a;
	else if (b >= 0)
		*out = b;
	else
		*out = a != DIM_UNKNOWN ? a : b;
	return true;
}

bool
dim_broadcast(struct site *s, int64_t a, int64_t b, int64_t *out)
{
	if (a == 1 || b == 1)
		*out = a == 1 ? b : a;
	else if (a >= 0 && b >= 0 && a != b)
		return fault(s,
		    "dimensions %" PRId64 " and %" PRId64 " do not broadcast",
		    a, b);
	else if (a >= 0 || b >= 0)
		*out = a >= 0 ? a : b;
	else
		*out = a == b ? a : DIM_UNKNOWN;
	return true;
}

bool
type_broadcast(struct site *s, const struct type *a, const struct type *b,
    struct type *out)
{
	uint32_t rank;
	int64_t *dim;

	out->kind = TYPE_TENSOR;
	if (a->rank == RANK_UNKNOWN || b->rank == RANK_UNKNOWN) {
		out->rank = RANK_UNKNOWN;
		return true;
	}
	rank = a->rank > b->rank ? a->rank : b->rank;
	dim = dims_new(s, rank);
	for (uint32_t i = 0; i < rank; i++) {
		int64_t x = i + a->rank < rank ? 1 : a->dim[i + a->rank - rank];
		int64_t y = i + b->rank < rank ? 1 : b->dim[i + b->rank - rank];

		if (!dim_broadcast(s, x, y, &dim[i]))
			return false;
	}
	out->rank = rank;
	out->dim = dim;
	return true;
}

bool
same_dtypes(struct site *s, uint32_t first, uint32_t n, enum dtype *out)
{
	*out = DT_UNDEFINED;
	for (uint32_t i = first; i < first + n; i++) {
		enum dtype t = in_dtype(s, i);

		if (t == DT_UNDEFINED || t == *out)
			continue;
		if (*out != DT_UNDEFINED)
			return fault(s,
			    "input %" PRIu32 " is %s but %s is needed"
			    " (same type as the input before)",
			    i, dtype_name(t), dtype_name(*out));
		*out = t;
	}
	return true;
}

bool
site_add(struct site *s, struct num a, struct num b, struct num *out)
{
	if (num_add(&s->pass->symbols, a, b, out))
		return true;
	return fault(s, "%" PRId64 " + %" PRId64 " overflows", a.v, b.v);
}

bool
site_mul(struct site *s, struct num a, struct num b, struct num *out)
{
	if (num_mul(&s->pass->symbols, a, b, out))
		return true;
	return fault(s, "%" PRId64 " * %" PRId64 " overflows", a.v, b.v);
}

struct num *
small_new(struct site *s, uint32_t n)
{
	struct num *e = arena_new(s->pass->scratch, struct num, n);

	for (uint32_t i = 0; i < n; i++)
		e[i] = NUM_UNKNOWN;
	return e;
}

void
out_small(struct site *s, uint32_t i, const struct num *e, uint32_t n)
{
	if (i < s->n->noutputs && n <= SMALL_MAX)
		s->out_small[i] = (struct small){n, e};
}
