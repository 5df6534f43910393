/* marq run --turns: a plan that is run when somebody says so, in turn with
 * other programs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/run.h"
#include "costmodel/core_lock.h"
#include "costmodel/machine.h"
#include "costmodel/watch.h"
#include "ir/base/clock.h"

/* TUNING: a turn starves others of its cores while it lasts. */
#define TURN_RUNS_MAX 1000

/* Runs once to warm up, then `runs` times; a time is negative where the run was
 * disturbed. */
static bool
turn(const struct run_turns *t, uint32_t runs, struct tensor *out,
    struct err *err)
{
	struct watch watch;

	for (uint32_t i = 0; i <= runs; i++) {
		cost_ns start, took;
		bool disturbed;

		watch_begin(&watch);
		start = clock_ns();
		if (!executor_run(t->executor, t->in, out, err))
			return false;
		took = clock_ns() - start;
		disturbed = watch_end(&watch);
		if (i > 0)
			printf("%s%s%" PRIu64, i > 1 ? " " : "",
			    disturbed ? "-" : "", took);
		machine_rest();
	}
	putchar('\n');
	return fflush(stdout) == 0
	    || err_set(err, ERR_IO, "standard output cannot be written");
}

static bool
is_count(const char *line, uint32_t *runs)
{
	char *end;
	const unsigned long n = strtoul(line, &end, 10);

	*runs = (uint32_t)n;
	return end != line && (*end == '\n' || *end == '\0') && n >= 1
	    && n <= TURN_RUNS_MAX;
}

static bool
answer_line(const struct run_turns *t, const char *line, struct tensor *out,
    struct err *err)
{
	struct cores_taken held;
	uint32_t runs;
	bool ok;

	if (!is_count(line, &runs))
		return err_set(err, ERR_USAGE,
		    "--turns: a line is a number of runs from 1 to %d",
		    TURN_RUNS_MAX);
	cores_take(&held, t->threads);
	machine_urgent(true);
	ok = turn(t, runs, out, err);
	machine_urgent(false);
	cores_release(&held);
	return ok;
}

bool
run_turns(const struct run_turns *t, struct tensor *out, struct err *err)
{
	char line[32];
	bool ok = executor_hold(t->executor, t->in, err);

	if (!ok)
		return false;
	printf("ready marq %" PRIu64 " %" PRIu64 "\n", t->predicted, t->prices);
	fflush(stdout);
	while (ok && fgets(line, sizeof line, stdin))
		ok = answer_line(t, line, out, err);
	return ok;
}
