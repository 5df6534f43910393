/* What writers of idioms read of a match and write with. */
#include "targets/idiom_write.h"

#include <math.h>
#include <string.h>

value_id
caught(const struct idiom_writer *w, const char *name)
{
	return match_value(w->match, name);
}

const struct type *
caught_type(const struct idiom_writer *w, const char *name)
{
	value_id v = caught(w, name);

	return v == VALUE_NONE ? NULL : &graph_value(w->graph, v)->type;
}

const struct tensor *
caught_constant(const struct idiom_writer *w, const char *name)
{
	value_id v = caught(w, name);
	const struct tensor *t =
	    v == VALUE_NONE ? NULL : graph_value(w->graph, v)->constant;

	return t && tensor_is_numbers(t) && dtype_bits(t->dtype) >= 8
	        && !t->made_up
	    ? t
	    : NULL;
}

const struct node *
caught_node(const struct idiom_writer *w, const char *name)
{
	value_id v = caught(w, name);
	node_id n =
	    v == VALUE_NONE ? NODE_NONE : graph_value(w->graph, v)->producer;

	return n == NODE_NONE ? NULL : graph_node(w->graph, n);
}

bool
caught_number(const struct idiom_writer *w, const char *name, double *x)
{
	const struct tensor *t = caught_constant(w, name);

	if (!t || t->count != 1)
		return false;
	*x = tensor_real(t, 0);
	return isfinite(*x);
}

bool
all_are(const struct tensor *t, double x)
{
	const size_t n = t->kind == TENSOR_FILL && t->count ? 1 : t->count;

	for (size_t i = 0; i < n; i++)
		if (!(fabs(tensor_real(t, i) - x) <= 1e-6 * fabs(x)))
			return false;
	return n > 0;
}

bool
dims_are(const struct type *t, uint32_t rank, const int64_t *dim)
{
	return t->kind == TYPE_TENSOR && t->rank == rank
	    && (rank == 0 || memcmp(t->dim, dim, rank * sizeof *dim) == 0);
}

/* They are attributes before opset 11 and inputs since. */
static bool
bound_of(const struct idiom_writer *w, const struct node *n, uint32_t input,
    const char *name, double *x)
{
	const struct tensor *t;

	if (n->opset < 11) {
		*x = (double)attr_float_or(n, name, (float)*x);
		return true;
	}
	if (n->ninputs <= input || n->input[input] == VALUE_NONE)
		return true;
	t = graph_value(w->graph, n->input[input])->constant;
	if (!t || t->count != 1 || t->made_up || t->kind > TENSOR_FILL)
		return false;
	*x = tensor_real(t, 0);
	return true;
}

bool
clip_bounds(const struct idiom_writer *w, const struct node *n, double *low,
    double *high)
{
	*low = -(double)INFINITY;
	*high = (double)INFINITY;
	return bound_of(w, n, 1, "min", low) && bound_of(w, n, 2, "max", high);
}

void
write_input(struct idiom_writer *w, uint32_t slot, value_id v)
{
	while (w->ninputs <= slot)
		w->input[w->ninputs++] = VALUE_NONE;
	w->input[slot] = v;
}

static struct attr *
next_attr(struct idiom_writer *w, const char *name, enum attr_kind kind)
{
	struct attr *a = &w->attr[w->nattrs++];

	*a = (struct attr){.name = name, .kind = kind, .n = 1};
	return a;
}

void
write_int(struct idiom_writer *w, const char *name, int64_t x)
{
	next_attr(w, name, ATTR_INT)->ints =
	    (const int64_t *)arena_copy(w->arena, &x, sizeof x);
}

void
write_float(struct idiom_writer *w, const char *name, double x)
{
	const float f = (float)x;

	next_attr(w, name, ATTR_FLOAT)->floats =
	    (const float *)arena_copy(w->arena, &f, sizeof f);
}

void
write_text(struct idiom_writer *w, const char *name, const char *text)
{
	const struct string_view s = {text, strlen(text)};

	next_attr(w, name, ATTR_STRING)->strings =
	    (const struct string_view *)arena_copy(w->arena, &s, sizeof s);
}

value_id
write_constant(struct idiom_writer *w, struct tensor t)
{
	const struct tensor *kept =
	    (const struct tensor *)arena_copy(w->arena, &t, sizeof t);

	w->made = (struct value *)arena_grow(
	    w->arena, w->made, &w->made_cap, w->nmade + 1, sizeof *w->made);
	w->made[w->nmade] = (struct value){.name = "",
	    .type = tensor_type(kept),
	    .producer = NODE_NONE,
	    .constant = kept};
	return w->graph->nvalues + w->nmade++;
}

value_id
write_reshaped(
    struct idiom_writer *w, value_id v, uint32_t rank, const int64_t *dim)
{
	const struct value *old = graph_value(w->graph, v);
	struct tensor t = *old->constant;

	if (dims_are(&old->type, rank, dim))
		return v;
	t.rank = rank;
	t.dim = (const int64_t *)arena_copy(w->arena, dim, rank * sizeof *dim);
	return write_constant(w, t);
}

/* x as an element of the type. */
static void
put_element(enum dtype t, double x, uint8_t out[16])
{
	const float f = (float)x;
	const uint16_t half = t == DT_FLOAT16 ? f32_to_f16(f) : f32_to_bf16(f);

	if (t == DT_DOUBLE)
		memcpy(out, &x, sizeof x);
	else if (dtype_is_half(t))
		memcpy(out, &half, sizeof half);
	else
		memcpy(out, &f, sizeof f);
}

value_id
write_filled(struct idiom_writer *w, enum dtype t, uint32_t rank,
    const int64_t *dim, double x)
{
	uint8_t element[16] = {0};

	put_element(t, x, element);
	return write_constant(w,
	    tensor_fill(t, rank,
	        (const int64_t *)arena_copy(w->arena, dim, rank * sizeof *dim),
	        element));
}
