/* What a plug-in says of itself and of this machine, through a pipe: whoever
 * plans never loads it. */
#ifndef TARGETS_PLUGIN_GREET_H
#define TARGETS_PLUGIN_GREET_H

#include "targets/plugin/about.h"
#include "targets/target.h"

struct greeting {
	struct about about;
	const char *facts; /* "key=value" a line: what prices depend on */
};

/* Load the plug-in at `path` in a process of its own and open it with the
 * target's options. ERR_TARGET in one line for whatever comes of it; ERR_USAGE for
 * options it does not have. */
bool plugin_greet(struct greeting *out, const struct target *t,
    const char *path, struct arena *a, struct err *err);

#endif
