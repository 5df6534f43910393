/* marq explain: why nodes run where they run. */
#include <string.h>

#include "cli/answer.h"
#include "cli/explain_result.h"
#include "cli/explanation.h"
#include "cli/job.h"
#include "cli/node_filter.h"
#include "cli/search_args.h"
#include "cli/what_if.h"
#include "ir/base/shell.h"

struct explain_args {
	struct search_args search;
	struct node_filter filter;
	struct text_list what_if;
	const char *by; /* NULL: not asked for costs */
	const char *origin; /* NULL: not asked for */
	const char *run; /* a run's times instead of prices, or NULL */
	bool list, fast;
};

static void
take_what_if(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	struct explain_args *args = at;

	(void)row;
	if (strcmp(arg, "list") == 0)
		args->list = true;
	else
		text_list_add(&args->what_if, arg, s->cli->run);
}

#define AT(member) offsetof(struct explain_args, member)

static const struct option_row options[] = {
    {.help = "Which nodes:", .group = 1},
    {"node", 0, "NAME|#ID",
        "of that name (an ONNX name, too) or id in the plan", option_text,
        AT(filter.node), .group = 1},
    {"index", 0, "N", "number N in the ONNX file's graph", option_text,
        AT(filter.index), .group = 1},
    {"op", 0, "TYPE", "of an operator type", option_text, AT(filter.op),
        .group = 1},
    {"not-on", 0, "TARGET", "that do not run there", option_text,
        AT(filter.not_on), .group = 1},
    {"at", 0, "MODULE",
        "of a module of the author's (layers.0.attn); of a result", option_text,
        AT(filter.at), .group = 1},
    {"line", 0, "FILE:N", "that a line of Python calls; of a result",
        option_text, AT(filter.line), .group = 1},
    {"origin", 0, "NAME",
        "where that comes from: a region, a function, layer or constant that a "
        "backend is given, a conversion; or what an initialiser became; of a "
        "result",
        option_text, AT(origin), .group = 1},
    {"all", 0, NULL, "every one", option_flag, AT(filter.all), .group = 1},
    {"fast", 0, NULL, "do not search again for the cost of legal alternatives",
        option_flag, AT(fast), .group = 1},
    {.help = "What it costs, of a result:", .group = 2},
    {"by", 0, "WHAT",
        "costs by module, line (of Python), op or target, with what is inside "
        "and without; or as a flame graph: folded (stacks), speedscope",
        option_text, AT(by), .group = 2},
    {"run", 0, "FILE",
        "what it took instead: FILE is what `marq run` printed as JSON; with "
        "--by",
        option_text, AT(run), .group = 2},
    {.help = "What would change:", .group = 3},
    {"what-if", 0, "WHAT",
        "search again assuming that WHAT (repeat: all of them): a condition "
        "of a rule holds ([TARGET:]CONDITION), a node runs elsewhere "
        "(NODE=TARGET), conversions cost nothing (free:A..B, of targets or "
        "formats), launches cost nothing (free:launch:TARGET); 'list' shows "
        "what there is",
        take_what_if, .group = 3},
    {0},
};

static bool
asks_for_nodes(const struct explain_args *args)
{
	const struct node_filter *p = &args->filter;

	return p->node || p->index || p->op || p->not_on || p->at || p->line
	    || p->all;
}

static void
check(struct option_state *s)
{
	const struct explain_args *args = s->args;

	if (args->run && !args->by)
		argp_error(s->argp, "--run %s goes with --by", args->run);
	if (!asks_for_nodes(args) && !args->what_if.n && !args->list
	    && !args->by && !args->origin)
		argp_error(s->argp,
		    "say which nodes: --node, --index, --op, --not-on, --at, "
		    "--line or --all; or --origin; or --by; or --what-if");
}

static bool
tell_nodes(const struct explain_args *args, struct job *j,
    const struct filtered *p, struct answer *answer, struct err *err)
{
	struct explanation why;
	struct arena a;
	bool ok = true;

	arena_init(&a);
	answer_list(answer, "nodes");
	for (node_id id = 0; ok && id < j->model.graph->nnodes; id++) {
		struct arena_mark mark = arena_mark(&a);

		if (!p->node[id])
			continue;
		ok = explanation_make(&why, j, id, !args->fast, &a, err);
		if (ok)
			explanation_tell(&why, j, answer);
		arena_back(&a, mark);
	}
	answer_close(answer);
	arena_release(&a);
	return ok;
}

static bool
tell(const struct explain_args *args, struct job *j, struct what_if *what,
    struct err *err)
{
	struct filtered p;
	struct answer a;

	if (!node_filter_apply(&p, &args->filter, j, err))
		return false;
	answer_begin(&a, args->search.cli, "marq.explain/2");
	ANSWER(&a, NULL, F("model", args->search.model),
	    F("plan_cost_ns", j->plan.cost));
	if (!tell_nodes(args, j, &p, &a, err))
		return false;
	filtered_tell_fates(&p, &a);
	if (args->filter.not_on && p.n == 0)
		ANSWER(&a, "every node asked about runs on {target}\n",
		    T("target", args->filter.not_on));
	if (args->list)
		what_if_list(j, &a);
	if (args->what_if.n) {
		if (!what_if_search(what, j, err))
			return false;
		what_if_tell(what, &a);
	}
	answer_end(&a);
	return true;
}

static bool
run(const struct explain_args *args, struct job *j, struct what_if *what,
    struct err *err)
{
	struct cli *c = args->search.cli;

	return job_import(j, &args->search, c->run, err) && job_bind(j, err)
	    && job_candidates(j, true, err)
	    && (args->what_if.n == 0
	        || what_if_open(what, &args->what_if, j, err))
	    && job_search(j, err) && tell(args, j, what, err);
}

static const struct command_line line = {
    .options = options,
    .shared = search_options,
    .shared_at = AT(search),
    .operands = SEARCH_OPERAND(AT(search)),
    .check = check,
    .args_doc = "MODEL.onnx|RESULT",
    .doc = "Say of nodes where they run and at what price, and for "
           "every other target why not: each condition that fails with "
           "the value that fails it, or what the plan would cost, and "
           "which conversions and launches make it so. Say what would "
           "change under an assumption. Of a result it tells what is on "
           "record there: nothing is searched or measured, but for "
           "--what-if, which searches at known prices.",
};

bool
cmd_explain(struct cli *c, int argc, char **argv, struct err *err)
{
	struct explain_args args = {.fast = false};
	struct job j = {.opened = false};
	struct what_if what = {.found = false};
	const char *given;
	bool ok;

	search_args_init(&args.search, c);
	if (!cli_parse(c, &line, argc, argv, &args, err))
		return false;
	given = args.search.model;
	if (search_args_is_result(&args.search)) {
		if (args.what_if.n == 0 && !args.list)
			return explain_result(c, given,
			           &(struct result_question){args.origin,
			               args.by, args.run, &args.filter},
			           err)
			    && (cli_next(c, "marq explain %s --what-if list",
			            shell_quote(given, c->run)),
			        true);
		args.search.measure = false; /* other plans at known prices */
	}
	if (args.by || args.origin || args.filter.at || args.filter.line)
		return err_set(err, ERR_USAGE,
		    "%s takes a result directory, without --what-if",
		    args.by              ? "--by"
		        : args.origin    ? "--origin"
		        : args.filter.at ? "--at"
		                         : "--line");
	if (!search_args_resolve(&args.search, err))
		return false;
	search_args_settle(&args.search);
	ok = run(&args, &j, &what, err);
	if (ok && !args.list && args.what_if.n == 0)
		cli_next(c, "marq explain %s --what-if list",
		    shell_quote(given, c->run));
	ok = what_if_close(&what, err) && ok;
	return job_close(&j, err) && ok;
}
