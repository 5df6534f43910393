/* marq model make: write an architecture of our own (cli/zoo) as ONNX. */
#include <stdio.h>
#include <string.h>

#include "cli/model.h"
#include "cli/output.h"
#include "cli/zoo/zoo.h"
#include "ir/base/json.h"
#include "ir/base/file.h"
#include "ir/base/nearest.h"
#include "ir/infer.h"
#include "ir/onnx_write.h"

struct make_args {
	struct cli *cli;
	const char *name, *out;
	bool constant;
};

enum { KEY_WEIGHTS = 0x300 };

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0,
        "where to (default NAME.onnx; '-': standard output)", 0},
    {"weights", KEY_WEIGHTS, "hashed|constant", 0,
        "numbers every program can reproduce (default), or one number, which "
        "makes a small file (ConstantOfShape)",
        0},
    {0},
};

static error_t
parse(int key, char *arg, struct argp_state *state)
{
	struct make_args *args = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = args->cli;
		return 0;
	case 'o':
		args->out = arg;
		return 0;
	case KEY_WEIGHTS:
		args->constant = strcmp(arg, "constant") == 0;
		if (!args->constant && strcmp(arg, "hashed") != 0)
			argp_error(state,
			    "--weights %s: want hashed or constant", arg);
		return 0;
	case ARGP_KEY_ARG:
		if (args->name)
			argp_error(state, "one architecture at a time");
		args->name = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void
list_all(const struct cli *c)
{
	uint32_t n;
	const struct zoo_entry *entry = zoo_entries(&n);
	struct json j;

	if (c->format != OUT_JSON) {
		for (uint32_t i = 0; i < n; i++)
			printf("%-14s %s\n", entry[i].name, entry[i].what);
		return;
	}
	json_init(&j, stdout, 2);
	json_object(&j);
	json_key_str(&j, "schema", "marq.zoo/1");
	json_key(&j, "architectures");
	json_array(&j);
	for (uint32_t i = 0; i < n; i++) {
		json_inline_object(&j);
		json_key_str(&j, "name", entry[i].name);
		json_key_str(&j, "what", entry[i].what);
		json_close(&j);
	}
	json_close(&j);
	json_close(&j);
}

struct written {
	const struct graph *g;
	bool light;
};

static bool
write_model(FILE *f, void *context, struct err *err)
{
	const struct onnx_opset opset = {"", 13};
	const struct written *w = context;
	const struct onnx_out out = {
	    .graph = w->g,
	    .light = w->light,
	    .ir_version = 8,
	    .nopsets = 1,
	    .opset = &opset,
	};

	return onnx_write(f, &out, err);
}

static bool
no_such(const struct make_args *args, struct err *err)
{
	struct nearest near = {.word = args->name};
	uint32_t n;
	const struct zoo_entry *entry = zoo_entries(&n);

	for (uint32_t i = 0; i < n; i++)
		nearest_try(&near, entry[i].name);
	return err_set(err, ERR_USAGE,
	    "no architecture '%s'%s (marq model make lists them)", args->name,
	    nearest_text(&near, args->cli->run));
}

static bool
make(const struct make_args *args, struct err *err)
{
	const struct zoo_entry *entry = zoo_find(args->name);
	const struct infer_options shapes = {.eval = NULL};
	struct written w = {.light = args->constant};
	struct graph *g;
	struct arena a;
	bool ok;

	if (!entry)
		return no_such(args, err);
	arena_init(&a);
	w.g = g = entry->make(&a, args->constant);
	ok = infer(g, &shapes, err)
	    && output_write(args->cli, args->out, write_model, &w, err);
	arena_release(&a);
	return ok;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = cli_children,
    .args_doc = "[NAME]",
    .doc = "Write a real architecture at real size; without a name, "
           "list them.",
};

bool
model_make(struct cli *c, int argc, char **argv, struct err *err)
{
	struct make_args args = {.cli = c};

	if (!cli_parse(c, &argp, argc, argv, &args, err))
		return false;
	if (!args.name) {
		list_all(c);
		cli_next(c, "marq model make squeezenet");
		return true;
	}
	if (!args.out)
		args.out = arena_printf(c->run, "%s.onnx", args.name);
	if (!make(&args, err))
		return false;
	if (strcmp(args.out, "-") != 0)
		cli_say(c, 0, "wrote %s", args.out);
	cli_next(c, "marq search %s", args.out);
	return true;
}
