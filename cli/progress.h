/* Progress of a long step: one updating line with an estimate of the time left
 * on a terminal, nothing elsewhere (with -v a line a minute), and JSON lines on
 * --progress-fd. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdint.h>

#include "cli/cli.h"
#include "cli/pace.h"

struct progress {
	const struct cli *cli;
	struct pace pace;
	const char *unit; /* of a batch, that runs; NULL: this is one search */
	char what[256]; /* is being measured */
	uint64_t began_ns, shown_ns;
	bool terminal, line_open;
};

void progress_begin(struct progress *p, const struct cli *c, uint32_t units);
/* Somebody sees it, so it is worth finding out. */
bool progress_is_shown(const struct progress *p);
/* An attempt at a unit of a batch begins, and is over. */
void progress_unit(struct progress *p, const char *name);
void progress_unit_end(struct progress *p, bool ended);
/* Measured `done` of at most `todo`, the last one `what`. Cheap to call
 * often. */
void progress_step(
    struct progress *p, uint32_t done, uint32_t todo, const char *what);
/* The same of a unit's own process: shown, and no event of ours. */
void progress_note(
    struct progress *p, uint32_t done, uint32_t todo, const char *what);
/* Time went by. */
void progress_tick(struct progress *p);
/* Clear the line, for a message or for good. */
void progress_end(struct progress *p);

#endif
