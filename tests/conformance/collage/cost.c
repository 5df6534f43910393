#include "tests/conformance/collage/cost.h"

#include <math.h>
#include <string.h>

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

static bool
row_fits(const struct dag *d, const cJSON *nodes, set s)
{
	const char *name = nodes->child && cJSON_IsString(nodes->child)
	    ? nodes->child->valuestring
	    : "";
	set exact;

	if (strcmp(name, "any single op") == 0)
		return size(s) == 1;
	if (strcmp(name, "any pair") == 0)
		return size(s) == 2;
	return dag_read_set(d, nodes, &exact) && exact == s;
}

/* Rows that name nodes come before those that say "any". */
static double
table_cost(const struct dag *d, const cJSON *rows, const char *backend, set s)
{
	double cost = (double)INFINITY;
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		const cJSON *name = row->child, *nodes = name->next;

		if (strcmp(name->valuestring, backend) == 0
		    && row_fits(d, nodes, s))
			return cJSON_IsNumber(nodes->next)
			    ? nodes->next->valuedouble
			    : (double)INFINITY;
	}
	return cost;
}

double
cost_on_backend(
    const struct dag *d, const cJSON *model, const char *backend, set s)
{
	const cJSON *each = get(get(model, "op_cost"), backend);

	if (strcmp(text_of(model, "type"), "table") == 0)
		return table_cost(d, get(model, "rows"), backend, s);
	return cost_per_op(d, s, each ? each->valuedouble : (double)INFINITY,
	    cJSON_GetNumberValue(get(model, "fusion_factor")));
}
