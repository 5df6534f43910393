/* What every command gets: common options, where messages go, the stop flag.
 * stdout carries data only; messages, progress and errors go to stderr. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/base/notes.h"

enum out_format { OUT_TEXT, OUT_JSON };

struct text_list {
	const char **text;
	uint32_t n, cap;
};

void text_list_add(struct text_list *list, const char *text, struct arena *a);

struct argp;

struct cli {
	const struct argp *argp; /* being parsed with */
	struct arena *run; /* lives as long as the process */
	const char *command; /* "search" */
	const char *line; /* the whole command line, for the record */
	enum out_format format; /* --format */
	int verbosity; /* -1 quiet, 0, 1, 2 */
	bool progress; /* --no-progress clears it */
	int progress_fd; /* --progress-fd: NDJSON events; -1: none */
	bool color; /* of messages on stderr */
	bool debug; /* errors name the source line */
	bool force; /* --force: what is there may be replaced (cli/output.h) */
	struct text_list inputs; /* what is read, and never replaced */
	const atomic_bool *stop; /* set by the first SIGINT or SIGTERM */
	int status; /* to exit with though nothing failed: the answer is no */
};

/* A command parses its own argv (argv[0] is its name) and does what it says;
 * main() reports what failed and makes the exit status of it. */
typedef bool cli_command(struct cli *c, int argc, char **argv, struct err *err);

#define COMMAND(name, what) cli_command cmd_##name;
#include "cli/commands.def"
#undef COMMAND

/* Report a fault (text on stderr; with --format json also one document on
 * stdout, instead of what was written of another) and give its exit status. */
int cli_fail(const struct cli *c, const struct err *err);

/* A fault of the command line: says more of it where that helps (a similar
 * option, an example), then as cli_fail(). */
int cli_complain(const struct cli *c, struct err *err);

/* A remark on stderr, unless -q; `level` 1 and 2 need -v and -vv. */
#ifdef __GNUC__
__attribute__((format(printf, 3, 4)))
#endif
void
cli_say(const struct cli *c, int level, const char *fmt, ...);

/* What may be of use next, on stderr; not with -q or --format json. */
#ifdef __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
void
cli_next(const struct cli *c, const char *fmt, ...);

/* Warnings: "marq: warning: ..." each, unless -q; at most a screenful without
 * -v. */
void cli_warn_all(const struct cli *c, const struct notes *notes);

/* Flush stdout; a reader that went away (| head) is no error. The status to
 * return: `status`, or that of ERR_IO when data was lost. */
int cli_finish(int status);

#endif
