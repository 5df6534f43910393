/* marq model make: write an architecture of our own (cli/generators) as ONNX. */
#include <stdio.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/generators/generators.h"
#include "cli/model.h"
#include "cli/options.h"
#include "cli/output.h"
#include "ir/base/file.h"
#include "ir/base/nearest.h"
#include "ir/base/shell.h"
#include "ir/infer.h"
#include "ir/onnx_write.h"

struct make_args {
	struct cli *cli;
	const char *name, *out;
	enum { HASHED, CONSTANT, NONE } weights;
};

#define AT(member) offsetof(struct make_args, member)

static const struct option_row options[] = {
    {"output", 'o', "FILE",
        "where to (default NAME.onnx; '-': standard output)", option_text,
        .at = AT(out)},
    {"weights", 0, "hashed|constant|none",
        "numbers every program can reproduce (default); one number, which "
        "makes a small file (ConstantOfShape); or weights without content",
        option_word, .at = AT(weights)},
    {0},
};

static void
list_all(const struct cli *c)
{
	uint32_t n;
	const struct generator *entry = generators(&n);
	struct answer a;

	answer_begin(&a, c, "marq.generators/1");
	answer_list(&a, "architectures");
	for (uint32_t i = 0; i < n; i++)
		ANSWER_LINE(&a, "{name:-14} {what}\n", F("name", entry[i].name),
		    F("what", entry[i].what));
	answer_close(&a);
	answer_end(&a);
}

struct written {
	const struct graph *g;
	bool light;
	const char *beside; /* the file of weights, or NULL */
};

/* TUNING: shorter ones are parameters. */
#define WEIGHT_LEAST 16

/* Weights of one number lose it. */
static void
leave_out_weights(struct graph *g, struct arena *a)
{
	for (value_id v = 0; v < g->nvalues; v++) {
		const struct tensor *t = g->value[v].constant;
		struct tensor *bare;

		if (!t || t->kind != TENSOR_FILL || t->rank == 0
		    || t->count < WEIGHT_LEAST)
			continue;
		bare = arena_copy(a, t, sizeof *t);
		bare->made_up = true;
		g->value[v].constant = bare;
	}
}

/* Larger models have their weights beside them, as exporters write them; TUNING:
 * the largest convolution nets and BERT-base are one file. */
#define ONE_FILE_MOST ((size_t)1 << 29)
#define BESIDE_LEAST 4096

static bool
is_large(const struct graph *g)
{
	size_t bytes = 0;

	for (value_id v = 0; v < g->nvalues; v++)
		if (g->value[v].constant && !g->value[v].constant->made_up)
			bytes += g->value[v].constant->bytes;
	return bytes > ONE_FILE_MOST;
}

/* Of the operators used. */
static uint32_t
opsets_of(const struct graph *g, struct onnx_opset opset[2])
{
	uint32_t n = 1;

	opset[0] = (struct onnx_opset){"", 1};
	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *node = &g->node[id];

		if (node->domain[0]) {
			opset[1] =
			    (struct onnx_opset){node->domain, node->opset};
			n = 2;
		} else if (node->opset > opset[0].version) {
			opset[0].version = node->opset;
		}
	}
	return n;
}

static struct onnx_out
out_of(const struct written *w, struct onnx_opset opset[2])
{
	struct onnx_out out = {
	    .graph = w->g,
	    .light = w->light,
	    .nopsets = opsets_of(w->g, opset),
	    .opset = opset,
	    .beside = w->beside,
	    .beside_bytes = BESIDE_LEAST,
	};

	/* SOURCE: onnx's table of versions. */
	out.ir_version = opset[0].version < 18 ? 8 : 10;
	return out;
}

static bool
write_model(FILE *f, void *context, struct err *err)
{
	struct onnx_opset opset[2];
	const struct onnx_out out = out_of(context, opset);

	return onnx_write(f, &out, err);
}

static bool
write_weights(FILE *f, void *context, struct err *err)
{
	struct onnx_opset opset[2];
	const struct onnx_out out = out_of(context, opset);

	return onnx_write_beside(f, &out, err);
}

/* The weights first: the model is there only when all of it is. */
static bool
write_files(const struct make_args *args, struct written *w, struct err *err)
{
	const char *slash = strrchr(args->out, '/'), *path;

	if (!w->light && args->weights == HASHED && is_large(w->g)) {
		if (strcmp(args->out, "-") == 0)
			return err_set(err, ERR_USAGE,
			    "the weights of %s lie beside it: name a file",
			    args->name);
		path = arena_printf(args->cli->run, "%s.data", args->out);
		w->beside = slash ? path + (slash + 1 - args->out) : path;
		if (!output_file(args->cli, args->out, err)
		    || !output_write(args->cli, path, write_weights, w, err))
			return false;
	}
	return output_write(args->cli, args->out, write_model, w, err);
}

static bool
no_such(const struct make_args *args, struct err *err)
{
	struct nearest near = {.word = args->name};
	uint32_t n;
	const struct generator *entry = generators(&n);

	for (uint32_t i = 0; i < n; i++)
		nearest_try(&near, entry[i].name);
	return err_set(err, ERR_USAGE,
	    "no architecture '%s'%s (marq model make lists them)", args->name,
	    nearest_text(&near, args->cli->run));
}

static bool
make(const struct make_args *args, struct err *err)
{
	const struct generator *entry = generator_find(args->name);
	const struct infer_options shapes = {.eval = NULL};
	struct written w = {.light = args->weights == CONSTANT};
	struct graph *g;
	struct arena a;
	bool ok;

	if (!entry)
		return no_such(args, err);
	arena_init(&a);
	w.g = g = entry->make(&a, args->weights != HASHED);
	if (args->weights == NONE)
		leave_out_weights(g, &a);
	ok = infer(g, &shapes, err) && write_files(args, &w, err);
	arena_release(&a);
	return ok;
}

static const struct command_line line = {
    .options = options,
    .operands = {option_text, AT(name), 1, "one architecture at a time", NULL},
    .args_doc = "[NAME]",
    .doc = "Write a real architecture at real size; without a name, "
           "list them.",
};

bool
model_make(struct cli *c, int argc, char **argv, struct err *err)
{
	struct make_args args = {.cli = c};

	if (!cli_parse(c, &line, argc, argv, &args, err))
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
	if (strcmp(args.out, "-") == 0)
		return true;
	cli_say(c, 0, "wrote %s", args.out);
	cli_next(c, "marq search %s", shell_quote(args.out, c->run));
	return true;
}
