#include "targets/mrvl/assume.h"

#include "targets/mrvl/cost.h"
#include "targets/mrvl/params.h"

/* Assumed or inferred, over a range. */
static bool
is_assumed(const struct param_value *v)
{
	return (v->provenance == PROVENANCE_ASSUMED
	           || v->provenance == PROVENANCE_INFERRED)
	    && v->low < v->high;
}

void
mrvl_list_assumptions(struct target *t, struct arena *a)
{
	const struct param_value *v = mrvl_of(t)->params.param;
	struct cost_parameter *list =
	    arena_new(a, struct cost_parameter, NPARAM);

	t->assumption = list;
	t->nassumptions = 0;
	for (uint32_t k = 0; k < NPARAM; k++) {
		const struct param_info *info = param_info((enum param)k);

		if (is_assumed(&v[k]))
			list[t->nassumptions++] =
			    (struct cost_parameter){.name = info->name,
			        .unit = info->unit,
			        .value = v[k].value,
			        .low = v[k].low,
			        .high = v[k].high,
			        .is_rate = info->high_is_fast && v[k].low > 0};
	}
}

struct target
mrvl_assume(const struct target *t, uint32_t i, double value, struct arena *a)
{
	struct target as = *t;
	struct mrvl *m = arena_copy(a, mrvl_of(t), sizeof *m);
	uint32_t k = 0;

	while (!is_assumed(&m->params.param[k]) || i-- > 0)
		k++;
	m->params.param[k].value = value;
	as.state = m;
	as.launch = mrvl_launch(m);
	return as;
}
