/* Twins are those that differ in nothing but cost, and the others are not missed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "search/solve.h"
#include "search/equivalents.h"
#include "search/problem_index.h"
#include "tests/support/problems.h"

#define CASES 400

static const struct problem_mix mixes[] = {
    {6, 12, 2, 3, .launches = false},
    {6, 12, 2, 3, .launches = true, .marks = true, .taps = true},
    {5, 10, 2, 3, .launches = true, .resources = true, .parts = true},
    {5, 10, 3, 2, .marks = true, .local = true},
};

static bool
same_bytes(const void *x, const void *y, size_t n, size_t size)
{
	return n == 0 || memcmp(x, y, n * size) == 0;
}

static bool
same_shape(const struct problem_candidate *x, const struct problem_candidate *y)
{
	return x->nnodes == y->nnodes && x->ninputs == y->ninputs
	    && x->noutputs == y->noutputs
	    && same_bytes(x->node, y->node, x->nnodes, sizeof *x->node)
	    && same_bytes(x->input, y->input, x->ninputs, sizeof *x->input)
	    && same_bytes(x->output, y->output, x->noutputs, sizeof *x->output);
}

static bool
is_plain(const struct problem *p, const struct problem_candidate *x)
{
	const struct problem_target *t = &p->target[x->target];
	bool local = false;

	for (uint32_t c = 0; c < p->ncandidates; c++) {
		const struct problem_candidate *of = &p->candidate[c];

		for (uint32_t i = 0; i < of->ninputs; i++)
			local |= of->target == x->target
			    && p->local >> of->input[i].format & 1;
		for (uint32_t i = 0; i < of->noutputs; i++)
			local |= of->target == x->target
			    && p->local >> of->output[i].format & 1;
	}
	return x->resource == 0 && t->launch == 0 && t->max_runs == NO_LIMIT
	    && t->max_run_nodes == NO_LIMIT && !t->fed_only && !local;
}

static bool
must_be_twins(const struct problem *p, const struct problem_candidate *x,
    const struct problem_candidate *y)
{
	return same_shape(x, y)
	    && (x->target == y->target ? x->resource == y->resource
	                               : is_plain(p, x) && is_plain(p, y));
}

static uint32_t
check_classes(const struct problem *p)
{
	uint32_t pairs = 0;

	for (uint32_t c = 0; c < p->ncandidates; c++)
		for (uint32_t d = 0; d < c; d++) {
			bool are = must_be_twins(
			    p, &p->candidate[c], &p->candidate[d]);

			assert_int_equal(
			    are, p->equivalent[c] == p->equivalent[d]);
			pairs += are;
		}
	return pairs;
}

/* The best cover costs the same without all but the cheapest. */
static void
check_loss(struct problem *p, struct arena *a)
{
	struct search_options o = {0};
	struct search_result all, few;
	struct err err = {0};
	const uint32_t *best = equivalents_cheapest(p, a);
	bool *allowed = arena_new(a, bool, p->ncandidates);
	struct problem less;

	for (uint32_t c = 0; c < p->ncandidates; c++)
		allowed[c] = best[p->equivalent[c]] == c;
	problem_restrict(&less, p, allowed, a);
	assert_true(search_exhaustive(&all, p, &o, a, &err));
	assert_true(search_exhaustive(&few, &less, &o, a, &err));
	assert_int_equal(all.found, few.found);
	if (all.found)
		assert_int_equal(all.cover.cost, few.cover.cost);
}

static void
nothing_is_lost(void **state)
{
	uint32_t pairs[sizeof mixes / sizeof mixes[0]] = {0};

	(void)state;
	for (uint64_t seed = 1; seed <= CASES; seed++)
		for (size_t m = 0; m < sizeof mixes / sizeof mixes[0]; m++) {
			struct rng r = rng_seeded(seed);
			struct problem *p;
			struct arena a;

			arena_init(&a);
			p = problem_random(&r, &mixes[m], &a);
			pairs[m] += check_classes(p);
			check_loss(p, &a);
			arena_release(&a);
		}
	for (size_t m = 0; m < sizeof mixes / sizeof mixes[0]; m++)
		assert_true(pairs[m] > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
