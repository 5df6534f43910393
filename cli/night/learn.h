/* What a night remembers of a result beside its figures. */
#ifndef CLI_NIGHT_LEARN_H
#define CLI_NIGHT_LEARN_H

#include "cli/night/night.h"

/* Fill u from a result directory and add what its environments say to the
 * night's facts. */
bool night_learn(struct night *n, struct night_unit *u, const char *result,
    struct arena *a, struct err *err);

#endif
