#include "search/lagrangian/parts.h"
#include "search/mask.h"

/* What a label still has to pay for one live value. The uses of a value ascend
 * and those that are left are nearly always its first ones: their payments are
 * summed up once, when the prices are final. */

/* Uses of a value that are left: the first `below`, but for the holes. */
struct left {
	uint32_t below, nholes, nuses;
	const uint32_t *hole; /* [nholes] */
	uint32_t path; /* use on the path, where the run it is taken from is not
			* the maker's but `running`; or UINT32_MAX */
	uint32_t running;
};

static uint32_t
count_uses(const struct problem *p, uint32_t value)
{
	return p->user_start[value + 1] - p->user_start[value];
}

static int64_t
outside_use_pays(const struct dual *d, const struct dual_supply *s,
    uint32_t use, uint32_t mask)
{
	uint32_t option;

	return s->ninside > 0 && dual_is_inside(d, s, use)
	    ? 0
	    : dual_use_pays(d, use, mask, s->target, &option);
}

void
dual_sum_uses(struct dual *d)
{
	size_t total = 0;

	for (uint32_t i = 0; i < d->nsupplies; i++) {
		struct dual_supply *s = &d->supply[i];

		s->first_sum = total;
		total += ((size_t)count_uses(d->p, s->value) + 1)
		    * (s->nsubsets ? s->nsubsets : 1);
	}
	if (!d->sum)
		d->sum = arena_new(d->arena, int64_t, total);
	for (uint32_t i = 0; i < d->nsupplies; i++) {
		const struct dual_supply *s = &d->supply[i];
		uint32_t first = d->p->user_start[s->value], k = 0;
		uint32_t nuses = count_uses(d->p, s->value);
		int64_t *sum = &d->sum[s->first_sum];

		do {
			uint32_t mask = s->nsubsets
			    ? d->subset[s->first + k].mask
			    : UINT32_MAX;

			for (uint32_t u = 0; u < nuses; u++)
				sum[u + 1] = sum[u]
				    + outside_use_pays(d, s, first + u, mask);
			sum += nuses + 1;
		} while (++k < s->nsubsets);
	}
}

/* What the use on the path pays more so. */
static int64_t
path_pays_more(const struct dual *d, const struct dual_supply *s, uint32_t mask,
    const struct left *left)
{
	uint32_t option;

	if (left->path == UINT32_MAX || s->target == left->running
	    || dual_is_inside(d, s, left->path))
		return 0;
	return dual_use_pays(d, left->path, mask, left->running, &option)
	    - dual_use_pays(d, left->path, mask, s->target, &option);
}

/* What the uses that are left pay for subset k of the supply (0 where it has
 * none). */
static int64_t
left_uses_pay(const struct dual *d, const struct dual_supply *s, uint32_t k,
    const struct left *left)
{
	const int64_t *sum =
	    &d->sum[s->first_sum + (size_t)k * (left->nuses + 1)];
	uint32_t mask = s->nsubsets ? d->subset[s->first + k].mask : UINT32_MAX;
	int64_t pay = sum[left->below] + path_pays_more(d, s, mask, left);

	for (uint32_t i = 0; i < left->nholes; i++)
		pay -= sum[left->hole[i] + 1] - sum[left->hole[i]];
	return pay;
}

/* ... for formats that are not one of its subsets. */
static int64_t
left_uses_pay_for(const struct dual *d, const struct dual_supply *s,
    uint32_t mask, const struct left *left)
{
	uint32_t first = d->p->user_start[s->value];
	int64_t pay = path_pays_more(d, s, mask, left);

	for (uint32_t u = 0, hole = 0; u < left->below; u++)
		if (hole < left->nholes && left->hole[hole] == u)
			hole++;
		else
			pay += outside_use_pays(d, s, first + u, mask);
	return pay;
}

/* Is every set of formats that matters, with `need`, one of its subsets? */
static bool
subsets_suffice(
    const struct dual_supply *s, uint32_t need, const struct left *left)
{
	if (need & ~(s->asked | s->given))
		return false;
	return s->all_subsets
	    || (s->ninside == 0
	        && mask_count(need & s->asked) + left->below - left->nholes
	            <= left->nuses);
}

static int64_t
supply_adds(const struct dual *d, const struct dual_supply *s, uint32_t need,
    const struct left *left)
{
	uint32_t class = d->p->value[s->value].class;
	bool listed = subsets_suffice(s, need, left);
	int64_t best = INT64_MAX;

	if (s->nsubsets == 0)
		return -left_uses_pay(d, s, 0, left);
	for (uint32_t k = 0; k < s->nsubsets; k++) {
		const struct dual_subset *x = &d->subset[s->first + k];
		int64_t adds;

		if (listed && need & ~x->mask)
			continue;
		if (need & ~x->mask) {
			uint32_t mask = x->mask | need;
			/* More than trees are known for: a smaller one. */
			cost_ns cost = convert_cost(d->memo, class, s->have,
			    mask_count(mask & ~s->have) > DEMANDS_MAX ? x->mask
			                                              : mask);

			if (cost == COST_NEVER)
				continue;
			adds = dual_scaled(cost)
			    - left_uses_pay_for(d, s, mask, left);
		} else {
			adds = x->cost - left_uses_pay(d, s, k, left);
		}
		if (adds < best)
			best = adds;
	}
	return best;
}

/* Would the supply cover a node that is covered? */
static bool
overlaps(
    const struct dual *d, const struct dual_supply *s, const struct left *left)
{
	uint32_t first = d->p->user_start[s->value];

	for (uint32_t i = 0; i < s->ninside; i++) {
		uint32_t u = d->inside[s->inside + i] - first;

		if (u >= left->below)
			return true;
		for (uint32_t h = 0; h < left->nholes; h++)
			if (left->hole[h] == u)
				return true;
	}
	return false;
}

/* What is paid of the formats asked for, if the supply is not in them. */
static int64_t
paid_for(const struct dual_supply *s, const struct dual_live *live)
{
	int64_t sum = 0;

	for (uint32_t rest = live->paid & ~s->have, f; mask_next(&rest, &f);)
		sum += dual_scaled(live->cost[f]);
	return sum;
}

/* The uses of a value that are left below a cut; holes go to d->hole. */
static struct left
left_of(struct dual *d, uint32_t value, const struct dual_cut *cut)
{
	const struct problem *p = d->p;
	uint32_t first = p->user_start[value];
	struct left left = {
	    .nuses = count_uses(p, value), .hole = d->hole, .path = UINT32_MAX};

	left.below = left.nuses;
	while (left.below > 0
	    && (cut->top == NO_NODE
	        || p->user[first + left.below - 1] > cut->top))
		left.below--;
	for (uint32_t i = 0; left.below > 0 && i < cut->nover; i++) {
		uint32_t use = problem_find_use(p, value, cut->over[i]);

		if (use != UINT32_MAX)
			d->hole[left.nholes++] = use - first;
	}
	return left;
}

int64_t
dual_value(
    struct dual *d, const struct dual_live *live, const struct dual_cut *cut)
{
	struct left left = left_of(d, live->value, cut);
	int64_t best = INT64_MAX;

	for (uint32_t i = d->supply_start[live->value];
	     i < d->supply_start[live->value + 1]; i++) {
		const struct dual_supply *s = &d->supply[i];
		int64_t adds;

		if (live->have ? s->have != live->have : overlaps(d, s, &left))
			continue;
		adds = supply_adds(d, s, live->need | live->paid, &left);
		if (adds == INT64_MAX)
			continue;
		adds -= paid_for(s, live);
		if (!live->have)
			adds += (s->target != NO_LIMIT && live->leaves
			                ? d->launch[s->target]
			                : 0)
			    - d->gain[i];
		if (adds < best)
			best = adds;
	}
	return best;
}

/* The uses of a value that are not covered; holes go to d->hole. */
static struct left
left_after(
    struct dual *d, uint32_t value, struct bitset covered, uint32_t running)
{
	const uint32_t *user = &d->p->user[d->p->user_start[value]];
	struct left left = {.nuses = count_uses(d->p, value),
	    .hole = d->hole,
	    .path = d->path_use[value],
	    .running = running};

	for (uint32_t u = 0; u < left.nuses; u++)
		if (bitset_has(covered, user[u]))
			d->hole[left.nholes++] = u;
		else
			left.below = u + 1;
	while (left.nholes > 0 && d->hole[left.nholes - 1] >= left.below)
		left.nholes--;
	if (left.path != UINT32_MAX
	    && bitset_has(covered, d->p->user[left.path]))
		left.path = UINT32_MAX;
	return left;
}

int64_t
dual_value_left(struct dual *d, const struct dual_live *live,
    struct bitset covered, uint32_t running)
{
	struct left left = left_after(d, live->value, covered, running);
	int64_t best = INT64_MAX;

	for (uint32_t i = d->supply_start[live->value];
	     i < d->supply_start[live->value + 1]; i++) {
		const struct dual_supply *s = &d->supply[i];
		int64_t adds;

		if (s->have != live->have)
			continue;
		adds = supply_adds(d, s, live->need | live->paid, &left);
		if (adds == INT64_MAX)
			continue;
		adds -= paid_for(s, live);
		if (adds < best)
			best = adds;
	}
	return best;
}
