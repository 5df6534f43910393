/* Operators that work element by element: the shape is the input's, or what
 * the inputs' shapes broadcast to. */
#include "ir/infer/rules.h"

#include <inttypes.h>
#include <string.h>

/* Output 0 is like input 0. */
bool
rule_same(struct site *s)
{
	out_type(s, 0, in_type(s, 0));
	return true;
}

/* Shape of input 0, elements bool. */
bool
rule_test(struct site *s)
{
	out_shaped(s, 0, DT_BOOL, in_type(s, 0));
	return true;
}

/* The shape all inputs from `first` on broadcast to, with a dtype. */
static bool
broadcast_from(struct site *s, uint32_t first, enum dtype dtype)
{
	struct type t = {.kind = TYPE_TENSOR};

	for (uint32_t i = first; i < s->n->ninputs; i++) {
		const struct type *in = in_type(s, i);

		if (!in)
			continue;
		if (in->kind != TYPE_TENSOR) {
			out_unranked(s, 0, dtype);
			return true;
		}
		if (!type_broadcast(s, &t, in, &t))
			return false;
	}
	out_tensor(s, 0, dtype, t.rank, t.dim);
	return true;
}

/* Before opset 7 only input 1 was broadcast, where `broadcast` and `axis` say;
 * the shape is input 0's. */
static bool
is_legacy_broadcast(const struct site *s)
{
	return s->n->opset < 7 && s->n->ninputs == 2;
}

static bool
binary(struct site *s, enum dtype dtype)
{
	if (is_legacy_broadcast(s)) {
		out_shaped(s, 0, dtype, in_type(s, 0));
		return true;
	}
	return broadcast_from(s, 0, dtype);
}

bool
rule_broadcast(struct site *s)
{
	enum dtype dtype;

	return same_dtypes(s, 0, s->n->ninputs, &dtype) && binary(s, dtype);
}

bool
rule_compare(struct site *s)
{
	enum dtype dtype;

	return same_dtypes(s, 0, s->n->ninputs, &dtype) && binary(s, DT_BOOL);
}

/* The exponent may have another type than the base. */
bool
rule_pow(struct site *s)
{
	return binary(s, in_dtype(s, 0));
}

bool
rule_where(struct site *s)
{
	enum dtype dtype, test = in_dtype(s, 0);

	if (test != DT_UNDEFINED && test != DT_BOOL)
		return fault(
		    s, "condition is %s, bool is needed", dtype_name(test));
	return same_dtypes(s, 1, 2, &dtype) && broadcast_from(s, 0, dtype);
}

/* The slope broadcasts to the input, never the other way. */
bool
rule_prelu(struct site *s)
{
	const struct type *x = in_type(s, 0), *slope = in_type(s, 1);
	enum dtype dtype;

	if (!same_dtypes(s, 0, 2, &dtype))
		return false;
	out_shaped(s, 0, dtype, x);
	if (s->n->opset < 7 || !in_ranked(s, 0) || !in_ranked(s, 1))
		return true;
	if (slope->rank > x->rank)
		return fault(s, "slope has rank %" PRIu32 ", x only %" PRIu32,
		    slope->rank, x->rank);
	for (uint32_t i = 0; i < slope->rank; i++) {
		int64_t to = x->dim[i + x->rank - slope->rank];

		if (slope->dim[i] > 1 && to >= 0 && slope->dim[i] != to)
			return fault(s,
			    "slope has %" PRId64 " where x has %" PRId64,
			    slope->dim[i], to);
	}
	return true;
}

bool
rule_clip(struct site *s)
{
	enum dtype dtype;

	if (!same_dtypes(s, 0, s->n->ninputs, &dtype)
	    || !need_max_count(s, 1, "min") || !need_max_count(s, 2, "max"))
		return false;
	out_shaped(s, 0, dtype, in_type(s, 0));
	return true;
}

/* A limit is one element: rank 0, or rank 1 of one. */
bool
need_max_count(struct site *s, uint32_t i, const char *what)
{
	const struct type *t = in_type(s, i);

	if (!in_ranked(s, i))
		return true;
	for (uint32_t k = 0; k < t->rank; k++)
		if (t->dim[k] >= 0 && t->dim[k] != 1)
			return fault(s,
			    "%s has dimension %" PRId64
			    ", one element is needed",
			    what, t->dim[k]);
	return true;
}

bool
rule_dropout(struct site *s)
{
	enum dtype mask = s->n->opset < 10 ? in_dtype(s, 0) : DT_BOOL;

	out_type(s, 0, in_type(s, 0));
	out_shaped(s, 1, mask, in_type(s, 0));
	return true;
}

/* Before opset 6, Cast named types in words: "FLOAT", "INT64". */
static enum dtype
dtype_of_word(struct string_view word)
{
	static const char *const name[NDTYPE] = {
#define DTYPE(name, number, bits, words) [number] = #name,
#include "ir/dtype.def"
#undef DTYPE
	};

	for (unsigned t = 1; t < NDTYPE; t++)
		if (strlen(name[t]) == word.n
		    && memcmp(name[t], word.s, word.n) == 0)
			return (enum dtype)t;
	return DT_UNDEFINED;
}

bool
attr_dtype(
    struct site *s, const char *name, enum dtype otherwise, enum dtype *out)
{
	const struct attr *a = node_attr(s->n, name);
	int64_t number;

	*out = otherwise;
	if (!a)
		return true;
	if (a->kind == ATTR_STRING) { /* Cast before opset 6 */
		*out = dtype_of_word(a->strings[0]);
		if (*out == DT_UNDEFINED)
			return fault(s, "%s '%.*s' is no element type", name,
			    (int)a->strings[0].n, a->strings[0].s);
		return true;
	}
	number = a->kind == ATTR_INT ? a->ints[0] : 0;
	if (number <= 0 || number >= NDTYPE)
		return fault(s, "%s: element type %" PRId64 " is not known",
		    name, number);
	*out = (enum dtype)number;
	return true;
}

bool
rule_cast(struct site *s)
{
	enum dtype to;

	if (!node_attr(s->n, "to"))
		return fault(s, "attribute to is missing");
	if (!attr_dtype(s, "to", DT_UNDEFINED, &to))
		return false;
	out_shaped(s, 0, to, in_type(s, 0));
	return true;
}

bool
rule_castlike(struct site *s)
{
	out_shaped(s, 0, in_dtype(s, 1), in_type(s, 0));
	return true;
}

bool
rule_bitcast(struct site *s)
{
	enum dtype to, from = in_dtype(s, 0);

	if (!attr_dtype(s, "to", DT_UNDEFINED, &to))
		return false;
	if (from != DT_UNDEFINED && dtype_bits(from) != dtype_bits(to))
		return fault(s, "cannot reinterpret %s as %s", dtype_name(from),
		    dtype_name(to));
	out_shaped(s, 0, to, in_type(s, 0));
	return true;
}

/* RandomNormalLike, Bernoulli, EyeLike...: the shape of input 0, the dtype of
 * attribute dtype or else of the input. */
bool
rule_like(struct site *s)
{
	enum dtype dtype;

	if (!attr_dtype(s, "dtype", in_dtype(s, 0), &dtype))
		return false;
	out_shaped(s, 0, dtype, in_type(s, 0));
	return true;
}

bool
rule_eyelike(struct site *s)
{
	return need_rank(s, 0, 2, "input") && rule_like(s);
}
