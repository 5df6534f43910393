/* Progress of a long step: one updating line with an estimate of the time left
 * on a terminal, nothing elsewhere (with -v a line a minute), and JSON lines on
 * --progress-fd. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdint.h>

#include "cli/cli.h"

struct progress {
	const struct cli *cli;
	uint64_t began_ns, shown_ns;
	bool is_limit; /* as many steps at most; else so many */
	bool terminal, line_open;
};

void progress_begin(struct progress *p, const struct cli *c);
/* `done` of `todo`, working on `what`. Cheap to call often. */
void progress_step(
    struct progress *p, uint32_t done, uint32_t todo, const char *what);
/* Clear the line. */
void progress_end(struct progress *p);

#endif
