#include "costmodel/form.h"

#include <assert.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/form_settle.h"
#include "targets/axes.h"

enum how {
	HOW_INT,
	HOW_FLOAT,
	HOW_STRING,
	HOW_ALL,
	HOW_PADS,
	HOW_KERNEL,
	HOW_AXIS,
	HOW_AXES,
	HOW_CHANNELS,
	HOW_EACH_AXIS,
	HOW_PERM,
	HOW_ZEROS,
	HOW_ACTIVATIONS,
	HOW_IMPLIED,
	HOW_NONE,
};

struct form_attr {
	enum op op;
	uint32_t since;
	const char *name;
	enum how how;
	int64_t i;
	float f;
	const char *s;
};

#define INT(x) HOW_INT, (x), 0.0f, ""
#define FLOAT(x) HOW_FLOAT, 0, (x), ""
#define STRING(x) HOW_STRING, 0, 0.0f, (x)
#define ALL(x) HOW_ALL, (x), 0.0f, ""
#define PADS HOW_PADS, 0, 0.0f, ""
#define KERNEL HOW_KERNEL, 0, 0.0f, ""
#define AXIS(x) HOW_AXIS, (x), 0.0f, ""
#define AXES HOW_AXES, 0, 0.0f, ""
#define CHANNELS HOW_CHANNELS, 0, 0.0f, ""
#define EACH_AXIS HOW_EACH_AXIS, 0, 0.0f, ""
#define PERM HOW_PERM, 0, 0.0f, ""
#define ZEROS HOW_ZEROS, 0, 0.0f, ""
#define ACTIVATIONS HOW_ACTIVATIONS, 0, 0.0f, ""
#define IMPLIED HOW_IMPLIED, 0, 0.0f, ""
#define NONE HOW_NONE, 0, 0.0f, ""
static const struct form_attr rows[] = {
#define DEFAULT(op, since, name, ...) {OP_##op, since, name, __VA_ARGS__},
#include "ir/schema.def"
};

static const struct {
	enum op op;
	uint32_t since, slot;
	const char *name;
} given[] = {
#define GIVEN(op, since, slot, name) {OP_##op, since, slot, name},
#include "ir/schema.def"
};

static const struct {
	enum op op;
	uint32_t version;
} meanings[] = {
#define MEANING(op, version, before) {OP_##op, version},
#include "ir/schema.def"
#include "ir/base/verify.h"
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* The latest version up to the model's at which the operator's meaning
 * changed, or 1; the model's own for an operator nobody vouches for. */
static uint32_t
meaning_of(const struct forming *f)
{
	const struct node *n = f->n;
	uint32_t version = 1;

	if (n->op == OP_CUSTOM || n->domain[0])
		return n->opset;
	for (size_t i = 0; i < COUNT(meanings); i++)
		if (meanings[i].op == n->op
		    && (meanings[i].version <= n->opset
		        || (meanings[i].version == 13 && form_is_one_axis(f))))
			version = meanings[i].version;
	return version;
}

/* The row that holds for an attribute in the model's opset, of those that begin
 * with rows[at]. */
static const struct form_attr *
row_in_force(const struct node *n, size_t at)
{
	const struct form_attr *first = &rows[at], *best = NULL;

	for (; at < COUNT(rows) && rows[at].op == first->op
	     && strcmp(rows[at].name, first->name) == 0;
	     at++)
		if (rows[at].since <= n->opset)
			best = &rows[at];
	return best;
}

static const struct form_attr *
row_of(const struct node *n, const char *name)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].op == n->op && strcmp(rows[i].name, name) == 0)
			return row_in_force(n, i);
	return NULL;
}

/* ---- parameters given as inputs ---- */

/* TUNING: parameters are shorter; longer content stays an input. */
#define GIVEN_MAX 64

/* As the one number an attribute of that name is. */
static bool
take_number(struct forming *f, const struct tensor *t, const char *name,
    enum attr_kind kind)
{
	float *x = arena_new(f->a, float, 1);
	int64_t *i = arena_new(f->a, int64_t, 1);
	double real = tensor_real(t, 0);

	if (kind == ATTR_FLOAT) {
		*x = (float)real;
		if ((double)*x != real)
			return false;
		form_drop(f, name);
		form_add(f, name, kind, 1)->floats = x;
		return true;
	}
	if (dtype_is_float(t->dtype))
		return false;
	*i = t->dtype == DT_BOOL ? real != 0 : tensor_int(t, 0);
	form_drop(f, name);
	form_add(f, name, kind, 1)->ints = i;
	return true;
}

static bool
take_list(struct forming *f, const struct tensor *t, const char *name)
{
	uint32_t n = (uint32_t)t->count;

	if (t->dtype == DT_FLOAT) {
		float *x = arena_new(f->a, float, n);

		for (uint32_t i = 0; i < n; i++)
			x[i] = (float)tensor_real(t, i);
		form_drop(f, name);
		form_add(f, name, ATTR_FLOATS, n)->floats = x;
		return true;
	}
	if (t->dtype == DT_INT64 || t->dtype == DT_INT32) {
		int64_t *x = arena_new(f->a, int64_t, n);

		for (uint32_t i = 0; i < n; i++)
			x[i] = tensor_int(t, i);
		form_set_ints(f, name, x, n);
		return true;
	}
	return false;
}

static bool
take(struct forming *f, const struct tensor *t, const char *name)
{
	const struct form_attr *r = row_of(f->n, name);

	if (t->count == 1 && r && r->how == HOW_FLOAT)
		return take_number(f, t, name, ATTR_FLOAT);
	if (t->count == 1 && r && (r->how == HOW_INT || r->how == HOW_AXIS))
		return take_number(f, t, name, ATTR_INT);
	return take_list(f, t, name);
}

/* An empty one stands for none. */
static void
take_given(struct forming *f)
{
	for (size_t i = 0; i < COUNT(given); i++) {
		const struct tensor *t;

		if (given[i].op != f->n->op || given[i].since > f->n->opset)
			continue;
		t = form_constant(f, given[i].slot);
		if (t && t->count <= GIVEN_MAX
		    && (t->count == 0 || take(f, t, given[i].name)))
			form_drop_input(f, given[i].slot);
	}
}

/* ---- axes ---- */

/* Where the result has more dimensions, axes are of those. */
static void
settle_axis(struct forming *f, struct attr *a)
{
	uint32_t rank = form_rank(f);
	int64_t *x = arena_copy(f->a, a->ints, a->n * sizeof *x);

	for (uint32_t i = 0; i < a->n; i++)
		if (x[i] < 0 && x[i] >= -(int64_t)rank)
			x[i] += rank;
	a->ints = x;
}

/* The axes of a reduction, spelled out; empty where nothing is reduced. */
static void
settle_axes(struct forming *f, const char *name)
{
	bool reduced[AXES_MAX];
	int64_t axis[AXES_MAX];
	uint32_t n = 0;

	if (!axes_read(reduced, f->g, f->n))
		return;
	for (uint32_t i = 0; i < form_rank(f) && i < AXES_MAX; i++)
		if (reduced[i])
			axis[n++] = i;
	form_drop(f, "noop_with_empty_axes");
	form_set_ints(f, name, axis, n);
	if (f->n->ninputs > 1)
		form_drop_input(f, 1);
}

/* ---- defaults ---- */

static const struct value *
weights_of(const struct forming *f)
{
	uint32_t slot = f->n->op == OP_QLINEARCONV ? 3 : 1;

	return slot < f->n->ninputs ? node_in(f->g, f->n, slot) : NULL;
}

static uint32_t
spatial_of(uint32_t rank)
{
	return rank < 2 || rank > RANK_MAX ? 0 : rank - 2;
}

static void
set_default_list(struct forming *f, const struct form_attr *r)
{
	const struct type *image =
	    f->n->op == OP_COL2IM ? form_static_out(f) : NULL;
	uint32_t n = spatial_of(image ? image->rank : form_rank(f));
	int64_t list[2 * RANK_MAX];

	if (r->how == HOW_PADS)
		n *= 2;
	for (uint32_t i = 0; i < n; i++)
		list[i] = r->how == HOW_ALL ? r->i : 0;
	form_set_ints(f, r->name, list, n);
}

static void
set_default_kernel(struct forming *f, const struct form_attr *r)
{
	const struct value *w = weights_of(f);
	uint32_t n =
	    w && w->type.kind == TYPE_TENSOR && w->type.rank != RANK_UNKNOWN
	    ? spatial_of(w->type.rank)
	    : 0;

	if (n)
		form_set_ints(f, r->name, w->type.dim + 2, n);
}

/* All axes, forwards or backwards. */
static void
set_default_order(struct forming *f, const struct form_attr *r)
{
	int64_t order[RANK_MAX];
	uint32_t n = form_rank(f);

	for (uint32_t i = 0; i < n && i < RANK_MAX; i++)
		order[i] = r->how == HOW_PERM ? (int64_t)n - 1 - i : (int64_t)i;
	if (n && n <= RANK_MAX)
		form_set_ints(f, r->name, order, n);
}

static void
set_default_activations(struct forming *f, const struct form_attr *r)
{
	static const struct string_view of[] = {
	    {"Sigmoid", 7}, {"Tanh", 4}, {"Tanh", 4}};
	uint32_t first = f->n->op == OP_RNN,
	         n = f->n->op == OP_LSTM ? 3
	    : f->n->op == OP_GRU         ? 2
	                                 : 1;
	struct string_view way = attr_str_or(f->n, "direction", "forward");
	uint32_t ways = way.n == 13 ? 2 : 1; /* "bidirectional" */
	struct string_view *list =
	    arena_new(f->a, struct string_view, (size_t)n * ways);

	for (uint32_t i = 0; i < n * ways; i++)
		list[i] = of[first + i % n];
	form_add(f, r->name, ATTR_STRINGS, n * ways)->strings = list;
}

static void
set_default(struct forming *f, const struct form_attr *r)
{
	static const int64_t channels[] = {0, 2, 3};
	struct string_view *s;

	switch (r->how) {
	case HOW_INT:
	case HOW_AXIS:
		form_add(f, r->name, ATTR_INT, 1)->ints = &r->i;
		break;
	case HOW_FLOAT:
		form_add(f, r->name, ATTR_FLOAT, 1)->floats = &r->f;
		break;
	case HOW_STRING:
		s = arena_new(f->a, struct string_view, 1);
		*s = (struct string_view){r->s, strlen(r->s)};
		form_add(f, r->name, ATTR_STRING, 1)->strings = s;
		break;
	case HOW_ALL:
	case HOW_PADS:
		set_default_list(f, r);
		break;
	case HOW_KERNEL:
		set_default_kernel(f, r);
		break;
	case HOW_CHANNELS:
		form_set_ints(f, r->name, channels, 3);
		break;
	case HOW_EACH_AXIS:
	case HOW_PERM:
		set_default_order(f, r);
		break;
	case HOW_ACTIVATIONS:
		set_default_activations(f, r);
		break;
	case HOW_AXES:
	case HOW_ZEROS:
	case HOW_IMPLIED:
	case HOW_NONE:
		break;
	}
}

static bool
outputs_are_static(const struct forming *f)
{
	for (uint32_t i = 0; i < f->n->noutputs; i++) {
		const struct value *v = node_out(f->g, f->n, i);

		if (v
		    && (v->type.kind != TYPE_TENSOR
		        || v->type.rank == RANK_UNKNOWN
		        || !type_is_static(&v->type)))
			return false;
	}
	return true;
}

static bool
is_zeros(const struct attr *a)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (a->ints[i] != 0)
			return false;
	return true;
}

static void
settle_row(struct forming *f, const struct form_attr *r)
{
	struct attr *a;

	if (r->how == HOW_IMPLIED) {
		if (outputs_are_static(f))
			form_drop(f, r->name);
		return;
	}
	if (r->how == HOW_AXES) {
		settle_axes(f, r->name);
		return;
	}
	if (!form_find(f, r->name))
		set_default(f, r);
	a = form_find(f, r->name);
	if (!a || (a->kind != ATTR_INT && a->kind != ATTR_INTS))
		return;
	if (r->how == HOW_ZEROS && is_zeros(a))
		form_drop(f, r->name);
	else if (r->how == HOW_AXIS || r->how == HOW_CHANNELS
	    || r->how == HOW_EACH_AXIS)
		settle_axis(f, a);
}

/* The first row of a name speaks for all. */
static void
settle_rows(struct forming *f)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct form_attr *r;

		if (rows[i].op != f->n->op
		    || (i > 0 && rows[i - 1].op == rows[i].op
		        && strcmp(rows[i - 1].name, rows[i].name) == 0))
			continue;
		r = row_in_force(f->n, i);
		if (r)
			settle_row(f, r);
	}
}

/* ---- all of it ---- */

static int
compare_attrs(const void *a, const void *b)
{
	const struct attr *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* (F1) Parameters are sorted; (F2) inputs that can be dropped fit the mask. */
static void
form_verify(const struct form *f)
{
	for (uint32_t i = 1; i < f->nattrs; i++)
		assert(strcmp(f->attr[i - 1].name, f->attr[i].name) <= 0);
	assert(f->nattrs == 0 || f->attr);
}

struct form
node_form(const struct graph *g, const struct node *n, struct arena *a)
{
	struct forming f = {.g = g, .n = n, .a = a};
	struct form form;

	for (uint32_t i = 0; i < n->nattrs; i++)
		*form_add(&f, n->attr[i].name, ATTR_NONE, 0) = n->attr[i];
	if (n->op != OP_CUSTOM) {
		take_given(&f);
		settle_rows(&f);
		form_settle(&f);
	}
	if (f.nattrs > 1)
		qsort(f.attr, f.nattrs, sizeof *f.attr, compare_attrs);
	form = (struct form){f.attr, f.nattrs, f.dropped, meaning_of(&f)};
	VERIFY(form_verify(&form));
	return form;
}
