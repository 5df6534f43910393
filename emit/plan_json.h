/* The plan as JSON (schema "marq.plan/1"): what plan/replay.c needs to build it
 * again, and what each part of it costs. README.md documents every member. */
#ifndef EMIT_PLAN_JSON_H
#define EMIT_PLAN_JSON_H

#include "emit/work.h"

/* One object, as the next value of `j`. */
void plan_json(struct json *j, const struct emit_work *w);

/* [{"value", "format"}, ...] under a key. */
void ports_json(struct json *j, const struct emit_work *w, const char *key,
    const struct port *port, uint32_t n);

#endif
