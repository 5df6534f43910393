/* Losses. Scores are [N, C, d...], labels [N, d...]. */
#include "ir/infer/rules.h"

#include <inttypes.h>
#include <string.h>

static bool
check_labels(struct site *s)
{
	const struct type *x = in_type(s, 0), *labels = in_type(s, 1);
	int64_t met;

	if (!need_min_rank(s, 0, 2, "input") || !need_rank(s, 2, 1, "weight"))
		return false;
	if (!in_ranked(s, 0) || !in_ranked(s, 1))
		return true;
	if (labels->rank + 1 != x->rank)
		return fault(s,
		    "labels have rank %" PRIu32 ", %" PRIu32 " is needed",
		    labels->rank, x->rank - 1);
	for (uint32_t i = 0; i < labels->rank; i++)
		if (!dim_meet(s, "input and labels", x->dim[i ? i + 1 : 0],
		        labels->dim[i], &met))
			return false;
	return !in_ranked(s, 2)
	    || dim_meet(s, "classes and weight", x->dim[1],
	        in_type(s, 2)->dim[0], &met);
}

bool
rule_loss(struct site *s)
{
	struct string_view v = attr_str_or(s->n, "reduction", "mean");

	if (!check_labels(s))
		return false;
	if (v.n == 4 && memcmp(v.s, "none", 4) == 0)
		out_shaped(s, 0, in_dtype(s, 0), in_type(s, 1));
	else if ((v.n == 4 && memcmp(v.s, "mean", 4) == 0)
	    || (v.n == 3 && memcmp(v.s, "sum", 3) == 0))
		out_tensor(s, 0, in_dtype(s, 0), 0, NULL);
	else
		return fault(s, "reduction '%.*s' is not known", (int)v.n, v.s);
	out_type(s, 1, in_type(s, 0));
	return true;
}
