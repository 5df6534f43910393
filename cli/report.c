/* marq report: the page of a result directory, made again. */
#include <string.h>

#include "cli/options.h"
#include "cli/output.h"
#include "emit/report/page.h"
#include "ir/base/file.h"
#include "ir/base/listing.h"

/* TUNING: a result of 100,000 nodes is below */

struct report_args {
	struct cli *cli;
	const char *folder, *out;
};

static const struct option_row options[] = {
    {"output", 'o', "FILE",
        "where to write (default RESULT/report.html; '-': stdout)", option_text,
        .at = offsetof(struct report_args, out)},
    {0},
};

static bool
read_doc(struct page_text *t, const struct report_args *args, const char *name,
    struct err *err)
{
	const char *path =
	    arena_printf(args->cli->run, "%s/%s", args->folder, name);

	output_keep(args->cli, path);
	return file_read(
	    &t->text, &t->n, path, LIMIT_READ_RESULT, args->cli->run, err);
}

/* Alternatives may be missing: --emit may have left them out. */
static bool
read_docs(struct page_docs *d, const struct report_args *args, struct err *err)
{
	if (!read_doc(&d->result, args, "result.json", err)
	    || !read_doc(&d->map, args, "map.json", err)
	    || !read_doc(&d->provenance, args, "provenance.json", err))
		return false;
	if (file_is_absent(arena_printf(
	        args->cli->run, "%s/alternatives.json", args->folder)))
		return true;
	return read_doc(&d->alternatives, args, "alternatives.json", err);
}

static bool
write_page(FILE *f, void *docs, struct err *err)
{
	return page_write(f, docs, err);
}

static bool
run(const struct report_args *args, struct err *err)
{
	struct page_docs d = {.result = {NULL, 0}};
	/* the result's own page is ours to make again */
	const char *own =
	    arena_printf(args->cli->run, "%s/report.html", args->folder);

	if (!read_docs(&d, args, err))
		return false;
	if (args->out ? !output_write(args->cli, args->out, write_page, &d, err)
	              : !file_write(own, write_page, &d, err)
	            || !listing_renew(
	                args->folder, "report.html", args->cli->run, err))
		return err_in(err, "%s", args->folder);
	if (!args->out || strcmp(args->out, "-") != 0)
		cli_say(args->cli, 0, "wrote %s", args->out ? args->out : own);
	cli_next(args->cli, "open it in a browser: it needs no network");
	return true;
}

static const struct command_line line = {
    .options = options,
    .operands = {option_text, offsetof(struct report_args, folder), 1,
        "more than one result", "no result"},
    .args_doc = "RESULT",
    .doc = "Make the report of a result directory again: one HTML file "
           "that needs no network.",
};

bool
cmd_report(struct cli *c, int argc, char **argv, struct err *err)
{
	struct report_args args = {.cli = c};

	if (!cli_parse(c, &line, argc, argv, &args, err))
		return false;
	return run(&args, err);
}
