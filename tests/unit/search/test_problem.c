/* How many formats a value may be asked for in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "search/problem_index.h"
#include "search/solve.h"

#define NODE_COST 10u
#define LAUNCH 5u

/* Value 0 is fed in format 0. Formats 1..n can be made of that, n+1..2n each of
 * one of those. */
static void
make_formats(struct problem *p, uint32_t n, struct arena *a)
{
	p->nclasses = 1;
	p->nformats = 1 + 2 * n;
	p->conversion =
	    arena_new(a, cost_ns, (size_t)p->nformats * p->nformats);
	for (uint32_t i = 0; i < p->nformats * p->nformats; i++)
		p->conversion[i] = COST_NEVER;
	for (uint32_t f = 1; f <= n; f++) {
		p->conversion[f] = 1;
		p->conversion[f * p->nformats + n + f] = 1;
	}
}

/* Node i reads value 0 in a format of its own, and what the node before makes. */
static void
make_reader(struct problem *p, uint32_t i, uint32_t format, struct arena *a)
{
	struct problem_port *port = arena_new(a, struct problem_port, 3);
	uint32_t *id = arena_new(a, uint32_t, 4);
	uint32_t ninputs = i ? 2 : 1;

	id[1] = i;
	id[2] = i + 1;
	id[3] = i;
	port[0] = (struct problem_port){0, format};
	port[1] = (struct problem_port){i, 0};
	port[2] = (struct problem_port){i + 1, 0};
	p->node[i] = (struct problem_node){ninputs, 1, &id[0], &id[2], NULL};
	p->value[i + 1] =
	    (struct problem_value){.producer = i, .class = NO_CLASS};
	p->candidate[i] = (struct problem_candidate){.cost = NODE_COST,
	    .class = i,
	    .nnodes = 1,
	    .ninputs = ninputs,
	    .noutputs = 1,
	    .node = &id[3],
	    .input = &port[0],
	    .output = &port[2]};
}

/* Value 0 is asked for in n formats, in the first of them twice, and each node is
 * a run. */
static struct problem
readers_of(uint32_t n, bool local, struct arena *a)
{
	struct problem p = {.nnodes = n + 1,
	    .nvalues = n + 2,
	    .ncandidates = n + 1,
	    .ntargets = 1,
	    .node = arena_new(a, struct problem_node, n + 1),
	    .value = arena_new(a, struct problem_value, n + 2),
	    .candidate = arena_new(a, struct problem_candidate, n + 1),
	    .target = arena_new(a, struct problem_target, 1)};

	make_formats(&p, n, a);
	p.value[0] = (struct problem_value){.producer = NO_NODE, .initial = 1};
	for (uint32_t i = 0; i <= n; i++)
		make_reader(&p, i, n + 1 + i % n, a);
	p.value[n + 1].required = 1;
	p.target[0] = (struct problem_target){.name = "t",
	    .launch = LAUNCH,
	    .max_runs = NO_LIMIT,
	    .max_run_nodes = 1,
	    .capacity = UINT64_MAX};
	if (local)
		p.local = ((UINT32_C(1) << n) - 1) << (n + 1);
	return p;
}

/* The tree to what it is asked for in, and, where that is local, once more for
 * the run that asks again. */
static void
solves_the_most_that_can_be(void **state)
{
	struct search_options o = {0};

	(void)state;
	for (int local = 0; local < 2; local++) {
		uint32_t n = DEMANDS_MAX - (uint32_t)local;
		struct search_result r;
		struct err err = {0};
		struct problem p;
		struct arena a;

		arena_init(&a);
		p = readers_of(n, local, &a);
		if (!problem_index(&p, &a, &err)
		    || !search_exact(&r, &p, &o, &a, &err))
			fail_msg("%s", err.text);
		assert_true(r.found && r.proven);
		assert_int_equal(r.cover.cost,
		    (n + 1) * (NODE_COST + LAUNCH) + 2 * n + (local ? 1 : 0));
		arena_release(&a);
	}
}

static void
refuses_one_more(void **state)
{
	(void)state;
	for (int local = 0; local < 2; local++) {
		uint32_t n = DEMANDS_MAX + 1 - (uint32_t)local;
		struct err err = {0};
		struct problem p;
		struct arena a;

		arena_init(&a);
		p = readers_of(n, local, &a);
		assert_false(problem_index(&p, &a, &err));
		assert_int_equal(err.kind, ERR_UNSUPPORTED);
		assert_non_null(strstr(err.text, "asked for in 11 formats"));
		assert_int_equal(
		    strstr(err.text, "a way in included") != NULL, local);
		arena_release(&a);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(solves_the_most_that_can_be),
	    cmocka_unit_test(refuses_one_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
