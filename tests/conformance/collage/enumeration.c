/* kind=candidate_enumeration: what a rule offers. */
#include <inttypes.h>
#include <string.h>

#include "tests/conformance/collage/kinds.h"
#include "tests/conformance/collage/rules.h"

static bool
same_sets(const struct dag *d, const struct sets *got, const cJSON *want,
    const cJSON *also)
{
	struct sets all = {0};
	const cJSON *item, *list[2] = {want, also};
	set s;

	for (int pass = 0; pass < 2; pass++)
		cJSON_ArrayForEach(item, list[pass])
		{
			if (!dag_read_set(d, item, &s))
				return false;
			sets_add(&all, s);
		}
	for (uint32_t i = 0; i < all.n; i++) {
		bool found = false;

		for (uint32_t k = 0; k < got->n; k++)
			found = found || got->of[k] == all.of[i];
		if (!found)
			return COMPLAIN(
			    "a candidate is missing: set %" PRIx64, all.of[i]);
	}
	if (got->n != all.n)
		return COMPLAIN("%u candidates, not %u", got->n, all.n);
	return true;
}

/* Zero-cost singletons of what is no kernel: inputs, operator names,
 * structural nodes, the function. Compared as names. */
static bool
host_candidates(const struct dag *d, const cJSON *want)
{
	uint32_t n = d->ninputs + size(d->structural) + 1;
	const cJSON *item;

	for (uint32_t i = 0; i < d->n; i++) {
		bool again = (d->structural | d->constants) & bit(i);

		for (uint32_t k = 0; k < i; k++)
			again |= strcmp(d->op[i], d->op[k]) == 0;
		n += !again;
	}
	cJSON_ArrayForEach(item, want)
	{
		const char *name = item->child ? item->child->valuestring : "";
		bool ok = strcmp(name, "<function>") == 0;
		uint32_t node = dag_find(d, name);

		for (uint32_t i = 0; i < d->ninputs; i++)
			ok |= strcmp(d->input[i], name) == 0;
		for (uint32_t i = 0; i < d->n; i++)
			ok |= strncmp(name, "<operator ", 10) == 0
			    && strncmp(name + 10, d->op[i], strlen(d->op[i]))
			        == 0;
		ok |= node != UINT32_MAX && d->structural & bit(node);
		if (!ok)
			return COMPLAIN("'%s' is no host candidate", name);
	}
	if ((uint32_t)cJSON_GetArraySize(want) != n)
		return COMPLAIN("%u host candidates", n);
	return true;
}

/* The sets a rule makes, ours or as upstream does. */
static void
apply_rule(
    const struct dag *d, const cJSON *rule, bool upstream, struct sets *s)
{
	const cJSON *keep = get(rule, "filter"), *item;
	struct rules r;

	s->n = 0;
	if (get(rule, "pattern"))
		seed_by_pattern(d, get(rule, "pattern"), s);
	cJSON_ArrayForEach(item, get(rule, "union"))
	    seed_by_pattern(d, get(item, "pattern"), s);
	if (get(rule, "op_by_kind") || get(rule, "seed"))
		seed_by_kind(d, s);
	rules_read(rule, &r);
	rules_combine(d, s, &r, upstream);
	if (keep) {
		struct limits l = {
		    (uint32_t)cJSON_GetNumberValue(get(keep, "max_depth")),
		    (uint32_t)cJSON_GetNumberValue(get(keep, "max_exits")),
		    cJSON_IsTrue(get(keep, "allow_taps"))};

		sets_filter(d, s, &l);
	}
}

static bool
includes(const struct sets *more, const struct sets *less)
{
	for (uint32_t i = 0; i < less->n; i++) {
		bool found = false;

		for (uint32_t k = 0; k < more->n; k++)
			found |= more->of[k] == less->of[i];
		if (!found)
			return false;
	}
	return true;
}

/* Upstream's loop must give what upstream gives, and the complete one all of
 * that; where the case lists what upstream misses, exactly that more. */
bool
run_enumeration(const struct dag *d, const cJSON *test)
{
	const cJSON *rule = get(test, "rule");
	const cJSON *expected = get(test, "expected");
	const cJSON *want = get(expected, "candidates");
	const cJSON *missing = get(expected, "missing_due_to_upstream_bug");
	static struct sets theirs, ours;

	if (get(rule, "host"))
		return host_candidates(d, want);
	apply_rule(d, rule, true, &theirs);
	apply_rule(d, rule, false, &ours);
	if (!same_sets(d, &theirs, want, NULL))
		return false;
	if (!includes(&ours, &theirs))
		return COMPLAIN("the complete loop misses a candidate");
	return !missing || same_sets(d, &ours, want, missing);
}
