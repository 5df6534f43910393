/* marq search: partition a model and write the result directory. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/job.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "cli/precision.h"
#include "cli/progress.h"
#include "cli/search_args.h"
#include "cli/summary.h"
#include "cli/units.h"
#include "costmodel/want_list.h"
#include "emit/emit.h"
#include "emit/taken.h"
#include "ir/base/clock.h"
#include "ir/base/file.h"
#include "ir/base/json.h"
#include "ir/base/limits.h"
#include "ir/base/listing.h"
#include "ir/base/shell.h"
#include "ir/external.h"

struct search_cmd {
	struct search_args search;
	const char *out; /* -o */
	const char *emit; /* --emit */
	uint64_t max_output; /* bytes; 0: by the model's size */
	const char *want; /* a file; NULL: none */
	bool dry_run, no_output;
};

#define AT(member) offsetof(struct search_cmd, member)

static void
take_out(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	struct search_cmd *args = at;

	(void)row, (void)s;
	args->out = arg;
	args->no_output = strcmp(arg, "none") == 0;
}

static const struct option_row options[] = {
    {"output", 'o', "DIR",
        "result directory (default <model>.marq; 'none': write nothing)",
        .take = take_out},
    {"emit", 0, "LIST",
        "artefacts or groups of them to write, comma-separated (default all, "
        "which is all but model-explorer)",
        option_text, .at = AT(emit)},
    {"max-output", 0, "SIZE",
        "of the result directory (default 4 times the model and 256 MiB)",
        option_bytes, .at = AT(max_output)},
    {"want", 0, "FILE",
        "write what would be measured now, in order of worth, for `marq measure` "
        "on another machine (-: stdout), and stop; again until nothing is wanted, or "
        "all at once with --eager-pricing",
        option_text, .at = AT(want)},
    {"dry-run", 0, NULL, "say what would be measured and written, and stop",
        option_flag, .at = AT(dry_run)},
    {0},
};

/* Refuse before the work, not after it. */
static bool
output_is_free(
    const struct search_cmd *args, const struct cli *c, struct err *err)
{
	return emit_check(args->emit, err)
	    && (!args->want || output_file(c, args->want, err))
	    && (args->dry_run || args->no_output || args->want
	        || output_folder(c, args->out, err));
}

/* What is read is a measure of what may be written. */
static uint64_t
output_limit(const struct search_cmd *args, const struct model *m)
{
	uint64_t read = 0;

	if (args->max_output)
		return args->max_output;
	for (const struct mapping *f = m->mappings; f; f = f->next)
		read += f->file.bytes;
	return 4 * read + limit_of(LIMIT_OUTPUT);
}

/* A full result is no fault of the file system. */
static bool
explain_full(const struct outdir *o, uint64_t most, struct err *err)
{
	if (!out_is_full(o))
		return false;
	err_clear(err);
	return err_set(err, ERR_UNSUPPORTED,
	    "%s: the result would be larger than %" PRIu64
	    " bytes (--max-output sets how large)",
	    o->path, most);
}

/* What the scales of 8 bits come from. */
static bool
write_calibration(struct job *j, const struct outdir *o, struct err *err)
{
	FILE *f;

	if (!j->mix.formats.quant)
		return true;
	f = out_open(o, "calibration.json", j->arena, err);
	return f && precision_write(f, j, err)
	    && out_close(f, "calibration.json", err);
}

static bool
write_result(struct job *j, const struct search_cmd *args, struct err *err)
{
	struct emit_in in = {
	    .model = &j->model,
	    .plan = &j->plan,
	    .counts = j->counts,
	    .constraints = &j->constraints,
	    .notes = &j->notes,
	    .accuracy = j->precision.quantises ? &j->precision.accuracy : NULL,
	    .confirmation = &j->confirmation,
	    .sensitivity = &j->sensitivity,
	    .opportunities = &j->opportunities,
	    .pricer = j->pricer,
	    .content = j->knows_content ? &j->content : NULL,
	    .command = args->search.cli->line,
	    .threads = j->args->threads,
	};
	uint64_t began = clock_ns();
	struct outdir o;
	uint64_t most = output_limit(args, &j->model);
	bool ok;

	if (!output_folder(args->search.cli, args->out, err)
	    || !out_begin(
	        &o, args->out, args->search.cli->force, j->arena, err))
		return false;
	*o.left = most;
	ok = write_calibration(j, &o, err)
	    && emit_all(&in, &o, args->emit, j->arena, err)
	    && listing_write(o.temporary, *o.sums, j->arena, err)
	    && out_commit(&o, err);
	if (ok) {
		taken_keep(&o, j->pricer);
	} else {
		explain_full(&o, most, err);
		out_abandon(&o);
	}
	j->times.emit_ns = clock_ns() - began;
	return ok;
}

/* Prices that rest on assumptions are looked into, for as long as nobody waits;
 * with the option for as long as it takes. */
static bool
look_into(struct job *j, const struct search_cmd *args, struct err *err)
{
	if (!args->search.sensitivity
	    && plan_assumptions(&j->mix, &j->candidates) == 0)
		return true;
	return job_sensitivity(j, !args->search.sensitivity, err);
}

static bool
write_want(FILE *f, void *context, struct err *err)
{
	struct json j;

	(void)err;
	json_init(&j, f, 1);
	want_write(context, &j);
	return true;
}

/* --want: what the plan that bounds suggest needs comes first. */
static bool
list_wanted(struct job *j, const struct search_cmd *args, struct err *err)
{
	const struct search_args *search = &args->search;
	const struct want_how how = {search->model, search->threads,
	    search->timeout_ns, !search->ignore_nan, search->exact_convolutions,
	    search->exact_halves};
	bool *chosen;

	if (!job_search(j, err)
	    || !want_of_model(
	        &j->want, j->model.graph, &j->mix, &how, j->arena, err))
		return false;
	chosen = arena_new(j->arena, bool, j->candidates.n);
	for (uint32_t i = 0; i < j->plan.ncomposites; i++)
		chosen[j->plan.composite[i].candidate] = true;
	want_asked(&j->want, j->pricer, chosen, search->max_measure, j->arena);
	if (!output_write(search->cli, args->want, write_want, &j->want, err))
		return false;
	cli_say(search->cli, 0, "%u wanted%s%s", j->want.n,
	    j->want.n ? "; on the machine they are for: marq measure " : "",
	    j->want.n ? args->want : "");
	return true;
}

static bool
run(struct job *j, const struct search_cmd *args, struct err *err)
{
	if (!job_import(j, &args->search, args->search.cli->run, err)
	    || !job_bind(j, err))
		return false;
	j->failures_only = true;
	j->searches = !args->dry_run && !args->want;
	j->verify = !args->want;
	j->lists = args->want != NULL;
	if (!job_candidates(j, true, err))
		return false;
	if (args->dry_run)
		return summary_dry_run(j, args->out, err);
	if (args->want)
		return list_wanted(j, args, err);
	return job_search(j, err) && look_into(j, args, err)
	    && (args->no_output
	        || (job_opportunities(j, err) && write_result(j, args, err)));
}

static const struct command_line line = {
    .options = options,
    .shared = search_options,
    .shared_at = AT(search),
    .operands = SEARCH_OPERAND(AT(search)),
    .args_doc = "MODEL.onnx",
    .doc = "Find the cheapest legal partitioning of a model over the "
           "targets and write it, with everything needed to use and "
           "understand it, into a result directory.",
};

/* Does a target of the plan tell prices only? Then `marq run` refuses it. */
static bool
is_paper(const struct plan *p)
{
	for (uint32_t i = 0; i < p->ncomposites; i++) {
		const struct candidate *c = plan_candidate(p, i);
		const struct target *t = &p->mix->target[c->target];

		if (t->only_prices || t->kind->compile == NULL || c->opaque)
			return true;
	}
	return false;
}

static void
say_next(const struct search_cmd *args, const struct job *j)
{
	const struct cli *c = args->search.cli;
	const char *out = args->out ? shell_quote(args->out, c->run) : "";

	if (atomic_load(c->stop))
		cli_say(c, 0, "stopped early: this is the best plan so far");
	if (args->dry_run)
		cli_next(c, "the same without --dry-run");
	else if (args->no_output)
		cli_next(c, "leave -o out to have files written");
	else if (is_paper(&j->plan))
		cli_next(c, "marq explain %s --all, or open %s/report.html",
		    out, out);
	else
		cli_next(c,
		    "marq run %s, marq explain %s --all, or open "
		    "%s/report.html",
		    out, out, out);
}

bool
cmd_search(struct cli *c, int argc, char **argv, struct err *err)
{
	struct search_cmd args = {.out = NULL};
	struct job j = {.opened = false};
	bool ok;

	search_args_init(&args.search, c);
	if (!cli_parse(c, &line, argc, argv, &args, err))
		return false;
	search_args_settle(&args.search);
	if (!args.out)
		args.out = path_default_result(args.search.model, c->run);
	ok = output_is_free(&args, c, err) && run(&j, &args, err);
	ok = job_close(&j, err) && ok;
	if (ok && !args.dry_run && !args.want)
		summary_print(&j, args.no_output ? NULL : args.out);
	if (ok && !args.want)
		say_next(&args, &j);
	return ok;
}
