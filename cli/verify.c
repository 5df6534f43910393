/* marq verify RESULT...: is a result directory what was written? */
#include <stdio.h>

#include "cli/cli.h"
#include "ir/base/listing.h"
#include "ir/base/plural.h"

struct verify_args {
	struct cli *cli;
	const char **path;
	uint32_t n;
};

static error_t
parse(int key, char *arg, struct argp_state *state)
{
	struct verify_args *args = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = args->cli;
		return 0;
	case ARGP_KEY_ARG:
		args->path[args->n++] = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no result");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    .parser = parse,
    .children = cli_children,
    .args_doc = "RESULT...",
    .doc = "Check that result directories hold exactly the files that were "
           "written, by the sizes and SHA-256 in their files.json.",
};

bool
cmd_verify(struct cli *c, int argc, char **argv, struct err *err)
{
	struct verify_args args = {.cli = c};
	uint32_t files = 0;

	args.path = arena_new(c->run, const char *, (size_t)argc);
	if (!cli_parse(c, &argp, argc, argv, &args, err))
		return false;
	for (uint32_t i = 0; i < args.n; i++) {
		uint32_t n;

		if (!listing_verify(args.path[i], &n, c->run, err))
			return false;
		files += n;
		if (c->verbosity >= 0 && c->format != OUT_JSON)
			printf("%s: %u file%s as they were written\n",
			    args.path[i], n, plural(n));
	}
	if (c->format == OUT_JSON)
		printf("{\"schema\": \"marq.verify/1\", \"results\": %u, "
		       "\"files\": %u}\n",
		    args.n, files);
	return true;
}
