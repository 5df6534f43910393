/* kind=partition, kind=beat_collage: whole partitions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/collage/kinds.h"
#include "tests/conformance/collage/trial.h"

/* Merge touching sets of one backend while there are any. */
static void
coalesce(const struct dag *d, struct offer *x, uint32_t *n)
{
	for (bool again = true; again;) {
		again = false;
		for (uint32_t i = 0; i < *n && !again; i++)
			for (uint32_t k = 0; k < *n && !again; k++) {
				if (i == k || x[i].backend != x[k].backend
				    || !sets_are_touching(
				        d, x[i].nodes, x[k].nodes))
					continue;
				x[i].nodes |= x[k].nodes;
				x[k] = x[--*n];
				again = true;
			}
	}
}

static uint32_t
chosen(const struct trial *t, struct offer *x)
{
	const struct cover *c = &t->result.cover;
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->nsteps; i++)
		if (t->offer[c->step[i].candidate].backend < t->nbackends)
			x[n++] = t->offer[c->step[i].candidate];
	coalesce(t->d, x, &n);
	return n;
}

static bool
same_offers(
    const struct offer *x, uint32_t n, const struct offer *y, uint32_t m)
{
	for (uint32_t i = 0; i < n; i++) {
		bool found = false;

		for (uint32_t k = 0; k < m; k++)
			found |= x[i].backend == y[k].backend
			    && x[i].nodes == y[k].nodes;
		if (!found)
			return false;
	}
	return n == m;
}

static uint32_t
backend_named(const struct trial *t, const char *name)
{
	for (uint32_t i = 0; i < t->nbackends; i++)
		if (strcmp(t->backend[i], name) == 0)
			return i;
	return UINT32_MAX;
}

/* [{"backend", "nodes"}] or [[backend, nodes]], merged. */
static bool
read_partition(
    const struct trial *t, const cJSON *list, struct offer *x, uint32_t *n)
{
	const cJSON *item;

	*n = 0;
	cJSON_ArrayForEach(item, list)
	{
		bool pair = cJSON_IsArray(item);
		const char *name =
		    pair ? item->child->valuestring : text_of(item, "backend");
		set s;

		if (!dag_read_set(t->d,
		        pair ? item->child->next : get(item, "nodes"), &s))
			return false;
		if (backend_named(t, name) != UINT32_MAX && *n < NODES_MAX)
			x[(*n)++] = (struct offer){backend_named(t, name), s};
	}
	coalesce(t->d, x, n);
	return true;
}

/* The external regions and the native nodes, as upstream reports them. */
static bool
check_reported(const struct trial *t, const cJSON *expected)
{
	struct offer x[NODES_MAX];
	uint32_t n = chosen(t, x), regions = 0;
	uint32_t ext = backend_named(t, "ext");
	set native = 0, want;
	const cJSON *item;

	for (uint32_t i = 0; i < n; i++) {
		bool found = x[i].backend != ext;

		if (found)
			native |= x[i].nodes;
		regions += !found;
		cJSON_ArrayForEach(item,
		    get(expected, "ext_regions_after_coalescing")) found |=
		    dag_read_set(t->d, item, &want) && want == x[i].nodes;
		if (!found)
			return COMPLAIN(
			    "region %" PRIx64 " is not expected", x[i].nodes);
	}
	if ((int)regions
	    != cJSON_GetArraySize(
	        get(expected, "ext_regions_after_coalescing")))
		return COMPLAIN("%u external regions", regions);
	if (!dag_read_set(t->d, get(expected, "native_nodes"), &want))
		return false;
	if ((native & ~t->d->structural) != want)
		return COMPLAIN("native nodes %" PRIx64, native);
	return true;
}

static bool
check_ties(const struct trial *t, const cJSON *listed)
{
	struct offer x[NODES_MAX], y[NODES_MAX];
	uint32_t n = chosen(t, x), m;
	const cJSON *item;

	cJSON_ArrayForEach(item, listed)
	{
		if (!read_partition(t, item, y, &m))
			return false;
		if (same_offers(x, n, y, m))
			return true;
	}
	return COMPLAIN("a partition that is not listed among the cheapest");
}

static bool
check_partition(struct trial *t, const cJSON *test)
{
	const cJSON *derived = get(test, "derived_by_model");
	const cJSON *most = get(test, "max_distinct_measurements");

	if (!trial_check_total(t, get(derived, "min_total_cost")))
		return false;
	if (cJSON_IsNumber(most) && t->nmeasured > (uint32_t)most->valuedouble)
		return COMPLAIN("%u measured", t->nmeasured);
	return cJSON_IsTrue(get(derived, "tie"))
	    ? check_ties(t, get(derived, "all_min_cost_partitions"))
	    : check_reported(t, get(test, "expected"));
}

static bool
check_beat(struct trial *t, const cJSON *test)
{
	const cJSON *want = get(test, "required_of_new_system");
	struct offer x[NODES_MAX], y[NODES_MAX];
	uint32_t n = chosen(t, x), m;

	if (!trial_check_total(t, get(want, "total")))
		return false;
	if (!cJSON_IsArray(get(want, "partition")))
		return true;
	if (!read_partition(t, get(want, "partition"), y, &m))
		return false;
	return same_offers(x, n, y, m) || COMPLAIN("another partition");
}

bool
run_partition(struct dag *d, const cJSON *test, bool beat)
{
	struct trial *t = calloc(1, sizeof *t);
	bool ok;

	t->d = d;
	arena_init(&t->arena);
	trial_build(t, test, beat);
	ok = trial_solve(t)
	    && (beat ? check_beat(t, test) : check_partition(t, test));
	arena_release(&t->arena);
	free(t);
	return ok;
}
