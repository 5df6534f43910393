#include "targets/mrvl/assume.h"

#include "targets/mrvl/options.h"
#include "targets/mrvl/params.h"

/* Parameter of assumption i, or NPARAM: those that are assumed or inferred, over
 * a range. */
static enum param
assumed(const struct params *p, uint32_t i)
{
	for (uint32_t k = 0; k < NPARAM; k++) {
		const struct param_value *v = &p->param[k];
		bool open = v->provenance == PROVENANCE_ASSUMED
		    || v->provenance == PROVENANCE_INFERRED;

		if (open && v->low < v->high && i-- == 0)
			return (enum param)k;
	}
	return NPARAM;
}

bool
mrvl_assumption(const struct target *t, uint32_t i, struct cost_parameter *out)
{
	const struct params *p = &mrvl_of(t)->params;
	enum param k = assumed(p, i);

	if (k == NPARAM)
		return false;
	*out = (struct cost_parameter){.name = param_info(k)->name,
	    .unit = param_info(k)->unit,
	    .value = p->param[k].value,
	    .low = p->param[k].low,
	    .high = p->param[k].high,
	    .is_rate = param_info(k)->high_is_fast && p->param[k].low > 0};
	return true;
}

struct target
mrvl_assume(const struct target *t, uint32_t i, double value, struct arena *a)
{
	struct target as = *t;
	struct mrvl *m = arena_copy(a, mrvl_of(t), sizeof *m);

	m->params.param[assumed(&m->params, i)].value = value;
	as.state = m;
	return as;
}
