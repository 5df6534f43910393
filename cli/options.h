/* Command lines as tables: a row an option says where its argument goes and
 * how it is read. Help, usage, complaints and completions come of the rows. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/cli.h"

/* A command line being parsed. */
struct option_state {
	struct cli *cli;
	struct argp_state *argp; /* for argp_error() */
	void *args; /* the command's */
};

struct option_row;

/* Reads an argument (NULL: the option has none) into `at`; what is wrong with it
 * goes to argp_error(), which ends the process. */
typedef void option_take(void *at, const char *arg,
    const struct option_row *row, struct option_state *s);

/* One option; without a name and a letter `help` heads a group. Tables end with
 * a row of zeros. */
struct option_row {
	const char *name;
	int letter; /* 0: it has none */
	const char *value; /* what help calls its argument; NULL: it has none */
	const char *help;
	option_take *take;
	size_t at; /* offset in the struct of the table */
	uint32_t low, high; /* of option_count */
	int group; /* of the help; common options are the last */
};

option_take option_flag; /* bool: true */
option_take option_off; /* bool: false */
option_take option_text; /* const char * */
option_take option_input; /* const char *, a file that is read */
option_take option_texts; /* struct text_list */
option_take option_inputs; /* struct text_list of files that are read */
option_take option_count; /* uint32_t from low to high */
option_take option_duration; /* uint64_t, ns */
option_take option_bytes; /* uint64_t */
option_take option_word; /* an enum: which word of `value`, "a|b|c" */
option_take option_locks; /* --locks DIR: none; a variable is set */
option_take option_second; /* bool: is it the second word of "a|b"? */

/* What stands beside the options. */
struct operands {
	option_take *take; /* its row is NULL; NULL: there are none */
	size_t at;
	uint32_t most;
	const char *too_many; /* complaint; NULL: argp's own */
	const char *none; /* complaint; NULL: it may be left out */
};

/* A command. */
struct command_line {
	const struct option_row *options;
	/* A table that commands share, of a struct within the command's. */
	const struct option_row *shared;
	size_t shared_at;
	struct operands operands;
	const char *args_doc, *doc;
	void (*check)(struct option_state *s); /* of all; NULL: nothing */
};

/* Parse into `args`, the help headed "marq <command>". After --help and for a
 * bad command line argp ends the process. Every command has the common options,
 * too, which go to `c`. */
bool cli_parse(struct cli *c, const struct command_line *line, int argc,
    char **argv, void *args, struct err *err);

#endif
