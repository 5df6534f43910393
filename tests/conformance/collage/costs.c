/* kind=candidate_cost: costs that are kept, and candidates that are refused. */
#include <math.h>
#include <stdlib.h>

#include "search/problem_index.h"
#include "tests/conformance/collage/cost.h"
#include "tests/conformance/collage/kinds.h"
#include "tests/conformance/collage/trial.h"

/* A plan that must use the candidate costs what the candidate costs; one that
 * was refused leaves no plan. */
static bool
run_step(struct dag *d, const cJSON *test, const cJSON *step)
{
	const cJSON *model = get(test, "cost_model"), *had, *want;
	struct trial *t = calloc(1, sizeof *t);
	struct search_options o = {0};
	struct err err = {0};
	double cost;
	bool ok = true;
	set s;

	t->d = d;
	arena_init(&t->arena);
	trial_build(t, test, false);
	had = get(step, "candidate_has_cost");
	want = get(step, "expected_cost");
	ok = dag_read_set(d, get(step, "candidate"), &s);
	cost = cost_per_op(d, s, cJSON_GetNumberValue(get(step, "op_cost")),
	    cJSON_GetNumberValue(get(model, "fusion_factor")));
	if (cJSON_IsNumber(had))
		cost = had->valuedouble;
	if (get(step, "validator"))
		cost = (double)INFINITY;
	t->problem.ncandidates = t->noffers = 0;
	trial_add(t, 0, s, cost);
	for (uint32_t i = 0; i < d->n; i++)
		if (!(s & bit(i)))
			trial_add(t, 0, bit(i), 0);
	if (ok
	    && (!problem_index(&t->problem, &t->arena, &err)
	        || !search_exact(&t->result, &t->problem, &o, &t->arena, &err)))
		ok = COMPLAIN("%s", err.text);
	if (ok && cJSON_IsNumber(want))
		ok = t->result.found && trial_check_total(t, want);
	else if (ok && t->result.found)
		ok = COMPLAIN("a candidate that was refused is used");
	arena_release(&t->arena);
	free(t);
	return ok;
}

bool
run_costs(struct dag *d, const cJSON *test)
{
	const cJSON *step;

	cJSON_ArrayForEach(step, get(test, "steps"))
	{
		if (!run_step(d, test, step))
			return false;
	}
	return true;
}
