/* What is asked of a plug-in in a process of its own, which may crash or hang:
 * what it has to say comes back through a pipe. */
#ifndef TARGETS_PLUGIN_ASIDE_H
#define TARGETS_PLUGIN_ASIDE_H

#include <stdbool.h>

#include "ir/base/buf.h"
#include "ir/base/err.h"
#include "ir/base/limits.h"

struct aside {
	/* Runs there; what it adds to `said` comes back. */
	bool (*work)(void *context, struct buf *said, struct err *err);
	void *context;
	const char *doing; /* "it was opened": for messages */
	enum limit_id most; /* of what comes back, in bytes */
};

/* `said` is to be initialised. The error is what `work` set there; or ERR_TARGET
 * when the process ended, or not in time, before work did. */
bool aside_run(const struct aside *a, struct buf *said, struct err *err);

#endif
