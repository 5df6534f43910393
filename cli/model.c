/* marq model: what can be done with a model alone. One row a verb. */
#include "cli/model.h"

#include <stdio.h>
#include <string.h>

#include "ir/base/nearest.h"

static const struct {
	const char *name, *what;
	cli_command *run;
} verbs[] = {
#define VERB(name, what) {#name, what, model_##name},
#include "cli/model.def"
#undef VERB
};

#define NVERBS (sizeof verbs / sizeof verbs[0])

static void
print_help(FILE *f)
{
	fputs(
	    "Usage: marq model VERB [OPTION...] [ARGUMENT...]\n\nVerbs:\n", f);
	for (size_t i = 0; i < NVERBS; i++)
		fprintf(f, "  %-8s %s\n", verbs[i].name, verbs[i].what);
	fputs("\n`marq model VERB --help` lists a verb's options.\n", f);
}

bool
cmd_model(struct cli *c, int argc, char **argv, struct err *err)
{
	struct nearest near = {.name = NULL};

	if (argc >= 2
	    && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		print_help(stdout);
		return true;
	}
	if (argc >= 2 && strcmp(argv[1], "--version") == 0) {
		puts("marq model");
		return true;
	}
	for (size_t i = 0; argc >= 2 && i < NVERBS; i++)
		if (strcmp(argv[1], verbs[i].name) == 0) {
			c->command =
			    arena_printf(c->run, "model %s", verbs[i].name);
			return verbs[i].run(c, argc - 1, argv + 1, err);
		}
	if (argc < 2)
		return err_set(err, ERR_USAGE,
		    "no verb given (info, check or make); for example: marq "
		    "model info model.onnx");
	near.word = argv[1];
	for (size_t i = 0; i < NVERBS; i++)
		nearest_try(&near, verbs[i].name);
	return err_set(err, ERR_USAGE,
	    "no verb '%s'%s (marq model --help lists them)", argv[1],
	    nearest_text(&near, c->run));
}
