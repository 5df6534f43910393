#include "costmodel/form_list.h"

#include <assert.h>
#include <string.h>

struct attr *
form_find(struct forming *f, const char *name)
{
	for (uint32_t i = 0; i < f->nattrs; i++)
		if (strcmp(f->attr[i].name, name) == 0)
			return &f->attr[i];
	return NULL;
}

struct attr *
form_add(struct forming *f, const char *name, enum attr_kind kind, uint32_t n)
{
	struct attr *a;

	f->attr =
	    arena_grow(f->a, f->attr, &f->cap, f->nattrs + 1, sizeof *f->attr);
	a = &f->attr[f->nattrs++];
	*a = (struct attr){.name = name, .kind = kind, .n = n};
	return a;
}

void
form_drop(struct forming *f, const char *name)
{
	struct attr *a = form_find(f, name);

	if (a)
		*a = f->attr[--f->nattrs];
}

void
form_set_ints(struct forming *f, const char *name, const int64_t *x, uint32_t n)
{
	form_drop(f, name);
	form_add(f, name, ATTR_INTS, n)->ints =
	    arena_copy(f->a, x, n * sizeof *x);
}

const int64_t *
form_ints(struct forming *f, const char *name, uint32_t *n)
{
	const struct attr *a = form_find(f, name);

	*n = 0;
	if (!a || a->kind != ATTR_INTS)
		return NULL;
	*n = a->n;
	return a->ints;
}

void
form_drop_input(struct forming *f, uint32_t slot)
{
	assert(slot < FORM_SLOTS); /* (F2) */
	f->dropped |= UINT32_C(1) << slot;
}

bool
form_has_input(const struct forming *f, uint32_t slot)
{
	return slot < f->n->ninputs && f->n->input[slot] != VALUE_NONE
	    && (slot >= FORM_SLOTS || !(f->dropped >> slot & 1));
}

const struct tensor *
form_constant(const struct forming *f, uint32_t slot)
{
	const struct value *v =
	    slot < f->n->ninputs ? node_in(f->g, f->n, slot) : NULL;
	const struct tensor *t = v ? v->constant : NULL;

	return t && (t->kind == TENSOR_VIEW || t->kind == TENSOR_FILL) ? t
	                                                               : NULL;
}

static const struct type *
static_type(const struct value *v)
{
	return v && v->type.kind == TYPE_TENSOR && v->type.rank != RANK_UNKNOWN
	        && type_is_static(&v->type)
	    ? &v->type
	    : NULL;
}

const struct type *
form_static_in(const struct forming *f)
{
	return f->n->ninputs ? static_type(node_in(f->g, f->n, 0)) : NULL;
}

const struct type *
form_static_out(const struct forming *f)
{
	return f->n->noutputs ? static_type(node_out(f->g, f->n, 0)) : NULL;
}

uint32_t
form_rank(const struct forming *f)
{
	const struct value *v = f->n->ninputs ? node_in(f->g, f->n, 0) : NULL;

	return v && v->type.kind == TYPE_TENSOR && v->type.rank != RANK_UNKNOWN
	    ? v->type.rank
	    : 0;
}
