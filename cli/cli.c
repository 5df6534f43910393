#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/document.h"
#include "cli/units.h"
#include "ir/base/json.h"
#include "ir/base/nearest.h"
#include "ir/base/plural.h"

enum {
	KEY_FORMAT = 0x100,
	KEY_NO_PROGRESS,
	KEY_PROGRESS_FD,
	KEY_COLOR,
	KEY_DEBUG,
	KEY_FORCE
};

static const struct argp_option options[] = {
    {"format", KEY_FORMAT, "text|json", 0, "what stdout carries (default text)",
        90},
    {"force", KEY_FORCE, NULL, 0,
        "replace what a file or result to write replaces, but no input", 90},
    {"quiet", 'q', NULL, 0, "say nothing but errors", 90},
    {"verbose", 'v', NULL, 0, "say more; twice: everything", 90},
    {"no-progress", KEY_NO_PROGRESS, NULL, 0, "no progress line", 90},
    {"progress-fd", KEY_PROGRESS_FD, "N", 0,
        "write progress events as JSON lines to this descriptor", 90},
    {"color", KEY_COLOR, "auto|always|never", 0,
        "colour of messages (default auto; NO_COLOR is heard)", 90},
    {NULL, 'h', NULL, 0, "the same as --help", 90},
    {"debug", KEY_DEBUG, NULL, 0, "errors name the source line", 90},
    {0},
};

void
text_list_add(struct text_list *list, const char *text, struct arena *a)
{
	list->text = arena_grow(
	    a, list->text, &list->cap, list->n + 1, sizeof *list->text);
	list->text[list->n++] = text;
}

static error_t
parse_color(struct cli *c, const char *arg, struct argp_state *state)
{
	if (strcmp(arg, "always") == 0)
		c->color = true;
	else if (strcmp(arg, "never") == 0)
		c->color = false;
	else if (strcmp(arg, "auto") != 0)
		argp_error(
		    state, "--color %s: want auto, always or never", arg);
	return 0;
}

static error_t
parse_format(struct cli *c, const char *arg, struct argp_state *state)
{
	if (strcmp(arg, "json") == 0)
		c->format = OUT_JSON;
	else if (strcmp(arg, "text") == 0)
		c->format = OUT_TEXT;
	else
		argp_error(state, "--format %s: want text or json", arg);
	return 0;
}

static error_t
parse_fd(struct cli *c, const char *arg, struct argp_state *state)
{
	c->progress_fd =
	    (int)option_number("--progress-fd", arg, 0, 1 << 20, state);
	return 0;
}

static error_t
parse_common(int key, char *arg, struct argp_state *state)
{
	struct cli *c = state->input;

	switch (key) {
	case KEY_FORMAT:
		return parse_format(c, arg, state);
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case 'q':
		c->verbosity = -1;
		return 0;
	case 'v':
		c->verbosity++;
		return 0;
	case KEY_NO_PROGRESS:
		c->progress = false;
		return 0;
	case KEY_PROGRESS_FD:
		return parse_fd(c, arg, state);
	case KEY_COLOR:
		return parse_color(c, arg, state);
	case KEY_DEBUG:
		c->debug = true;
		return 0;
	case KEY_FORCE:
		c->force = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp common = {.options = options, .parser = parse_common};

const struct argp_child cli_children[] = {{&common, 0, NULL, 0}, {0}};

/* ---- complaints ---- */

static void
try_options(struct nearest *n, const struct argp *argp)
{
	const struct argp_option *o = argp->options;
	const struct argp_child *child = argp->children;

	for (; o && (o->name || o->key || o->doc); o++)
		if (o->name)
			nearest_try(n, o->name);
	for (; child && child->argp; child++)
		try_options(n, child->argp);
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

bool
cli_parse(struct cli *c, const struct argp *argp, int argc, char **argv,
    void *input, struct err *err)
{
	char *name = arena_printf(c->run, "marq %s", c->command);
	char **args = arena_new(c->run, char *, (size_t)argc + 1);
	error_t e;

	for (int i = 1; i < argc; i++)
		args[i] = argv[i];
	args[0] = name;
	argp_err_exit_status = err_exit(ERR_USAGE);
	c->argp = argp;
	document_parse_begin();
	e = argp_parse(argp, argc, args, 0, NULL, input);
	document_parse_end();
	if (e == 0)
		return true;
	return err_set(err, ERR_USAGE, "%s: %s", name, strerror(e));
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

void
cli_say(const struct cli *c, int level, const char *fmt, ...)
{
	va_list ap;

	if (c->verbosity < level)
		return;
	fputs("marq: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	putc('\n', stderr);
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
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	putc('\n', stderr);
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
