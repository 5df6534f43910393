#include <assert.h>
#include <string.h>

#include "targets/mrvl/low.h"

/* SOURCE: FoldConstant and SimplifyExpr of TVM 0.15. Rewrites that made new
 * operators upstream also lost where they came from; so they do here. */

struct simplifier {
	bool changed;
};

static const struct konst *
konst(const struct lowered *l, low_id id)
{
	return low_get(l, id)->konst;
}

/* ---- folding ---- */

/* Content computed now, for recipes that do not compose. */
static struct konst
materialized(struct lowered *l, const struct konst *k)
{
	size_t n = dims_count(&k->dims);
	float *data = arena_new(l->arena, float, n);
	struct tensor *t = arena_new(l->arena, struct tensor, 1);
	int64_t *dim = (int64_t *)arena_copy(
	    l->arena, k->dims.dim, k->dims.rank * sizeof *dim);
	struct konst out = {
	    .dims = k->dims, .tensor = t, .scale = 1, .value = k->value};
	int64_t step = 1;

	konst_read(k, 0, n, data);
	*t = tensor_view(DT_FLOAT, k->dims.rank, dim, data);
	for (uint32_t i = k->dims.rank; i-- > 0;) {
		out.stride[i] = step;
		step *= k->dims.dim[i];
	}
	return out;
}

static struct konst
simple(struct lowered *l, const struct konst *k)
{
	return k->plus ? materialized(l, k) : *k;
}

static low_id
fold_permute(struct lowered *l, low_id x, const uint32_t *perm)
{
	struct konst k = simple(l, konst(l, x));

	k = konst_permuted(&k, perm);
	return low_const(l, &k);
}

/* Dimensions of 1 put in anywhere: the others keep their order. */
static low_id
fold_expand(struct lowered *l, const struct low *op, low_id x)
{
	struct konst k = simple(l, konst(l, x)), out = k;
	uint32_t from = 0;

	out.dims = op->dims;
	for (uint32_t i = 0; i < op->dims.rank; i++) {
		while (from < k.dims.rank && k.dims.dim[from] == 1)
			from++;
		out.stride[i] = 0;
		if (op->dims.dim[i] != 1 && from < k.dims.rank)
			out.stride[i] = k.stride[from++];
	}
	return low_const(l, &out);
}

static low_id
fold_reshape(struct lowered *l, const struct low *op, low_id x)
{
	struct konst k = materialized(l, konst(l, x));
	int64_t step = 1;

	k.dims = op->dims;
	for (uint32_t i = k.dims.rank; i-- > 0;) {
		k.stride[i] = step;
		step *= k.dims.dim[i];
	}
	return low_const(l, &k);
}

/* The shape two constants broadcast to. */
static bool
joint_dims(const struct dims *a, const struct dims *b, struct dims *out)
{
	*out = a->rank >= b->rank ? *a : *b;
	for (uint32_t i = 0; i < out->rank; i++) {
		uint32_t fa = out->rank - a->rank, fb = out->rank - b->rank;
		int64_t x = i < fa ? 1 : a->dim[i - fa];
		int64_t y = i < fb ? 1 : b->dim[i - fb];

		if (x != y && x != 1 && y != 1)
			return false;
		out->dim[i] = x == 1 ? y : x;
	}
	return true;
}

static low_id
fold_binary(struct lowered *l, enum low_kind kind, low_id x, low_id y)
{
	struct konst a = simple(l, konst(l, x)), b = simple(l, konst(l, y));
	struct dims d;

	if (!joint_dims(&a.dims, &b.dims, &d) || !konst_broadcast(&a, &d)
	    || !konst_broadcast(&b, &d))
		return LOW_NONE;
	if (kind == LOW_ADD) {
		a.plus =
		    (const struct konst *)arena_copy(l->arena, &b, sizeof b);
		return low_const(l, &a);
	}
	size_t n = dims_count(&d);
	a = materialized(l, &a);
	float *data = arena_new(l->arena, float, n);
	struct tensor *t = arena_new(l->arena, struct tensor, 1);
	konst_read(&b, 0, n, data);
	for (size_t i = 0; i < n; i++) {
		float f;

		konst_read(&a, i, 1, &f);
		data[i] *= f;
	}
	*t = tensor_view(DT_FLOAT, d.rank, a.tensor->dim, data);
	a.tensor = t;
	return low_const(l, &a);
}

/* layout_transform as a permutation of axes. */
static void
layout_perm(const struct low *op, uint32_t *perm)
{
	for (uint32_t i = 0; op->to[i]; i++)
		perm[i] =
		    (uint32_t)(strchr(op->layout, op->to[i]) - op->layout);
}

static bool
permutation(const struct low *op, uint32_t *perm)
{
	if (op->kind == LOW_LAYOUT)
		layout_perm(op, perm);
	else if (op->kind == LOW_TRANSPOSE)
		memcpy(perm, op->perm, sizeof op->perm);
	else
		return false;
	return true;
}

static bool
is_foldable(const struct lowered *l, const struct low *op, const low_id *in)
{
	for (uint32_t i = 0; i < op->nin; i++)
		if (!low_is_const(l, in[i]) || !konst(l, in[i]))
			return false;
	return op->nin > 0;
}

static low_id
fold(struct lowered *l, const struct low *op, const low_id *in)
{
	uint32_t perm[DIMS_MAX];

	if (!is_foldable(l, op, in))
		return LOW_NONE;
	if (permutation(op, perm))
		return fold_permute(l, in[0], perm);
	switch (op->kind) {
	case LOW_EXPAND:
		return fold_expand(l, op, in[0]);
	case LOW_RESHAPE:
	case LOW_SQUEEZE:
	case LOW_BATCH_FLATTEN:
		return fold_reshape(l, op, in[0]);
	case LOW_ADD:
	case LOW_MULTIPLY:
		return fold_binary(l, op->kind, in[0], in[1]);
	default:
		return LOW_NONE;
	}
}

/* ---- rewriting ---- */

static bool
is_identity(const uint32_t *perm, uint32_t rank)
{
	for (uint32_t i = 0; i < rank; i++)
		if (perm[i] != i)
			return false;
	return true;
}

/* Consecutive transposes and layout transforms become one, or none. */
static low_id
merge_transposes(struct lowered *l, const struct low *op, low_id x)
{
	const struct low *inner = low_get(l, x);
	uint32_t first[DIMS_MAX], second[DIMS_MAX], rank = op->dims.rank;
	struct low merged = *op;
	low_id source;

	if (!permutation(op, second))
		return LOW_NONE;
	if (op->kind == LOW_TRANSPOSE && is_identity(second, rank))
		return x;
	if (!permutation(inner, first))
		return LOW_NONE;
	source = inner->in[0];
	for (uint32_t i = 0; i < rank; i++)
		merged.perm[i] = first[second[i]];
	if (is_identity(merged.perm, rank))
		return source;
	merged.kind = LOW_TRANSPOSE;
	merged.name = "transpose";
	merged.node = NODE_NONE;
	merged.in = &source;
	return low_add(l, &merged);
}

static low_id
merge_reshapes(struct lowered *l, const struct low *op, low_id x)
{
	const struct low *inner = low_get(l, x);
	struct low merged = *op;
	low_id source;

	if (op->kind != LOW_RESHAPE || inner->kind != LOW_RESHAPE)
		return LOW_NONE;
	source = inner->in[0];
	merged.in = &source;
	return low_add(l, &merged);
}

/* op(x, c) or op(c, x): x, and the constant. */
static bool
with_constant(const struct lowered *l, const low_id *in, low_id *x, low_id *c)
{
	for (int i = 0; i < 2; i++) {
		if (!low_is_const(l, in[1 - i]) || !konst(l, in[1 - i]))
			continue;
		*x = in[i];
		*c = in[1 - i];
		return true;
	}
	return false;
}

static low_id
binary(struct lowered *l, enum low_kind kind, low_id x, low_id y,
    const struct low *shape)
{
	struct low op = {.kind = kind,
	    .name = kind == LOW_ADD ? "add" : "multiply",
	    .node = NODE_NONE,
	    .dtype = shape->dtype,
	    .dims = shape->dims,
	    .value = VALUE_NONE};
	low_id in[] = {x, y};

	op.nin = 2;
	op.in = in;
	return low_add(l, &op);
}

/* (x + c1) + c2 = x + (c1 + c2), likewise for products;
 * (x + c1) * c2 = x * c2 + c1 * c2. */
static low_id
move_constants(struct lowered *l, const struct low *op, const low_id *in)
{
	const struct low *inner;
	struct low outer = *op;
	low_id x, c, y, d, folded, product;

	if ((op->kind != LOW_ADD && op->kind != LOW_MULTIPLY)
	    || !with_constant(l, in, &x, &c))
		return LOW_NONE;
	inner = low_get(l, x);
	if ((inner->kind != LOW_ADD && inner->kind != LOW_MULTIPLY)
	    || !with_constant(l, inner->in, &y, &d) || low_is_const(l, y))
		return LOW_NONE;
	if (inner->kind == op->kind) {
		folded = fold_binary(l, op->kind, d, c);
		if (folded == LOW_NONE)
			return LOW_NONE;
		x = binary(l, op->kind, y, folded, &outer);
	} else if (op->kind == LOW_MULTIPLY) {
		struct low shape = *inner;

		folded = fold_binary(l, LOW_MULTIPLY, d, c);
		if (folded == LOW_NONE)
			return LOW_NONE;
		product = binary(l, LOW_MULTIPLY, y, c, &shape);
		x = binary(l, LOW_ADD, product, folded, &outer);
	} else {
		return LOW_NONE;
	}
	l->op[x].value = outer.value;
	return x;
}

/* x + 0 and x * 1 of unchanged shape. */
static low_id
drop_neutral(struct lowered *l, const struct low *op, const low_id *in)
{
	float min, max, neutral = op->kind == LOW_ADD ? 0 : 1;
	low_id x, c;

	if ((op->kind != LOW_ADD && op->kind != LOW_MULTIPLY)
	    || !with_constant(l, in, &x, &c)
	    || !dims_equal(&low_get(l, x)->dims, &op->dims))
		return LOW_NONE;
	konst_range(konst(l, c), &min, &max);
	return min == neutral && max == neutral ? x : LOW_NONE;
}

static low_id
simplify_op(struct lowered *l, low_id old, const low_id *in, void *context)
{
	struct simplifier *s = (struct simplifier *)context;
	struct low op = *low_get(l, old);
	low_id new = fold(l, &op, in);

	if (new == LOW_NONE && op.nin == 1)
		new = merge_transposes(l, &op, in[0]);
	if (new == LOW_NONE && op.nin == 1)
		new = merge_reshapes(l, &op, in[0]);
	if (new == LOW_NONE)
		new = drop_neutral(l, &op, in);
	if (new == LOW_NONE)
		new = move_constants(l, &op, in);
	if (new == LOW_NONE)
		return low_with_inputs(l, old, in);
	s->changed = true;
	return new;
}

void
low_simplify(struct lowered *l)
{
	struct simplifier s;

	do {
		s.changed = false;
		low_rewrite(l, simplify_op, &s);
	} while (s.changed);
}

/* ---- canonical form ---- */

static low_id
canonical_op(struct lowered *l, low_id old, const low_id *in, void *context)
{
	struct low op = *low_get(l, old), wide;
	low_id pair[2];

	(void)context;
	if (op.kind != LOW_BIAS_ADD)
		return low_with_inputs(l, old, in);
	wide = *low_get(l, in[1]);
	wide.kind = LOW_EXPAND;
	wide.name = "expand_dims";
	wide.node = NODE_NONE;
	wide.konst = NULL;
	/* [C] against channels of N,C,H,W: [C,1,1] */
	wide.dims = (struct dims){3, {wide.dims.dim[0], 1, 1}};
	wide.nin = 1;
	wide.in = &in[1];
	pair[0] = in[0];
	pair[1] = low_add(l, &wide);
	op.kind = LOW_ADD;
	op.name = "add";
	op.node = NODE_NONE;
	op.in = pair;
	return low_add(l, &op);
}

void
low_canonicalize(struct lowered *l)
{
	low_rewrite(l, canonical_op, NULL);
}
