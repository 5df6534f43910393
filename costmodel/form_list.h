/* The parameters of a form (form.h) while it is made: a list of attributes by
 * name, unsorted, in an arena. */
#ifndef COSTMODEL_FORM_LIST_H
#define COSTMODEL_FORM_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/graph.h"

#define FORM_SLOTS 32u /* inputs that can be left out */

struct forming {
	const struct graph *g;
	const struct node *n;
	struct arena *a;
	struct attr *attr; /* [nattrs] */
	uint32_t nattrs, cap;
	uint32_t dropped; /* mask of inputs that are parameters */
};

/* NULL where there is none. */
struct attr *form_find(struct forming *f, const char *name);

/* A new one of n values, which the caller sets. */
struct attr *form_add(
    struct forming *f, const char *name, enum attr_kind kind, uint32_t n);
void form_drop(struct forming *f, const char *name);

/* Replace it by these integers, which are copied. */
void form_set_ints(
    struct forming *f, const char *name, const int64_t *x, uint32_t n);

/* The list of integers of that name; NULL where it is none. */
const int64_t *form_ints(struct forming *f, const char *name, uint32_t *n);

/* An input is a parameter now, or says nothing. */
void form_drop_input(struct forming *f, uint32_t slot);
bool form_has_input(const struct forming *f, uint32_t slot);

/* The tensor of a constant input, or NULL. */
const struct tensor *form_constant(const struct forming *f, uint32_t slot);

/* Of input 0; 0 where it is not known. */
uint32_t form_rank(const struct forming *f);

/* The type of input 0 or output 0 with all dimensions known, or NULL. */
const struct type *form_static_in(const struct forming *f);
const struct type *form_static_out(const struct forming *f);

#endif
