/* marq compare: what moved between results, why, and whether it matters. */
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/diff.h"
#include "cli/diff_print.h"
#include "cli/statistics.h"
#include "cli/night/between.h"
#include "cli/output.h"
#include "cli/search_args.h"
#include "cli/result_view.h"
#include "cli/units.h"
#include "ir/base/file.h"

#define SIDES 16

struct compare_args {
	struct cli *cli;
	struct search_args search; /* of sides that are models */
	const char *path[SIDES], *html;
	uint32_t n;
	double threshold;
	bool fail_on_regress, fail_on_change;
	int64_t night[2];
	uint32_t nnights;
};

/* TUNING: a batch of every night for 270 years. */
#define MOST_NIGHTS 99999

static bool
parse_share(const char *s, double *out)
{
	char *end;
	double x = strtod(s, &end);

	if (end == s || (strcmp(end, "%") != 0 && *end != '\0') || !(x >= 0)
	    || x > 1000)
		return false;
	*out = *end == '%' ? x / 100 : x;
	return true;
}

static void
keep_side(struct cli *c, const char *path)
{
	output_keep(c, arena_strn(c->run, path, strcspn(path, "@")));
	output_keep(c, arena_printf(c->run, "%s/result.json", path));
	output_keep(c, arena_printf(c->run, "%s/alternatives.json", path));
}

static void
take_threshold(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	(void)row;
	if (!parse_share(arg, at))
		argp_error(s->argp,
		    "--threshold %s: want a share, as 3%% or 0.03", arg);
}

static void
take_fail_on(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	struct compare_args *args = at;

	args->fail_on_regress = true;
	option_second(&args->fail_on_change, arg, row, s);
}

static void
take_night(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	struct compare_args *args = at;
	const bool back = *arg == '-';
	struct err bad = {.kind = ERR_NONE};
	uint64_t n;

	(void)row;
	if (!parse_number(arg + back, back, MOST_NIGHTS, &n, &bad))
		argp_error(s->argp,
		    "--night %s: want a night's number from 1, 0 for the last or "
		    "-1 for the one before",
		    arg);
	if (args->nnights == 2)
		argp_error(s->argp, "two nights are compared, no more");
	args->night[args->nnights++] = back ? -(int64_t)n : (int64_t)n;
}

static void
take_side(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	struct compare_args *args = at;

	(void)row;
	if (args->n == SIDES)
		argp_error(s->argp, "more than %d results", (int)SIDES);
	args->path[args->n++] = arg;
	keep_side(s->cli, arg);
}

static void
check(struct option_state *s)
{
	const struct compare_args *args = s->args;

	if (args->nnights == 1)
		argp_error(s->argp, "--night is given twice: before, after");
	if (args->nnights && args->n != 1)
		argp_error(
		    s->argp, "--night: want one batch's folder or result");
	if (args->n < 2 && args->nnights == 0)
		argp_error(s->argp, "no %s given",
		    args->n ? "second result" : "results");
}

#define AT(member) offsetof(struct compare_args, member)

static const struct option_row options[] = {
    {"threshold", 0, "P%",
        "changes of the total up to this are none (default 1%)", take_threshold,
        .at = AT(threshold)},
    {"fail-on", 0, "regress|change",
        "exit status 1 when a result is slower (or differs) beyond noise "
        "and threshold",
        .take = take_fail_on},
    {"night", 0, "N",
        "given twice, before and after: compare two nights of a batch, by "
        "number from 1, 0 being the last and -1 the one before",
        .take = take_night},
    {"html", 0, "FILE", "write the comparison as a page, too", option_text,
        .at = AT(html)},
    {"db", 0, "FILE",
        "tuning database for models that are searched ('none': remember "
        "nothing)",
        search_take_db, .at = AT(search)},
    {"no-measure", 0, NULL, "use stored and simulated prices only", option_off,
        .at = AT(search.measure)},
    {"dim", 0, "NAME=N",
        "bind a symbolic dimension of models that are searched",
        search_take_dim, .at = AT(search)},
    {0},
};

struct page {
	const struct diff *diff;
	uint32_t n;
};

static bool
write_page(FILE *f, void *context, struct err *err)
{
	const struct page *p = context;

	(void)err;
	diffs_html(f, p->diff, p->n);
	return true;
}

static bool
open_side(struct result_view *s, const struct compare_args *args,
    const char *path, struct err *err)
{
	return result_view_is_search(path)
	    ? result_view_search(s, path, &args->search, err)
	    : result_view_read(s, path, args->cli->run, err);
}

/* Compare every result with the first; what a side is called, where that is not
 * its path. */
static bool
run(const struct compare_args *args, const char *const name[2],
    struct result_view *side, struct diff *diff, struct err *err)
{
	struct cli *c = args->cli;
	struct page page = {diff, args->n - 1};

	if (args->html && !output_file(c, args->html, err))
		return false;
	for (uint32_t i = 0; i < args->n; i++)
		if (!open_side(&side[i], args, args->path[i], err))
			return false;
	for (uint32_t i = 0; i < 2 && name[i]; i++)
		side[i].path = name[i];
	for (uint32_t i = 1; i < args->n; i++)
		diff_make(
		    &diff[i - 1], &side[0], &side[i], args->threshold, c->run);
	if (args->html && !output_write(c, args->html, write_page, &page, err))
		return false;
	if (c->format == OUT_JSON) {
		diffs_json(stdout, diff, args->n - 1);
		return true;
	}
	if (args->n > 2)
		diffs_table(stdout, diff, args->n - 1);
	for (uint32_t i = 1; i < args->n; i++)
		diff_text(stdout, &diff[i - 1], c->verbosity > 0);
	return true;
}

/* Is there what --fail-on names? */
static bool
fails(const struct compare_args *args, const struct diff *diff)
{
	for (uint32_t i = 0; i + 1 < args->n; i++) {
		if (args->fail_on_regress && diff[i].verdict == DIFF_SLOWER)
			return true;
		if (args->fail_on_change
		    && (diff[i].verdict != DIFF_SAME || diff[i].nmoves))
			return true;
	}
	return false;
}

/* A result in two nights takes the place of two results. */
static bool
take_nights(
    struct compare_args *args, const char *name[2], bool *done, struct err *err)
{
	struct cli *c = args->cli;
	uint32_t verdicts[DIFF_SLOWER + 1] = {0};
	struct between b;

	*done = false;
	if (!between_open(&b, args->path[0], args->night, c->run, err))
		return false;
	if (b.unit) {
		args->n = 2;
		for (int i = 0; i < 2; i++)
			if (!between_result(
			        &b, i, &args->path[i], &name[i], c->run, err))
				return false;
		return true;
	}
	*done = true;
	if (!between_compare_all(&b, args->threshold, verdicts, c, err))
		return false;
	if ((args->fail_on_regress && verdicts[DIFF_SLOWER])
	    || (args->fail_on_change
	        && verdicts[DIFF_SLOWER] + verdicts[DIFF_FASTER]))
		c->status = err_exit(ERR_VERDICT);
	return true;
}

/* Of databases: what is measured in both, and in one. */
static bool
compare_statistics(const struct compare_args *args, struct err *err)
{
	struct cli *c = args->cli;
	struct statistics_diff d;

	if (args->n != 2 || !statistics_are_in(args->path[1]))
		return err_set(err, ERR_USAGE,
		    "a tuning database is compared with one other");
	if (!statistics_compare(
	        &d, args->path[0], args->path[1], args->threshold, c->run, err))
		return false;
	statistics_tell(c, &d);
	if ((args->fail_on_regress && d.nslower + d.nlost)
	    || (args->fail_on_change
	        && d.nslower + d.nfaster + d.nfailed + d.nonly_a + d.nonly_b))
		c->status = err_exit(ERR_VERDICT);
	return true;
}

static const struct command_line line = {
    .options = options,
    .operands = {take_side, 0, UINT32_MAX, NULL, NULL},
    .check = check,
    .args_doc = "BASE RESULT...\nBASE.db OTHER.db\n"
                "--night N --night N OUT[/UNIT]",
    .doc = "Compare results with "
           "the first: what moved and why, which prices changed, and "
           "whether the difference is outside the noise of the "
           "measured prices that differ. A result is a directory, a "
           "result.json (which does not tell why nodes moved) or "
           "MODEL.onnx@TARGET+TARGET..., which is searched now. Of two "
           "tuning databases: which prices differ beyond their noise, "
           "and which only one of them has. Of two nights of a batch: "
           "every search, or the one of that result.",
};

bool
cmd_compare(struct cli *c, int argc, char **argv, struct err *err)
{
	struct compare_args args = {.cli = c, .threshold = DIFF_THRESHOLD};
	struct result_view side[SIDES] = {{.path = NULL}};
	struct diff diff[SIDES];
	const char *name[2] = {NULL};
	bool ok, done = false;

	search_args_init(&args.search, c);
	if (!cli_parse(c, &line, argc, argv, &args, err))
		return false;
	if (args.nnights && !take_nights(&args, name, &done, err))
		return false;
	if (done)
		return true;
	if (statistics_are_in(args.path[0]))
		return compare_statistics(&args, err);
	ok = run(&args, name, side, diff, err);
	for (uint32_t i = 0; i < args.n; i++)
		result_view_close(&side[i]);
	if (ok && !args.html)
		cli_next(c, "the same with --html FILE for a page");
	if (ok && fails(&args, diff))
		c->status = err_exit(ERR_VERDICT);
	return ok;
}
