/* Shape arithmetic on small integer values some of which are symbolic: what
 * Shape gave, on its way to a Reshape. Wholly constant values are folded by
 * the evaluator instead; these rules only need to be right, not complete. */
#include "ir/infer/rules.h"

#include <inttypes.h>

/* Integers, or integers that were cast to a float type that holds them. */
static bool
counts(enum dtype t)
{
	return dtype_is_integer(t) || t == DT_FLOAT || t == DT_DOUBLE;
}

/* Is output 0 a vector or scalar of known length worth following? */
static bool
follows(const struct site *s)
{
	const struct type *t = &s->out[0];

	return t->kind == TYPE_TENSOR && t->rank <= 1 && counts(t->dtype)
	    && (t->rank == 0 || (t->dim[0] >= 0 && t->dim[0] <= SMALL_MAX));
}

static uint32_t
out_count(const struct site *s)
{
	return s->out[0].rank == 0 ? 1 : (uint32_t)s->out[0].dim[0];
}

/* Same elements in the same order: Reshape, Squeeze, Unsqueeze, Identity. */
bool
value_same(struct site *s)
{
	struct small x = in_small(s, 0);

	if (x.e)
		out_small(s, 0, x.e, x.n);
	return true;
}

/* To another integer type, or to a float type and back: the numbers stay.
 * A wholly known value is left to the evaluator, which rounds and wraps. */
bool
value_cast(struct site *s)
{
	struct small x = in_small(s, 0);

	if (!x.e || !counts(s->out[0].dtype) || in_content(s, 0))
		return true;
	for (uint32_t i = 0; i < x.n; i++)
		if (x.e[i].known
		    && (x.e[i].v > INT32_MAX || x.e[i].v < INT32_MIN))
			return true;
	if (dtype_bits(s->out[0].dtype) >= 32
	    && (dtype_is_signed(s->out[0].dtype)
	        || dtype_is_float(s->out[0].dtype)))
		out_small(s, 0, x.e, x.n);
	return true;
}

bool
value_gather(struct site *s)
{
	struct small x = in_small(s, 0), at = in_small(s, 1);
	struct num *e;

	if (!x.e || !at.e || !follows(s) || !in_ranked(s, 0)
	    || in_type(s, 0)->rank != 1)
		return true;
	e = small_new(s, at.n);
	for (uint32_t i = 0; i < at.n; i++) {
		int64_t k = at.e[i].v;

		if (!at.e[i].known)
			continue;
		k += k < 0 ? (int64_t)x.n : 0;
		if (k >= 0 && k < (int64_t)x.n)
			e[i] = x.e[k];
	}
	out_small(s, 0, e, at.n);
	return true;
}

bool
value_concat(struct site *s)
{
	struct num *e;
	uint32_t n = 0;

	if (!follows(s))
		return true;
	e = small_new(s, out_count(s));
	for (uint32_t i = 0; i < s->n->ninputs; i++) {
		const struct type *t = in_type(s, i);
		struct small x = in_small(s, i);

		for (uint32_t k = 0; k < (uint32_t)t->dim[0]; k++, n++)
			if (x.e)
				e[n] = x.e[k];
	}
	out_small(s, 0, e, n);
	return true;
}

/* Slices of a vector whose bounds are known. */
bool
value_slice(struct site *s)
{
	struct small x = in_small(s, 0);
	struct nums start, step;
	struct num *e;
	int64_t at, by;

	if (!x.e || !follows(s)
	    || !list_of(s, s->n->opset < 10 ? "starts" : NULL, 1, &start)
	    || !list_of(s, NULL, 4, &step))
		return s->err->kind == ERR_NONE;
	if (start.n != 1 || !nums_all_known(&start)
	    || (step.given && !nums_all_known(&step)))
		return true;
	by = step.given && step.n == 1 ? step.e[0].v : 1;
	at = start.e[0].v + (start.e[0].v < 0 ? (int64_t)x.n : 0);
	at = at < 0 ? 0 : at;
	if (at >= (int64_t)x.n)
		at = (int64_t)x.n - 1;
	e = small_new(s, out_count(s));
	for (uint32_t i = 0; i < out_count(s); i++)
		e[i] = x.e[at + (int64_t)i * by];
	out_small(s, 0, e, out_count(s));
	return true;
}

static bool
apply(struct site *s, struct num a, struct num b, struct num *out)
{
	struct symbols *y = &s->pass->symbols;

	switch (s->n->op) {
	case OP_ADD:
		return num_add(y, a, b, out);
	case OP_SUB:
		return num_sub(y, a, b, out);
	case OP_MUL:
		return num_mul(y, a, b, out);
	case OP_DIV:
		/* integers truncate and floats do not round: only an exact
		 * quotient, or one of a size by a positive number, is both */
		if (b.known && b.v <= 0)
			return false;
		if (dtype_is_integer(s->out[0].dtype) && (!a.known || a.v >= 0))
			return num_div_floor(y, a, b, out);
		return num_quotient(y, &a, 1, &b, 1, out);
	case OP_MAX:
	case OP_MIN:
		if (a.known && b.known)
			*out = (a.v > b.v) == (s->n->op == OP_MAX) ? a : b;
		else if (num_same(a, b))
			*out = a;
		return true;
	default:
		return true;
	}
}

/* Add, Sub, Mul, Div, Min, Max of two scalars or vectors. */
bool
value_arithmetic(struct site *s)
{
	struct small a = in_small(s, 0), b = in_small(s, 1);
	struct num *e;
	uint32_t n;

	if (s->n->ninputs != 2 || !a.e || !b.e || !follows(s))
		return true;
	n = out_count(s);
	if ((a.n != n && a.n != 1) || (b.n != n && b.n != 1))
		return true;
	e = small_new(s, n);
	for (uint32_t i = 0; i < n; i++)
		if (!apply(
		        s, a.e[a.n == 1 ? 0 : i], b.e[b.n == 1 ? 0 : i], &e[i]))
			e[i] = NUM_UNKNOWN;
	out_small(s, 0, e, n);
	return true;
}

/* ReduceProd, ReduceSum of a whole vector. */
bool
value_reduce(struct site *s)
{
	struct small x = in_small(s, 0);
	struct num *n;

	if (!x.e || !follows(s) || out_count(s) != 1 || !in_ranked(s, 0)
	    || in_type(s, 0)->rank != 1)
		return true;
	n = small_new(s, 1);
	*n = num_int(s->n->op == OP_REDUCEPROD);
	for (uint32_t i = 0; i < x.n; i++) {
		bool ok = s->n->op == OP_REDUCEPROD
		    ? num_mul(&s->pass->symbols, *n, x.e[i], n)
		    : num_add(&s->pass->symbols, *n, x.e[i], n);

		if (!ok)
			*n = NUM_UNKNOWN;
	}
	out_small(s, 0, n, 1);
	return true;
}

/* Can it be said whether the two are equal? A dimension is never negative. */
static bool
equality(struct num a, struct num b, bool *equal)
{
	*equal = num_same(a, b);
	if (*equal || (a.known && b.known))
		return true;
	return (a.known && a.v < 0) || (b.known && b.v < 0);
}

/* Equal of dimensions: what exporters write to find the -1 of an Expand. */
bool
value_equal(struct site *s)
{
	struct small a = in_small(s, 0), b = in_small(s, 1);
	const struct type *t = &s->out[0];
	struct num *e;
	uint32_t n = a.n > b.n ? a.n : b.n;

	if (!a.e || !b.e || t->rank > 1 || (a.n != n && a.n != 1)
	    || (b.n != n && b.n != 1))
		return true;
	e = small_new(s, n);
	for (uint32_t i = 0; i < n; i++) {
		bool equal;

		if (equality(
		        a.e[a.n == 1 ? 0 : i], b.e[b.n == 1 ? 0 : i], &equal))
			e[i] = num_int(equal);
	}
	out_small(s, 0, e, n);
	return true;
}

bool
value_where(struct site *s)
{
	struct small c = in_small(s, 0), a = in_small(s, 1), b = in_small(s, 2);
	struct num *e;
	uint32_t n;

	if (!c.e || !a.e || !b.e || !follows(s))
		return true;
	n = out_count(s);
	if ((c.n != n && c.n != 1) || (a.n != n && a.n != 1)
	    || (b.n != n && b.n != 1))
		return true;
	e = small_new(s, n);
	for (uint32_t i = 0; i < n; i++) {
		struct num test = c.e[c.n == 1 ? 0 : i];

		if (test.known)
			e[i] = test.v ? a.e[a.n == 1 ? 0 : i]
			              : b.e[b.n == 1 ? 0 : i];
	}
	out_small(s, 0, e, n);
	return true;
}
