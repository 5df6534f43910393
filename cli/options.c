#include "cli/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/document.h"
#include "cli/output.h"
#include "cli/units.h"
#include "costmodel/core_lock.h"
#include "ir/base/memory.h"

/* ---- how arguments are read ---- */

void
option_flag(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	(void)arg, (void)row, (void)s;
	*(bool *)at = true;
}

void
option_off(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	(void)arg, (void)row, (void)s;
	*(bool *)at = false;
}

void
option_text(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	(void)row, (void)s;
	*(const char **)at = arg;
}

void
option_input(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	option_text(at, arg, row, s);
	output_keep(s->cli, arg);
}

void
option_texts(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	(void)row;
	text_list_add(at, arg, s->cli->run);
}

void
option_inputs(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	option_texts(at, arg, row, s);
	output_keep(s->cli, arg);
}

static void
complain(bool ok, const struct option_row *row, const struct err *err,
    const struct option_state *s)
{
	if (!ok)
		argp_error(s->argp, "--%s: %s", row->name, err->text);
}

void
option_count(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	struct err err = {.kind = ERR_NONE};
	uint64_t n = 0;

	complain(
	    parse_number(arg, row->low, row->high, &n, &err), row, &err, s);
	*(uint32_t *)at = (uint32_t)n;
}

void
option_duration(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	struct err err = {.kind = ERR_NONE};

	complain(parse_duration(arg, at, &err), row, &err, s);
}

void
option_bytes(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	struct err err = {.kind = ERR_NONE};

	complain(parse_bytes(arg, at, &err), row, &err, s);
}

/* "a, b or c" of "a|b|c". */
static const char *
list_words(const char *words, struct arena *a)
{
	const char *last = strrchr(words, '|'), *text = "";

	for (const char *s = words; s < last; s += strcspn(s, "|") + 1)
		text = arena_printf(a, "%s%s%.*s", text, *text ? ", " : "",
		    (int)strcspn(s, "|"), s);
	return arena_printf(a, "%s or %s", text, last + 1);
}

static unsigned
which_word(
    const char *arg, const struct option_row *row, const struct option_state *s)
{
	unsigned i = 0;

	for (const char *w = row->value; w; i++) {
		size_t n = strcspn(w, "|");

		if (strlen(arg) == n && memcmp(w, arg, n) == 0)
			return i;
		w = w[n] ? w + n + 1 : NULL;
	}
	argp_error(s->argp, "--%s %s: want %s", row->name, arg,
	    list_words(row->value, s->cli->run));
	return 0;
}

void
option_word(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	*(unsigned *)at = which_word(arg, row, s);
}

void
option_second(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	*(bool *)at = which_word(arg, row, s) == 1;
}

/* Processes that are started have it, too. */
void
option_locks(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	struct err err = {.kind = ERR_NONE};

	(void)at, (void)row;
	if (!core_locks_check(arg, &err))
		argp_error(s->argp, "--locks %s", err.text);
	setenv(CORE_LOCK_FOLDER, arg, 1);
}

/* ---- what every command takes ---- */

static void
take_color(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	(void)row;
	if (strcmp(arg, "always") == 0)
		*(bool *)at = true;
	else if (strcmp(arg, "never") == 0)
		*(bool *)at = false;
	else if (strcmp(arg, "auto") != 0)
		argp_error(
		    s->argp, "--color %s: want auto, always or never", arg);
}

static void
take_help(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	(void)at, (void)arg, (void)row;
	argp_state_help(s->argp, stdout, ARGP_HELP_STD_HELP);
}

static void
take_quiet(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	(void)arg, (void)row, (void)s;
	*(int *)at = -1;
}

static void
take_verbose(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	(void)arg, (void)row, (void)s;
	++*(int *)at;
}

#define CLI(member) offsetof(struct cli, member)

static const struct option_row common[] = {
    {"format", 0, "text|json", "what stdout carries (default text)",
        option_word, CLI(format), .group = 90},
    {"force", 0, NULL,
        "replace what a file or result to write replaces, but no input",
        option_flag, CLI(force), .group = 90},
    {"quiet", 'q', NULL, "say nothing but errors", take_quiet, CLI(verbosity),
        .group = 90},
    {"verbose", 'v', NULL, "say more; twice: everything", take_verbose,
        CLI(verbosity), .group = 90},
    {"no-progress", 0, NULL, "no progress line", option_off, CLI(progress),
        .group = 90},
    {"progress-fd", 0, "N",
        "write progress events as JSON lines to this descriptor", option_count,
        CLI(progress_fd), 0, 1 << 20, .group = 90},
    {"color", 0, "auto|always|never",
        "colour of messages (default auto; NO_COLOR is heard)", take_color,
        CLI(color), .group = 90},
    {NULL, 'h', NULL, "the same as --help", take_help, 0, .group = 90},
    {"debug", 0, NULL, "errors name the source line", option_flag, CLI(debug),
        .group = 90},
    {0},
};

/* ---- parsing ---- */

#define KEY_FIRST 0x1000 /* beyond all letters */

/* Rows of all tables, and the structs they fill. */
struct flat {
	const struct command_line *line;
	struct option_state state;
	struct argp_option *option;
	const struct option_row **row;
	char **base;
	size_t n;
};

static size_t
count_rows(const struct option_row *row)
{
	size_t n = 0;

	while (row && row[n].help)
		n++;
	return n;
}

static void
add_rows(struct flat *f, const struct option_row *row, void *base)
{
	for (; row && row->help; row++) {
		int key = row->letter ? row->letter
		    : row->name       ? KEY_FIRST + (int)f->n
		                      : 0;

		f->option[f->n] = (struct argp_option){
		    row->name, key, row->value, 0, row->help, row->group};
		f->row[f->n] = row;
		f->base[f->n++] = base;
	}
}

static error_t
take_operand(struct flat *f, const char *arg, unsigned place)
{
	const struct operands *o = &f->line->operands;

	if (!o->take || (place >= o->most && !o->too_many))
		return ARGP_ERR_UNKNOWN;
	if (place >= o->most)
		argp_error(f->state.argp, "%s", o->too_many);
	o->take((char *)f->state.args + o->at, arg, NULL, &f->state);
	return 0;
}

static error_t
parse(int key, char *arg, struct argp_state *state)
{
	struct flat *f = state->input;

	f->state.argp = state;
	switch (key) {
	case ARGP_KEY_ARG:
		return take_operand(f, arg, state->arg_num);
	case ARGP_KEY_NO_ARGS:
		if (f->line->operands.none)
			argp_error(state, "%s", f->line->operands.none);
		return 0;
	case ARGP_KEY_END:
		if (f->line->check)
			f->line->check(&f->state);
		return 0;
	}
	for (size_t i = 0; key && i < f->n; i++)
		if (f->option[i].key == key) {
			f->row[i]->take(f->base[i] + f->row[i]->at, arg,
			    f->row[i], &f->state);
			return 0;
		}
	return ARGP_ERR_UNKNOWN;
}

static void
flatten(
    struct flat *f, struct cli *c, const struct command_line *line, void *args)
{
	size_t n = count_rows(line->options) + count_rows(line->shared)
	    + count_rows(common);

	*f = (struct flat){.line = line, .state = {.cli = c, .args = args}};
	f->option = arena_new(c->run, struct argp_option, n + 1);
	f->row = arena_new(c->run, const struct option_row *, n);
	f->base = arena_new(c->run, char *, n);
	add_rows(f, line->options, args);
	if (line->shared)
		add_rows(f, line->shared, (char *)args + line->shared_at);
	add_rows(f, common, c);
}

bool
cli_parse(struct cli *c, const struct command_line *line, int argc, char **argv,
    void *args, struct err *err)
{
	char *name = arena_printf(c->run, "marq %s", c->command);
	char **words = arena_new(c->run, char *, (size_t)argc + 1);
	struct argp *argp = arena_new(c->run, struct argp, 1);
	struct flat *f = arena_new(c->run, struct flat, 1);
	error_t e;

	for (int i = 1; i < argc; i++)
		words[i] = argv[i];
	words[0] = name;
	flatten(f, c, line, args);
	*argp = (struct argp){.options = f->option,
	    .parser = parse,
	    .args_doc = line->args_doc,
	    .doc = line->doc};
	argp_err_exit_status = err_exit(ERR_USAGE);
	c->argp = argp;
	document_parse_begin();
	e = argp_parse(argp, argc, words, 0, NULL, f);
	document_parse_end();
	if (e == 0)
		return true;
	if (e == ENOMEM)
		memory_exhausted(BUFSIZ);
	return err_set(err, ERR_USAGE, "%s: %s", name, strerror(e));
}
