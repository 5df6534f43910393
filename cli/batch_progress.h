/* The progress line of a batch. What the unit that runs has measured, its own
 * process tells through a pipe; it is asked only where the line is shown. */
#ifndef CLI_BATCH_PROGRESS_H
#define CLI_BATCH_PROGRESS_H

#include <stddef.h>

#include "cli/progress.h"

struct batch_progress {
	struct progress line;
	int in, out; /* ends of the pipe; -1: nobody asks */
	char text[1024]; /* read of an event that is not whole yet */
	size_t n;
};

void batch_progress_begin(
    struct batch_progress *b, const struct cli *c, uint32_t units);
/* Show what came meanwhile; often. `at` is a struct batch_progress. */
void batch_progress_tick(void *at);
void batch_progress_end(struct batch_progress *b);

#endif
