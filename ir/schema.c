#include "ir/schema.h"

#include <assert.h>
#include <string.h>

struct version_row {
	const char *type;
	uint32_t since;
	struct arity arity;
};

struct attr_row {
	const char *type, *name;
	enum attr_kind kind;
	uint32_t first, last;
	bool required;
};

static const struct version_row version[] = {
#define VERSION(type, since, ...) {type, since, {__VA_ARGS__}},
#include "ir/schema.def"
};

static const struct {
	const char *type;
	uint32_t since;
} deprecated[] = {
#define DEPRECATED(type, since) {type, since},
#include "ir/schema.def"
};

static const struct attr_row attribute[] = {
#define ATTR(type, name, kind, first, last, required) \
	{type, name, ATTR_##kind, first, last, required},
#include "ir/schema.def"
};

#define COUNT(a) ((uint32_t)(sizeof(a) / sizeof(a)[0]))

/* Tables are sorted by operator type: the first row of one. */
static const struct version_row *
first_version(enum op op)
{
	const char *type = op_get(op)->type;
	uint32_t low = 0, high = COUNT(version);

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (strcmp(version[mid].type, type) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	assert(low < COUNT(version) && strcmp(version[low].type, type) == 0);
	return &version[low];
}

struct arity
schema_arity(enum op op, uint32_t opset)
{
	const struct version_row *row = first_version(op);
	const struct version_row *end = version + COUNT(version);

	while (row + 1 < end && strcmp(row[1].type, row->type) == 0
	    && row[1].since <= opset)
		row++;
	return row->arity;
}

uint32_t
schema_since(enum op op)
{
	return first_version(op)->since;
}

uint32_t
schema_deprecated(enum op op)
{
	for (uint32_t i = 0; i < COUNT(deprecated); i++)
		if (strcmp(deprecated[i].type, op_get(op)->type) == 0)
			return deprecated[i].since;
	return UINT32_MAX;
}

/* Rows of an operator: [*from, the value returned). */
static uint32_t
attr_rows(enum op op, uint32_t *from)
{
	const char *type = op_get(op)->type;
	uint32_t low = 0, high = COUNT(attribute);

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (strcmp(attribute[mid].type, type) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	*from = low;
	while (low < COUNT(attribute) && strcmp(attribute[low].type, type) == 0)
		low++;
	return low;
}

static bool
in_force(const struct attr_row *row, uint32_t opset)
{
	return row->first <= opset && (row->last == 0 || opset <= row->last);
}

enum attr_fit
schema_attr(
    enum op op, uint32_t opset, const struct attr *a, enum attr_kind *kind)
{
	enum attr_fit fit = ATTR_UNKNOWN;
	uint32_t i, end = attr_rows(op, &i);

	for (; i < end; i++) {
		const struct attr_row *row = &attribute[i];

		if (strcmp(row->name, a->name) != 0)
			continue;
		if (row->kind != a->kind) {
			if (fit == ATTR_UNKNOWN) {
				fit = ATTR_MISTYPED;
				*kind = row->kind;
			}
			continue;
		}
		if (in_force(row, opset))
			return ATTR_FITS;
		fit = row->first > opset ? ATTR_LATER : ATTR_GONE;
	}
	return fit;
}

const char *
schema_missing(const struct node *n)
{
	uint32_t i, end = attr_rows(n->op, &i);

	for (; i < end; i++)
		if (attribute[i].required && in_force(&attribute[i], n->opset)
		    && !node_attr(n, attribute[i].name))
			return attribute[i].name;
	return NULL;
}

/* ---- from one opset to another ---- */

static const struct {
	enum op op;
	uint32_t version;
} meaning[] = {
#define MEANING(op, version, before) {OP_##op, version},
#include "ir/schema.def"
};

static const struct {
	enum op op;
	uint32_t since;
	const char *name;
} otherwise[] = {
#define DEFAULT(op, since, name, ...) {OP_##op, since, name},
#include "ir/schema.def"
};

static const struct {
	enum op op;
	uint32_t slot;
	const char *name;
} given[] = {
#define GIVEN(op, since, slot, name) {OP_##op, slot, name},
#include "ir/schema.def"
};

const char *
schema_given(enum op op, uint32_t i)
{
	for (uint32_t k = 0; k < COUNT(given); k++)
		if (given[k].op == op && given[k].slot == i)
			return given[k].name;
	/* of reductions keys have their own way to say it */
	for (uint32_t k = 0; i == 1 && k < COUNT(attribute); k++)
		if (strcmp(attribute[k].type, op_get(op)->type) == 0
		    && strcmp(attribute[k].name, "axes") == 0)
			return attribute[k].name;
	return NULL;
}

static bool
lies_between(uint32_t since, uint32_t a, uint32_t b)
{
	return since > (a < b ? a : b) && since <= (a < b ? b : a);
}

/* Did what the attribute is when it is left out change between them? */
static bool
default_changed(const struct node *n, uint32_t row, uint32_t opset)
{
	if (otherwise[row].op != n->op
	    || !lies_between(otherwise[row].since, n->opset, opset)
	    || node_attr(n, otherwise[row].name))
		return false;
	for (uint32_t i = 0; i < row; i++)
		if (otherwise[i].op == n->op
		    && strcmp(otherwise[i].name, otherwise[row].name) == 0)
			return true;
	return false;
}

static bool
fits_arity(const struct node *n, uint32_t opset)
{
	struct arity a = schema_arity(n->op, opset);

	return n->ninputs <= a.max_inputs && n->ninputs >= a.min_inputs
	    && n->noutputs <= a.max_outputs && n->noutputs >= a.min_outputs;
}

static bool
fits_attrs(const struct node *n, uint32_t opset)
{
	enum attr_kind kind;
	struct node as = *n;

	as.opset = opset;
	for (uint32_t i = 0; i < n->nattrs; i++)
		if (schema_attr(n->op, opset, &n->attr[i], &kind) != ATTR_FITS)
			return false;
	/* SOURCE: from 18 on a Split states its parts, or how many */
	if (n->op == OP_SPLIT && lies_between(18, n->opset, opset)
	    && (n->ninputs < 2 || n->input[1] == VALUE_NONE))
		return false;
	return schema_missing(&as) == NULL;
}

bool
schema_holds(const struct node *n, uint32_t opset)
{
	if (n->opset == opset)
		return true;
	if (opset < schema_since(n->op) || opset >= schema_deprecated(n->op)
	    || !fits_arity(n, opset) || !fits_attrs(n, opset))
		return false;
	for (uint32_t i = 0; i < COUNT(meaning); i++)
		if (meaning[i].op == n->op
		    && lies_between(meaning[i].version, n->opset, opset))
			return false;
	for (uint32_t i = 0; i < COUNT(otherwise); i++)
		if (default_changed(n, i, opset))
			return false;
	return true;
}
