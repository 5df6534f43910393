/* marq: finds the command and runs it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/cli.h"
#include "cli/document.h"
#include "cli/signals.h"
#include "costmodel/machine.h"
#include "cli/version.h"
#include "ir/base/buf.h"
#include "ir/base/json.h"
#include "ir/base/nearest.h"
#include "ir/base/plain.h"
#include "ir/base/shell.h"

static const struct {
	const char *name, *what;
	cli_command *run;
} commands[] = {
#define COMMAND(name, what) {#name, what, cmd_##name},
#include "cli/commands.def"
#undef COMMAND
};

#define NCOMMANDS (sizeof commands / sizeof commands[0])

static void
print_help(FILE *f)
{
	fputs("Usage: marq COMMAND [OPTION...] [ARGUMENT...]\n"
	      "Find the cheapest way to run an ONNX model on several targets.\n"
	      "\nCommands:\n",
	    f);
	for (size_t i = 0; i < NCOMMANDS; i++)
		fprintf(f, "  %-12s %s\n", commands[i].name, commands[i].what);
	fputs("\n`marq help COMMAND` (or COMMAND --help, -h) lists a command's "
	      "options. A file named - is\nstandard input.\n"
	      "\nExit status:\n"
	      "  0  done, also when a budget ended it early\n"
	      "  1  the answer asked for is no (regression, mismatch, no legal "
	      "partition)\n"
	      "  2  bad command line or manifest\n"
	      "  3  model or input file malformed or unsupported\n"
	      "  4  a target is unavailable\n"
	      "  5  a part failed (units of a batch, processes to measure in)\n"
	      "  6  tuning database\n"
	      "  7  file system\n"
	      "  8  internal error\n"
	      "  130, 143  stopped by SIGINT, SIGTERM; the best so far is "
	      "written\n",
	    f);
}

static const char *
whole_line(int argc, char **argv, struct arena *a)
{
	struct buf b;
	const char *line;

	buf_init(&b);
	for (int i = 0; i < argc; i++)
		buf_printf(&b, "%s%s", i ? " " : "", shell_quote(argv[i], a));
	line = arena_strn(a, b.data ? b.data : "", b.n);
	buf_release(&b);
	return line;
}

static bool
run_command(struct cli *c, int argc, char **argv, struct err *err)
{
	struct nearest near = {.word = argv[0]};

	for (size_t i = 0; i < NCOMMANDS; i++)
		if (strcmp(argv[0], commands[i].name) == 0) {
			c->command = commands[i].name;
			return commands[i].run(c, argc, argv, err);
		}
	c->command = argv[0];
	for (size_t i = 0; i < NCOMMANDS; i++)
		nearest_try(&near, commands[i].name);
	return err_set(err, ERR_USAGE,
	    "no command '%s'%s (marq --help lists them)", argv[0],
	    nearest_text(&near, c->run));
}

/* A fault's status before an answer's, and that before a signal's. */
static int
status_of(struct cli *c, int argc, char **argv)
{
	struct err err = {.kind = ERR_NONE};

	if (!run_command(c, argc, argv, &err))
		return cli_fail(c, &err);
	if (c->status)
		return c->status;
	return signals_which() ? 128 + signals_which() : 0;
}

/* Of a command that has nothing to say but that it ended. */
static void
write_done(const struct cli *c, int status)
{
	struct json j;

	json_init(&j, stdout, 2);
	json_object(&j);
	json_key_str(&j, "schema", "marq.done/1");
	json_key_str(&j, "command", c->line);
	json_key_int(&j, "exit", status);
	json_close(&j);
}

/* A command, and the end of its document. */
static int
answer(struct cli *c, int argc, char **argv)
{
	int status = cli_finish(status_of(c, argc, argv));

	if (document_is_empty())
		write_done(c, status);
	if (document_end() || errno == EPIPE)
		return status;
	fprintf(stderr, "marq: error: standard output: %s\n", strerror(errno));
	return err_exit(ERR_IO);
}

static bool
is_one_of(const char *word, const char *a, const char *b, const char *c)
{
	return strcmp(word, a) == 0 || strcmp(word, b) == 0
	    || strcmp(word, c) == 0;
}

/* "help COMMAND [VERB]" as "COMMAND [VERB] --help". */
static int
help_with(struct cli *c, int argc, char **argv)
{
	char **args = arena_new(c->run, char *, (size_t)argc + 2);

	for (int i = 0; i < argc; i++)
		args[i] = argv[i];
	args[argc] = arena_str(c->run, "--help");
	return answer(c, argc + 1, args);
}

static int
dispatch(struct cli *c, int argc, char **argv)
{
	struct err err = {.kind = ERR_NONE};

	if (argc < 2) {
		c->command = "search";
		err_set(&err, ERR_USAGE, "no command (marq --help lists them)");
		return cli_complain(c, &err);
	}
	if (argc > 2 && strcmp(argv[1], "help") == 0 && argv[2][0] != '-')
		return help_with(c, argc - 2, argv + 2);
	if (is_one_of(argv[1], "--help", "help", "-h")) {
		print_help(stdout);
		return cli_finish(0);
	}
	if (is_one_of(argv[1], "--version", "version", "-V")) {
		version_print(c);
		return cli_finish(0);
	}
	return answer(c, argc - 1, argv + 1);
}

/* A search for one thread; what else says how many is not looked into here. */
static bool
is_alone(int argc, char **argv)
{
	bool alone = argc > 1 && strcmp(argv[1], "search") == 0;

	for (int i = 2; i < argc && alone; i++)
		alone = strncmp(argv[i], "--th", 4) != 0
		    || strcmp(argv[i], "--threads=1") == 0
		    || (strcmp(argv[i], "--threads") == 0 && i + 1 < argc
		        && strcmp(argv[i + 1], "1") == 0);
	return alone;
}

int
main(int argc, char **argv)
{
	struct arena run;
	struct cli c = {
	    .run = &run,
	    .progress = true,
	    .progress_fd = -1,
	    .color = isatty(STDERR_FILENO) && !getenv("NO_COLOR"),
	};
	int status;

	/* may begin anew: what it had caught would be lost */
	machine_clean_environment(argv, is_alone(argc, argv));
	c.stop = signals_watch();
	plain_stdout();
	child_die_with_parent();
	arena_init(&run);
	c.line = whole_line(argc, argv, &run);
	document_init(&c, cli_complain);
	if (document_is_wanted(argc, argv)) {
		c.format = OUT_JSON;
		document_begin();
	}
	status = dispatch(&c, argc, argv);
	arena_release(&run);
	return status;
}
