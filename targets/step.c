#include "targets/step.h"

bool
step_is_binary(enum step_kind kind)
{
	return kind >= STEP_ADD;
}

bool
constant_scalar(const struct graph *g, value_id v, float *x)
{
	const struct tensor *t;

	if (v == VALUE_NONE)
		return false;
	t = graph_value(g, v)->constant;
	if (t == NULL || t->count != 1)
		return false;
	*x = (float)tensor_real(t, 0);
	return true;
}
