/* The night that a batch works on: begun, gone on with after an interruption, or
 * the last one where nothing has changed since. */
#ifndef CLI_NIGHT_TONIGHT_H
#define CLI_NIGHT_TONIGHT_H

#include "cli/night/night.h"

struct tonight {
	struct history history; /* the last one is tonight's */
	struct night *night;
	struct arena *a;
};

/* After the states of the units were read; `nwanted` of them are to be run. A
 * night that did not end goes on, unless it began long ago: then it was
 * killed. */
bool tonight_begin(struct tonight *t, const struct manifest *m,
    const struct unit_status *status, uint32_t nwanted, struct arena *a,
    struct err *err);

/* Unit i was run: its result is kept and the record written. A result that was
 * damaged in the meantime fails its unit. */
bool tonight_took(struct tonight *t, const struct manifest *m, uint32_t i,
    struct unit_status *status, struct err *err);

/* All that is to be run was; complete when nothing is left. */
bool tonight_end(struct tonight *t, const struct manifest *m,
    struct unit_status *status, struct err *err);

#endif
