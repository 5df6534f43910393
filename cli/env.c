/* marq env: this machine as others have to know it, as JSON. */
#include <stdio.h>

#include "cli/options.h"
#include "costmodel/board.h"
#include "costmodel/machine.h"

struct env_args {
	uint32_t threads;
};

#define AT(member) offsetof(struct env_args, member)

static const struct option_row options[] = {
    {"threads", 0, "N", "of measured kernels (default 1)", option_count,
        .at = AT(threads), .low = 1, .high = CORES_MAX},
    {0},
};

static const struct command_line line = {
    .options = options,
    .doc = "Print what prices measured on this machine depend on: its "
           "processor and caches, its libraries, this program. A search on "
           "another machine takes it as --price-for FILE.",
};

bool
cmd_env(struct cli *c, int argc, char **argv, struct err *err)
{
	struct env_args args = {.threads = 1};
	struct board here;

	if (!cli_parse(c, &line, argc, argv, &args, err)
	    || !board_of_here(&here, args.threads, c->run, err))
		return false;
	board_write(&here, stdout);
	return true;
}
