/* Sequences and optionals. */
#include "targets/host/kernels.h"
#include "targets/host/stack.h"

static bool
give_sequence(struct call *c, const struct tensor_list *l)
{
	c->out[0] = (struct tensor){
	    .kind = TENSOR_SEQUENCE, .item = l->item, .nitems = l->n};
	return true;
}

static bool
is_sequence(const struct tensor *t, struct err *err)
{
	return t->kind == TENSOR_SEQUENCE
	    || err_set(err, ERR_INPUT, "the input is no sequence");
}

bool
sequenceempty_run(struct call *c, struct err *err)
{
	struct tensor_list l = {.n = 0};

	(void)err;
	return give_sequence(c, &l);
}

bool
sequenceconstruct_run(struct call *c, struct err *err)
{
	struct tensor_list l = {.n = 0};

	(void)err;
	for (uint32_t i = 0; i < c->node->ninputs; i++)
		tensor_list_add(&l, c->in[i], c->arena);
	return give_sequence(c, &l);
}

/* A position -n..n-1 (or n, where one may come after the last); default when
 * the input is left out. */
static bool
position(const struct call *c, uint32_t i, uint32_t n, bool behind,
    uint32_t *at, struct err *err)
{
	const struct tensor *t = call_in(c, i);
	int64_t p = behind ? n : (int64_t)n - 1;

	if (t && t->count != 1)
		return err_set(
		    err, ERR_INPUT, "a position of %zu elements", t->count);
	if (t)
		p = load_one_int(t, 0);
	if (p < 0)
		p += n;
	if (p < 0 || p >= (int64_t)n + behind)
		return err_set(err, ERR_INPUT,
		    "position %lld in a sequence of %u", (long long)p, n);
	*at = (uint32_t)p;
	return true;
}

bool
sequenceinsert_run(struct call *c, struct err *err)
{
	const struct tensor *s = c->in[0];
	struct tensor_list l = {.n = 0};
	uint32_t at;

	if (!is_sequence(s, err) || !position(c, 2, s->nitems, true, &at, err))
		return false;
	for (uint32_t i = 0; i <= s->nitems; i++) {
		if (i == at)
			tensor_list_add(&l, c->in[1], c->arena);
		if (i < s->nitems)
			tensor_list_add(&l, &s->item[i], c->arena);
	}
	return give_sequence(c, &l);
}

bool
sequenceerase_run(struct call *c, struct err *err)
{
	const struct tensor *s = c->in[0];
	struct tensor_list l = {.n = 0};
	uint32_t at;

	if (!is_sequence(s, err) || !position(c, 1, s->nitems, false, &at, err))
		return false;
	for (uint32_t i = 0; i < s->nitems; i++)
		if (i != at)
			tensor_list_add(&l, &s->item[i], c->arena);
	return give_sequence(c, &l);
}

bool
sequenceat_run(struct call *c, struct err *err)
{
	const struct tensor *s = c->in[0];
	struct shape shape;
	uint32_t at;

	if (!is_sequence(s, err) || !position(c, 1, s->nitems, false, &at, err))
		return false;
	shape = shape_of(&s->item[at]);
	return host_out_as(c, 0, &s->item[at], &shape, err);
}

static bool
give_number(struct call *c, enum dtype dtype, int64_t x, struct err *err)
{
	struct shape s = {.rank = 0};
	struct sink to;

	if (!host_out(c, 0, dtype, &s, &to, err))
		return false;
	store_int(&to, 0, 1, 1, &x);
	return true;
}

bool
sequencelength_run(struct call *c, struct err *err)
{
	return is_sequence(c->in[0], err)
	    && give_number(c, DT_INT64, c->in[0]->nitems, err);
}

bool
concatfromsequence_run(struct call *c, struct err *err)
{
	const struct tensor *s = c->in[0];

	if (!is_sequence(s, err))
		return false;
	if (s->nitems == 0)
		return err_set(err, ERR_INPUT, "an empty sequence");
	return join(c, 0, s->item, s->nitems, attr_int_or(c->node, "axis", 0),
	    attr_int_or(c->node, "new_axis", 0) != 0, err);
}

/* The parts given one by one; they must add up. */
static bool
parts_add_up(const int64_t *size, uint32_t n, int64_t dim)
{
	int64_t left = dim;

	for (uint32_t i = 0; i < n; i++) {
		if (size[i] < 0 || size[i] > left)
			return false;
		left -= size[i];
	}
	return left == 0;
}

/* Sizes of the parts: given one by one, or one for all but the last. */
static const int64_t *
part_sizes(struct call *c, int64_t dim, uint32_t *n, struct err *err)
{
	const struct tensor *split = call_in(c, 1);
	const int64_t *given = input_ints(c, 1, n);
	int64_t *size, each = 1, left = dim;

	if (split && split->rank > 0) {
		if (parts_add_up(given, *n, dim))
			return given;
		err_set(err, ERR_INPUT, "the parts do not add up");
		return NULL;
	}
	if (split)
		each = given[0];
	if (each < 1 || dim / each >= UINT32_MAX) {
		err_set(err, ERR_INPUT, "parts of %lld", (long long)each);
		return NULL;
	}
	*n = (uint32_t)(dim / each + (dim % each != 0));
	size = arena_new(c->scratch, int64_t, *n);
	for (uint32_t i = 0; i < *n; i++, left -= each)
		size[i] = left < each ? left : each;
	return size;
}

bool
splittosequence_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	bool keep = call_in(c, 1) || attr_int_or(c->node, "keepdims", 1) != 0;
	struct tensor_list l = {.n = 0};
	const int64_t *size;
	int64_t at = 0;
	uint32_t axis, n;

	if (!axis_of(attr_int_or(c->node, "axis", 0), x->rank, &axis, err))
		return false;
	size = part_sizes(c, x->dim[axis], &n, err);
	if (!size)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		struct tensor t = keep
		    ? tensor_cut(x, axis, at, size[i], c->scratch)
		    : tensor_pick(x, axis, at, c->scratch);

		tensor_list_add(&l, &t, c->arena);
		at += size[i];
	}
	return give_sequence(c, &l);
}

/* --- Optionals: what is inside, or NONE ---------------------------------- */

bool
optional_run(struct call *c, struct err *err)
{
	(void)err;
	if (call_in(c, 0))
		c->out[0] = tensor_copy(c->in[0], c->arena);
	else
		c->out[0] = (struct tensor){.kind = TENSOR_NONE};
	return true;
}

bool
optionalhaselement_run(struct call *c, struct err *err)
{
	const struct tensor *t = call_in(c, 0);

	return give_number(c, DT_BOOL, t && t->kind != TENSOR_NONE, err);
}

bool
optionalgetelement_run(struct call *c, struct err *err)
{
	struct shape s;

	if (c->in[0]->kind == TENSOR_NONE)
		return err_set(err, ERR_INPUT, "the optional is empty");
	if (c->in[0]->kind == TENSOR_SEQUENCE) {
		c->out[0] = tensor_copy(c->in[0], c->arena);
		return true;
	}
	s = shape_of(c->in[0]);
	return host_out_as(c, 0, c->in[0], &s, err);
}
