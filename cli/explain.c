/* marq explain: why nodes run where they run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/job.h"
#include "cli/search_args.h"
#include "cli/story.h"
#include "cli/units.h"
#include "ir/base/json.h"

struct args {
	struct search_args search;
	const char *node, *op, *not_on;
	bool all, fast;
};

enum { KEY_NODE = 0x300, KEY_OP, KEY_NOT_ON, KEY_ALL, KEY_FAST };

static const struct argp_option options[] = {
    {"node", KEY_NODE, "NAME|#ID", 0, "the node of that name or id", 0},
    {"op", KEY_OP, "TYPE", 0, "all nodes of an operator type", 0},
    {"not-on", KEY_NOT_ON, "TARGET", 0, "all nodes that do not run there", 0},
    {"all", KEY_ALL, NULL, 0, "every node", 0},
    {"fast", KEY_FAST, NULL, 0,
        "do not search again for the cost of legal alternatives", 0},
    {0},
};

static error_t
parse(int key, char *arg, struct argp_state *state)
{
	struct args *args = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &args->search;
		return 0;
	case KEY_NODE:
		args->node = arg;
		return 0;
	case KEY_OP:
		args->op = arg;
		return 0;
	case KEY_NOT_ON:
		args->not_on = arg;
		return 0;
	case KEY_ALL:
		args->all = true;
		return 0;
	case KEY_FAST:
		args->fast = true;
		return 0;
	case ARGP_KEY_END:
		if (!args->node && !args->op && !args->not_on && !args->all)
			argp_error(state,
			    "say which nodes: --node, --op, --not-on or --all");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Does "mrvl" or "mrvl:num_tiles=4" name this target? */
static bool
names_target(const char *text, const struct target *t)
{
	return strcmp(text, t->text) == 0 || strcmp(text, t->kind->name) == 0;
}

static bool
is_selected(const struct args *args, const struct job *j, node_id id)
{
	const struct plan *p = &j->plan;
	const struct plan_composite *c = &p->composite[p->composite_of[id]];
	const struct candidate *cand = &p->candidates->candidate[c->candidate];
	const char *label = node_label(j->model.graph, id, j->arena);

	if (args->node && args->node[0] == '#'
	    && strtoul(args->node + 1, NULL, 10) != id)
		return false;
	if (args->node && args->node[0] != '#'
	    && strcmp(args->node, label) != 0)
		return false;
	if (args->op
	    && strcmp(args->op, graph_node(j->model.graph, id)->op_type) != 0)
		return false;
	return !args->not_on
	    || !names_target(args->not_on, &j->mix.target[cand->target]);
}

/* A name in --node may be of a node that was folded or dropped. */
static bool
tell_fate(const struct args *args, const struct job *j)
{
	const struct onnx_nodes *t = j->model.graph->origin_table;

	for (uint32_t i = 0; args->node && i < t->n; i++) {
		const struct onnx_node *n = &t->node[i];

		if (strcmp(n->name, args->node) != 0 || n->fate == FATE_COVERED)
			continue;
		printf("%s (%s) runs nowhere: %s (%s)\n", n->name, n->op_type,
		    n->fate == FATE_FOLDED ? "folded into a constant"
		                           : "dropped",
		    n->why ? n->why : "");
		return true;
	}
	return false;
}

static bool
tell_all(const struct args *args, struct job *j, struct err *err)
{
	const struct graph *g = j->model.graph;
	bool json = args->search.cli->format == OUT_JSON;
	struct node_story story;
	uint32_t told = 0;
	struct json w;

	json_init(&w, stdout, 2);
	if (json) {
		json_object(&w);
		json_key_str(&w, "schema", "marq.explain/1");
		json_key_str(&w, "model", args->search.model);
		json_key_uint(&w, "plan_cost_ns", j->plan.cost);
		json_key(&w, "nodes");
		json_array(&w);
	}
	for (node_id id = 0; id < g->nnodes; id++) {
		if (!is_selected(args, j, id))
			continue;
		if (!story_tell(&story, j, id, !args->fast, j->arena, err))
			return false;
		if (json)
			story_write(&story, j, &w);
		else
			story_print(&story, j);
		told++;
	}
	if (json) {
		json_close(&w);
		json_close(&w);
	} else if (told == 0 && !tell_fate(args, j)) {
		if (!args->not_on)
			return err_set(err, ERR_USAGE, "no such node");
		printf("every node runs on %s\n", args->not_on);
	}
	return true;
}

/* What the cheapest plan costs without the assumption. */
static bool
cost_without(const struct args *args, cost_ns *cost, struct err *err)
{
	struct search_args plain = args->search;
	struct job j = {.opened = false};
	bool ok;

	plain.assume = NULL;
	ok = job_import(&j, &plain, plain.cli->run, err)
	    && job_candidates(&j, false, err) && job_search(&j, err);
	*cost = ok ? j.plan.cost : 0;
	return job_close(&j, err) && ok;
}

/* With --what-if: what the assumption would save. */
static bool
tell_saving(const struct args *args, const struct job *j, struct err *err)
{
	char with[32], without[32], saved[32];
	cost_ns before, now = j->plan.cost;

	if (!args->search.assume || args->search.cli->format == OUT_JSON)
		return true;
	if (!cost_without(args, &before, err))
		return false;
	if (before == now)
		printf(
		    "if %s held (if any rule asks for that): no cheaper plan\n",
		    args->search.assume);
	else
		printf("if %s held: the plan would cost %s instead of %s, "
		       "saving %s\n",
		    args->search.assume,
		    format_duration(now, with, sizeof with),
		    format_duration(before, without, sizeof without),
		    format_duration(
		        before > now ? before - now : 0, saved, sizeof saved));
	return true;
}

int
cmd_explain(struct cli *c, int argc, char **argv)
{
	const struct argp_child children[] = {{&search_argp, 0, NULL, 0}, {0}};
	const struct argp argp = {.options = options,
	    .parser = parse,
	    .children = children,
	    .args_doc = "MODEL.onnx|RESULT",
	    .doc = "Say of nodes where they run and at what price, and for "
	           "every other target why not: each condition that fails with "
	           "the value that fails it, or what the plan would cost."};
	struct args args = {.all = false};
	struct job j = {.opened = false};
	struct err err = {.kind = ERR_NONE};
	bool ok;

	search_args_init(&args.search, c);
	if (!cli_parse(c, &argp, argc, argv, &args, &err)
	    || !search_args_resolve(&args.search, &err))
		return cli_fail(c, &err);
	ok = job_import(&j, &args.search, c->run, &err)
	    && job_candidates(&j, true, &err) && job_search(&j, &err)
	    && tell_all(&args, &j, &err) && tell_saving(&args, &j, &err);
	ok = job_close(&j, &err) && ok;
	return ok ? cli_stop_status(0) : cli_fail(c, &err);
}
