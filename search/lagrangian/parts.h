/* What the files of this folder share: build.c and producers.c make the parts of
 * the model, value.c evaluates it at the present multipliers, ascent.c moves
 * them, live.c says what they mean for a label. */
#ifndef SEARCH_LAGRANGIAN_PARTS_H
#define SEARCH_LAGRANGIAN_PARTS_H

#include "search/lagrangian/model.h"

/* Larger costs than this (ns) would overflow scaled sums. */
#define DUAL_COST_MAX (UINT64_C(1) << 40)
/* TUNING: subsets of formats looked at per supply; with more (some 8 formats at
 * several uses), trees count as free, which is weaker but still a bound. */
#define DUAL_SUBSETS_MAX 64u

static inline int64_t
dual_scaled(cost_ns c)
{
	return (int64_t)c * DUAL_SCALE;
}

/* What it costs to be taken from a run of `from` (NO_LIMIT: none that counts) at
 * this use: the run ends there. */
static inline int64_t
dual_leaving(const struct dual *d, const struct dual_use *use, uint32_t from,
    const struct dual_option *option)
{
	return use->on_path && from != NO_LIMIT && option->target != from
	    ? d->launch[from]
	    : 0;
}

/* Find the supplies of every value, with the trees they may need. */
void dual_make_supplies(struct dual *d);

/* Is a use within the candidates that make this supply? */
bool dual_is_inside(
    const struct dual *d, const struct dual_supply *s, uint32_t use);

/* The most a use pays when the value is to be had in `mask`; *option: the one
 * it takes, UINT32_MAX: none. */
int64_t dual_use_pays(const struct dual *d, uint32_t use, uint32_t mask,
    uint32_t from, uint32_t *option);

/* Change a row of the account. */
void dual_change(struct dual *d, uint32_t row, int64_t by);

/* Work off what changes made stale; the bound at the prices there are. */
int64_t dual_evaluate(struct dual *d);

/* Sum up, at the final prices, what dual_value() needs of the uses. */
void dual_sum_uses(struct dual *d);

#endif
