/* Command lines of Marvell's tools: what they may name, and whether they can be
 * used. */
#ifndef TARGETS_MRVL_TEMPLATES_H
#define TARGETS_MRVL_TEMPLATES_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "targets/command.h"

/* Command templates: {symbol} {nodes} {consts} {opts} {batch} {bin}, and of the
 * simulator {in} {out} as well. */
struct mrvl_tools {
	const char *compiler; /* NULL: none is used */
	const char *simulator; /* NULL: none is used */
	const char *work; /* folder for private work folders, where those of
			   * failures are kept; NULL: $TMPDIR, and none is */
	uint32_t timeout_ms; /* of one call */
	const char *latency; /* regular expression: its first group is a figure
			      * in what the simulator (without one, the
			      * compiler) prints; NULL: there is none */
	double ns_per_unit; /* of that figure */
};

/* As upstream calls them. */
extern const char mrvl_compiler_command[], mrvl_simulator_command[];

/* ERR_USAGE naming what is wrong with a template or the expression. */
bool mrvl_tools_check(
    const struct mrvl_tools *t, struct arena *a, struct err *err);

/* The words of the templates. */
enum tool_word {
	WORD_SYMBOL,
	WORD_NODES,
	WORD_CONSTS,
	WORD_OPTS,
	WORD_BATCH,
	WORD_BIN,
	WORD_IN, /* from here on the simulator's only */
	WORD_OUT,
	NTOOL_WORDS
};
extern const struct command_word mrvl_tool_words[NTOOL_WORDS];

#endif
