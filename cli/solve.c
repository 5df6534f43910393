/* marq solve: the abstract problem of a file, solved. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/units.h"
#include "ir/base/clock.h"
#include "ir/base/json.h"
#include "search/infeasible.h"
#include "search/placement.h"
#include "search/problem_json.h"

/* TUNING: labels a node; a budget of memory stops it long before */
#define BEAM_MAX 100000000

struct solve_args {
	struct cli *cli;
	const char *file, *searcher, *dump;
	bool placement; /* the file is a device-placement graph */
	uint64_t time_budget_ns;
	struct search_options search;
};

enum {
	KEY_SEARCH = 0x300,
	KEY_TIME,
	KEY_MEMORY,
	KEY_BEAM,
	KEY_PLACEMENT,
	KEY_DUMP,
	KEY_TRACE
};

static const struct argp_option options[] = {
    {"search", KEY_SEARCH, "NAME", 0,
        "searcher: exact (default), beam, greedy, eager, single:TARGET, brute",
        0},
    {"time-budget", KEY_TIME, "D", 0, "stop with the best so far after D", 0},
    {"memory-budget", KEY_MEMORY, "SIZE", 0, "of the search", 0},
    {"beam", KEY_BEAM, "N", 0, "labels a beam keeps per node", 0},
    {"placement", KEY_PLACEMENT, "FILE.json", 0,
        "solve a device-placement graph instead: one accelerator and a CPU", 0},
    {"dump-problem", KEY_DUMP, "FILE.json", 0,
        "write the abstract problem that is solved", 0},
    {"trace", KEY_TRACE, "WHAT", 0,
        "search: a line on stderr for each stage of the search", 0},
    {0},
};

static void
take_file(struct solve_args *args, const char *file, bool placement,
    const struct argp_state *state)
{
	if (args->file)
		argp_error(state, "more than one problem");
	args->file = file;
	output_keep(args->cli, file);
	args->placement = placement;
}

static error_t
parse(int key, char *arg, struct argp_state *state)
{
	struct solve_args *args = state->input;
	struct err err = {.kind = ERR_NONE};

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = args->cli;
		return 0;
	case KEY_SEARCH:
		args->searcher = arg;
		return 0;
	case KEY_TIME:
		if (!parse_duration(arg, &args->time_budget_ns, &err))
			argp_error(state, "--time-budget: %s", err.text);
		return 0;
	case KEY_MEMORY:
		if (!parse_bytes(arg, &args->search.memory_budget, &err))
			argp_error(state, "--memory-budget: %s", err.text);
		return 0;
	case KEY_BEAM:
		args->search.beam =
		    option_number("--beam", arg, 1, BEAM_MAX, state);
		return 0;
	case KEY_TRACE:
		if (strcmp(arg, "search") != 0)
			argp_error(state, "--trace %s: want search", arg);
		args->search.trace = stderr;
		return 0;
	case KEY_DUMP:
		args->dump = arg;
		return 0;
	case KEY_PLACEMENT:
	case ARGP_KEY_ARG:
		take_file(args, arg, key == KEY_PLACEMENT, state);
		return 0;
	case ARGP_KEY_END:
		if (!args->file)
			argp_error(state, "no problem given");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void
print_nodes(const struct problem *p, const struct problem_candidate *c)
{
	for (uint32_t i = 0; i < c->nnodes; i++) {
		const char *name = p->node[c->node[i]].name;

		if (name)
			printf(" %s", name);
		else
			printf(" %" PRIu32, c->node[i]);
	}
	putchar('\n');
}

/* makespan: COST_NEVER: there is none; infeasible: why there is no cover, or
 * empty. */
static void
print_text(const struct search_result *r, const struct problem *p,
    cost_ns makespan, const char *infeasible)
{
	const struct cover *c = &r->cover;

	printf("searcher     %s\n", r->searcher);
	if (!r->found) {
		puts(
		    r->proven ? "no legal cover exists" : "no cover was found");
		if (*infeasible)
			printf("infeasible   %s\n", infeasible);
		return;
	}
	printf("cost         %" PRIu64 " ns\n", c->cost);
	printf("lower bound  %" PRIu64 " ns%s%s\n", r->lower_bound,
	    r->proven ? " (proven optimal)" : ": not proven, ", r->why);
	if (makespan != COST_NEVER)
		printf("makespan     %" PRIu64
		       " ns, with parallel CPUs, and transfers paid by each "
		       "call\n",
		    makespan);
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
		print_nodes(p, k);
	}
}

static bool
write_problem(FILE *f, void *context, struct err *err)
{
	struct json j;

	(void)err;
	json_init(&j, f, 1);
	problem_write(context, &j);
	return true;
}

/* out->graph is only there when the file is a placement. */
static bool
read_file(
    struct placement_file *out, const struct solve_args *args, struct err *err)
{
	struct arena *a = args->cli->run;

	return (args->placement
	               ? placement_read(out, args->file, a, err)
	               : problem_read(&out->problem, args->file, a, err))
	    && (!args->dump
	        || output_write(
	            args->cli, args->dump, write_problem, &out->problem, err));
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = cli_children,
    .args_doc = "PROBLEM.json\n--placement FILE.json",
    .doc = "Solve an abstract covering problem (search/README.md has "
           "the schema). Exit status 1: there is no legal cover.",
};

bool
cmd_solve(struct cli *c, int argc, char **argv, struct err *err)
{
	struct solve_args args = {.cli = c, .searcher = "exact"};
	struct placement_file file = {.graph = NULL};
	const struct problem *p = &file.problem;
	struct search_result r;
	char infeasible[INFEASIBLE_TEXT] = "";
	cost_ns makespan = COST_NEVER;
	struct json j;

	if (!cli_parse(c, &argp, argc, argv, &args, err))
		return false;
	args.search.stop = c->stop;
	if (args.time_budget_ns)
		args.search.deadline_ns = clock_ns() + args.time_budget_ns;
	if (!read_file(&file, &args, err)
	    || !search_named(&r, p, args.searcher, &args.search, c->run, err))
		return false;
	if (!r.found && r.proven)
		infeasible_explain(infeasible, p, &args.search, c->run);
	if (file.graph && placement_accelerators(file.graph) > 1)
		cli_say(c, 0, "%s: one of the %" PRId64 " accelerators is used",
		    args.file, placement_accelerators(file.graph));
	if (file.graph && r.found)
		makespan = placement_makespan(file.graph, p, &r.cover, c->run);
	if (c->format == OUT_JSON) {
		json_init(&j, stdout, 1);
		solution_write(&r, p, makespan, infeasible, &j);
		putchar('\n');
	} else {
		print_text(&r, p, makespan, infeasible);
	}
	if (!r.found)
		c->status = err_exit(ERR_NO_COVER);
	return true;
}
