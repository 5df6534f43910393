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
read_doc(struct page_docs *d, enum page_doc which,
    const struct report_args *args, struct err *err)
{
	const char *path = arena_printf(
	    args->cli->run, "%s/%s", args->folder, page_doc_name(which));
	struct arena scratch;
	const char *text;
	size_t n;
	bool ok;

	/* --emit may have left them out */
	if (which == PAGE_ALTERNATIVES && file_is_absent(path))
		return true;
	output_keep(args->cli, path);
	arena_init(&scratch);
	ok = file_read(&text, &n, path, LIMIT_READ_RESULT, &scratch, err)
	    && (page_docs_take(d, which, text, n, err)
	        || err_in(err, "%s", args->folder));
	arena_release(&scratch);
	return ok;
}

static bool
read_docs(struct page_docs *d, const struct report_args *args, struct err *err)
{
	for (int i = 0; i < NPAGE_DOCS; i++)
		if (!read_doc(d, (enum page_doc)i, args, err))
			return false;
	return true;
}

static bool
write_page(FILE *f, void *docs, struct err *err)
{
	return page_write(f, docs, err);
}

/* The result's own page is ours to make again. */
static bool
write_to(const struct report_args *args, const char *own, struct page_docs *d,
    struct err *err)
{
	return (args->out
	               ? output_write(args->cli, args->out, write_page, d, err)
	               : file_write(own, write_page, d, err)
	                   && listing_renew(args->folder, "report.html",
	                       args->cli->run, err))
	    || err_in(err, "%s", args->folder);
}

static bool
run(const struct report_args *args, struct err *err)
{
	struct page_docs d = {.doc = {NULL}};
	const char *own =
	    arena_printf(args->cli->run, "%s/report.html", args->folder);
	bool ok = read_docs(&d, args, err) && write_to(args, own, &d, err);

	page_docs_close(&d);
	if (!ok)
		return false;
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
