/* What is worth looking at of a night, each with its cause and the command that
 * digs deeper. */
#ifndef CLI_NIGHT_FINDINGS_H
#define CLI_NIGHT_FINDINGS_H

#include "cli/night/night.h"

enum event {
#define EVENT(kind, word, counted, class) EVENT_##kind,
#include "cli/night/events.def"
#undef EVENT
	NEVENTS
};

struct finding {
	enum event kind;
	uint32_t unit;
	const char *what, *why, *command;
};

struct night_findings {
	struct finding *item; /* [n] by kind, then unit */
	uint32_t n;
	uint32_t count[NEVENTS];
};

const char *event_word(enum event e); /* "Costlier" */
const char *event_counted(enum event e); /* "costlier", behind a number */
const char *event_class(enum event e);
const char *event_key(enum event e); /* "regressed": of files */

/* Of the i-th night; `manifest` is its path, for commands. */
bool findings_make(struct night_findings *f, const struct history *h,
    uint32_t i, const char *manifest, struct arena *a, struct err *err);

/* Does the i-th night list the unit under that kind? */
bool findings_has(
    const struct night_findings *f, enum event kind, uint32_t unit);

#endif
