/* What happened in a night as a whole: a library, a processor, a slow machine,
 * a kill. */
#ifndef CLI_NIGHT_HAPPENED_H
#define CLI_NIGHT_HAPPENED_H

#include "cli/night/night.h"

/* One sentence an event, "; " between; "" of a quiet night. */
const char *night_happened(
    const struct history *h, uint32_t i, struct arena *a);

#endif
