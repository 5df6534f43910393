/* What would change the plan: what the simulators assume, what targets refuse. */
#ifndef EMIT_OUTLOOK_H
#define EMIT_OUTLOOK_H

#include "emit/work.h"

/* Members "sensitivity" and "opportunities" of result.json; null where nobody
 * looked. */
void outlook_json(struct json *j, const struct emit_work *w);

#endif
