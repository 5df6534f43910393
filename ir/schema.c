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
