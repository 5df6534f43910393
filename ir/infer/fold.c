/* Folding: nodes whose inputs are all constant become constants, through the
 * evaluator the caller lends, within budgets. */
#include "ir/infer/pass.h"

#include <math.h>
#include <string.h>

static bool
is_plain(const struct tensor *t)
{
	return (t->kind == TENSOR_VIEW || t->kind == TENSOR_FILL)
	    && dtype_bits(t->dtype) >= 8;
}

/* Every output wanted is a tensor of known type, or of one that the evaluator
 * will tell. */
static bool
outputs_are_foldable(const struct site *s, enum fold fold)
{
	for (uint32_t i = 0; i < s->n->noutputs; i++) {
		const struct type *t = &s->out[i];

		if (!has_out(s, i))
			continue;
		if (t->kind != TYPE_TENSOR || t->dtype == DT_UNDEFINED
		    || (fold != FOLD_OPEN && !type_is_static(t)))
			return false;
	}
	return s->n->noutputs > 0;
}

/* Of some inputs nothing counts but their type. */
static bool
is_type_only(const struct site *s, uint32_t i)
{
	return s->n->op == OP_CASTLIKE && i == 1
	    && in_dtype(s, i) != DT_UNDEFINED && in_dtype(s, i) != DT_STRING;
}

static const struct tensor *
folding_input(const struct site *s, uint32_t i, struct arena *a)
{
	static const uint64_t zero;
	const struct tensor *t = in_constant(s, i);
	struct tensor *made;

	if (t || !is_type_only(s, i))
		return t;
	made = arena_new(a, struct tensor, 1);
	*made = tensor_fill(in_dtype(s, i), 0, NULL, &zero);
	return made;
}

static bool
inputs_are_constant(const struct site *s)
{
	for (uint32_t i = 0; i < s->n->ninputs; i++)
		if (s->n->input[i] != VALUE_NONE && !in_constant(s, i)
		    && !is_type_only(s, i))
			return false;
	return s->n->nimplicit == 0;
}

static const struct tensor *
make_fill(struct site *s, uint32_t i, const void *element)
{
	const struct type *t = &s->out[i];
	struct tensor *made = arena_new(s->g->arena, struct tensor, 1);

	*made = tensor_fill(t->dtype, t->rank, t->dim, element);
	return made;
}

/* Could output i be a FILL of elements of that type? */
static bool
fits_fill(const struct site *s, uint32_t i, enum dtype dtype)
{
	const struct type *t = &s->out[i];
	size_t n, bytes;

	return t->dtype == dtype
	    && tensor_size(t->dtype, t->dim, t->rank, &n, &bytes) && n > 1;
}

/* FOLD_MOVE of one repeated element: it stays repeated. */
static bool
fold_moved_fill(struct site *s)
{
	const struct tensor *t = in_constant(s, 0);
	uint32_t n = s->n->op == OP_CONCAT ? s->n->ninputs : 1;

	for (uint32_t i = 0; i < n; i++) {
		const struct tensor *x = in_constant(s, i);

		if (!x || x->kind != TENSOR_FILL || x->dtype != t->dtype
		    || memcmp(x->fill, t->fill, dtype_bits(t->dtype) / 8) != 0)
			return false;
	}
	for (uint32_t i = 0; i < s->n->noutputs; i++)
		if (has_out(s, i) && !fits_fill(s, i, t->dtype))
			return false;
	for (uint32_t i = 0; i < s->n->noutputs; i++)
		if (has_out(s, i))
			s->out_content[i] = make_fill(s, i, t->fill);
	return true;
}

/* FOLD_EACH of repeated elements: computed once, on scalars. */
static bool
fold_each_fill(struct site *s)
{
	uint32_t n = s->n->ninputs;
	const struct tensor **in =
	    arena_new(s->pass->scratch, const struct tensor *, n);
	struct tensor *scalar = arena_new(s->pass->scratch, struct tensor, n);
	struct tensor out = {0};
	struct err ignored = {0};

	if (s->n->noutputs != 1)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct tensor *t = in_constant(s, i);

		if (!t)
			continue;
		if (!is_plain(t) || (t->kind != TENSOR_FILL && t->count != 1))
			return false;
		scalar[i] = t->kind == TENSOR_FILL
		    ? tensor_fill(t->dtype, 0, NULL, t->fill)
		    : tensor_view(t->dtype, 0, NULL, t->data);
		in[i] = &scalar[i];
	}
	if (!s->pass->o->eval(s->g, s->n, in, &out, s->pass->scratch, &ignored)
	    || !is_plain(&out) || out.count != 1 || !fits_fill(s, 0, out.dtype))
		return false;
	s->out_content[0] = make_fill(
	    s, 0, out.kind == TENSOR_FILL ? (const void *)out.fill : out.data);
	return true;
}

/* Elements of constant inputs; 0 when one is over the limit or odd. */
static uint64_t
input_work(const struct site *s, uint64_t limit)
{
	uint64_t work = 1;

	for (uint32_t i = 0; i < s->n->ninputs; i++) {
		const struct tensor *t = in_constant(s, i);

		if (!t)
			continue;
		if (!is_plain(t) || t->count > limit)
			return 0;
		work += t->count;
	}
	return work;
}

/* Products sum over a dimension for each element; the largest is an upper
 * bound whichever it is. */
static uint64_t
depth_of(const struct site *s)
{
	const struct tensor *t = in_constant(s, 0);
	int64_t depth = 1;

	if (op_get(s->n->op)->fusion != FUSE_ANCHOR || !t)
		return 1;
	for (uint32_t i = 0; i < t->rank; i++)
		if (t->dim[i] > depth)
			depth = t->dim[i];
	return (uint64_t)depth;
}

/* Elements an ordinary evaluation touches; 0 when over a limit. */
static uint64_t
work_of(const struct site *s)
{
	uint64_t work = input_work(s, s->pass->o->max_fold);
	const uint64_t depth = depth_of(s);
	size_t n, bytes;

	for (uint32_t i = 0; work && i < s->n->noutputs; i++) {
		const struct type *t = &s->out[i];

		if (!has_out(s, i) || !type_is_static(t))
			continue;
		if (dtype_bits(t->dtype) < 8
		    || !tensor_size(t->dtype, t->dim, t->rank, &n, &bytes)
		    || n > s->pass->o->max_fold)
			return 0;
		work += n * depth;
	}
	return work;
}

/* Elements of all outputs, which are static; UINT64_MAX when sizes overflow. */
static uint64_t
output_elements(const struct site *s)
{
	uint64_t all = 0;
	size_t n, bytes;

	for (uint32_t i = 0; i < s->n->noutputs; i++) {
		const struct type *t = &s->out[i];

		if (!has_out(s, i))
			continue;
		if (dtype_bits(t->dtype) < 8
		    || !tensor_size(t->dtype, t->dim, t->rank, &n, &bytes))
			return UINT64_MAX;
		all += n;
	}
	return all;
}

/* What a node does that makes no more elements than it reads and only moves
 * them is done at any size, within what the model may move in all. */
static bool
may_move(struct site *s, const struct op_rule *rule)
{
	uint64_t work = input_work(s, UINT64_MAX);

	if (rule->fold != FOLD_MOVE || work == 0 || output_elements(s) > work
	    || work > *s->pass->moves)
		return false;
	*s->pass->moves -= work;
	return true;
}

/* The same elements in another shape. */
static struct tensor
reshaped(const struct tensor *t, const struct type *to)
{
	if (t->kind == TENSOR_STRINGS)
		return tensor_strings(to->rank, to->dim, t->string);
	return tensor_view(t->dtype, to->rank, to->dim, t->data);
}

/* The same bytes in another shape: nothing is moved at all. */
static bool
fold_reshaped(struct site *s)
{
	const struct tensor *t = in_constant(s, 0);
	struct tensor *made;

	switch (s->n->op) {
	case OP_RESHAPE:
	case OP_FLATTEN:
	case OP_SQUEEZE:
	case OP_UNSQUEEZE:
	case OP_IDENTITY:
		break;
	default:
		return false;
	}
	if (!t || s->out[0].dtype != t->dtype || !type_is_static(&s->out[0])
	    || (t->kind != TENSOR_STRINGS
	        && (t->kind != TENSOR_VIEW || dtype_bits(t->dtype) < 8
	            || output_elements(s) != t->count)))
		return false;
	made = arena_new(s->g->arena, struct tensor, 1);
	*made = reshaped(t, &s->out[0]);
	if (made->count != t->count)
		return false;
	s->out_content[0] = made;
	return true;
}

/* The evaluator's result must be what inference said it would be. */
static bool
is_as_inferred(const struct tensor *t, const struct type *type)
{
	if (!is_plain(t) || t->dtype != type->dtype)
		return false;
	if (type->rank == RANK_UNKNOWN)
		return true;
	if (t->rank != type->rank)
		return false;
	for (uint32_t i = 0; i < t->rank; i++)
		if (type->dim[i] >= 0 && t->dim[i] != type->dim[i])
			return false;
	return true;
}

static const struct tensor *
keep(struct site *s, uint32_t i, const struct tensor *t)
{
	struct tensor *made;

	out_tensor(s, i, t->dtype, t->rank, dims_copy(s, t->dim, t->rank));
	if (t->kind == TENSOR_FILL)
		return make_fill(s, i, t->fill);
	made = arena_new(s->g->arena, struct tensor, 1);
	*made = tensor_view(t->dtype, t->rank, s->out[i].dim,
	    arena_copy(s->g->arena, t->data, t->bytes));
	return made;
}

static void
evaluate(struct site *s)
{
	uint32_t n = s->n->ninputs;
	struct arena temporary;
	const struct tensor **in;
	struct tensor *out;
	struct err ignored = {0};
	bool ok;

	arena_init(&temporary);
	in = arena_new(&temporary, const struct tensor *, n);
	out = arena_new(&temporary, struct tensor, s->n->noutputs);
	for (uint32_t i = 0; i < n; i++)
		in[i] = folding_input(s, i, &temporary);
	ok = s->pass->o->eval(s->g, s->n, in, out, &temporary, &ignored);
	for (uint32_t i = 0; ok && i < s->n->noutputs; i++)
		if (has_out(s, i) && !is_as_inferred(&out[i], &s->out[i]))
			ok = false;
	for (uint32_t i = 0; ok && i < s->n->noutputs; i++)
		if (has_out(s, i))
			s->out_content[i] = keep(s, i, &out[i]);
	arena_release(&temporary);
}

static bool
already_known(const struct site *s)
{
	for (uint32_t i = 0; i < s->n->noutputs; i++)
		if (has_out(s, i) && !s->out_content[i])
			return false;
	return true;
}

static void
fold_known(struct site *s, const struct op_rule *rule)
{
	uint64_t work;

	if (rule->fold == FOLD_MOVE && in_constant(s, 0)
	    && in_constant(s, 0)->kind == TENSOR_FILL && fold_moved_fill(s))
		return;
	if (fold_reshaped(s) || !s->pass->o->eval)
		return;
	if (rule->fold == FOLD_EACH && fold_each_fill(s))
		return;
	if (may_move(s, rule)) {
		evaluate(s);
		return;
	}
	work = work_of(s);
	if (work == 0 || work > *s->pass->budget)
		return;
	*s->pass->budget -= work;
	evaluate(s);
}

/* Does some element of constant input i equal x? */
static bool
has_integer(const struct site *s, uint32_t i, int64_t x)
{
	const struct tensor *t = in_content(s, i);
	size_t n;

	if (!t || !is_plain(t) || !dtype_is_integer(t->dtype))
		return false;
	n = t->kind == TENSOR_FILL && t->count ? 1 : t->count;
	for (size_t k = 0; k < n; k++)
		if (tensor_int(t, k) == x)
			return true;
	return false;
}

/* Is each element of a floating-point input one of the integer type's? */
static bool
fits_integer(const struct tensor *t, enum dtype to)
{
	const bool is_unsigned = to == DT_UINT8 || to == DT_UINT16
	    || to == DT_UINT32 || to == DT_UINT64;
	const double span = ldexp(1, (int)dtype_bits(to) - !is_unsigned);
	const double least = is_unsigned ? 0 : -span;
	const size_t n = t->kind == TENSOR_FILL && t->count ? 1 : t->count;

	for (size_t k = 0; k < n; k++) {
		double x = trunc(tensor_real(t, k));

		if (!(x >= least && x < span))
			return false;
	}
	return true;
}

/* What a language leaves undefined is not decided here: the node stays, and
 * whoever runs it decides. */
static bool
is_undefined(const struct site *s)
{
	const struct tensor *t = in_content(s, 0);

	switch (s->n->op) {
	case OP_CAST:
	case OP_CASTLIKE:
		return t && is_plain(t) && dtype_is_float(t->dtype)
		    && dtype_is_integer(s->out[0].dtype)
		    && !fits_integer(t, s->out[0].dtype);
	case OP_DIV:
	case OP_MOD: /* the least integer by -1 */
		return t && dtype_is_signed(t->dtype) && has_integer(s, 1, -1)
		    && has_integer(
		        s, 0, INT64_MIN >> (64 - dtype_bits(t->dtype)));
	default:
		return false;
	}
}

/* What is computed from made-up content is made up. */
static void
mark_made_up(struct site *s)
{
	bool any = false;

	for (uint32_t i = 0; i < s->n->ninputs; i++) {
		const struct tensor *t = in_constant(s, i);

		any = any || (t && t->made_up);
	}
	for (uint32_t i = 0; any && i < s->n->noutputs; i++) {
		struct tensor *made;

		if (!s->out_content[i] || s->out_content[i]->made_up)
			continue;
		made = arena_copy(s->g->arena, s->out_content[i], sizeof *made);
		made->made_up = true;
		s->out_content[i] = made;
	}
}

bool
fold_node(struct site *s, const struct op_rule *rule)
{
	if (rule->fold == FOLD_NO || !inputs_are_constant(s))
		return true;
	if ((s->n->op == OP_DIV || s->n->op == OP_MOD) && has_integer(s, 1, 0)
	    && !already_known(s))
		return fault(s, "integer division by zero");
	if (!already_known(s) && outputs_are_foldable(s, rule->fold)
	    && !is_undefined(s))
		fold_known(s, rule);
	mark_made_up(s);
	return true;
}
