#include <float.h>
#include <math.h>
#include <string.h>

#include "targets/mrvl/low_fold.h"

/* SOURCE: SimplifyExpr of TVM 0.19 (simplify_expr.cc) and how it rewrites
 * (dataflow_matcher.cc): one rule at a time over the whole graph, all of them
 * until nothing changes. A match is not taken when an operator inside it is in
 * a match already, or is read by what does not lead to the match's root. What
 * a rule makes has lost where it came from. */

/* A match: the operator below the root, if any, and what the rule reads. */
struct found {
	low_id inner; /* LOW_NONE: the root alone */
	low_id x, c, d;
};

struct low_rule {
	bool (*match)(const struct lowered *l, low_id root, struct found *f);
	low_id (*replace)(
	    struct lowered *l, low_id root, const struct found *f);
};

/* ---- matching ---- */

static bool
is(const struct lowered *l, low_id id, enum low_kind kind)
{
	return low_get(l, id)->kind == kind;
}

/* op(x, c) or op(c, x): x, and the constant. */
static bool
with_constant(const struct lowered *l, low_id id, low_id *x, low_id *c)
{
	const low_id *in = low_get(l, id)->in;

	for (int i = 0; i < 2; i++) {
		if (!low_is_const(l, in[1 - i]))
			continue;
		*x = in[i];
		*c = in[1 - i];
		return true;
	}
	return false;
}

static bool
is_scalar(const struct lowered *l, low_id id, float value)
{
	const struct low *op = low_get(l, id);
	float x;

	if (op->dims.rank != 0 || !op->packed)
		return false;
	packed_read(op->packed, 0, 1, &x);
	return x >= value && x <= value;
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

static low_id
scalar(struct lowered *l, float x)
{
	struct tensor *t = arena_new(l->arena, struct tensor, 1);
	struct packed k = {.tensor = t, .scale = 1, .value = VALUE_NONE};

	*t = tensor_fill(DT_FLOAT, 0, NULL, &x);
	return low_const(l, &k);
}

/* ---- the rules ---- */

/* x + x = x * 2 */
static bool
match_double(const struct lowered *l, low_id root, struct found *f)
{
	(void)f;
	return is(l, root, LOW_ADD)
	    && low_get(l, root)->in[0] == low_get(l, root)->in[1];
}

static low_id
replace_double(struct lowered *l, low_id root, const struct found *f)
{
	struct low op = *low_get(l, root);
	low_id out = binary(l, LOW_MULTIPLY, op.in[0], scalar(l, 2), &op);

	(void)f;
	l->op[out].value = op.value;
	return out;
}

/* x / sqrt(y) = x * rsqrt(y) */
static bool
match_rsqrt(const struct lowered *l, low_id root, struct found *f)
{
	const struct low *op = low_get(l, root), *inner;

	if (strcmp(op->name, "divide") != 0)
		return false;
	inner = low_get(l, op->in[1]);
	f->inner = op->in[1];
	return strcmp(inner->name, "sqrt") == 0;
}

static low_id
replace_rsqrt(struct lowered *l, low_id root, const struct found *f)
{
	struct low op = *low_get(l, root), inner = *low_get(l, f->inner);
	low_id out;

	inner.name = "rsqrt";
	inner.node = NODE_NONE;
	out = low_add(l, &inner);
	out = binary(l, LOW_MULTIPLY, op.in[0], out, &op);
	l->op[out].value = op.value;
	return out;
}

/* x + 0, x - 0, x * 1, x / 1 with a scalar, of unchanged shape */
static bool
match_neutral(const struct lowered *l, low_id root, struct found *f)
{
	const struct low *op = low_get(l, root);
	bool either = op->kind == LOW_ADD || op->kind == LOW_MULTIPLY;
	bool minus = strcmp(op->name, "subtract") == 0;
	low_id c;

	if (!either && !minus && strcmp(op->name, "divide") != 0)
		return false;
	if (!with_constant(l, root, &f->x, &c) || (!either && c != op->in[1]))
		return false;
	return is_scalar(l, c, op->kind == LOW_ADD || minus ? 0 : 1)
	    && dims_equal(&low_get(l, f->x)->dims, &op->dims);
}

static low_id
replace_by_x(struct lowered *l, low_id root, const struct found *f)
{
	(void)l;
	(void)root;
	return f->x;
}

static bool
match_reshapes(const struct lowered *l, low_id root, struct found *f)
{
	if (!is(l, root, LOW_RESHAPE))
		return false;
	f->inner = low_get(l, root)->in[0];
	return is(l, f->inner, LOW_RESHAPE);
}

static low_id
replace_reshapes(struct lowered *l, low_id root, const struct found *f)
{
	struct low op = *low_get(l, root);

	op.in = low_get(l, f->inner)->in;
	return low_add(l, &op);
}

/* Consecutive transposes and layout transforms become one. */
static bool
match_transposes(const struct lowered *l, low_id root, struct found *f)
{
	uint32_t perm[DIMS_MAX];

	if (!low_permutation(low_get(l, root), perm))
		return false;
	f->inner = low_get(l, root)->in[0];
	return low_permutation(low_get(l, f->inner), perm);
}

static low_id
replace_transposes(struct lowered *l, low_id root, const struct found *f)
{
	struct low merged = *low_get(l, root);
	uint32_t first[DIMS_MAX], second[DIMS_MAX];

	low_permutation(low_get(l, f->inner), first);
	low_permutation(&merged, second);
	for (uint32_t i = 0; i < merged.dims.rank; i++)
		merged.perm[i] = first[second[i]];
	merged.kind = LOW_TRANSPOSE;
	merged.name = "transpose";
	merged.node = NODE_NONE;
	merged.in = low_get(l, f->inner)->in;
	return low_add(l, &merged);
}

static bool
match_still(const struct lowered *l, low_id root, struct found *f)
{
	const struct low *op = low_get(l, root);

	if (op->kind != LOW_TRANSPOSE)
		return false;
	for (uint32_t i = 0; i < op->dims.rank; i++)
		if (op->perm[i] != i)
			return false;
	f->x = op->in[0];
	return true;
}

static bool
match_same_cast(const struct lowered *l, low_id root, struct found *f)
{
	const struct low *op = low_get(l, root);

	if (op->kind != LOW_CAST)
		return false;
	f->x = op->in[0];
	return low_get(l, f->x)->dtype == op->dtype;
}

/* Signed integers, unsigned ones and bool, floats: as TVM orders them. */
static int
type_class(enum dtype t)
{
	return dtype_is_float(t) ? 2 : !dtype_is_signed(t);
}

/* Does the second type hold whatever the first does, by TVM's rule? */
static bool
is_wider(enum dtype from, enum dtype to)
{
	return from != DT_BFLOAT16 && to != DT_BFLOAT16
	    && dtype_bits(from) <= dtype_bits(to)
	    && type_class(from) <= type_class(to);
}

static bool
match_casts(const struct lowered *l, low_id root, struct found *f)
{
	low_id x;

	if (!is(l, root, LOW_CAST))
		return false;
	f->inner = low_get(l, root)->in[0];
	if (!is(l, f->inner, LOW_CAST))
		return false;
	x = low_get(l, f->inner)->in[0];
	return is_wider(low_get(l, x)->dtype, low_get(l, f->inner)->dtype);
}

static low_id
replace_casts(struct lowered *l, low_id root, const struct found *f)
{
	struct low op = *low_get(l, root);

	op.in = low_get(l, f->inner)->in;
	return low_add(l, &op);
}

/* (x + c) * d = x * d + c * d */
static bool
match_switch(const struct lowered *l, low_id root, struct found *f)
{
	return is(l, root, LOW_MULTIPLY)
	    && with_constant(l, root, &f->inner, &f->d)
	    && is(l, f->inner, LOW_ADD)
	    && with_constant(l, f->inner, &f->x, &f->c)
	    && !low_is_const(l, f->x);
}

static low_id
replace_switch(struct lowered *l, low_id root, const struct found *f)
{
	struct low op = *low_get(l, root), inner = *low_get(l, f->inner);
	low_id folded = low_fold_binary(l, LOW_MULTIPLY, f->c, f->d), out;

	if (folded == LOW_NONE)
		return root;
	out = binary(l, LOW_MULTIPLY, f->x, f->d, &inner);
	out = binary(l, LOW_ADD, out, folded, &op);
	l->op[out].value = op.value;
	return out;
}

/* (x + c) + d = x + (c + d), and so for products */
static bool
match_adjacent(const struct lowered *l, low_id root, struct found *f)
{
	enum low_kind kind = low_get(l, root)->kind;

	return (kind == LOW_ADD || kind == LOW_MULTIPLY)
	    && with_constant(l, root, &f->inner, &f->d) && is(l, f->inner, kind)
	    && with_constant(l, f->inner, &f->x, &f->c)
	    && !low_is_const(l, f->x);
}

static low_id
replace_adjacent(struct lowered *l, low_id root, const struct found *f)
{
	struct low op = *low_get(l, root);
	low_id folded = low_fold_binary(l, op.kind, f->c, f->d), out;

	if (folded == LOW_NONE)
		return root;
	out = binary(l, op.kind, f->x, folded, &op);
	l->op[out].value = op.value;
	return out;
}

/* A clip to all that the type holds. */
static bool
match_wide_clip(const struct lowered *l, low_id root, struct found *f)
{
	const struct low *op = low_get(l, root);

	if (op->kind != LOW_CLIP || op->dtype != DT_FLOAT)
		return false;
	f->x = op->in[0];
	return op->min <= -FLT_MAX && op->max >= FLT_MAX;
}

static const struct low_rule rules[] = {
    {match_double, replace_double},
    {match_rsqrt, replace_rsqrt},
    {match_neutral, replace_by_x},
    {match_reshapes, replace_reshapes},
    {match_transposes, replace_transposes},
    {match_still, replace_by_x},
    {match_same_cast, replace_by_x},
    {match_casts, replace_casts},
    {match_switch, replace_switch},
    {match_adjacent, replace_adjacent},
    {match_wide_clip, replace_by_x},
};

/* ---- one rule over the graph ---- */

struct low_pass {
	const struct lowered *low;
	const struct low_rule *rule;
	struct arena *arena;
	uint32_t *nusers, *first; /* [ops]: users are user[first, first + n) */
	low_id *user;
	struct bitset taken; /* operators in a match */
	struct bitset root; /* of matches */
	bool changed;
};

static void
list_users(struct low_pass *p, const low_id *order, uint32_t n)
{
	uint32_t total = 0, *fill = arena_new(p->arena, uint32_t, p->low->n);

	p->nusers = arena_new(p->arena, uint32_t, p->low->n);
	p->first = arena_new(p->arena, uint32_t, p->low->n);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < low_get(p->low, order[i])->nin; k++)
			p->nusers[low_get(p->low, order[i])->in[k]]++;
	for (uint32_t i = 0; i < n; i++) {
		p->first[order[i]] = total;
		total += p->nusers[order[i]];
	}
	p->user = arena_new(p->arena, low_id, total);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < low_get(p->low, order[i])->nin; k++) {
			low_id in = low_get(p->low, order[i])->in[k];

			p->user[p->first[in] + fill[in]++] = order[i];
		}
}

static bool
is_output(const struct lowered *l, low_id id)
{
	for (uint32_t o = 0; o < l->noutputs; o++)
		if (l->output[o] == id)
			return true;
	return false;
}

/* Does all that is computed from `id` go through the root? */
static bool
leads_to(const struct low_pass *p, low_id id, low_id root)
{
	struct bitset seen = bitset_new(p->arena, p->low->n);
	low_id *stack = arena_new(p->arena, low_id, p->low->n);
	uint32_t top = 0;

	stack[top++] = id;
	bitset_add(seen, id);
	while (top > 0) {
		low_id at = stack[--top];

		if (at == root)
			continue;
		if (is_output(p->low, at))
			return false;
		for (uint32_t i = 0; i < p->nusers[at]; i++) {
			low_id u = p->user[p->first[at] + i];

			if (!bitset_has(seen, u)) {
				bitset_add(seen, u);
				stack[top++] = u;
			}
		}
	}
	return true;
}

static bool
may_take(const struct low_pass *p, low_id root, const struct found *f)
{
	if (bitset_has(p->taken, root))
		return false;
	if (f->inner == LOW_NONE)
		return true;
	return !bitset_has(p->taken, f->inner)
	    && (p->nusers[f->inner] == 1 || leads_to(p, f->inner, root))
	    && !is_output(p->low, f->inner);
}

static low_id
replace_op(struct lowered *l, low_id old, const low_id *in, void *context)
{
	struct low_pass *p = (struct low_pass *)context;
	struct found f = {LOW_NONE, LOW_NONE, LOW_NONE, LOW_NONE};
	low_id id = low_with_inputs(l, old, in), out;

	if (!bitset_has(p->root, old) || !p->rule->match(l, id, &f))
		return id;
	out = p->rule->replace(l, id, &f);
	p->changed |= out != id;
	return out;
}

static bool
run_rule(struct lowered *l, const struct low_rule *rule)
{
	struct arena scratch;
	struct low_pass p = {.low = l, .rule = rule, .arena = &scratch};
	const low_id *order;
	uint32_t n;
	bool any = false;

	arena_init(&scratch);
	order = low_order(l, &n, &scratch);
	p.taken = bitset_new(&scratch, l->n);
	p.root = bitset_new(&scratch, l->n);
	list_users(&p, order, n);
	for (uint32_t i = n; i-- > 0;) {
		struct found f = {LOW_NONE, LOW_NONE, LOW_NONE, LOW_NONE};

		if (!rule->match(l, order[i], &f)
		    || !may_take(&p, order[i], &f))
			continue;
		any = true;
		bitset_add(p.root, order[i]);
		bitset_add(p.taken, order[i]);
		if (f.inner != LOW_NONE)
			bitset_add(p.taken, f.inner);
	}
	if (any)
		low_rewrite(l, replace_op, &p);
	arena_release(&scratch);
	return p.changed;
}

#define ROUNDS 100 /* TUNING: every rule makes the graph smaller or orders it */

void
low_simplify(struct lowered *l)
{
	bool changed = true;

	low_fold(l);
	for (uint32_t round = 0; changed && round < ROUNDS; round++) {
		changed = false;
		for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
			changed |= run_rule(l, &rules[i]);
	}
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
	wide.packed = NULL;
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
