/* marq calibrate: fit the Marvell cost simulator to measurements. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "ir/base/file.h"
#include "targets/mrvl/calibrate.h"

struct request {
	struct cli *cli;
	const char *measurements, *from, *output;
};

enum { KEY_FROM = 0x200 };

static const struct argp_option options[] = {
    {"from", KEY_FROM, "PARAMS.json", 0,
        "start from these parameters (default: the built-in ones)", 0},
    {"output", 'o', "PARAMS.json", 0,
        "where the fitted parameters go (default: standard output)", 0},
    {0}};

static error_t
parse(int key, char *arg, struct argp_state *state)
{
	struct request *r = (struct request *)state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = r->cli;
		return 0;
	case KEY_FROM:
		r->from = arg;
		return 0;
	case 'o':
		r->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num > 0)
			return ARGP_ERR_UNKNOWN;
		r->measurements = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void
report(const struct cli *c, const struct fit *f, const struct samples *s)
{
	cli_say(c, 0,
	    "%u samples (%s): typical error %.1f %% before, %.1f %% "
	    "after",
	    s->n, s->board, 100 * f->before, 100 * f->after);
	for (uint32_t i = 0; i < NPARAM; i++) {
		const struct param_value *v = &f->params.param[i];
		const struct param_info *info = param_info((enum param)i);

		if (f->moved[i])
			cli_say(c, 0, "  %-16s %12.6g %s (%.6g .. %.6g)",
			    info->name, v->value, info->unit, v->low, v->high);
		else if (v->provenance == PROVENANCE_ASSUMED)
			cli_say(c, 0,
			    "  %-16s %12.6g %s still assumed: no sample "
			    "depends on it",
			    info->name, v->value, info->unit);
	}
}

static bool
write_params(FILE *f, void *context, struct err *err)
{
	(void)err;
	params_write(f, (const struct params *)context);
	return true;
}

static bool
run(const struct request *r, struct err *err)
{
	struct samples samples;
	struct params from;
	struct fit fit;

	params_default(&from);
	if (r->from && !params_load(&from, r->from, r->cli->run, err))
		return false;
	if (!r->measurements) {
		params_write(stdout, &from);
		return true;
	}
	if (!samples_load(&samples, r->measurements, r->cli->run, err)
	    || !calibrate(&fit, &samples, &from, r->cli->run, err))
		return false;
	report(r->cli, &fit, &samples);
	if (r->output)
		return file_write(r->output, write_params, &fit.params, err);
	params_write(stdout, &fit.params);
	return true;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = cli_children,
    .args_doc = "[MEASUREMENTS.json]",
    .doc = "Fit the parameters of the Marvell cost simulator to "
           "measurements of single layers, and write them in the form "
           "that -t mrvl:params=FILE takes. Without measurements: print "
           "the parameters there are, each with its range and source.",
};

bool
cmd_calibrate(struct cli *c, int argc, char **argv, struct err *err)
{
	struct request r = {.cli = c};

	return cli_parse(c, &argp, argc, argv, &r, err) && run(&r, err);
}
