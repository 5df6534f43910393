/* marq calibrate: probes for a board, and the Marvell cost simulator fitted to
 * what it says of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/output.h"
#include "cli/zoo/build.h"
#include "ir/base/file.h"
#include "ir/base/plural.h"
#include "ir/onnx_write.h"
#include "targets/mrvl/probe.h"

struct calibrate_args {
	struct cli *cli;
	const char *measurements, *format, *start, *output, *probes;
};

#define AT(member) offsetof(struct calibrate_args, member)

static const struct option_row options[] = {
    {"from", 0, "FORMAT",
        "what FILE is: json, or dpdk-stats for what `dpdk-test-mldev "
        "--stats` printed of the probes (default: json)",
        option_text, .at = AT(format)},
    {"probes", 0, "DIR",
        "write probe models for a board, and how to compile and time them",
        option_text, .at = AT(probes)},
    {"start", 0, "PARAMS.json",
        "start from these parameters (default: the built-in ones)",
        option_input, .at = AT(start)},
    {"output", 'o', "PARAMS.json",
        "where the fitted parameters go (default: standard output)",
        option_text, .at = AT(output)},
    {0},
};

/* ---- probes ---- */

static bool
write_onnx(FILE *f, const struct probe *p, struct arena *a, struct err *err)
{
	static const struct onnx_opset opset = {"", 13};
	const int64_t image[] = {1, p->c, p->h, p->w}, row[] = {1, p->c};
	bool fc = p->op == PROBE_FC;
	struct model_builder b = zoo_begin(a, probe_name(p, a), true);
	value_id x = zoo_input(&b, "x", DT_FLOAT, fc ? 2 : 4, fc ? row : image);
	struct conv_shape s = {
	    p->c, p->o, p->kernel, 1, p->kernel / 2, p->groups};

	if (fc)
		x = zoo_linear(&b, x, p->c, p->o);
	else if (p->op == PROBE_POOL)
		x = zoo_max_pool(&b, x, p->kernel, 1, p->kernel / 2);
	else
		x = zoo_conv(&b, x, s, false);
	zoo_output(&b, x, "y");
	const struct onnx_out out = {.graph = b.g,
	    .light = true,
	    .ir_version = 8,
	    .nopsets = 1,
	    .opset = &opset};
	return onnx_write(f, &out, err);
}

static bool
write_file(const struct outdir *o, const struct probe *p, const char *suffix,
    void (*write)(FILE *f, const struct probe *p, struct arena *a),
    struct arena *a, struct err *err)
{
	const char *name = arena_printf(a, "%s%s", probe_name(p, a), suffix);
	FILE *f = out_open(o, name, a, err);
	bool ok = true;

	if (!f)
		return false;
	if (write)
		write(f, p, a);
	else
		ok = write_onnx(f, p, a, err);
	return out_close(f, name, ok ? err : &(struct err){0}) && ok;
}

/* SOURCE: DPDK's guide to dpdk-test-mldev. */
static bool
write_script(const struct outdir *o, const struct probe *p, uint32_t n,
    struct arena *a, struct err *err)
{
	static const char *const name = "probes.sh";
	FILE *f = out_open(o, name, a, err);

	if (!f)
		return false;
	fputs(
	    "#!/bin/sh\n"
	    "# probes.sh compile: with Marvell's compiler on PATH\n"
	    "# probes.sh time [EAL options]: on the board; then\n"
	    "# marq calibrate --from dpdk-stats stats.txt -o params.json\n"
	    "# (-quantize=int8 may be refused: those probes are then left out)\n"
	    "set -u\n"
	    "one() { # NAME BYTES-OF-INPUT COMPILER...\n"
	    "\tname=$1 bytes=$2; shift 2\n"
	    "\tif [ \"$job\" = compile ]; then\n"
	    "\t\t\"$@\" || echo \"left out: $name\" >&2\n"
	    "\telif [ -s \"bin_$name/$name.bin\" ]; then\n"
	    "\t\thead -c \"$bytes\" /dev/zero >input.bin\n"
	    "\t\tdpdk-test-mldev $eal -- --test=inference_ordered --stats"
	    " --repetitions=100 \\\n"
	    "\t\t\t--filelist \"bin_$name/$name.bin,input.bin,output.bin\""
	    " >>stats.txt\n"
	    "\tfi\n"
	    "}\n"
	    "job=${1:-compile}; [ $# -gt 0 ] && shift; eal=$*\n",
	    f);
	for (uint32_t i = 0; i < n; i++)
		fprintf(f, "one %s %lld %s\n", probe_name(&p[i], a),
		    (long long)(4 * p[i].h * p[i].w * p[i].c),
		    probe_command(&p[i], a));
	return out_close(f, name, err);
}

static bool
write_probes(const struct calibrate_args *r, struct err *err)
{
	struct arena *a = r->cli->run;
	struct outdir o;
	uint32_t n;
	const struct probe *p = probes(&n, a);
	bool ok;

	if (!output_folder(r->cli, r->probes, err)
	    || !out_begin(&o, r->probes, r->cli->force, a, err))
		return false;
	ok = write_script(&o, p, n, a, err);
	for (uint32_t i = 0; ok && i < n; i++)
		ok = write_file(&o, &p[i], ".onnx", NULL, a, err)
		    && write_file(
		        &o, &p[i], "-nodes.json", probe_write_nodes, a, err)
		    && write_file(
		        &o, &p[i], "-consts.json", probe_write_consts, a, err);
	if (!ok || !out_commit(&o, err)) {
		out_abandon(&o);
		return false;
	}
	cli_say(r->cli, 0, "wrote %u probe%s to %s", n, plural(n), r->probes);
	return true;
}

/* ---- the fit ---- */

static int
by_size(const void *a, const void *b)
{
	double x = fabs(*(const double *)a), y = fabs(*(const double *)b);

	return (x < y) - (x > y);
}

/* Relative errors: the typical one, the quartile and the largest. */
static void
report_residuals(
    const struct cli *c, const struct fit *f, const struct samples *s)
{
	double *r = arena_new(c->run, double, s->n);

	for (uint32_t i = 0; i < s->n; i++)
		r[i] = sample_ns(&s->sample[i], &f->at) / s->sample[i].ns - 1;
	qsort(r, s->n, sizeof *r, by_size);
	cli_say(c, 0,
	    "%u sample%s (%s): typical error %.1f %% before, %.1f %% after; "
	    "largest %+.1f %%, half within %.1f %%",
	    s->n, plural(s->n), s->board, 100 * f->before, 100 * f->after,
	    100 * r[0], 100 * fabs(r[s->n / 2]));
}

static void
report(const struct cli *c, const struct fit *f, const struct samples *s)
{
	report_residuals(c, f, s);
	for (uint32_t i = 0; i < NPARAM; i++) {
		const struct param_value *v = &f->params.param[i];
		const struct param_info *info = param_info((enum param)i);

		if (f->moved[i])
			cli_say(c, 0, "  %-18s %12.6g %s, +-%.1f %%",
			    info->name, v->value, info->unit,
			    100 * f->spread[i]);
		else if (isfinite(f->spread[i]))
			cli_say(c, 0,
			    "  %-18s %12.6g %s still assumed: not identified, "
			    "%.3g +-%.0f %%",
			    info->name, v->value, info->unit, f->at.value[i],
			    100 * f->spread[i]);
		else if (v->provenance != PROVENANCE_PUBLISHED)
			cli_say(c, 0,
			    "  %-18s %12.6g %s still assumed: not identified, no "
			    "sample depends on it",
			    info->name, v->value, info->unit);
	}
	if (f->one_type)
		cli_say(c, 0,
		    "samples of one type only: of int8_tops and fp16_ratio "
		    "the product is known, not each");
}

static bool
write_params(FILE *f, void *context, struct err *err)
{
	(void)err;
	params_write(f, (const struct params *)context);
	return true;
}

static bool
load(struct samples *s, const struct calibrate_args *r, struct err *err)
{
	uint32_t others;

	if (!r->format || strcmp(r->format, "json") == 0)
		return samples_load(s, r->measurements, r->cli->run, err);
	if (strcmp(r->format, "dpdk-stats") != 0)
		return err_set(err, ERR_USAGE,
		    "--from %s: must be json or dpdk-stats", r->format);
	if (!probes_stats(s, &others, r->measurements, r->cli->run, err))
		return false;
	if (others)
		cli_say(r->cli, 0,
		    "left out: %u model%s that the probe list lacks", others,
		    plural(others));
	return true;
}

static bool
run(const struct calibrate_args *r, struct err *err)
{
	struct samples samples;
	struct params start;
	struct fit fit;

	if (r->probes)
		return write_probes(r, err);
	params_default(&start);
	if (r->start && !params_load(&start, r->start, r->cli->run, err))
		return false;
	if (!r->measurements) {
		params_write(stdout, &start);
		return true;
	}
	if (!load(&samples, r, err)
	    || !calibrate(&fit, &samples, &start, r->cli->run, err))
		return false;
	report(r->cli, &fit, &samples);
	if (r->output)
		return output_write(
		    r->cli, r->output, write_params, &fit.params, err);
	params_write(stdout, &fit.params);
	return true;
}

static const struct command_line line = {
    .options = options,
    .operands = {option_input, AT(measurements), 1, NULL, NULL},
    .args_doc = "[FILE]",
    .doc = "Fit the parameters of the Marvell cost simulator to "
           "measurements of single layers in FILE, and write them in the "
           "form that -t mrvl:params=FILE takes. Without measurements: "
           "print the parameters there are, each with its range and "
           "source.",
};

bool
cmd_calibrate(struct cli *c, int argc, char **argv, struct err *err)
{
	struct calibrate_args r = {.cli = c};

	return cli_parse(c, &line, argc, argv, &r, err) && run(&r, err);
}
