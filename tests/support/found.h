/* What tests of backends begin with: a graph that is made by hand, a target and
 * the host, and what is found for them in the graph. Fixtures of one file each,
 * so included by the test itself. */
#ifndef TESTS_SUPPORT_FOUND_H
#define TESTS_SUPPORT_FOUND_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "targets/candidates.h"
#include "tests/support/make.h"

static struct arena arena;
static struct maker m;
static struct mix mix;
static struct candidates found;

static inline int
setup(void **state)
{
	(void)state;
	arena_init(&arena);
	make_begin(&m, &arena);
	return 0;
}

static inline int
teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

/* End the graph; its candidates of a target (as on a command line) and the
 * host, with what was refused. */
static inline bool
try_to_find(const char *target, struct err *err)
{
	struct candidate_options o = {.keep_refusals = true};

	make_end(&m);
	return mix_open(&mix, &target, 1, &arena, err)
	    && candidates_find(&found, m.graph, &mix, &o, &arena, err);
}

static inline void
find(const char *target)
{
	struct err err = {.kind = ERR_NONE};

	if (!try_to_find(target, &err))
		fail_msg("%s", err.text);
}

/* Was some match of the target's rule refused for that condition? */
static inline bool
refused(uint32_t rule, const char *condition)
{
	for (uint32_t i = 0; i < found.nrefusals; i++) {
		const struct refusal *r = &found.refusal[i];

		for (uint32_t k = 0;
		     r->rule == rule && r->target == 0 && k < r->nreasons; k++)
			if (!r->reason[k].holds
			    && strcmp(r->reason[k].condition, condition) == 0)
				return true;
	}
	return false;
}

/* The target's largest candidate of a rule, or NULL. */
static inline const struct candidate *
largest(uint32_t rule)
{
	const struct candidate *best = NULL;

	for (uint32_t i = 0; i < found.n; i++) {
		const struct candidate *c = &found.candidate[i];

		if (c->target == 0 && c->rule == rule
		    && (!best || c->nnodes > best->nnodes))
			best = c;
	}
	return best;
}

/* How many nodes it has; 0: there is none. */
static inline uint32_t
most_nodes(uint32_t rule)
{
	const struct candidate *c = largest(rule);

	return c ? c->nnodes : 0;
}

#endif
