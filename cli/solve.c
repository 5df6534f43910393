/* marq solve: the abstract problem of a file, solved. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
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

static void
take_file(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	struct solve_args *args = at;

	if (args->file)
		argp_error(s->argp, "more than one problem");
	option_input(&args->file, arg, row, s);
	args->placement = row != NULL; /* by --placement */
}

static void
take_trace(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	(void)row;
	if (strcmp(arg, "search") != 0)
		argp_error(s->argp, "--trace %s: want search", arg);
	*(FILE **)at = stderr;
}

static void
check(struct option_state *s)
{
	const struct solve_args *args = s->args;

	if (!args->file)
		argp_error(s->argp, "no problem given");
}

#define AT(member) offsetof(struct solve_args, member)

static const struct option_row options[] = {
    {"search", 0, "NAME",
        "searcher: exact (default), beam, greedy, eager, single:TARGET, brute",
        option_text, .at = AT(searcher)},
    {"time-budget", 0, "D", "stop with the best so far after D",
        option_duration, .at = AT(time_budget_ns)},
    {"memory-budget", 0, "SIZE", "of the search", option_bytes,
        .at = AT(search.memory_budget)},
    {"beam", 0, "N", "labels a beam keeps per node", option_count,
        AT(search.beam), .low = 1, .high = BEAM_MAX},
    {"placement", 0, "FILE.json",
        "solve a device-placement graph instead: one accelerator and a CPU",
        .take = take_file},
    {"dump-problem", 0, "FILE.json",
        "write the abstract problem that is solved", option_text,
        .at = AT(dump)},
    {"trace", 0, "WHAT",
        "search: a line on stderr for each stage of the search", take_trace,
        .at = AT(search.trace)},
    {0},
};

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

static const struct command_line line = {
    .options = options,
    .operands = {take_file, 0, UINT32_MAX, NULL, NULL},
    .check = check,
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

	if (!cli_parse(c, &line, argc, argv, &args, err))
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
