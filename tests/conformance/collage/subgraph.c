/* kind=subgraph_partition: validity and boundary of regions. */
#include <string.h>

#include "tests/conformance/collage/kinds.h"
#include "tests/conformance/collage/sets.h"

static bool
same_names(const struct dag *d, set nodes, set fed, const cJSON *want)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, want)
	{
		uint32_t n = dag_find(d, item->valuestring);
		bool found = n != UINT32_MAX && nodes & bit(n);

		for (uint32_t i = 0; i < d->ninputs; i++)
			found |= fed & bit(i)
			    && strcmp(d->input[i], item->valuestring) == 0;
		if (!found)
			return COMPLAIN(
			    "'%s' is not on the boundary", item->valuestring);
	}
	if ((uint32_t)cJSON_GetArraySize(want) != size(nodes) + size(fed))
		return COMPLAIN(
		    "the boundary has %u tensors", size(nodes) + size(fed));
	return true;
}

static bool
check_boundary(const struct dag *d, set s, const cJSON *in, const cJSON *out)
{
	set from = 0, fed = 0;

	for (uint32_t i = 0; i < d->n; i++)
		if (s & bit(i)) {
			from |= d->in[i] & ~s;
			fed |= d->reads[i];
		}
	return same_names(d, from, fed, in)
	    && same_names(d, set_exits(d, s), 0, out);
}

bool
run_subgraph(const struct dag *d, const cJSON *test)
{
	const cJSON *run, *group;
	set s;

	cJSON_ArrayForEach(run, get(test, "runs"))
	{
		const cJSON *expected = get(run, "expected");
		struct limits l = {0,
		    (uint32_t)cJSON_GetNumberValue(get(run, "max_exits")),
		    cJSON_IsTrue(get(run, "allow_taps"))};
		bool valid;

		if (!dag_read_set(d, get(run, "inside"), &s))
			return false;
		valid = set_is_valid(d, s, &l);
		if (valid != (bool)cJSON_IsTrue(get(expected, "valid")))
			return COMPLAIN("valid: %d", valid);
		if (valid
		    && !check_boundary(d, s, get(expected, "region_inputs"),
		        get(expected, "region_outputs")))
			return false;
		cJSON_ArrayForEach(group, get(run, "nested_groups"))
		{
			const cJSON *want =
			    get(get(expected, "nested"), group->string);

			if (!dag_read_set(d, group, &s)
			    || !check_boundary(d, s, get(want, "inputs"),
			        get(want, "outputs")))
				return false;
		}
	}
	return true;
}
