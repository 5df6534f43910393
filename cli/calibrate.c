/* marq calibrate: probes for a board, and a kind's cost simulator fitted to what
 * it says of them. */
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/output.h"
#include "cli/generators/build.h"
#include "ir/base/file.h"
#include "ir/base/plural.h"
#include "ir/onnx_write.h"
#include "targets/calibration.h"

struct calibrate_args {
	struct cli *cli;
	const struct calibration *calibration;
	const char *probes, *output;
	struct calibration_in in;
};

#define AT(member) offsetof(struct calibrate_args, member)

static const struct option_row options[] = {
    {"from", 0, "FORMAT",
        "what FILE is: json, or dpdk-stats for what `dpdk-test-mldev "
        "--stats` printed of the probes (default: json)",
        option_text, .at = AT(in.format)},
    {"probes", 0, "DIR",
        "write probe models for a board, and how to compile and time them",
        option_text, .at = AT(probes)},
    {"start", 0, "PARAMS.json",
        "start from these parameters (default: the built-in ones)",
        option_input, .at = AT(in.start)},
    {"output", 'o', "PARAMS.json",
        "where the fitted parameters go (default: standard output)",
        option_text, .at = AT(output)},
    {0},
};

/* ---- probes ---- */

static bool
write_onnx(FILE *f, const struct calibration_probe *p, struct arena *a,
    struct err *err)
{
	static const struct onnx_opset opset = {"", 13};
	const int64_t image[] = {1, p->c, p->h, p->w}, row[] = {1, p->c};
	bool fc = p->op == CALIBRATION_FC;
	struct model_builder b = gen_begin(a, p->name, true);
	value_id x = gen_input(&b, "x", DT_FLOAT, fc ? 2 : 4, fc ? row : image);
	struct conv_shape s = {
	    p->c, p->o, p->kernel, 1, p->kernel / 2, p->groups};

	if (fc)
		x = gen_linear(&b, x, p->c, p->o);
	else if (p->op == CALIBRATION_POOL)
		x = gen_max_pool(&b, x, p->kernel, 1, p->kernel / 2);
	else
		x = gen_conv(&b, x, s, false);
	gen_output(&b, x, "y");
	const struct onnx_out out = {.graph = b.g,
	    .light = true,
	    .ir_version = 8,
	    .nopsets = 1,
	    .opset = &opset};
	return onnx_write(f, &out, err);
}

/* One file of a probe: what the kind writes, or (NULL) the model. */
static bool
write_file(const struct outdir *o, const struct calibration_probe *p,
    const struct calibration_file *kind, struct arena *a, struct err *err)
{
	const char *name =
	    arena_printf(a, "%s%s", p->name, kind ? kind->suffix : ".onnx");
	FILE *f = out_open(o, name, a, err);
	bool ok = true;

	if (!f)
		return false;
	if (kind)
		kind->write(f, p, a);
	else
		ok = write_onnx(f, p, a, err);
	return out_close(f, name, ok ? err : &(struct err){0}) && ok;
}

static bool
write_script(const struct outdir *o, const struct calibration *k,
    const struct calibration_probe *p, uint32_t n, struct arena *a,
    struct err *err)
{
	static const char *const name = "probes.sh";
	FILE *f = out_open(o, name, a, err);

	if (!f)
		return false;
	fputs(k->script, f);
	for (uint32_t i = 0; i < n; i++)
		fprintf(f, "one %s %lld %s\n", p[i].name,
		    (long long)(4 * p[i].h * p[i].w * p[i].c), p[i].command);
	return out_close(f, name, err);
}

static bool
write_probes(const struct calibrate_args *r, struct err *err)
{
	struct arena *a = r->cli->run;
	struct outdir o;
	uint32_t n;
	const struct calibration *k = r->calibration;
	const struct calibration_probe *p = k->probes(&n, a);
	bool ok;

	if (!output_folder(r->cli, r->probes, err)
	    || !out_begin(&o, r->probes, r->cli->force, a, err))
		return false;
	ok = write_script(&o, k, p, n, a, err);
	for (uint32_t i = 0; ok && i < n; i++) {
		ok = write_file(&o, &p[i], NULL, a, err);
		for (const struct calibration_file *f = k->file;
		     ok && f->suffix; f++)
			ok = write_file(&o, &p[i], f, a, err);
	}
	if (!ok || !out_commit(&o, err)) {
		out_abandon(&o);
		return false;
	}
	cli_say(r->cli, 0, "wrote %u probe%s to %s", n, plural(n), r->probes);
	return true;
}

/* ---- the fit ---- */

/* Parameters on their way to a file. */
struct fitted {
	const struct calibration *calibration;
	const void *params;
};

static bool
write_params(FILE *f, void *context, struct err *err)
{
	const struct fitted *w = context;

	(void)err;
	w->calibration->write(f, w->params);
	return true;
}

static bool
run(const struct calibrate_args *r, struct err *err)
{
	struct calibration_out out;
	struct fitted w = {.calibration = r->calibration};

	if (r->probes)
		return write_probes(r, err);
	notes_init(&out.report, r->cli->run);
	if (!r->calibration->fit(&out, &r->in, r->cli->run, err))
		return false;
	for (uint32_t i = 0; i < out.report.n; i++)
		cli_say(r->cli, 0, "%s", out.report.text[i]);
	w.params = out.params;
	if (r->output && r->in.measurements)
		return output_write(r->cli, r->output, write_params, &w, err);
	return write_params(stdout, &w, err);
}

/* The first kind that can be fitted. */
static const struct calibration *
find_calibration(void)
{
	uint32_t n;
	const struct target_kind *const *kind = target_kinds(&n);

	for (uint32_t i = 0; i < n; i++)
		if (kind[i]->calibration)
			return kind[i]->calibration;
	return NULL;
}

bool
cmd_calibrate(struct cli *c, int argc, char **argv, struct err *err)
{
	struct calibrate_args r = {.cli = c, .calibration = find_calibration()};
	const struct command_line line = {
	    .options = options,
	    .operands = {option_input, AT(in.measurements), 1, NULL, NULL},
	    .args_doc = "[FILE]",
	    .doc = r.calibration->doc,
	};

	return cli_parse(c, &line, argc, argv, &r, err) && run(&r, err);
}
