#include "tests/conformance/collage/cost.h"

#include <math.h>
#include <string.h>

#include "tests/conformance/collage/structure.h"

/* What a set costs on a backend; infinite: it cannot be built. */
double
cost_per_op(const struct dag *d, set s, double op_cost, double factor)
{
	double cost = 0, each = op_cost;

	for (uint32_t i = size(s & ~d->structural & ~d->constants); i > 0;
	     i--) {
		cost += each;
		each *= factor;
	}
	return cost;
}

/* A row names nodes, operators, or "any" of a size. */
static bool
row_names(const struct dag *d, const cJSON *nodes, set s)
{
	const cJSON *name = nodes->child;
	set exact = 0;

	if (cJSON_IsString(name)
	    && strcmp(name->valuestring, "any single op") == 0)
		return size(s) == 1;
	if (cJSON_IsString(name) && strcmp(name->valuestring, "any pair") == 0)
		return size(s) == 2;
	if (cJSON_IsString(name)
	    && dag_find(d, name->valuestring) != UINT32_MAX)
		return dag_read_set(d, nodes, &exact) && exact == s;
	for (; cJSON_IsString(name) && s; name = name->next, s &= s - 1)
		if (strcmp(name->valuestring, d->op[__builtin_ctzll(s)]) != 0)
			return false;
	return !name && !s;
}

/* What was measured of one kernel holds for all of its structure. */
static bool
row_is_alike(const struct dag *d, const cJSON *nodes, set s)
{
	const cJSON *name = nodes->child;
	set named;

	return cJSON_IsString(name)
	    && dag_find(d, name->valuestring) != UINT32_MAX
	    && dag_read_set(d, nodes, &named) && sets_are_alike(d, named, s);
}

/* Rows that name the set come before those of its structure. */
static double
table_cost(const struct dag *d, const cJSON *rows, const char *backend, set s)
{
	static bool (*const fits[])(const struct dag *, const cJSON *, set) = {
	    row_names, row_is_alike};
	const cJSON *row;

	for (size_t way = 0; way < sizeof fits / sizeof *fits; way++)
		cJSON_ArrayForEach(row, rows)
		{
			const cJSON *name = row->child, *nodes = name->next;

			if (strcmp(name->valuestring, backend) == 0
			    && fits[way](d, nodes, s))
				return cJSON_IsNumber(nodes->next)
				    ? nodes->next->valuedouble
				    : (double)INFINITY;
		}
	return (double)INFINITY;
}

/* What holds for any costs is tried with one of them. */
static bool
is_any(const cJSON *model)
{
	const char *type =
	    cJSON_IsString(model) ? model->valuestring : text_of(model, "type");

	return strcmp(type, "any") == 0;
}

double
cost_on_backend(
    const struct dag *d, const cJSON *model, const char *backend, set s)
{
	const cJSON *each = get(get(model, "op_cost"), backend);

	if (is_any(model))
		return cost_per_op(d, s, 1, 0.9);
	if (cost_is_tabled(model))
		return table_cost(d, get(model, "rows"), backend, s);
	return cost_per_op(d, s, each ? each->valuedouble : (double)INFINITY,
	    cJSON_GetNumberValue(get(model, "fusion_factor")));
}

bool
cost_is_tabled(const cJSON *model)
{
	return strcmp(text_of(model, "type"), "table") == 0;
}
