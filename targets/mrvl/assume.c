#include "targets/mrvl/assume.h"

#include <string.h>

#include "targets/mrvl/options.h"

bool
mrvl_assumes(const struct target *t, enum param p, struct param_value *out)
{
	if (strcmp(t->kind->name, "mrvl") != 0)
		return false;
	*out = mrvl_of(t)->params.param[p];
	return out->provenance == PROVENANCE_ASSUMED && out->low < out->high;
}

struct target
mrvl_assume(const struct target *t, enum param p, double value, struct arena *a)
{
	struct target as = *t;
	struct mrvl *m = arena_copy(a, mrvl_of(t), sizeof *m);

	m->params.param[p].value = value;
	as.state = m;
	return as;
}
