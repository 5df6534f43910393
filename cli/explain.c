/* marq explain: why nodes run where they run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/explain_result.h"
#include "cli/job.h"
#include "cli/pick.h"
#include "cli/search_args.h"
#include "cli/story.h"
#include "cli/what_if.h"
#include "ir/base/json.h"

struct explain_args {
	struct search_args search;
	struct pick_args pick;
	struct text_list what_if;
	bool list, fast;
};

enum {
	KEY_NODE = 0x300,
	KEY_INDEX,
	KEY_OP,
	KEY_NOT_ON,
	KEY_ALL,
	KEY_FAST,
	KEY_WHAT_IF
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Which nodes:", 1},
    {"node", KEY_NODE, "NAME|#ID", 0,
        "of that name (an ONNX name, too) or id in the plan", 1},
    {"index", KEY_INDEX, "N", 0, "number N in the ONNX file's graph", 1},
    {"op", KEY_OP, "TYPE", 0, "of an operator type", 1},
    {"not-on", KEY_NOT_ON, "TARGET", 0, "that do not run there", 1},
    {"all", KEY_ALL, NULL, 0, "every one", 1},
    {"fast", KEY_FAST, NULL, 0,
        "do not search again for the cost of legal alternatives", 1},
    {NULL, 0, NULL, 0, "What would change:", 2},
    {"what-if", KEY_WHAT_IF, "WHAT", 0,
        "search again assuming that WHAT (repeat: all of them): a condition "
        "of a rule holds ([TARGET:]CONDITION), a node runs elsewhere "
        "(NODE=TARGET), conversions cost nothing (free:A..B, of targets or "
        "formats), launches cost nothing (free:launch:TARGET); 'list' shows "
        "what there is",
        2},
    {0},
};

static void
add_what_if(struct explain_args *args, const char *text)
{
	if (strcmp(text, "list") == 0)
		args->list = true;
	else
		text_list_add(&args->what_if, text, args->search.cli->run);
}

static bool
asks_for_nodes(const struct explain_args *args)
{
	const struct pick_args *p = &args->pick;

	return p->node || p->index || p->op || p->not_on || p->all;
}

static error_t
parse(int key, char *arg, struct argp_state *state)
{
	struct explain_args *args = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &args->search;
		return 0;
	case KEY_NODE:
		args->pick.node = arg;
		return 0;
	case KEY_INDEX:
		args->pick.index = arg;
		return 0;
	case KEY_OP:
		args->pick.op = arg;
		return 0;
	case KEY_NOT_ON:
		args->pick.not_on = arg;
		return 0;
	case KEY_ALL:
		args->pick.all = true;
		return 0;
	case KEY_FAST:
		args->fast = true;
		return 0;
	case KEY_WHAT_IF:
		add_what_if(args, arg);
		return 0;
	case ARGP_KEY_END:
		if (!asks_for_nodes(args) && !args->what_if.n && !args->list)
			argp_error(state,
			    "say which nodes: --node, --index, --op, --not-on "
			    "or --all; or --what-if");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool
tell_nodes(const struct explain_args *args, struct job *j, const struct pick *p,
    struct json *w, struct err *err)
{
	struct node_story story;
	struct arena a;
	bool ok = true;

	arena_init(&a);
	for (node_id id = 0; ok && id < j->model.graph->nnodes; id++) {
		struct arena_mark mark = arena_mark(&a);

		if (!p->node[id])
			continue;
		ok = story_tell(&story, j, id, !args->fast, &a, err);
		if (ok && w)
			story_write(&story, j, w);
		else if (ok)
			story_print(&story, j);
		arena_back(&a, mark);
	}
	arena_release(&a);
	return ok;
}

static bool
tell_json(const struct explain_args *args, struct job *j, const struct pick *p,
    struct what_if *what, FILE *f, struct err *err)
{
	struct json w;

	json_init(&w, f, 2);
	json_object(&w);
	json_key_str(&w, "schema", "marq.explain/1");
	json_key_str(&w, "model", args->search.model);
	json_key_uint(&w, "plan_cost_ns", j->plan.cost);
	json_key(&w, "nodes");
	json_array(&w);
	if (!tell_nodes(args, j, p, &w, err))
		return false;
	json_close(&w);
	pick_write_fates(p, &w);
	if (args->what_if.n) {
		if (!what_if_search(what, j, err))
			return false;
		what_if_write(what, &w);
	}
	json_close(&w);
	return true;
}

static bool
tell_text(const struct explain_args *args, struct job *j, const struct pick *p,
    struct what_if *what, struct err *err)
{
	if (!tell_nodes(args, j, p, NULL, err))
		return false;
	pick_print_fates(p);
	if (args->pick.not_on && p->n == 0)
		printf(
		    "every node asked about runs on %s\n", args->pick.not_on);
	if (args->list)
		what_if_list(j);
	if (args->what_if.n == 0)
		return true;
	if (!what_if_search(what, j, err))
		return false;
	what_if_print(what);
	return true;
}

/* A document is written whole or not at all. */
static bool
tell(const struct explain_args *args, struct job *j, struct what_if *what,
    struct err *err)
{
	struct pick p;
	char *text = NULL;
	size_t n = 0;
	FILE *f;
	bool ok;

	if (!pick_nodes(&p, &args->pick, j, err))
		return false;
	if (args->search.cli->format != OUT_JSON)
		return tell_text(args, j, &p, what, err);
	f = open_memstream(&text, &n);
	if (!f)
		return err_set(err, ERR_IO, "no memory for the answer");
	ok = tell_json(args, j, &p, what, f, err);
	fclose(f);
	if (ok)
		fwrite(text, 1, n, stdout);
	free(text);
	return ok;
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

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = search_children,
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
	if (!cli_parse(c, &argp, argc, argv, &args, err))
		return false;
	given = args.search.model;
	if (search_args_is_result(&args.search)) {
		if (args.what_if.n == 0 && !args.list)
			return explain_result(c, given, &args.pick, err)
			    && (cli_next(
			            c, "marq explain %s --what-if list", given),
			        true);
		args.search.measure = false; /* other plans at known prices */
	}
	if (!search_args_resolve(&args.search, err))
		return false;
	targets_settle(&args.search);
	ok = run(&args, &j, &what, err);
	if (ok && !args.list && args.what_if.n == 0)
		cli_next(c, "marq explain %s --what-if list", given);
	ok = what_if_close(&what, err) && ok;
	return job_close(&j, err) && ok;
}
