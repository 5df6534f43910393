/* Every candidate of one kind over a made graph, run and compared with the host
 * reference. Included by the test of each kernel library; `tested` is its kind. */
#ifndef TESTS_SUPPORT_KIND_H
#define TESTS_SUPPORT_KIND_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/reference.h"
#include "costmodel/trial.h"
#include "targets/candidates.h"
#include "targets/host/host.h"
#include "tests/support/make.h"
#include "tests/support/support.h"

extern const struct target_kind target_host;
extern const struct target_kind *const tested;

static struct arena arena;
static struct maker m;
static struct mix mix;
static struct candidates found;

static int
setup(void **state)
{
	(void)state;
	arena_init(&arena);
	make_begin(&m, &arena);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

/* Run one candidate and compare; true when the library took it. */
static bool
runs(const struct candidate *c, struct reference *r)
{
	struct err err = {.kind = ERR_NONE};
	double error, allowed;
	struct trial t;
	bool ok;

	if (!trial_open(&t, m.graph, &mix, c, &arena, &err)) {
		printf("  %s %s: %s\n", tested->rule[c->rule].name,
		    c->implementation_name, err.text);
		assert_int_equal(err.kind, ERR_UNSUPPORTED);
		return false;
	}
	trial_run(&t);
	trial_run(&t);
	if (t.kernel.in_place == 0)
		trial_run(&t);
	ok = trial_check(&t, r, &error, &allowed, &arena, &err);
	trial_close(&t);
	if (!ok)
		fail_msg("%s", err.text);
	if (error > allowed)
		fail_msg("%s %s over %u nodes: error %g",
		    tested->rule[c->rule].name, c->implementation_name,
		    (unsigned)c->nnodes, error);
	return true;
}

/* Find all candidates of the made graph and run those of oneDNN; the number
 * that ran. `rule` must have run over `nnodes` nodes at least once. */
static uint32_t
check_all(const char *rule, uint32_t nnodes)
{
	struct target *t = arena_new(&arena, struct target, 2);
	struct err err = {.kind = ERR_NONE};
	struct reference r;
	uint32_t n = 0;
	bool seen = false;

	make_end(&m);
	mix = (struct mix){.target = t, .n = 2};
	formats_init(&mix.formats);
	t[0] = (struct target){.kind = tested, .text = tested->name};
	t[1] =
	    (struct target){.kind = &target_host, .text = "host", .index = 1};
	t[0].formats = t[1].formats = &mix.formats;
	if (tested->open && !tested->open(&t[0], &mix.formats, &arena, &err))
		fail_msg("%s", err.text);
	if (!candidates_find(&found, m.graph, &mix, NULL, &arena, &err)) {
		fail_msg("%s", err.text);
	}
	reference_init(&r, m.graph, host_eval);
	for (uint32_t i = 0; i < found.n; i++) {
		const struct candidate *c = &found.candidate[i];

		if (c->target != 0 || !runs(c, &r))
			continue;
		n++;
		seen |= strcmp(tested->rule[c->rule].name, rule) == 0
		    && c->nnodes == nnodes;
	}
	reference_release(&r);
	if (!seen)
		fail_msg("%s over %u nodes never ran", rule, (unsigned)nnodes);
	return n;
}

#endif
