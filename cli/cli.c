#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* vasprintf */
#endif
#include "cli/cli.h"

#include <argp.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/document.h"
#include "ir/base/json.h"
#include "ir/base/nearest.h"
#include "ir/base/plain.h"
#include "ir/base/plural.h"

void
text_list_add(struct text_list *list, const char *text, struct arena *a)
{
	list->text = arena_grow(
	    a, list->text, &list->cap, list->n + 1, sizeof *list->text);
	list->text[list->n++] = text;
}

/* ---- complaints ---- */

static void
try_options(struct nearest *n, const struct argp *argp)
{
	const struct argp_option *o = argp->options;

	for (; o && (o->name || o->key || o->doc); o++)
		if (o->name)
			nearest_try(n, o->name);
}

/* "; did you mean '--x'?" for a text about an option there is not. */
static const char *
similar_option(const struct cli *c, const char *text)
{
	const char *word = strstr(text, "unrecognized option '--");
	struct nearest n = {.name = NULL};

	if (!word || !c->argp)
		return "";
	word += strlen("unrecognized option '--");
	n.word = arena_strn(c->run, word, strcspn(word, "='"));
	try_options(&n, c->argp);
	if (n.name)
		n.name = arena_printf(c->run, "--%s", n.name);
	return nearest_text(&n, c->run);
}

static const char *
example_of(const char *command)
{
	static const struct {
		const char *command, *line;
	} examples[] = {
#define EXAMPLE(command, line) {command, line},
#include "cli/examples.def"
#undef EXAMPLE
	};

	for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++)
		if (strcmp(examples[i].command, command) == 0)
			return examples[i].line;
	return NULL;
}

int
cli_complain(const struct cli *c, struct err *err)
{
	struct err whole = {.kind = ERR_NONE};
	const char *example =
	    strncmp(err->text, "no ", 3) == 0 ? example_of(c->command) : NULL;

	if (example)
		err_set(&whole, err->kind, "%.300s; for example: %s", err->text,
		    example);
	else
		err_set(&whole, err->kind, "%.300s%s (marq %s --help)",
		    err->text, similar_option(c, err->text), c->command);
	return cli_fail(c, &whole);
}

/* The document of a fault, on stdout. */
static void
write_error(const struct cli *c, const struct err *err)
{
	struct json j;

	json_init(&j, stdout, 2);
	json_object(&j);
	json_key_str(&j, "schema", "marq.error/1");
	json_key_str(&j, "command", c->command);
	json_key_str(&j, "error", err->text);
	json_key_str(&j, "kind", err_words(err->kind));
	json_key_int(&j, "exit", err_exit(err->kind));
	json_close(&j);
}

int
cli_fail(const struct cli *c, const struct err *err)
{
	const char *red = c->color ? "\033[31m" : "";
	const char *plain = c->color ? "\033[0m" : "";

	fprintf(stderr, "marq: %serror:%s %s\n", red, plain, err->text);
	if (c->debug)
		fprintf(stderr, "marq: raised at %s:%d (%s)\n", err->file,
		    err->line, err_words(err->kind));
	if (c->format == OUT_JSON) {
		document_discard();
		write_error(c, err);
	}
	return err_exit(err->kind);
}

/* Names in it may come from files of others. */
static void
complete_line(const char *fmt, va_list ap)
{
	char *line = NULL;

	if (vasprintf(&line, fmt, ap) < 0)
		return;
	plain_line(line);
	fprintf(stderr, "%s\n", line);
	free(line);
}

void
cli_say(const struct cli *c, int level, const char *fmt, ...)
{
	va_list ap;

	if (c->verbosity < level)
		return;
	fputs("marq: ", stderr);
	va_start(ap, fmt);
	complete_line(fmt, ap);
	va_end(ap);
}

void
cli_next(const struct cli *c, const char *fmt, ...)
{
	va_list ap;

	if (c->verbosity < 0 || c->format == OUT_JSON)
		return;
	fflush(stdout);
	fputs("next: ", stderr);
	va_start(ap, fmt);
	complete_line(fmt, ap);
	va_end(ap);
}

void
cli_warn_all(const struct cli *c, const struct notes *notes)
{
	/* TUNING: a screenful is 20 lines */
	uint32_t shown = c->verbosity > 0 || notes->n <= 20 ? notes->n : 20;

	if (c->verbosity < 0)
		return;
	for (uint32_t i = 0; i < shown; i++)
		fprintf(stderr, "marq: warning: %s\n", notes->text[i]);
	if (shown < notes->n)
		fprintf(stderr, "marq: ... and %u more warning%s (-v)\n",
		    notes->n - shown, plural(notes->n - shown));
}

int
cli_finish(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (errno == EPIPE)
		return status;
	fprintf(stderr, "marq: error: standard output: %s\n", strerror(errno));
	return err_exit(ERR_IO);
}
