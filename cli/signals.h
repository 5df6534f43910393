/* Signals: the first SIGINT or SIGTERM asks for the best so far, the second
 * ends the process at once (with the signal's own effect). */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <stdatomic.h>

/* Install; the flag that is set when a stop was asked for. SIGPIPE is ignored
 * (writes fail with EPIPE). */
const atomic_bool *signals_watch(void);

/* The signal that asked for the stop, or 0. */
int signals_which(void);

#endif
