#include "targets/mrvl/calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/plural.h"
#include "targets/mrvl/probe.h"

/* ---- probes ---- */

static const struct calibration_probe *
list_probes(uint32_t *n, struct arena *a)
{
	static const enum calibration_op op[NPROBE_OP] = {
	    [PROBE_CONV] = CALIBRATION_CONV,
	    [PROBE_FC] = CALIBRATION_FC,
	    [PROBE_POOL] = CALIBRATION_POOL,
	};
	const struct probe *p = probes(n, a);
	struct calibration_probe *out =
	    arena_new(a, struct calibration_probe, *n);

	for (uint32_t i = 0; i < *n; i++)
		out[i] = (struct calibration_probe){
		    .name = probe_name(&p[i], a),
		    .command = probe_command(&p[i], a),
		    .op = op[p[i].op],
		    .h = p[i].h,
		    .w = p[i].w,
		    .c = p[i].c,
		    .o = p[i].o,
		    .kernel = p[i].kernel,
		    .groups = p[i].groups,
		};
	return out;
}

/* The name says all of a probe. */
static struct probe
read_probe(const struct calibration_probe *p)
{
	struct probe out = {.op = PROBE_CONV};

	probe_read(&out, p->name, strlen(p->name));
	return out;
}

static void
write_nodes(FILE *f, const struct calibration_probe *p, struct arena *a)
{
	const struct probe probe = read_probe(p);

	probe_write_nodes(f, &probe, a);
}

static void
write_consts(FILE *f, const struct calibration_probe *p, struct arena *a)
{
	const struct probe probe = read_probe(p);

	probe_write_consts(f, &probe, a);
}

static const struct calibration_file files[] = {
    {"-nodes.json", write_nodes},
    {"-consts.json", write_consts},
    {0},
};

/* SOURCE: DPDK's guide to dpdk-test-mldev. */
static const char script[] =
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
    "job=${1:-compile}; [ $# -gt 0 ] && shift; eal=$*\n";

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
    struct notes *out, const struct fit *f, const struct board_samples *s)
{
	double *r = arena_new(out->arena, double, s->n);

	for (uint32_t i = 0; i < s->n; i++)
		r[i] = sample_ns(&s->sample[i], &f->at) / s->sample[i].ns - 1;
	qsort(r, s->n, sizeof *r, by_size);
	notes_add(out,
	    "%u sample%s (%s): typical error %.1f %% before, %.1f %% after; "
	    "largest %+.1f %%, half within %.1f %%",
	    s->n, plural(s->n), s->board, 100 * f->before, 100 * f->after,
	    100 * r[0], 100 * fabs(r[s->n / 2]));
}

static void
report(struct notes *out, const struct fit *f, const struct board_samples *s)
{
	report_residuals(out, f, s);
	for (uint32_t i = 0; i < NPARAM; i++) {
		const struct param_value *v = &f->params.param[i];
		const struct param_info *info = param_info((enum param)i);

		if (f->moved[i])
			notes_add(out, "  %-18s %12.6g %s, +-%.1f %%",
			    info->name, v->value, info->unit,
			    100 * f->spread[i]);
		else if (isfinite(f->spread[i]))
			notes_add(out,
			    "  %-18s %12.6g %s still assumed: not identified, "
			    "%.3g +-%.0f %%",
			    info->name, v->value, info->unit, f->at.value[i],
			    100 * f->spread[i]);
		else if (v->provenance != PROVENANCE_PUBLISHED)
			notes_add(out,
			    "  %-18s %12.6g %s still assumed: not identified, no "
			    "sample depends on it",
			    info->name, v->value, info->unit);
	}
	if (f->one_type)
		notes_add(out,
		    "samples of one type only: of int8_tops and fp16_ratio "
		    "the product is known, not each");
}

static bool
load(struct board_samples *s, const struct calibration_in *in,
    struct notes *out, struct err *err)
{
	uint32_t others;

	if (!in->format || strcmp(in->format, "json") == 0)
		return samples_load(s, in->measurements, out->arena, err);
	if (strcmp(in->format, "dpdk-stats") != 0)
		return err_set(err, ERR_USAGE,
		    "--from %s: must be json or dpdk-stats", in->format);
	if (!probes_stats(s, &others, in->measurements, out->arena, err))
		return false;
	if (others)
		notes_add(out, "left out: %u model%s that the probe list lacks",
		    others, plural(others));
	return true;
}

static bool
fit_all(struct calibration_out *out, const struct calibration_in *in,
    struct arena *a, struct err *err)
{
	struct params *params = arena_new(a, struct params, 1);
	struct board_samples samples;
	struct fit fit;

	params_default(params);
	out->params = params;
	if (in->start && !params_load(params, in->start, a, err))
		return false;
	if (!in->measurements)
		return true;
	if (!load(&samples, in, &out->report, err)
	    || !calibrate(&fit, &samples, params, a, err))
		return false;
	report(&out->report, &fit, &samples);
	*params = fit.params;
	return true;
}

static void
write_params(FILE *f, const void *params)
{
	params_write(f, params);
}

const struct calibration mrvl_calibration = {
    .doc = "Fit the parameters of the Marvell cost simulator to "
           "measurements of single layers in FILE, and write them in the "
           "form that -t mrvl:params=FILE takes. Without measurements: "
           "print the parameters there are, each with its range and "
           "source.",
    .probes = list_probes,
    .script = script,
    .file = files,
    .fit = fit_all,
    .write = write_params,
};
