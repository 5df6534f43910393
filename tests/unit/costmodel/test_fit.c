/* Prices that fit comparisons: what they agree on stays, what they do not is shared, and
 * neither the order of pairs nor asking again changes anything. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/fit.h"
#include "tests/support/support.h"

#define MILLION 1000000
#define MOST 12

static const cost_ns no_spread[MOST];

static void
fit(cost_ns *ns, const cost_ns *spread, uint32_t n, const struct fit_pair *pair,
    uint32_t npairs)
{
	struct arena scratch;

	arena_init(&scratch);
	fit_prices(ns, spread, n, pair, npairs, &scratch);
	arena_release(&scratch);
}

static void
what_agrees_stays(void **state)
{
	cost_ns ns[] = {100000, 110000, 5000};
	const struct fit_pair pair = {0, 1, 1100000, 1100000};

	(void)state;
	fit(ns, no_spread, 3, &pair, 1);
	assert_in_range(ns[0], 99999, 100001);
	assert_in_range(ns[1], 109999, 110001);
	assert_int_equal(ns[2], 5000); /* in no pair */
	fit(ns, no_spread, 3, NULL, 0);
	assert_int_equal(ns[2], 5000);
}

/* The ratio is known better than the prices: they move, in opposite directions. */
static void
what_disagrees_is_shared(void **state)
{
	cost_ns ns[] = {100000, 100000};
	const struct fit_pair pair = {0, 1, 1080000, 1090000};

	(void)state;
	fit(ns, no_spread, 2, &pair, 1);
	assert_in_range(ns[0], 95900, 96500);
	assert_in_range(ns[1], 103600, 104300);
}

/* A price with a wide range gives way, one with a narrow one hardly does. */
static void
who_is_less_certain_moves_more(void **state)
{
	cost_ns ns[] = {100000, 100000};
	const cost_ns spread[] = {0, 20000};
	const struct fit_pair pair = {0, 1, 1100000, 1100000};

	(void)state;
	fit(ns, spread, 2, &pair, 1);
	assert_in_range(ns[0], 99600, 100000);
	assert_in_range(ns[1], 108500, 110000);
}

/* Comparisons that say little leave prices where they are. */
static void
noise_moves_hardly_anything(void **state)
{
	cost_ns ns[] = {100000, 105000};
	const struct fit_pair pair = {0, 1, 700000, 1200000};

	(void)state;
	fit(ns, no_spread, 2, &pair, 1);
	assert_in_range(ns[0], 99800, 100200);
	assert_in_range(ns[1], 104800, 105200);
}

/* Of five products of DeiT-S: the third was 7 % slower than the first when it was run in turn with
 * it, and about as fast as others that were about as fast as the first. */
static void
a_slower_one_is_not_tied_through_others(void **state)
{
	cost_ns ns[] = {2106000, 2134400, 2112900, 2186200};
	const struct fit_pair pair[] = {{0, 2, 1062000, 1073000},
	    {0, 1, 983000, 1008000}, {0, 3, 987000, 1014000},
	    {1, 2, 956000, 1014000}, {1, 3, 986000, 1011000},
	    {2, 3, 997000, 1022000}};

	(void)state;
	assert_false(fit_is_tie(&pair[0]));
	for (uint32_t i = 1; i < 6; i++)
		assert_true(fit_is_tie(&pair[i]));
	fit(ns, no_spread, 4, pair, 6);
	assert_true(ns[2] > ns[0] + ns[0] / 40);
}

static void
what_is_tied_costs_the_same(void **state)
{
	cost_ns ns[] = {100000, 101000, 130000, 102000};
	const struct fit_pair pair[] = {
	    {0, 1, 995000, 1010000}, {1, 3, 990000, 1012000}};

	(void)state;
	fit(ns, no_spread, 4, pair, 2);
	assert_int_equal(ns[0], ns[1]);
	assert_int_equal(ns[1], ns[3]);
	assert_in_range(ns[0], 100500, 101500);
	assert_int_equal(ns[2], 130000);
}

/* ---- any ---- */

struct fitting {
	cost_ns ns[MOST];
	struct fit_pair pair[MOST * MOST];
	uint32_t n, npairs;
};

static struct fitting
any_fitting(struct rng *r)
{
	struct fitting f = {.n = 2 + rng_below(r, MOST - 1)};

	for (uint32_t i = 0; i < f.n; i++)
		f.ns[i] = 100000 + rng_below(r, 10000);
	for (uint32_t a = 0; a < f.n; a++)
		for (uint32_t b = 0; b < f.n; b++) {
			const uint32_t low = 940000 + rng_below(r, 100000);

			if (a != b && rng_below(r, 3) == 0)
				f.pair[f.npairs++] = (struct fit_pair){
				    a, b, low, low + rng_below(r, 40000)};
		}
	return f;
}

static void
shuffle(struct fitting *f, struct rng *r)
{
	for (uint32_t i = f->npairs; i > 1; i--) {
		const uint32_t k = rng_below(r, i);
		const struct fit_pair kept = f->pair[k];

		f->pair[k] = f->pair[i - 1];
		f->pair[i - 1] = kept;
	}
}

static double
log_sum(const struct fitting *f)
{
	double sum = 0;

	for (uint32_t i = 0; i < f->n; i++)
		sum += log((double)f->ns[i]);
	return sum;
}

/* Prices of equal certainty: what all together cost, multiplied, does not change, so none is
 * drawn down to whoever was lucky. */
static void
order_and_luck_do_not_matter(void **state)
{
	struct rng r = rng_seeded(7);

	(void)state;
	for (uint32_t i = 0; i < 2000; i++) {
		struct fitting f = any_fitting(&r), other = f;
		const double before = log_sum(&f);

		fit(f.ns, no_spread, f.n, f.pair, f.npairs);
		shuffle(&other, &r);
		fit(other.ns, no_spread, other.n, other.pair, other.npairs);
		for (uint32_t k = 0; k < f.n; k++)
			assert_in_range(other.ns[k], f.ns[k] - f.ns[k] / 5000,
			    f.ns[k] + f.ns[k] / 5000);
		assert_true(fabs(log_sum(&f) - before) < 1e-3);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_agrees_stays),
	    cmocka_unit_test(what_disagrees_is_shared),
	    cmocka_unit_test(who_is_less_certain_moves_more),
	    cmocka_unit_test(noise_moves_hardly_anything),
	    cmocka_unit_test(a_slower_one_is_not_tied_through_others),
	    cmocka_unit_test(what_is_tied_costs_the_same),
	    cmocka_unit_test(order_and_luck_do_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
