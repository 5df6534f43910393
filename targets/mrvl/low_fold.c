#include <assert.h>
#include <string.h>

#include "targets/mrvl/low_fold.h"

/* SOURCE: FoldConstant of TVM 0.19. */

static const struct packed *
packed(const struct lowered *l, low_id id)
{
	return low_get(l, id)->packed;
}

/* Content computed now, for recipes that do not compose. */
static struct packed
materialized(struct lowered *l, const struct packed *k)
{
	size_t n = dims_count(&k->dims);
	float *data = arena_new(l->arena, float, n);
	struct tensor *t = arena_new(l->arena, struct tensor, 1);
	int64_t *dim = (int64_t *)arena_copy(
	    l->arena, k->dims.dim, k->dims.rank * sizeof *dim);
	struct packed out = {
	    .dims = k->dims, .tensor = t, .scale = 1, .value = k->value};
	int64_t step = 1;

	packed_read(k, 0, n, data);
	*t = tensor_view(DT_FLOAT, k->dims.rank, dim, data);
	for (uint32_t i = k->dims.rank; i-- > 0;) {
		out.stride[i] = step;
		step *= k->dims.dim[i];
	}
	return out;
}

static struct packed
simple(struct lowered *l, const struct packed *k)
{
	return k->plus ? materialized(l, k) : *k;
}

static low_id
fold_permute(struct lowered *l, low_id x, const uint32_t *perm)
{
	struct packed k = simple(l, packed(l, x));

	k = packed_permuted(&k, perm);
	return low_const(l, &k);
}

/* Dimensions of 1 put in anywhere: the others keep their order. */
static low_id
fold_expand(struct lowered *l, const struct low *op, low_id x)
{
	struct packed k = simple(l, packed(l, x)), out = k;
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
	struct packed k = materialized(l, packed(l, x));
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

low_id
low_fold_binary(struct lowered *l, enum low_kind kind, low_id x, low_id y)
{
	struct packed a = simple(l, packed(l, x)), b = simple(l, packed(l, y));
	struct dims d;

	if (!joint_dims(&a.dims, &b.dims, &d) || !packed_broadcast(&a, &d)
	    || !packed_broadcast(&b, &d))
		return LOW_NONE;
	if (kind == LOW_ADD) {
		a.plus =
		    (const struct packed *)arena_copy(l->arena, &b, sizeof b);
		return low_const(l, &a);
	}
	size_t n = dims_count(&d);
	a = materialized(l, &a);
	float *data = arena_new(l->arena, float, n);
	struct tensor *t = arena_new(l->arena, struct tensor, 1);
	packed_read(&b, 0, n, data);
	for (size_t i = 0; i < n; i++) {
		float f;

		packed_read(&a, i, 1, &f);
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

bool
low_permutation(const struct low *op, uint32_t *perm)
{
	if (op->kind == LOW_LAYOUT)
		layout_perm(op, perm);
	else if (op->kind == LOW_TRANSPOSE)
		memcpy(perm, op->perm, sizeof op->perm);
	else
		return false;
	return true;
}

/* A constant of which only the shape is known: upstream has computed it. */
static low_id
blind(struct lowered *l, const struct low *op)
{
	struct low out = {.kind = LOW_CONST,
	    .name = "constant",
	    .node = NODE_NONE,
	    .dtype = op->dtype,
	    .dims = op->dims,
	    .value = VALUE_NONE};

	return low_add(l, &out);
}

static bool
all_constant(const struct lowered *l, const struct low *op, const low_id *in,
    bool *readable)
{
	*readable = true;
	for (uint32_t i = 0; i < op->nin; i++) {
		if (!low_is_const(l, in[i]))
			return false;
		*readable = *readable && packed(l, in[i]);
	}
	return op->nin > 0 && op->nmore == 0 && op->kind != LOW_FIELD;
}

static low_id
fold(struct lowered *l, const struct low *op, const low_id *in)
{
	uint32_t perm[DIMS_MAX];
	low_id out = LOW_NONE;

	if (low_permutation(op, perm))
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
		out = low_fold_binary(l, op->kind, in[0], in[1]);
		break;
	default:
		break;
	}
	return out == LOW_NONE ? blind(l, op) : out;
}

static low_id
fold_op(struct lowered *l, low_id old, const low_id *in, void *context)
{
	struct low op = *low_get(l, old);
	bool readable;

	(void)context;
	if (!all_constant(l, &op, in, &readable))
		return low_with_inputs(l, old, in);
	return readable ? fold(l, &op, in) : blind(l, &op);
}

void
low_fold(struct lowered *l)
{
	low_rewrite(l, fold_op, NULL);
}
