#include "costmodel/form.h"

#include <stdlib.h>
#include <string.h>

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
	HOW_PERM,
	HOW_ACTIVATIONS,
	HOW_IMPLIED,
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
#define PERM HOW_PERM, 0, 0.0f, ""
#define ACTIVATIONS HOW_ACTIVATIONS, 0, 0.0f, ""
#define IMPLIED HOW_IMPLIED, 0, 0.0f, ""
static const struct form_attr rows[] = {
#define ATTR(op, since, name, ...) {OP_##op, since, name, __VA_ARGS__},
#include "costmodel/attr.def"
#undef ATTR
};

static const struct {
	enum op op;
	uint32_t since, slot;
	const char *name;
} given[] = {
#define GIVEN(op, since, slot, name) {OP_##op, since, slot, name},
#include "costmodel/given.def"
#undef GIVEN
};

static const struct {
	enum op op;
	uint32_t version;
} meanings[] = {
#define MEANING(op, version) {OP_##op, version},
#include "costmodel/meaning.def"
#undef MEANING
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

struct forming {
	const struct graph *g;
	const struct node *n;
	struct arena *a;
	struct attr *attr; /* [nattrs] */
	uint32_t nattrs, cap;
	uint32_t dropped;
};

/* The latest version up to the model's at which the operator's meaning
 * changed; the model's own for an operator nobody vouches for. */
static uint32_t
meaning_of(const struct node *n)
{
	uint32_t version = 0;
	bool known = false;

	if (n->op == OP_CUSTOM)
		return n->opset;
	for (size_t i = 0; i < COUNT(meanings); i++) {
		if (meanings[i].op != n->op)
			continue;
		known = true;
		if (meanings[i].version <= n->opset
		    && meanings[i].version > version)
			version = meanings[i].version;
	}
	for (size_t i = 0; i < COUNT(rows) && !known; i++)
		known = rows[i].op == n->op;
	return known ? version : n->opset;
}

/* ---- the list ---- */

static struct attr *
find(struct forming *f, const char *name)
{
	for (uint32_t i = 0; i < f->nattrs; i++)
		if (strcmp(f->attr[i].name, name) == 0)
			return &f->attr[i];
	return NULL;
}

static struct attr *
add(struct forming *f, const char *name, enum attr_kind kind, uint32_t n)
{
	struct attr *a;

	f->attr =
	    arena_grow(f->a, f->attr, &f->cap, f->nattrs + 1, sizeof *f->attr);
	a = &f->attr[f->nattrs++];
	*a = (struct attr){.name = name, .kind = kind, .n = n};
	return a;
}

static void
drop(struct forming *f, const char *name)
{
	struct attr *a = find(f, name);

	if (a)
		*a = f->attr[--f->nattrs];
}

static void
set_ints(struct forming *f, const char *name, const int64_t *x, uint32_t n)
{
	drop(f, name);
	add(f, name, ATTR_INTS, n)->ints = arena_copy(f->a, x, n * sizeof *x);
}

/* ---- parameters given as inputs ---- */

static const struct tensor *
constant_in(const struct forming *f, uint32_t slot)
{
	const struct value *v =
	    slot < f->n->ninputs ? node_in(f->g, f->n, slot) : NULL;

	return v ? v->constant : NULL;
}

static bool
has_numbers(const struct tensor *t)
{
	return t->kind == TENSOR_VIEW || t->kind == TENSOR_FILL;
}

/* TUNING: parameters are shorter; longer content stays an input. */
#define GIVEN_MAX 64

static void
take_given(struct forming *f, uint32_t slot, const char *name)
{
	const struct tensor *t = constant_in(f, slot);
	uint32_t n = t ? (uint32_t)t->count : 0;

	if (!t || !has_numbers(t) || t->count > GIVEN_MAX)
		return;
	f->dropped |= UINT32_C(1) << slot;
	if (n == 0)
		return; /* an empty one stands for none */
	drop(f, name);
	if (t->dtype == DT_FLOAT) {
		float *x = arena_new(f->a, float, n);

		for (uint32_t i = 0; i < n; i++)
			x[i] = (float)tensor_real(t, i);
		add(f, name, t->rank ? ATTR_FLOATS : ATTR_FLOAT, n)->floats = x;
	} else if (t->dtype == DT_INT64 || t->dtype == DT_INT32) {
		int64_t *x = arena_new(f->a, int64_t, n);

		for (uint32_t i = 0; i < n; i++)
			x[i] = tensor_int(t, i);
		add(f, name, t->rank ? ATTR_INTS : ATTR_INT, n)->ints = x;
	} else {
		f->dropped &= ~(UINT32_C(1) << slot);
	}
}

static void
take_all_given(struct forming *f)
{
	for (size_t i = 0; i < COUNT(given); i++)
		if (given[i].op == f->n->op && given[i].since <= f->n->opset)
			take_given(f, given[i].slot, given[i].name);
}

/* ---- axes ---- */

static uint32_t
rank_of(const struct forming *f)
{
	const struct value *v = f->n->ninputs ? node_in(f->g, f->n, 0) : NULL;

	return v && v->type.kind == TYPE_TENSOR && v->type.rank != RANK_UNKNOWN
	    ? v->type.rank
	    : 0;
}

/* Where the result has more dimensions, axes are of those. */
static void
settle_axis(struct forming *f, struct attr *a)
{
	uint32_t rank = rank_of(f);
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
	for (uint32_t i = 0; i < rank_of(f) && i < AXES_MAX; i++)
		if (reduced[i])
			axis[n++] = i;
	drop(f, "noop_with_empty_axes");
	set_ints(f, name, axis, n);
	if (f->n->ninputs > 1)
		f->dropped |= UINT32_C(1) << 1;
}

/* ---- defaults ---- */

/* The row that holds for an attribute in the model's opset, or NULL. */
static const struct form_attr *
row_of(const struct node *n, size_t at)
{
	const struct form_attr *r = &rows[at], *best = NULL;

	if (at > 0 && rows[at - 1].op == r->op
	    && strcmp(rows[at - 1].name, r->name) == 0)
		return NULL; /* the first row of a name speaks for all */
	for (; at < COUNT(rows) && rows[at].op == n->op
	     && strcmp(rows[at].name, r->name) == 0;
	     at++)
		if (rows[at].since <= n->opset)
			best = &rows[at];
	return best;
}

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
	int64_t list[2 * RANK_MAX];
	uint32_t n = spatial_of(rank_of(f));

	if (r->how == HOW_PADS)
		n *= 2;
	for (uint32_t i = 0; i < n; i++)
		list[i] = r->how == HOW_ALL ? r->i : 0;
	set_ints(f, r->name, list, n);
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
		set_ints(f, r->name, w->type.dim + 2, n);
}

static void
set_default_perm(struct forming *f, const struct form_attr *r)
{
	int64_t perm[RANK_MAX];
	uint32_t n = rank_of(f);

	for (uint32_t i = 0; i < n && i < RANK_MAX; i++)
		perm[i] = (int64_t)n - 1 - i;
	if (n && n <= RANK_MAX)
		set_ints(f, r->name, perm, n);
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
	add(f, r->name, ATTR_STRINGS, n * ways)->strings = list;
}

static void
set_default(struct forming *f, const struct form_attr *r)
{
	struct string_view *s;

	switch (r->how) {
	case HOW_INT:
	case HOW_AXIS:
		add(f, r->name, ATTR_INT, 1)->ints = &r->i;
		break;
	case HOW_FLOAT:
		add(f, r->name, ATTR_FLOAT, 1)->floats = &r->f;
		break;
	case HOW_STRING:
		s = arena_new(f->a, struct string_view, 1);
		*s = (struct string_view){r->s, strlen(r->s)};
		add(f, r->name, ATTR_STRING, 1)->strings = s;
		break;
	case HOW_ALL:
	case HOW_PADS:
		set_default_list(f, r);
		break;
	case HOW_KERNEL:
		set_default_kernel(f, r);
		break;
	case HOW_PERM:
		set_default_perm(f, r);
		break;
	case HOW_ACTIVATIONS:
		set_default_activations(f, r);
		break;
	case HOW_AXES:
	case HOW_IMPLIED:
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

static void
settle_row(struct forming *f, const struct form_attr *r)
{
	struct attr *a;

	if (r->how == HOW_IMPLIED) {
		if (outputs_are_static(f))
			drop(f, r->name);
		return;
	}
	if (r->how == HOW_AXES) {
		settle_axes(f, r->name);
		return;
	}
	if (!find(f, r->name))
		set_default(f, r);
	a = find(f, r->name);
	if (a && r->how == HOW_AXIS
	    && (a->kind == ATTR_INT || a->kind == ATTR_INTS))
		settle_axis(f, a);
}

/* A region of interest counts in one mode only. */
static void
settle_region(struct forming *f)
{
	const struct attr *mode = find(f, "coordinate_transformation_mode");
	static const char crops[] = "tf_crop_and_resize";

	if (f->n->op != OP_RESIZE || f->n->opset < 11 || !mode
	    || mode->kind != ATTR_STRING
	    || (mode->strings[0].n == sizeof crops - 1
	        && memcmp(mode->strings[0].s, crops, sizeof crops - 1) == 0))
		return;
	drop(f, "roi");
	f->dropped |= UINT32_C(1) << 1;
}

/* ---- padding ---- */

static int64_t
int_at(struct forming *f, const char *name, uint32_t i, int64_t otherwise)
{
	const struct attr *a = find(f, name);

	return a && a->kind == ATTR_INTS && i < a->n ? a->ints[i] : otherwise;
}

/* SOURCE: the schema of Conv: output = ceil(input / stride); of an odd number
 * SAME_UPPER puts the larger half behind. */
static bool
pads_of(struct forming *f, bool same, bool upper, int64_t *pads, uint32_t n)
{
	const struct value *x = node_in(f->g, f->n, 0);

	for (uint32_t i = 0; i < n; i++) {
		int64_t in = x->type.dim[2 + i];
		int64_t stride = int_at(f, "strides", i, 1);
		int64_t reach = (int_at(f, "kernel_shape", i, 0) - 1)
		        * int_at(f, "dilations", i, 1)
		    + 1;
		int64_t all;

		if (in <= 0 || stride <= 0 || reach <= 0 || in > INT32_MAX
		    || stride > INT32_MAX || reach > INT32_MAX)
			return false;
		all = ((in + stride - 1) / stride - 1) * stride + reach - in;
		all = same && all > 0 ? all : 0;
		pads[i] = upper ? all / 2 : all - all / 2;
		pads[n + i] = all - pads[i];
	}
	return true;
}

/* Padding by a word is the padding it comes to. */
static void
settle_padding(struct forming *f)
{
	struct attr *word = find(f, "auto_pad");
	uint32_t n = spatial_of(rank_of(f));
	static const struct string_view notset[] = {{"NOTSET", 6}};
	struct string_view s;
	int64_t pads[2 * RANK_MAX];
	bool same;

	if (!word || word->kind != ATTR_STRING || !find(f, "kernel_shape")
	    || f->n->op == OP_CONVTRANSPOSE)
		return;
	s = word->strings[0];
	same = s.n == 10 && memcmp(s.s, "SAME_", 5) == 0;
	if ((!same && !(s.n == 5 && memcmp(s.s, "VALID", 5) == 0))
	    || !pads_of(f, same, same && s.s[5] == 'U', pads, n))
		return;
	word->strings = notset;
	set_ints(f, "pads", pads, 2 * n);
}

/* ---- all of it ---- */

static int
compare_attrs(const void *a, const void *b)
{
	const struct attr *x = a, *y = b;

	return strcmp(x->name, y->name);
}

struct form
node_form(const struct graph *g, const struct node *n, struct arena *a)
{
	struct forming f = {.g = g, .n = n, .a = a};

	for (uint32_t i = 0; i < n->nattrs; i++)
		*add(&f, n->attr[i].name, ATTR_NONE, 0) = n->attr[i];
	if (n->op != OP_CUSTOM) {
		take_all_given(&f);
		for (size_t i = 0; i < COUNT(rows); i++) {
			const struct form_attr *r =
			    rows[i].op == n->op ? row_of(n, i) : NULL;

			if (r)
				settle_row(&f, r);
		}
		settle_padding(&f);
		settle_region(&f);
	}
	if (f.nattrs > 1)
		qsort(f.attr, f.nattrs, sizeof *f.attr, compare_attrs);
	return (struct form){f.attr, f.nattrs, f.dropped, meaning_of(n)};
}
