/* A plug-in's shared object in this process, and a backend opened in it. */
#ifndef TARGETS_PLUGIN_LIBRARY_H
#define TARGETS_PLUGIN_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/err.h"
#include "targets/plugin/marq_plugin.h"
#include "targets/target.h"

/* What a plug-in says in one of its calls: room for it, and where to put it. */
struct said {
	char text[512];
	struct marq_error error;
};

/* Ready to be handed to a call. */
void said_init(struct said *s);

/* In one short line, whatever it was; and how the call ended. */
const char *said_line(struct said *s, marq_status status);

/* Load it, and take its table as far as it and we know it. ERR_TARGET in one
 * line when that is none. */
bool library_load(struct marq_plugin *out, const char *path, struct err *err);

/* Open a backend with these options. ERR_TARGET when it says no. */
bool library_open(const struct marq_plugin *p,
    const struct option_value *option, uint32_t noptions,
    struct marq_target **out, struct err *err);

#endif
