/* The k best covers against all covers, each priced by brute force.
 * Argument: number of cases (default 400). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/order.h"
#include "search/kbest.h"
#include "search/problem_index.h"
#include "tests/support/problems.h"

#define K 5u
#define COVERS_MAX 4096u

struct listing {
	const struct problem *p;
	struct arena *a;
	bool *allowed, *covered;
	cost_ns cost[COVERS_MAX];
	uint32_t n;
};

static bool
fits(const struct listing *l, const struct problem_candidate *c)
{
	for (uint32_t i = 0; i < c->nnodes; i++)
		if (l->covered[c->node[i]])
			return false;
	return candidate_usable(c);
}

static void
mark(struct listing *l, uint32_t id, bool on)
{
	const struct problem_candidate *c = &l->p->candidate[id];

	for (uint32_t i = 0; i < c->nnodes; i++)
		l->covered[c->node[i]] = on;
	l->allowed[id] = on;
}

static void
price(struct listing *l)
{
	struct arena_mark before = arena_mark(l->a);
	struct search_options o = {0};
	struct search_result r;
	struct err err = {0};
	struct problem sub;

	problem_restrict(&sub, l->p, l->allowed, l->a);
	if (search_exhaustive(&r, &sub, &o, l->a, &err) && r.found
	    && l->n < COVERS_MAX)
		l->cost[l->n++] = r.cover.cost;
	arena_back(l->a, before);
}

/* Every way to cover the nodes from the lowest on. */
static void
list(struct listing *l)
{
	uint32_t node = 0;

	while (node < l->p->nnodes && l->covered[node])
		node++;
	if (node == l->p->nnodes) {
		price(l);
		return;
	}
	for (uint32_t k = l->p->low_start[node]; k < l->p->low_start[node + 1];
	     k++) {
		if (!fits(l, &l->p->candidate[l->p->low[k]]))
			continue;
		mark(l, l->p->low[k], true);
		list(l);
		mark(l, l->p->low[k], false);
	}
}

/* No bytes may be nowhere. */
static bool
same_bytes(const void *x, const void *y, size_t n)
{
	return n == 0 || memcmp(x, y, n) == 0;
}

/* The covers do not depend on the number of threads. */
static bool
same_threaded(const struct problem *p, const struct search_top *one,
    uint32_t threads, struct arena *a)
{
	struct search_options o = {.threads = threads};
	struct search_result r[K];
	struct search_top top = {r, K, 0};
	struct err err = {0};

	if (!search_top(&top, p, &o, a, &err) || top.n != one->n)
		return false;
	for (uint32_t i = 0; i < top.n; i++) {
		const struct cover *x = &r[i].cover, *y = &one->best[i].cover;

		if (x->cost != y->cost || x->nsteps != y->nsteps
		    || x->nconversions != y->nconversions
		    || r[i].lower_bound != one->best[i].lower_bound
		    || r[i].labels != one->best[i].labels
		    || !same_bytes(
		        x->step, y->step, x->nsteps * sizeof *x->step)
		    || !same_bytes(x->conversion, y->conversion,
		        x->nconversions * sizeof *x->conversion))
			return false;
	}
	return true;
}

static bool
same(const struct problem *p, uint64_t seed, struct arena *a)
{
	struct listing *l = arena_new(a, struct listing, 1);
	struct search_options o = {0};
	struct search_result r[K];
	struct search_top top = {r, K, 0};
	struct err err = {0};
	uint32_t n;

	l->p = p;
	l->a = a;
	l->allowed = arena_new(a, bool, p->ncandidates);
	l->covered = arena_new(a, bool, p->nnodes);
	list(l);
	qsort(l->cost, l->n, sizeof *l->cost, by_u64);
	if (!search_top(&top, p, &o, a, &err)) {
		printf("seed %" PRIu64 ": %s\n", seed, err.text);
		return false;
	}
	n = top.n;
	if (n != (l->n < K ? l->n : K)) {
		printf("seed %" PRIu64 ": %" PRIu32 " of %" PRIu32 " covers\n",
		    seed, n, l->n);
		return false;
	}
	for (uint32_t i = 0; i < n; i++)
		if (r[i].cover.cost != l->cost[i] || !r[i].proven
		    || r[i].lower_bound != l->cost[i]) {
			printf("seed %" PRIu64 ": cover %" PRIu32
			       " costs %" PRIu64 ", not %" PRIu64
			       ", proven %d\n",
			    seed, i, r[i].cover.cost, l->cost[i], r[i].proven);
			return false;
		}
	for (uint32_t threads = 2; threads <= 4; threads *= 2)
		if (!same_threaded(p, &top, threads, a)) {
			printf("seed %" PRIu64 ": not the same on %" PRIu32
			       " threads\n",
			    seed, threads);
			return false;
		}
	return true;
}

int
main(int argc, char **argv)
{
	static const struct problem_mix mixes[] = {
	    {5, 8, 3, 3, .launches = true, .limits = true, .marks = true,
	        .taps = true, .resources = true, .parts = true, .local = true},
	    {6, 10, 3, 1, .launches = true, .local = true},
	};
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 400, bad = 0;

	for (uint64_t seed = 0; seed < n; seed++) {
		struct rng r = rng_seeded(seed);
		struct arena a;

		arena_init(&a);
		bad +=
		    !same(problem_random(&r, &mixes[seed % 2], &a), seed, &a);
		arena_release(&a);
	}
	printf("%" PRIu64 " cases, %" PRIu64 " failed\n", n, bad);
	return bad > 0;
}
