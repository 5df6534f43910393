#include "exec/verify_state.h"

#include <stdio.h>

#include "ir/compare.h"

bool
verify_say(struct verify_state *w, enum verified_kind kind, uint32_t composite,
    double error, const char *detail)
{
	struct verified_as *v = w->verdict;

	*v = (struct verified_as){
	    .kind = kind, .composite = composite, .error = error};
	snprintf(v->detail, sizeof v->detail, "%s", detail);
	return false;
}

double
verify_difference(
    const struct tensor *got, const struct tensor *want, bool half)
{
	const struct tolerance t = {.made_up = true, .overflows = half};
	struct comparison c;

	tensors_compare(&c, got, want, &t);
	return comparison_relative(&c);
}
