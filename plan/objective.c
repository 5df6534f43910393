#include "plan/objective.h"

#include <assert.h>

#define TERM(name, part, words, cost) \
	static cost_ns cost_of_##name(const struct paid *paid) \
	{ \
		return cost; \
	}
#include "plan/objective.def"
#undef TERM

static const struct {
	enum plan_part part;
	const char *words, *key;
	cost_ns (*cost)(const struct paid *paid);
} term[NTERMS] = {
#define TERM(name, part, words, cost) \
	[TERM_##name] = {PART_##part, words, words "_ns", cost_of_##name},
#include "plan/objective.def"
#undef TERM
};

cost_ns
objective_cost(enum plan_part part, const struct paid *paid)
{
	cost_ns sum = 0;

	for (uint32_t t = 0; t < NTERMS; t++)
		if (term[t].part == part)
			sum = cost_add(sum, term[t].cost(paid));
	return sum;
}

void
objective_split(cost_ns sum[NTERMS], enum plan_part part, cost_ns cost,
    const struct paid *paid)
{
	assert(term[part].part == part);
	for (uint32_t t = NPARTS; t < NTERMS; t++)
		if (term[t].part == part) {
			cost_ns own = term[t].cost(paid);

			assert(own <= cost);
			sum[t] = cost_add(sum[t], own);
			cost -= own;
		}
	sum[part] = cost_add(sum[part], cost);
}

const char *
term_words(enum plan_term t)
{
	assert(t < NTERMS);
	return term[t].words;
}

const char *
term_key(enum plan_term t)
{
	assert(t < NTERMS);
	return term[t].key;
}
