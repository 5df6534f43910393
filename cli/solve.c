/* marq solve: the abstract problem of a file, solved. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/units.h"
#include "ir/base/json.h"
#include "search/problem_json.h"

struct solve_args {
	struct cli *cli;
	const char *file, *searcher;
	struct search_options search;
};

enum { KEY_SEARCH = 0x300, KEY_TIME, KEY_MEMORY, KEY_BEAM };

static const struct argp_option options[] = {
    {"search", KEY_SEARCH, "NAME", 0,
        "searcher: exact (default), beam, greedy, eager, single:TARGET, brute",
        0},
    {"time-budget", KEY_TIME, "D", 0, "stop with the best so far after D", 0},
    {"memory-budget", KEY_MEMORY, "SIZE", 0, "of the search", 0},
    {"beam", KEY_BEAM, "N", 0, "labels a beam keeps per node", 0},
    {0},
};

static error_t
parse(int key, char *arg, struct argp_state *state)
{
	struct solve_args *args = state->input;
	struct err err = {.kind = ERR_NONE};
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = args->cli;
		return 0;
	case KEY_SEARCH:
		args->searcher = arg;
		return 0;
	case KEY_TIME:
		if (!parse_duration(arg, &args->search.time_budget_ns, &err))
			argp_error(state, "%s", err.text);
		return 0;
	case KEY_MEMORY:
		if (!parse_bytes(arg, &args->search.memory_budget, &err))
			argp_error(state, "%s", err.text);
		return 0;
	case KEY_BEAM:
		args->search.beam = (uint32_t)strtoul(arg, &end, 10);
		if (*arg < '1' || *arg > '9' || *end)
			argp_error(state, "--beam %s: want a number", arg);
		return 0;
	case ARGP_KEY_ARG:
		if (args->file)
			argp_error(state, "more than one problem");
		args->file = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no problem given");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void
print_text(const struct search_result *r, const struct problem *p)
{
	const struct cover *c = &r->cover;

	printf("searcher     %s\n", r->searcher);
	if (!r->found) {
		puts(
		    r->proven ? "no legal cover exists" : "no cover was found");
		return;
	}
	printf("cost         %" PRIu64 " ns\n", c->cost);
	printf("lower bound  %" PRIu64 " ns%s%s\n", r->lower_bound,
	    r->proven ? " (proven optimal)" : ": not proven, ", r->why);
	printf("steps        %" PRIu32 " in %" PRIu32 " runs, %" PRIu32
	       " conversions\n",
	    c->nsteps, c->nruns, c->nconversions);
	for (uint32_t i = 0; i < c->nsteps; i++) {
		const struct problem_candidate *k =
		    &p->candidate[c->step[i].candidate];

		printf("%5" PRIu32 "  run %" PRIu32 "  %-12s candidate %" PRIu32
		       "  nodes",
		    i, c->step[i].run, p->target[k->target].name,
		    c->step[i].candidate);
		for (uint32_t n = 0; n < k->nnodes; n++)
			printf(" %" PRIu32, k->node[n]);
		putchar('\n');
	}
}

int
cmd_solve(struct cli *c, int argc, char **argv)
{
	const struct argp_child children[] = {{&cli_common, 0, NULL, 0}, {0}};
	const struct argp argp = {.options = options,
	    .parser = parse,
	    .children = children,
	    .args_doc = "PROBLEM.json",
	    .doc = "Solve an abstract covering problem (search/README.md has "
	           "the schema). Exit status 1: there is no legal cover."};
	struct solve_args args = {.cli = c, .searcher = "exact"};
	struct err err = {.kind = ERR_NONE};
	struct search_result r;
	struct problem p;
	struct json j;

	if (!cli_parse(c, &argp, argc, argv, &args, &err))
		return cli_fail(c, &err);
	args.search.stop = c->stop;
	if (!problem_read(&p, args.file, c->run, &err)
	    || !search_named(&r, &p, args.searcher, &args.search, c->run, &err))
		return cli_fail(c, &err);
	if (c->format == OUT_JSON) {
		json_init(&j, stdout, 1);
		solution_write(&r, &p, &j);
		putchar('\n');
	} else {
		print_text(&r, &p);
	}
	return cli_finish(c, r.found ? 0 : err_exit(ERR_NO_COVER));
}
